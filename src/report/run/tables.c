/* The tables of a run's page. */
#include "report/csv.h"
#include "report/label.h"
#include "report/page.h"
#include "report/run/charts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is not known, or would be a ratio to nothing. */
static const char *const NOTHING = "\xe2\x80\x93";

/* Three cells: what was predicted, what was measured, and their ratio. */
static void add_comparison(double predicted, double measured, enum yk_unit unit,
                           struct yk_text *out)
{
    const double ratio = measured / predicted;
    char text[YK_UNITS_BUFFER_SIZE];
    yk_page_add_cell(isfinite(predicted) ? YK_LABEL_WITH_UNIT(predicted, unit) : NOTHING, out);
    yk_page_add_cell(isfinite(measured) ? YK_LABEL_WITH_UNIT(measured, unit) : NOTHING, out);
    snprintf(text, sizeof text, measured < 100 * predicted ? "%.2f" : "%.0f", ratio);
    yk_page_add_cell(predicted > 0 && isfinite(ratio) ? text : NOTHING, out);
}

static void add_kind(int32_t number, const struct yk_run_op_kind_times *kind, bool predicted,
                     bool measured, struct yk_text *out)
{
    const double predicted_s = predicted ? kind->seconds[YK_RUN_TRACE_PREDICTED] : NAN;
    const double measured_s = measured ? kind->seconds[YK_RUN_TRACE_MEASURED] : NAN;
    const char *name = yk_op_style_name(number);
    yk_text_addf(out, "<tr><th scope=\"row\"><i class=\"op-%s\" aria-hidden=\"true\"></i>%s</th>",
                 name, name);
    yk_page_add_cell(
        YK_LABEL_COUNT(kind->count[measured ? YK_RUN_TRACE_MEASURED : YK_RUN_TRACE_PREDICTED]),
        out);
    add_comparison(predicted_s, measured_s, YK_UNIT_SECONDS, out);
    yk_text_add(out, "</tr>\n");
}

static void add_total(const char *name, double predicted_s, double measured_s, struct yk_text *out)
{
    yk_text_addf(out, "<tr class=\"total\"><th scope=\"row\">%s</th><td></td>", name);
    add_comparison(predicted_s, measured_s, YK_UNIT_SECONDS, out);
    yk_text_add(out, "</tr>\n");
}

static yk_status add_kinds(const void *subject, struct yk_text *out)
{
    const struct yk_run_page_data *page = subject;
    const struct yk_run_report *report = page->report;
    const struct yk_run_ranks *ranks = &page->ranks;
    const struct yk_run_op_kind_times *kinds = page->kinds;
    yk_text_add(out, "<div class=\"wide kinds\">\n<table>\n<thead><tr><th scope=\"col\">kind</th>"
                     "<th scope=\"col\">ops</th><th scope=\"col\">predicted</th>"
                     "<th scope=\"col\">measured</th><th scope=\"col\">ratio</th></tr></thead>\n"
                     "<tbody>\n");
    for (int32_t k = 0; k < YK_OP_STYLE_COUNT; k++) {
        if (kinds[k].count[YK_RUN_TRACE_PREDICTED] > 0 ||
            kinds[k].count[YK_RUN_TRACE_MEASURED] > 0) {
            add_kind(k, &kinds[k], report->predicted != NULL, report->measured != NULL, out);
        }
    }
    add_total("this step", ranks->predicted_step_s, ranks->measured_step_s, out);
    add_total("median step", report->predicted_step_s, report->measured_step_s, out);
    yk_text_add(out, "</tbody>\n</table>\n</div>\n");
    return YK_OK;
}

static yk_status write_kinds_csv(const void *subject, struct yk_text *out)
{
    const struct yk_run_page_data *page = subject;
    const struct yk_run_op_kind_times *kinds = page->kinds;
    yk_text_add(out, "kind,predicted_count,predicted_s,measured_count,measured_s\n");
    for (int32_t k = 0; k < YK_OP_STYLE_COUNT; k++) {
        if (kinds[k].count[YK_RUN_TRACE_PREDICTED] == 0 &&
            kinds[k].count[YK_RUN_TRACE_MEASURED] == 0) {
            continue;
        }
        yk_csv_add_text(out, yk_op_style_name(k));
        for (int t = 0; t < YK_RUN_TRACE_COUNT; t++) {
            yk_csv_add_integer(out, kinds[k].count[t]);
            yk_csv_add_seconds(out, kinds[k].seconds[t]);
        }
        yk_csv_end_row(out);
    }
    return YK_OK;
}

static bool has_lanes(const void *subject)
{
    const struct yk_run_page_data *page = subject;
    return page->lanes.chart.group_count > 0;
}

