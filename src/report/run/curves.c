#include "report/run/charts.h"

#include "report/csv.h"
#include "report/label.h"
#include "report/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum {
    LEFT = 58,
    RIGHT_MARGIN = 14,
    LOSS_HEIGHT = 300,
    SMALL_HEIGHT = 80,
    TITLE_HEIGHT = 24,
    AXIS_HEIGHT = 24,
    LEGEND_HEIGHT = 20,
    SMALL_WIDTH = 460,
    SMOOTHED_PART = 40, /* half the smoothing window is this fraction of the run: 1/40 */
    MAX_STEPS = 100000, /* in the CSV of a page */
};

/* Near the ends it reaches less far, so that the first and the last are themselves: a mean over one
 * side alone would lag behind a loss that falls. What is no number does not count. */
static yk_status smooth(const double *values, int32_t count, struct yk_arena *arena, double *out)
{
    const int32_t max = count / SMOOTHED_PART > 1 ? count / SMOOTHED_PART : 1;
    double *sums = NULL; /* of all before */
    int32_t *counts = NULL;
    YK_TRY_NEW(arena, sums, (int64_t)count + 1);
    YK_TRY_NEW(arena, counts, (int64_t)count + 1);
    for (int32_t i = 0; i < count; i++) {
        sums[i + 1] = sums[i] + (isfinite(values[i]) ? values[i] : 0);
        counts[i + 1] = counts[i] + (isfinite(values[i]) ? 1 : 0);
    }
    for (int32_t i = 0; i < count; i++) {
        const int32_t room = i < count - 1 - i ? i : count - 1 - i;
        const int32_t reach = room < max ? room : max;
        const int32_t counted = counts[i + reach + 1] - counts[i - reach];
        out[i] = counted > 0 ? (sums[i + reach + 1] - sums[i - reach]) / counted : NAN;
    }
    return YK_OK;
}

yk_status yk_run_curves_make(const struct yk_run_report *report, struct yk_arena *arena,
                             struct yk_run_curves *out)
{
    struct yk_run_curves curves = {.count = report->step_count,
                                   .steps = yk_plot_range_make_empty()};
    double **arrays[] = {&curves.step, &curves.loss, &curves.smooth_loss,
                         &curves.norm, &curves.lr,   &curves.units_per_s};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        YK_TRY_NEW(arena, *arrays[i], (int64_t)curves.count + 1);
    }
    for (int32_t i = 0; i < curves.count; i++) {
        const struct yk_run_report_step *step = &report->steps[i];
        curves.step[i] = (double)step->step;
        curves.loss[i] = step->loss;
        curves.norm[i] = step->norm;
        curves.lr[i] = step->lr;
        curves.units_per_s[i] = step->units_per_s;
        yk_plot_range_include_value(&curves.steps, curves.step[i]);
    }
    for (int32_t i = 0; i < report->evaluation_count; i++) {
        yk_plot_range_include_value(&curves.steps, (double)report->evaluations[i].step);
    }
    for (int32_t i = 0; i < report->rebalancing_count; i++) {
        yk_plot_range_include_value(&curves.steps, (double)report->rebalancings[i].step);
    }
    if (curves.steps.low == curves.steps.high) {
        curves.steps.low -= 1;
        curves.steps.high += 1;
    }
    yk_plot_range_pad(&curves.steps, 0);
    YK_TRY(smooth(curves.loss, curves.count, arena, curves.smooth_loss));
    *out = curves;
    return YK_OK;
}

struct yk_plot yk_run_curves_make_plot(const struct yk_run_curves *curves, struct yk_figure frame,
                                       double top, double height)
{
    struct yk_plot plot = {
        .figure = frame,
        .left = LEFT,
        .right = frame.width - RIGHT_MARGIN,
        .top = top + (frame.standalone ? YK_FIGURE_HEADING_HEIGHT : 0),
        .x = curves->steps,
        .integer_x = true,
    };
    plot.bottom = plot.top + height;
    return plot;
}

void yk_run_curves_add_hover_area(const struct yk_plot *plot, const char *label)
{
    struct yk_text *out = plot->figure.out;
    if (plot->figure.standalone) {
        return;
    }
    yk_figure_begin_rect_tag(&plot->figure, "hover-area", plot->left, plot->top,
                             plot->right - plot->left, plot->bottom - plot->top);
    yk_text_add(out, " data-low=\"");
    yk_text_add_number(out, plot->x.low);
    yk_text_add(out, "\" data-high=\"");
    yk_text_add_number(out, plot->x.high);
    yk_page_add_escaped_text_between(
        "\" tabindex=\"0\" role=\"application\" aria-roledescription=\"chart\" "
        "aria-label=\"",
        label, ". Arrow keys go from step to step.\"/>\n", out);
}

