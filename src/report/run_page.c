#include "report/label.h"
#include "report/page.h"
#include "report/page_chart.h"
#include "report/plan_draw.h"
#include "report/plan_script.h"
#include "report/run_counters.h"
#include "report/run_csv.h"
#include "report/run_curves.h"
#include "report/run_draw.h"
#include "report/run_report.h"
#include "report/run_script.h"
#include "report/run_sections.h"
#include "report/run_tables.h"
#include "report/timeline_script.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    LOSS_WIDE = 700,
    SMALL_WIDE = 460,
    MEMORY_WIDE = 580,
    MOST_STEPS = 100000, /* written into a page as numbers */
};

/* All that the page is made of. */
struct page {
    const struct yk_run_report *report;
    struct yk_run_ranks ranks;
    struct yk_run_lanes lanes;
    struct yk_run_curves curves;
    struct yk_run_kind kinds[YK_LOOK_OP_COUNT];
    struct yk_text *out;
};

static void add_head(const struct page *page)
{
    const struct yk_run_report *report = page->report;
    struct yk_text style = {0};
    struct yk_text lead = {0};
    yk_text_add(&style, yk_plan_style);
    yk_text_add(&style, yk_figure_style);
    yk_text_add(&style, yk_look_style);
    yk_text_add(&style, yk_run_style);
    yk_text_add(&lead, report->model ? report->model : "");
    yk_text_add(&lead, report->model && report->data ? " " : "");
    yk_text_add(&lead, report->data ? report->data : "");
    page->out->failed |= style.failed || lead.failed;
    yk_page_begin(report->title, yk_text_chars(&lead), yk_text_chars(&style), page->out);
    yk_text_free(&style);
    yk_text_free(&lead);
}

static void add_loss_figures(const struct page *page)
{
    const struct yk_run_report *report = page->report;
    char words[2 * YK_NUMBER_SIZE];
    char number[YK_NUMBER_SIZE];
    if (report->step_count > 0) {
        const struct yk_run_report_step *last = &report->steps[report->step_count - 1];
        yk_label_count(last->step, number);
        yk_page_add_figure(report->step_goal > last->step ? "steps so far" : "steps", number,
                           page->out);
        snprintf(words, sizeof words, "%.4f", page->curves.smooth_loss[page->curves.count - 1]);
        yk_page_add_figure("loss", isfinite(last->loss) ? words : "not a number", page->out);
    }
    if (report->evaluation_count > 0) {
        const double loss = report->evaluations[report->evaluation_count - 1].loss;
        snprintf(words, sizeof words, "%.4f", loss);
        yk_page_add_figure("evaluation", isfinite(loss) ? words : "not a number", page->out);
    }
}

/* Over the whole run: all tokens by all seconds. */
static double tokens_per_s(const struct yk_run_report *report)
{
    double tokens = 0;
    double seconds = 0;
    for (int32_t i = 0; i < report->step_count; i++) {
        const struct yk_run_report_step *step = &report->steps[i];
        if (step->seconds > 0 && yk_plot_holds(step->seconds) &&
            yk_plot_holds(step->tokens_per_s)) {
            tokens += step->tokens_per_s * step->seconds;
            seconds += step->seconds;
        }
    }
    return seconds > 0 ? tokens / seconds : NAN;
}

/* What was measured of the rank that held most; NAN: of none. */
static double most_memory(const struct yk_run_report *report)
{
    double most = NAN;
    for (int32_t i = 0; i < report->memory_count; i++) {
        /* Of a number and what is none, fmax takes the number. */
        most = fmax(most, report->memory[i].measured_bytes);
    }
    return most;
}

/* Whether there is something to be seen. */
static bool has_words(const char *words)
{
    return words && words[strspn(words, " \t\r\n")] != '\0';
}

static void add_figures(const struct page *page)
{
    const struct yk_run_report *report = page->report;
    const double speed = tokens_per_s(report);
    char words[YK_UNITS_SIZE];
    char number[YK_NUMBER_SIZE];
    yk_page_begin_figures(page->out);
    add_loss_figures(page);
    if (isfinite(speed)) {
        yk_label_count(llround(speed), number);
        yk_page_add_figure("tokens/s", number, page->out);
    }
    if (isfinite(speed) && report->token_mfu > 0) {
        snprintf(words, sizeof words, "%.1f%% (exact %.1f)", 100 * speed * report->token_mfu,
                 100 * speed * report->token_exact_mfu);
        yk_page_add_figure("MFU", words, page->out);
    }
    if (isfinite(report->measured_step_s)) {
        yk_label_unit(report->measured_step_s, YK_UNIT_SECONDS, words);
        yk_page_add_figure("step, measured", words, page->out);
    }
    if (isfinite(report->predicted_step_s)) {
        yk_label_unit(report->predicted_step_s, YK_UNIT_SECONDS, words);
        yk_page_add_figure("step, predicted", words, page->out);
    }
    if (isfinite(most_memory(report))) {
        yk_label_unit(most_memory(report), YK_UNIT_BYTES, words);
        yk_page_add_figure(report->memory_count > 1 ? "memory, fullest rank" : "memory, measured",
                           words, page->out);
    }
    yk_page_end_figures(page->out);
}