const struct yk_chart yk_run_chart_kinds = {
    .title = "Kinds of ops",
    .row_class = "pair",
    .applies = has_lanes,
    .add_html = add_kinds,
    .csv_name = "kinds",
    .write_csv = write_kinds_csv,
};

static void add_step_length(const char *before, double step_s, const char *after,
                            struct yk_text *out)
{
    if (isfinite(step_s)) {
        yk_text_addf(out, "%s%s%s", before, YK_LABEL_WITH_UNIT(step_s, YK_UNIT_SECONDS), after);
    }
}

static yk_status add_ranks(const void *subject, struct yk_text *out)
{
    const struct yk_run_page_data *page = subject;
    const struct yk_run_ranks *ranks = &page->ranks;
    static const char *const heads[] = {"compute", "exposed", "idle", "memory"};
    yk_text_add(out, "<div class=\"wide ranks\" tabindex=\"0\" role=\"group\" aria-label=\"Ranks\">"
                     "<table>\n<thead><tr><th scope=\"col\" rowspan=\"2\">device</th>"
                     "<th scope=\"col\" rowspan=\"2\">share</th>");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        yk_text_addf(out, "<th scope=\"colgroup\" colspan=\"3\">%s</th>", heads[i]);
    }
    yk_text_add(out, "</tr>\n<tr>");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        yk_text_add(out, "<th scope=\"col\">predicted</th><th scope=\"col\">measured</th>"
                         "<th scope=\"col\">ratio</th>");
    }
    yk_text_add(out, "</tr></thead>\n<tbody>\n");
    for (int32_t r = 0; r < ranks->count; r++) {
        const struct yk_run_rank_summary *rank = &ranks->ranks[r];
        const double times[][2] = {
            {rank->predicted.compute_s, rank->measured.compute_s},
            {rank->predicted.exposed_s, rank->measured.exposed_s},
            {rank->predicted.idle_s, rank->measured.idle_s},
        };
        yk_text_addf(out, "<tr><th scope=\"row\"><span class=\"rank\">%d", (int)r);
        yk_page_add_escaped_text_between("</span>", rank->device, "</th>", out);
        yk_page_add_cell(isfinite(rank->share) ? YK_LABEL_NUMBER(rank->share) : NOTHING, out);
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            add_comparison(times[i][0], times[i][1], YK_UNIT_SECONDS, out);
        }
        add_comparison(rank->predicted_bytes, rank->measured_bytes, YK_UNIT_BYTES, out);
        yk_text_add(out, "</tr>\n");
    }
    yk_text_add(out, "</tbody>\n</table></div>\n");
    yk_text_add(out, "<p class=\"note\">In one step a rank computes, waits while data moves to or "
                     "from it (exposed), or waits for anything else (idle). ");
    add_step_length("Together that is ", ranks->predicted_step_s, " as predicted. ", out);
    add_step_length("The measured step is the last one, ", ranks->measured_step_s, ". ", out);
    yk_text_add(out, "Memory is that of the fullest moment.</p>\n");
    return YK_OK;
}

static yk_status write_ranks_csv(const void *subject, struct yk_text *out)
{
    const struct yk_run_page_data *page = subject;
    const struct yk_run_ranks *ranks = &page->ranks;
    yk_text_add(out, "rank,device,share,predicted_compute_s,measured_compute_s,"
                     "predicted_exposed_s,measured_exposed_s,predicted_idle_s,measured_idle_s,"
                     "predicted_bytes,measured_bytes,limit_bytes\n");
    for (int32_t r = 0; r < ranks->count; r++) {
        const struct yk_run_rank_summary *rank = &ranks->ranks[r];
        const double times[] = {rank->predicted.compute_s, rank->measured.compute_s,
                                rank->predicted.exposed_s, rank->measured.exposed_s,
                                rank->predicted.idle_s,    rank->measured.idle_s};
        const double sizes[] = {rank->predicted_bytes, rank->measured_bytes, rank->limit_bytes};
        yk_csv_add_integer(out, r);
        yk_csv_add_text(out, rank->device);
        yk_csv_add_number(out, rank->share);
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            yk_csv_add_seconds(out, times[i]);
        }
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            yk_csv_add_bytes(out, sizes[i]);
        }
        yk_csv_end_row(out);
    }
    return YK_OK;
}

static bool has_ranks(const void *subject)
{
    const struct yk_run_page_data *page = subject;
    return page->ranks.count > 1;
}

const struct yk_chart yk_run_chart_ranks = {
    .title = "Ranks",
    .applies = has_ranks,
    .add_html = add_ranks,
    .csv_name = "ranks",
    .write_csv = write_ranks_csv,
};

