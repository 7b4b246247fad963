#include "report/label.h"
#include "report/page.h"
#include "report/page_chart.h"
#include "report/plan_csv.h"
#include "report/plan_draw.h"
#include "report/plan_look.h"
#include "report/plan_report.h"
#include "report/plan_script.h"
#include "report/plan_tables.h"
#include "report/timeline_script.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WIDE = 580,     /* of pictures beside each other */
    MOST_STILL = 6, /* pictures of memory where no script runs */
};

static void add_paragraph(const char *kind, const char *words, struct yk_text *out)
{
    yk_text_addf(out, "<p class=\"%s\">", kind);
    yk_text_add_xml(out, words);
    yk_text_add(out, "</p>\n");
}

static void add_head(const struct yk_plan_result *result, struct yk_text *out)
{
    struct yk_text style = {0};
    yk_text_add(&style, yk_plan_style);
    yk_text_add(&style, yk_figure_style);
    yk_text_add(&style, yk_look_style);
    out->failed |= style.failed;
    yk_page_begin(result->title, result->summary, yk_text_chars(&style), out);
    yk_text_free(&style);
}

static void add_figures(const struct yk_plan_result *result, struct yk_text *out)
{
    char words[YK_NUMBER_SIZE + 16];
    char unit[YK_UNITS_SIZE];
    const bool bounded = isfinite(result->bound_s) && result->bound_s > 0;
    yk_page_begin_figures(out);
    yk_label_unit(result->step_s, YK_UNIT_SECONDS, unit);
    snprintf(words, sizeof words, "%s ±%.0f %%", unit, 100 * result->error);
    yk_page_add_figure("step", result->error > 0 ? words : unit, out);
    yk_label_count(isfinite(result->tokens_per_s) ? llround(result->tokens_per_s) : 0, words);
    yk_page_add_figure("tokens/s", isfinite(result->tokens_per_s) ? words : "unknown", out);
    snprintf(words, sizeof words, "%.1f%% (exact %.1f)", 100 * result->mfu,
             100 * result->exact_mfu);
    yk_page_add_figure("MFU", isfinite(result->mfu) ? words : "unknown", out);
    yk_label_unit(result->bound_s, YK_UNIT_SECONDS, unit);
    yk_page_add_figure("lower bound", bounded ? unit : "none", out);
    yk_label_percent(result->step_s - result->bound_s, result->bound_s, words);
    yk_page_add_figure("gap to the bound", bounded && isfinite(result->step_s) ? words : "unknown",
                       out);
    snprintf(words, sizeof words, "%d of %d", result->plan->rank_count,
             result->cluster->device_count);
    yk_page_add_figure("devices used", words, out);
    yk_page_end_figures(out);
    yk_text_add(out, "<div class=\"binds\"><strong>What limits it</strong>\n<p>");
    yk_text_add_xml(out, result->bottleneck);
    yk_text_add(out, "</p>\n");
    add_paragraph("note", result->source, out);
    yk_text_add(out, "</div>\n");
}

static void add_lanes(const struct yk_plan_folds *folds, struct yk_text *out)
{
    const int32_t written = yk_page_written_folds(folds);
    struct yk_text csv = {0};
    yk_page_begin_section("Where the time goes", out);
    yk_page_add_timeline(folds->span_s, folds->result->step_s, folds->result->bound_s, out);
    yk_page_add_op_legend(folds, out);
    yk_page_add_chart("lanes", "Ops of every device and lane over time", out);
    yk_text_add(out, "<div class=\"still chart\">\n");
    yk_plan_draw_lanes(folds, (struct yk_figure){.width = YK_FIGURE_ALONE_WIDTH, .out = out});
    yk_text_add(out,
                "</div>\n<p class=\"note live\" hidden>Point at an op, tap it, or use the arrow "
                "keys. Ctrl and the wheel zoom (the wheel alone once the chart is clicked), so "
                "do two fingers; dragging moves. The solid line is the end of the step, the "
                "dotted one the lower bound.</p>\n");
    if (written < folds->count) {
        yk_text_addf(
            out,
            "<p class=\"note\">The ops of %d more %s are too many for this page; the trace "
            "file has them all.</p>\n",
            folds->count - written, folds->count - written == 1 ? "row" : "rows");
    }
    yk_plan_csv_lanes(folds, written, &csv);
    yk_page_add_numbers("lanes", &csv, out);
    yk_text_free(&csv);
    yk_page_end_section(out);
}