static void add_loss(const struct page *page)
{
    const struct yk_run_report *report = page->report;
    const int32_t stride = 1 + (report->step_count - 1) / MOST_STEPS;
    struct yk_text csv = {0};
    yk_page_begin_section("Loss", page->out);
    yk_text_add(page->out, "<div class=\"at-wide full\">\n");
    yk_run_draw_loss(report, &page->curves, yk_page_frame(LOSS_WIDE, page->out));
    yk_text_add(page->out, "</div>\n");
    yk_page_begin_width(true, page->out);
    yk_run_draw_loss(report, &page->curves, yk_page_frame(YK_PAGE_NARROW, page->out));
    yk_text_add(page->out, "</div>\n");
    if (stride > 1) {
        yk_text_addf(page->out,
                     "<p class=\"note\">The numbers are of every %dth step; the metrics have them "
                     "all.</p>\n",
                     (int)stride);
    }
    yk_run_csv_steps(report, &page->curves, stride, &csv);
    yk_page_add_numbers("steps", &csv, page->out);
    yk_text_free(&csv);
    yk_page_end_section(page->out);
}

/* "0.95", or nothing where there is no such number. */
static const char *short_number(double value, char out[YK_NUMBER_SIZE])
{
    snprintf(out, YK_NUMBER_SIZE, "%.3g", value);
    return isfinite(value) ? out : "";
}

static void add_small(const struct page *page, double width)
{
    const struct yk_run_curves *curves = &page->curves;
    const struct yk_run_report_step *last = &page->report->steps[page->report->step_count - 1];
    const struct yk_figure frame = yk_page_frame(width, page->out);
    char words[YK_NUMBER_SIZE];
    yk_label_count(yk_plot_holds(last->tokens_per_s) ? llround(last->tokens_per_s) : 0, words);
    yk_run_draw_small(curves, curves->tokens_per_s, "tokens/s",
                      isfinite(last->tokens_per_s) ? words : "", frame);
    yk_run_draw_small(curves, curves->norm, "gradient norm", short_number(last->norm, words),
                      frame);
    yk_run_draw_small(curves, curves->rate, "learning rate", short_number(last->rate, words),
                      frame);
}

static void add_curves(const struct page *page)
{
    yk_text_add(page->out, "<div class=\"pair uneven\">\n");
    add_loss(page);
    if (page->report->step_count > 0) {
        yk_page_begin_section("Speed, gradients, rate", page->out);
        yk_text_add(page->out, "<div class=\"at-wide full\">\n");
        add_small(page, SMALL_WIDE);
        yk_text_add(page->out, "</div>\n");
        yk_page_begin_width(true, page->out);
        add_small(page, YK_PAGE_NARROW);
        yk_text_add(page->out, "</div>\n");
        yk_page_end_section(page->out);
    }
    yk_text_add(page->out, "</div>\n");
}

static void add_lanes(const struct page *page)
{
    const struct yk_plan_folds *folds = &page->lanes.folds;
    const int32_t written = yk_page_written_folds(folds);
    struct yk_text csv = {0};
    yk_page_begin_section(!page->report->measured    ? "One step, predicted"
                          : !page->report->predicted ? "One step, measured"
                                                     : "One step, predicted and measured",
                          page->out);
    yk_page_add_timeline(folds->span_s, NAN, NAN, page->out);
    yk_page_add_op_legend(folds, page->out);
    yk_page_add_chart("lanes", "Ops of every lane over time, as predicted and as measured",
                      page->out);
    yk_text_add(page->out, "<div class=\"still chart\">\n");
    yk_plan_draw_lanes(folds, yk_page_frame(YK_FIGURE_ALONE_WIDTH, page->out));
    yk_text_add(
        page->out,
        "</div>\n<p class=\"note live\" hidden>What was measured is the last step. Point at an "
        "op, tap it, or use the arrow keys: where the other row has it, too, both are "
        "framed. Ctrl and the wheel zoom, so do two fingers; dragging moves.</p>\n");
    if (page->lanes.folded) {
        yk_text_add(page->out, "<p class=\"note\">Ranks that were predicted to do the same at the "
                               "same times are shown once, by the one that computed longest; the "
                               "trace files have them all.</p>\n");
    }
    if (written < folds->count) {
        yk_text_add(page->out, "<p class=\"note\">Further lanes have too many ops for this page; "
                               "the trace files have them all.</p>\n");
    }
    yk_run_csv_lanes(&page->lanes, written, &csv);
    yk_page_add_numbers("lanes", &csv, page->out);
    yk_text_free(&csv);
    yk_page_end_section(page->out);
}