static yk_status add_differences(const void *subject, struct yk_text *out)
{
    const struct yk_run_page_data *page = subject;
    const struct yk_run_ranks *ranks = &page->ranks;
    yk_text_add(out, "<div class=\"wide kinds\">\n<table>\n<thead><tr><th scope=\"col\">op</th>"
                     "<th scope=\"col\" class=\"left\">on</th><th scope=\"col\">predicted</th>"
                     "<th scope=\"col\">measured</th><th scope=\"col\">ratio</th></tr></thead>\n"
                     "<tbody>\n");
    for (int32_t i = 0; i < page->difference_count; i++) {
        const struct yk_run_op_difference *difference = &page->differences[i];
        yk_text_addf(out, "<tr><th scope=\"row\"><i class=\"op-%s\" aria-hidden=\"true\"></i>",
                     yk_op_style_name(yk_op_style_find_by_op_name(difference->op)));
        yk_text_add_xml_escaped(out, difference->op);
        yk_page_add_escaped_text_between("</th><td class=\"left\">",
                                         ranks->ranks[difference->rank].device, "</td>", out);
        add_comparison(difference->predicted_s, difference->measured_s, YK_UNIT_SECONDS, out);
        yk_text_add(out, "</tr>\n");
    }
    yk_text_add(out, "</tbody>\n</table>\n</div>\n");
    if (ranks->count > 1) {
        yk_text_add(out, "<p class=\"note\">All ops of one name in the step, on the rank where "
                         "they differ most. Of communication, the time while data moves counts, "
                         "not the wait for other ranks.</p>\n");
    }
    return YK_OK;
}

static yk_status write_differences_csv(const void *subject, struct yk_text *out)
{
    const struct yk_run_page_data *page = subject;
    const struct yk_run_ranks *ranks = &page->ranks;
    const struct yk_run_op_difference *differences = page->differences;
    const int32_t count = page->difference_count;
    yk_text_add(out, "op,rank,device,predicted_s,measured_s\n");
    for (int32_t i = 0; i < count; i++) {
        yk_csv_add_text(out, differences[i].op);
        yk_csv_add_integer(out, differences[i].rank);
        yk_csv_add_text(out, ranks->ranks[differences[i].rank].device);
        yk_csv_add_seconds(out, differences[i].predicted_s);
        yk_csv_add_seconds(out, differences[i].measured_s);
        yk_csv_end_row(out);
    }
    return YK_OK;
}

static bool has_differences(const void *subject)
{
    const struct yk_run_page_data *page = subject;
    return page->difference_count > 0;
}

const struct yk_chart yk_run_chart_differences = {
    .title = "Ops that differ most",
    .row_class = "pair",
    .applies = has_differences,
    .add_html = add_differences,
    .csv_name = "differences",
    .write_csv = write_differences_csv,
};

static yk_status add_options(const void *subject, struct yk_text *out)
{
    const struct yk_run_page_data *page = subject;
    const struct yk_run_report *report = page->report;
    yk_text_add(out, "<div class=\"wide options\">\n<table>\n<tbody>\n");
    for (int32_t i = 0; i < report->option_count; i++) {
        yk_page_begin_named_row(report->options[i].name, out);
        yk_page_add_cell(report->options[i].value, out);
        yk_text_add(out, "</tr>\n");
    }
    yk_text_add(out, "</tbody>\n</table>\n</div>\n");
    if (report->checkpoint) {
        yk_page_add_escaped_text_between(
            "<p class=\"note\">Newest checkpoint: ", report->checkpoint, "</p>\n", out);
    }
    return YK_OK;
}

static bool has_options(const void *subject)
{
    const struct yk_run_page_data *page = subject;
    return page->report->option_count > 0 || page->report->checkpoint;
}

const struct yk_chart yk_run_chart_options = {
    .title = "Settings",
    .row_class = "pair",
    .applies = has_options,
    .add_html = add_options,
};

static yk_status add_sample(const void *subject, struct yk_text *out)
{
    const struct yk_run_page_data *page = subject;
    yk_page_add_escaped_text_between("<pre class=\"sample\" tabindex=\"0\">", page->report->sample,
                                     "</pre>\n", out);
    return YK_OK;
}

/* Whether there is anything visible. */
static bool has_sample(const void *subject)
{
    const struct yk_run_page_data *page = subject;
    const char *sample = page->report->sample;
    return sample && sample[strspn(sample, " \t\r\n")] != '\0';
}

const struct yk_chart yk_run_chart_sample = {
    .title = "What it writes",
    .row_class = "pair",
    .applies = has_sample,
    .add_html = add_sample,
};