static yk_status add_still_memory(const struct yk_plan_folds *folds, struct yk_text *out)
{
    for (int32_t f = 0; f < folds->count && f < MOST_STILL; f++) {
        yk_text_add(out, "<div class=\"still chart\">\n<h3>");
        yk_text_add_xml(out, folds->folds[f].name);
        yk_text_add(out, "</h3>\n");
        YK_TRY(yk_plan_draw_memory(folds, &folds->folds[f],
                                   (struct yk_figure){.width = YK_FIGURE_ALONE_WIDTH, .out = out}));
        yk_text_add(out, "</div>\n");
    }
    return YK_OK;
}

static yk_status add_memory(const struct yk_plan_folds *folds, struct yk_text *out)
{
    struct yk_text csv = {0};
    yk_page_begin_section("Memory over time", out);
    yk_text_add(out, "<ul class=\"legend live\" aria-label=\"Kinds of memory, from the bottom up\" "
                     "hidden>\n");
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        const char *name = yk_memory_kind_name((enum yk_memory_kind)k);
        yk_text_addf(out, "<li data-memory=\"%s\"><i class=\"memory-%s\"></i>%s</li>\n", name, name,
                     name);
    }
    yk_text_add(out, "</ul>\n");
    yk_page_add_chart("memory", "Memory of every device over time", out);
    YK_TRY(add_still_memory(folds, out));
    yk_text_add(out, "<p class=\"note\">Stacked from the bottom up in the order of the legend; the "
                     "dashed line is the limit. The table has the most that any way of running "
                     "the plan can hold.</p>\n");
    yk_plan_table_memory(folds, out);
    yk_plan_csv_memory(folds, &csv);
    yk_page_add_numbers("memory", &csv, out);
    yk_text_free(&csv);
    yk_page_end_section(out);
    return YK_OK;
}

static void add_times(const struct yk_plan_folds *folds, struct yk_text *out)
{
    struct yk_text csv = {0};
    yk_page_begin_section("Compute, exposed, idle", out);
    for (int narrow = 0; narrow < 2; narrow++) {
        yk_page_begin_width(narrow, out);
        yk_plan_draw_bars(folds, yk_page_frame(narrow ? YK_PAGE_NARROW : WIDE, out));
        yk_text_add(out, "</div>\n");
    }
    yk_plan_csv_times(folds, &csv);
    yk_page_add_numbers("times", &csv, out);
    yk_text_free(&csv);
    yk_page_end_section(out);
}

static yk_status add_cluster(const struct yk_plan_result *result, struct yk_text *out)
{
    struct yk_text csv = {0};
    yk_page_begin_section("Cluster", out);
    for (int narrow = 0; narrow < 2; narrow++) {
        yk_page_begin_width(narrow, out);
        YK_TRY(yk_plan_draw_cluster(result, yk_page_frame(narrow ? YK_PAGE_NARROW : WIDE, out)));
        yk_text_add(out, "</div>\n");
    }
    const yk_status status = yk_plan_csv_links(result, &csv);
    yk_page_add_numbers("links", &csv, out);
    yk_text_free(&csv);
    yk_page_end_section(out);
    return status;
}

static void add_tradeoff(const struct yk_plan_tradeoff *tradeoff, int32_t number,
                         struct yk_text *out)
{
    struct yk_text csv = {0};
    char id[32];
    yk_page_begin_section(tradeoff->title, out);
    for (int narrow = 0; narrow < 2; narrow++) {
        yk_page_begin_width(narrow, out);
        yk_plan_draw_tradeoff(tradeoff, yk_page_frame(narrow ? YK_PAGE_NARROW : WIDE, out));
        yk_text_add(out, "</div>\n");
    }
    yk_plan_csv_tradeoff(tradeoff, &csv);
    snprintf(id, sizeof id, "trade-off-%d", number + 1);
    yk_page_add_numbers(id, &csv, out);
    yk_text_free(&csv);
    yk_page_end_section(out);
}