static void add_kinds(const struct page *page)
{
    struct yk_text csv = {0};
    yk_page_begin_section("Kinds of ops", page->out);
    yk_run_table_kinds(page->report, &page->ranks, page->kinds, page->out);
    yk_run_csv_kinds(page->kinds, &csv);
    yk_page_add_numbers("kinds", &csv, page->out);
    yk_text_free(&csv);
    yk_page_end_section(page->out);
}

static void add_memory(const struct page *page)
{
    struct yk_text csv = {0};
    yk_page_begin_section("Memory", page->out);
    for (int narrow = 0; narrow < 2; narrow++) {
        yk_text_addf(page->out, "<div class=\"at-%s scrolled\">\n", narrow ? "narrow" : "wide");
        yk_run_draw_memory(page->report,
                           yk_page_frame(narrow ? YK_PAGE_NARROW : MEMORY_WIDE, page->out));
        yk_text_add(page->out, "</div>\n");
    }
    yk_text_add(page->out,
                "<p class=\"note\">The bar is the most that any way of running the plan can hold, "
                "by kind; what was measured is the whole process at its fullest, of a "
                "GPU all that was in use there.</p>\n");
    yk_run_csv_memory(page->report, &csv);
    yk_page_add_numbers("memory", &csv, page->out);
    yk_text_free(&csv);
    yk_page_end_section(page->out);
}

static void add_words(const struct page *page)
{
    const struct yk_run_report *report = page->report;
    if (has_words(report->sample)) {
        yk_page_begin_section("What it writes", page->out);
        yk_text_add(page->out, "<pre class=\"sample\" tabindex=\"0\">");
        yk_text_add_xml(page->out, report->sample);
        yk_text_add(page->out, "</pre>\n");
        yk_page_end_section(page->out);
    }
    if (report->setting_count > 0 || report->checkpoint) {
        yk_page_begin_section("Settings", page->out);
        yk_run_table_settings(report, page->out);
        if (report->checkpoint) {
            yk_text_add(page->out, "<p class=\"note\">Newest checkpoint: ");
            yk_text_add_xml(page->out, report->checkpoint);
            yk_text_add(page->out, "</p>\n");
        }
        yk_page_end_section(page->out);
    }
}

static void end(const struct page *page, bool timed)
{
    static const char *const still[] = {yk_plan_script_numbers, yk_plan_script_figures,
                                        yk_run_script_curves, NULL};
    static const char *const all[] = {yk_plan_script_numbers,      yk_plan_script_figures,
                                      yk_timeline_script_view,     yk_plan_script_charts,
                                      yk_plan_script_lanes,        yk_run_script_counters,
                                      yk_timeline_script_gestures, yk_plan_script_input,
                                      yk_run_script_curves,        NULL};
    yk_page_add_tip(page->out);
    yk_page_end(timed ? all : still, page->out);
}

static yk_status write_page(struct page *page, struct yk_arena *arena)
{
    const struct yk_run_report *report = page->report;
    YK_TRY(yk_run_ranks_make(report, arena, &page->ranks));
    YK_TRY(yk_run_lanes_make(report, &page->ranks, arena, &page->lanes));
    YK_TRY(yk_run_curves_make(report, arena, &page->curves));
    yk_run_kinds_sum(report, page->kinds);
    const bool timed = page->lanes.folds.count > 0;
    add_head(page);
    add_figures(page);
    yk_run_section_words(report, &page->ranks, page->out);
    if (report->step_count > 0 || report->evaluation_count > 0) {
        add_curves(page);
    }
    if (yk_run_report_has_ranks(report)) {
        YK_TRY(yk_run_section_rank_steps(report, &page->curves, &page->ranks, arena, page->out));
    }
    if (timed) {
        add_lanes(page);
    }
    yk_run_section_counters(report, &page->lanes, page->out);
    if (page->ranks.count > 1) {
        yk_run_section_ranks(&page->ranks, page->out);
    }
    yk_text_add(page->out, "<div class=\"pair\">\n");
    if (timed) {
        add_kinds(page);
    }
    YK_TRY(yk_run_section_differences(report, &page->ranks, arena, page->out));
    if (report->memory_count > 0) {
        add_memory(page);
    }
    add_words(page);
    yk_text_add(page->out, "</div>\n");
    end(page, timed);
    return yk_text_status(page->out);
}

yk_status yk_run_report_page(const struct yk_run_report *report, struct yk_text *out)
{
    struct page page = {.report = report, .out = out};
    YK_TRY_IN_ARENA(arena, write_page(&page, arena));
    return YK_OK;
}