static void draw_evaluations(const struct yk_run_report *report, const struct yk_plot *plot)
{
    struct yk_text *out = plot->figure.out;
    for (int32_t i = 0; i < report->evaluation_count; i++) {
        const struct yk_run_report_evaluation *evaluation = &report->evaluations[i];
        if (!yk_plot_can_show_value(evaluation->loss)) {
            continue;
        }
        yk_text_addf(out,
                     "<circle class=\"dot s1\" cx=\"%.2f\" cy=\"%.2f\" r=\"4\"><title>evaluation "
                     "after step %lld: %s</title></circle>\n",
                     yk_plot_x_pixel(plot, (double)evaluation->step),
                     yk_plot_y_pixel(plot, evaluation->loss), (long long)evaluation->step,
                     YK_LABEL_NUMBER(evaluation->loss));
    }
}

static void draw_loss_legend(const struct yk_run_report *report, const struct yk_plot *plot,
                             double y)
{
    static const struct yk_figure_legend_entry entries[] = {{"curve thin s0", "every step", true},
                                                            {"curve s0", "smoothed", true}};
    const struct yk_figure *figure = &plot->figure;
    const double x = plot->left + 40 + yk_label_estimate_width_pixels(entries[0].name) + 40 +
                     yk_label_estimate_width_pixels(entries[1].name);
    yk_figure_draw_legend(figure, entries, 2, plot->left, y, plot->right);
    if (report->evaluation_count > 0) {
        yk_text_addf(figure->out, "<circle class=\"dot s1\" cx=\"%.2f\" cy=\"%.2f\" r=\"4\"/>",
                     x + 8, y + 9);
        yk_figure_draw_text(figure, "soft", x + 18, y + 13, "evaluation");
    }
}

static yk_status draw_loss(const void *subject, struct yk_figure frame)
{
    const struct yk_run_page_data *page = subject;
    const struct yk_run_report *report = page->report;
    const struct yk_run_curves *curves = &page->curves;
    struct yk_plot plot = yk_run_curves_make_plot(curves, frame, 10, LOSS_HEIGHT);
    plot.y = yk_plot_range_make_empty();
    plot.figure.height = plot.bottom + 40 + LEGEND_HEIGHT + 4;
    for (int32_t i = 0; i < curves->count; i++) {
        yk_plot_range_include_value(&plot.y, curves->loss[i]);
    }
    for (int32_t i = 0; i < report->evaluation_count; i++) {
        yk_plot_range_include_value(&plot.y, report->evaluations[i].loss);
    }
    yk_plot_range_pad(&plot.y, 0.04);
    yk_figure_begin(&plot.figure, "Loss by step");
    yk_plot_draw_axes(&plot, 1, "", 6);
    yk_figure_draw_text(&plot.figure, "small soft end", plot.right, plot.bottom + 33, "step");
    yk_plot_draw_curve(&plot, "curve thin s0", curves->step, curves->loss, curves->count);
    yk_plot_draw_curve(&plot, "curve s0", curves->step, curves->smooth_loss, curves->count);
    draw_evaluations(report, &plot);
    yk_run_curves_add_hover_area(&plot, "Loss by step");
    draw_loss_legend(report, &plot, plot.bottom + 38);
    yk_figure_end(&plot.figure);
    return YK_OK;
}

/* Draws one of the arrays as a small chart; `text` is the last value. */
static void draw_small(const struct yk_run_curves *curves, const double *values, const char *title,
                       const char *text, struct yk_figure frame)
{
    struct yk_plot plot = yk_run_curves_make_plot(curves, frame, TITLE_HEIGHT, SMALL_HEIGHT);
    char label[96];
    plot.figure.height = plot.bottom + AXIS_HEIGHT;
    for (int32_t i = 0; i < curves->count; i++) {
        yk_plot_range_include_value(&plot.y, values[i]);
    }
    plot.y.high = plot.y.high > 0 ? plot.y.high * 1.06 : 1;
    snprintf(label, sizeof label, "%.64s by step", title);
    yk_figure_begin(&plot.figure, label);
    yk_plot_draw_axes(&plot, 1, "", 4);
    yk_figure_draw_text(&plot.figure, "strong", plot.left, plot.top - 9, title);
    yk_figure_draw_text(&plot.figure, "soft end", plot.right, plot.top - 9, text);
    yk_plot_draw_curve(&plot, "curve fine s0", curves->step, values, curves->count);
    yk_run_curves_add_hover_area(&plot, label);
    yk_figure_end(&plot.figure);
}

/* The page's CSV has every stride-th step. */
static int32_t stride_of(const struct yk_run_report *report)
{
    return 1 + (report->step_count - 1) / MAX_STEPS;
}

