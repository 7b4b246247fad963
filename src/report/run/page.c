#include "report/page.h"
#include "report/label.h"
#include "report/run/charts.h"
#include "report/run/ranks.h"
#include "report/web_files.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_DIFFERENCES = 5
};

#define ROW(name) &yk_run_chart_##name,
static const struct yk_chart *const charts[] = {YK_FOR_EACH_RUN_CHART(ROW) NULL};

static void add_head(const struct yk_run_page_data *page, struct yk_text *out)
{
    const struct yk_run_report *report = page->report;
    static const char *const styles[] = {yk_web_charts_css, yk_web_run_css, NULL};
    struct yk_text lead = {0};
    yk_text_addf(&lead, "%s%s%s", report->model ? report->model : "",
                 report->model && report->data ? " " : "", report->data ? report->data : "");
    out->failed |= lead.failed;
    yk_page_begin(report->title, yk_text_chars(&lead), styles, out);
    yk_text_free(&lead);
}

static void add_loss_figures(const struct yk_run_page_data *page, struct yk_text *out)
{
    const struct yk_run_report *report = page->report;
    char text[2 * YK_NUMBER_BUFFER_SIZE];
    if (report->step_count > 0) {
        const struct yk_run_report_step *last = &report->steps[report->step_count - 1];
        yk_page_add_headline_number(report->step_goal > last->step ? "steps so far" : "steps",
                                    YK_LABEL_COUNT(last->step), out);
        snprintf(text, sizeof text, "%.4f", page->curves.smooth_loss[page->curves.count - 1]);
        yk_page_add_headline_number("loss", isfinite(last->loss) ? text : "not a number", out);
    }
    if (report->evaluation_count > 0) {
        const struct yk_run_report_evaluation *last =
            &report->evaluations[report->evaluation_count - 1];
        snprintf(text, sizeof text, "%.4f", last->loss);
        yk_page_add_headline_number("evaluation", isfinite(last->loss) ? text : "not a number",
                                    out);
        if (isfinite(last->accuracy)) {
            yk_page_add_headline_number("accuracy", YK_LABEL_PERCENT(last->accuracy, 1), out);
        }
    }
}

/* Over the whole run: all tokens or images by all seconds. */
static double units_per_s(const struct yk_run_report *report)
{
    double units = 0;
    double seconds = 0;
    for (int32_t i = 0; i < report->step_count; i++) {
        const struct yk_run_report_step *step = &report->steps[i];
        if (step->seconds > 0 && yk_plot_can_show_value(step->seconds) &&
            yk_plot_can_show_value(step->units_per_s)) {
            units += step->units_per_s * step->seconds;
            seconds += step->seconds;
        }
    }
    return seconds > 0 ? units / seconds : NAN;
}

/* What was measured of the rank that held most; NAN: of none. */
static double max_memory(const struct yk_run_report *report)
{
    double max = NAN;
    for (int32_t i = 0; i < report->memory_count; i++) {
        /* Of a number and what is none, fmax takes the number. */
        max = fmax(max, report->memory[i].measured_bytes);
    }
    return max;
}

static void add_figures(const struct yk_run_page_data *page, struct yk_text *out)
{
    const struct yk_run_report *report = page->report;
    const double speed = units_per_s(report);
    char text[YK_UNITS_BUFFER_SIZE];
    yk_page_begin_headline_numbers(out);
    add_loss_figures(page, out);
    if (isfinite(speed)) {
        yk_page_add_headline_number(page->unit->speed, YK_LABEL_SPEED(speed), out);
    }
    if (isfinite(speed) && report->unit_mfu > 0) {
        snprintf(text, sizeof text, "%.1f%% (exact %.1f)", 100 * speed * report->unit_mfu,
                 100 * speed * report->unit_exact_mfu);
        yk_page_add_headline_number("MFU", text, out);
    }
    if (isfinite(report->measured_step_s)) {
        yk_page_add_headline_number(
            "step, measured", YK_LABEL_WITH_UNIT(report->measured_step_s, YK_UNIT_SECONDS), out);
    }
    if (isfinite(report->predicted_step_s)) {
        yk_page_add_headline_number(
            "step, predicted", YK_LABEL_WITH_UNIT(report->predicted_step_s, YK_UNIT_SECONDS), out);
    }
    if (isfinite(max_memory(report))) {
        yk_page_add_headline_number(report->memory_count > 1 ? "memory, fullest rank"
                                                             : "memory, measured",
                                    YK_LABEL_WITH_UNIT(max_memory(report), YK_UNIT_BYTES), out);
    }
    yk_page_end_headline_numbers(out);
}

static void add_time_description(const struct yk_run_report *report,
                                 const struct yk_run_ranks *ranks, struct yk_text *out)
{
    struct yk_text text = {0};
    yk_run_describe_step_time(report, ranks, &text);
    if (text.length > 0) {
        yk_text_add(out, "<div class=\"binds\"><strong>Where the time goes</strong>\n");
        for (const char *line = text.bytes; *line; line += strcspn(line, "\n") + 1) {
            yk_text_add(out, "<p>");
            yk_text_add_xml_escaped_bytes(out, line, strcspn(line, "\n"));
            yk_text_add(out, "</p>\n");
        }
        yk_text_add(out, "</div>\n");
    }
    out->failed |= text.failed;
    yk_text_free(&text);
}

static yk_status make(const struct yk_run_report *report, struct yk_arena *arena,
                      struct yk_run_page_data *out)
{
    *out = (struct yk_run_page_data){
        .report = report,
        .unit = report->unit ? report->unit : &yk_throughput_unit_token,
        .arena = arena,
    };
    YK_TRY(yk_run_ranks_make(report, arena, &out->ranks));
    YK_TRY(yk_run_lanes_make(report, &out->ranks, arena, &out->lanes));
    YK_TRY(yk_run_curves_make(report, arena, &out->curves));
    yk_run_lanes_sum_op_kind_times(report, out->kinds);
    return yk_run_ranks_find_op_differences(report, MAX_DIFFERENCES, arena, &out->differences,
                                            &out->difference_count);
}

static yk_status write_page(const struct yk_run_report *report, struct yk_arena *arena,
                            struct yk_text *out)
{
    static const char *const still[] = {yk_web_numbers_js, yk_web_figures_js, yk_web_steps_js,
                                        NULL};
    static const char *const all[] = {yk_web_numbers_js,
                                      yk_web_figures_js,
                                      yk_web_time_chart_js,
                                      yk_web_ops_js,
                                      yk_web_counters_js,
                                      yk_web_steps_js,
                                      NULL};
    struct yk_run_page_data page;
    YK_TRY(make(report, arena, &page));
    add_head(&page, out);
    add_figures(&page, out);
    add_time_description(report, &page.ranks, out);
    YK_TRY(yk_chart_add_sections(charts, &page, out));
    yk_page_end(page.lanes.chart.group_count > 0 ? all : still, out);
    return yk_text_status(out);
}

yk_status yk_run_page_write(const struct yk_run_report *report, struct yk_text *out)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, write_page(report, arena, out));
    return YK_OK;
}

static yk_status write_pictures(const struct yk_run_report *report, const char *name,
                                yk_chart_picture_text_function open, void *argument,
                                struct yk_arena *arena)
{
    struct yk_run_page_data page;
    YK_TRY(make(report, arena, &page));
    return yk_chart_write_pictures(charts, name, &page, open, argument);
}

yk_status yk_run_page_write_pictures(const struct yk_run_report *report, const char *name,
                                     yk_chart_picture_text_function open, void *argument)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, write_pictures(report, name, open, argument, arena));
    return YK_OK;
}