/* What the plan says besides its layers, in a sentence. */
static void add_settings(const struct yk_plan *plan, struct yk_text *out)
{
    char block[YK_UNITS_SIZE];
    char bucket[YK_UNITS_SIZE];
    yk_label_unit(plan->block_bytes, YK_UNIT_BYTES, block);
    yk_label_unit(plan->bucket_bytes, YK_UNIT_BYTES, bucket);
    yk_text_addf(out,
                 "<p class=\"note\">%lld samples of %lld tokens in %s, %d micro-batch%s (%s%s)%s; "
                 "blocks of %s, buckets of %s; ",
                 (long long)plan->workload.batch, (long long)plan->workload.sequence,
                 yk_precision_name(plan->workload.precision), plan->micro_batches,
                 plan->micro_batches == 1 ? "" : "es", yk_plan_pipeline_name(plan->pipeline),
                 plan->no_sync ? ", gradients reduced once" : "",
                 plan->clip ? ", gradients clipped" : "", block, bucket);
    if (plan->transfer_count > 0) {
        yk_text_addf(out, "%d transfers in an order of their own.</p>\n", plan->transfer_count);
    } else {
        yk_text_addf(out, "gathers go %d ahead.</p>\n", plan->prefetch);
    }
}

static void add_tables(const struct yk_plan_folds *folds, struct yk_text *out)
{
    const struct yk_plan_result *result = folds->result;
    yk_page_begin_section("Devices", out);
    yk_plan_table_devices(folds, out);
    yk_page_end_section(out);
    yk_page_begin_section("Layers", out);
    yk_plan_table_layers(result, out);
    add_settings(result->plan, out);
    yk_page_end_section(out);
    yk_text_add(out, "<div class=\"pair uneven\">\n");
    if (result->alternative_count > 0) {
        yk_page_begin_section("Other plans", out);
        yk_plan_table_alternatives(result, out);
        yk_page_end_section(out);
    }
    if (result->leave_one_out_count > 0) {
        yk_page_begin_section("Leaving a device out", out);
        yk_plan_table_without(result, out);
        yk_page_end_section(out);
    }
    yk_text_add(out, "</div>\n");
}

static yk_status write_page(const struct yk_plan_result *result, struct yk_arena *arena,
                            struct yk_text *out)
{
    static const char *const scripts[] = {
        yk_plan_script_numbers,      yk_plan_script_figures, yk_timeline_script_view,
        yk_plan_script_charts,       yk_plan_script_lanes,   yk_plan_script_memory,
        yk_timeline_script_gestures, yk_plan_script_input,   NULL,
    };
    struct yk_plan_folds folds;
    YK_TRY(yk_plan_folds_make(result, arena, &folds));
    add_head(result, out);
    add_figures(result, out);
    add_lanes(&folds, out);
    YK_TRY(add_memory(&folds, out));
    yk_text_add(out, "<div class=\"pair\">\n");
    add_times(&folds, out);
    YK_TRY(add_cluster(result, out));
    yk_text_add(out, "</div>\n");
    add_tables(&folds, out);
    yk_text_add(out, result->tradeoff_count > 0 ? "<div class=\"pair\">\n" : "");
    for (int32_t t = 0; t < result->tradeoff_count; t++) {
        add_tradeoff(&result->tradeoffs[t], t, out);
    }
    yk_text_add(out, result->tradeoff_count > 0 ? "</div>\n" : "");
    yk_page_add_tip(out);
    yk_page_end(scripts, out);
    return yk_text_status(out);
}

yk_status yk_plan_report_page(const struct yk_plan_result *result, struct yk_text *out)
{
    YK_TRY_IN_ARENA(arena, write_page(result, arena, out));
    return YK_OK;
}