static void add_step(const struct yk_run_report_step *step, double smooth_loss,
                     double evaluation_loss, struct yk_text *out)
{
    const double values[] = {evaluation_loss, step->norm, step->lr, step->seconds,
                             step->units_per_s};
    yk_csv_add_integer(out, step->step);
    yk_csv_add_number(out, step->loss);
    yk_csv_add_rounded_number(out, smooth_loss);
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        yk_csv_add_number(out, values[v]);
    }
    yk_csv_add_integer(out, step->skipped);
    yk_csv_end_row(out);
}

static void add_evaluation(const struct yk_run_report_evaluation *evaluation, struct yk_text *out)
{
    yk_text_addf(out, "%" PRId64 ",,,", evaluation->step);
    yk_csv_add_number(out, evaluation->loss);
    yk_text_add(out, ",,,,0\n");
}

static yk_status write_csv(const void *subject, struct yk_text *out)
{
    const struct yk_run_page_data *page = subject;
    const struct yk_run_report *report = page->report;
    const struct yk_run_curves *curves = &page->curves;
    const int32_t stride = stride_of(report);
    const struct yk_run_report_evaluation *evaluation = report->evaluations;
    const struct yk_run_report_evaluation *end = evaluation + report->evaluation_count;
    yk_text_addf(out, "step,loss,smooth_loss,evaluation_loss,norm,rate,seconds,%s,skipped\n",
                 page->unit->speed_member);
    for (int32_t i = 0; i < report->step_count; i++) {
        double loss = NAN;
        for (; evaluation < end && evaluation->step < report->steps[i].step; evaluation++) {
            add_evaluation(evaluation, out);
        }
        for (; evaluation < end && evaluation->step == report->steps[i].step; evaluation++) {
            loss = evaluation->loss;
        }
        if (i % stride == 0 || isfinite(loss)) {
            add_step(&report->steps[i], curves->smooth_loss[i], loss, out);
        }
    }
    for (; evaluation < end; evaluation++) {
        add_evaluation(evaluation, out);
    }
    return YK_OK;
}

void yk_run_curves_add_csv_stride_note(int32_t stride, struct yk_text *out)
{
    if (stride > 1) {
        yk_text_addf(out,
                     "<p class=\"note\">The numbers are of every %dth step; the metrics have them "
                     "all.</p>\n",
                     (int)stride);
    }
}

static yk_status add_loss(const void *subject, struct yk_text *out)
{
    const struct yk_run_page_data *page = subject;
    YK_TRY(yk_chart_add_picture(&yk_run_chart_loss, subject, out));
    yk_run_curves_add_csv_stride_note(stride_of(page->report), out);
    return YK_OK;
}

static bool has_loss(const void *subject)
{
    const struct yk_run_page_data *page = subject;
    return page->report->step_count > 0 || page->report->evaluation_count > 0;
}

const struct yk_chart yk_run_chart_loss = {
    .name = "loss",
    .title = "Loss",
    .row_class = "pair uneven",
    .applies = has_loss,
    .draw = draw_loss,
    .width = 700,
    .file_width = 760,
    .css_class = "full",
    .add_html = add_loss,
    .csv_name = "steps",
    .write_csv = write_csv,
};

/* "0.95", or "" if the value is not finite. */
static const char *short_number(double value, char out[YK_NUMBER_BUFFER_SIZE])
{
    snprintf(out, YK_NUMBER_BUFFER_SIZE, "%.3g", value);
    return isfinite(value) ? out : "";
}

static void add_small(const struct yk_run_page_data *page, double width, struct yk_text *out)
{
    const struct yk_run_curves *curves = &page->curves;
    const struct yk_run_report_step *last = &page->report->steps[page->report->step_count - 1];
    const struct yk_figure frame = yk_page_make_figure(width, out);
    char text[YK_NUMBER_BUFFER_SIZE];
    yk_label_format_speed(yk_plot_can_show_value(last->units_per_s) ? last->units_per_s : 0, text);
    draw_small(curves, curves->units_per_s, page->unit->speed,
               isfinite(last->units_per_s) ? text : "", frame);
    draw_small(curves, curves->norm, "gradient norm", short_number(last->norm, text), frame);
    draw_small(curves, curves->lr, "learning rate", short_number(last->lr, text), frame);
}

static yk_status add_curves(const void *subject, struct yk_text *out)
{
    yk_text_add(out, "<div class=\"at-wide full\">\n");
    add_small(subject, SMALL_WIDTH, out);
    yk_text_add(out, "</div>\n<div class=\"at-narrow\">\n");
    add_small(subject, YK_PAGE_NARROW_WIDTH, out);
    yk_text_add(out, "</div>\n");
    return YK_OK;
}

static bool has_steps(const void *subject)
{
    const struct yk_run_page_data *page = subject;
    return page->report->step_count > 0;
}

const struct yk_chart yk_run_chart_curves = {
    .title = "Speed, gradients, rate",
    .row_class = "pair uneven",
    .applies = has_steps,
    .add_html = add_curves,
};
