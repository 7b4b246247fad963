#include "report/run_curves.h"

#include "report/label.h"

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
    SMOOTHED_PART = 40 /* of the run that one side of the mean reaches */
};

/* Near the ends it reaches less far, so that the first and the last are themselves: a mean over one
 * side alone would lag behind a loss that falls. What is no number does not count. */
static yk_status smooth(const double *values, int32_t count, struct yk_arena *arena, double *out)
{
    const int32_t most = count / SMOOTHED_PART > 1 ? count / SMOOTHED_PART : 1;
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
        const int32_t reach = room < most ? room : most;
        const int32_t counted = counts[i + reach + 1] - counts[i - reach];
        out[i] = counted > 0 ? (sums[i + reach + 1] - sums[i - reach]) / counted : NAN;
    }
    return YK_OK;
}

yk_status yk_run_curves_make(const struct yk_run_report *report, struct yk_arena *arena,
                             struct yk_run_curves *out)
{
    struct yk_run_curves curves = {.count = report->step_count, .steps = yk_range_empty()};
    double **arrays[] = {&curves.step, &curves.loss, &curves.smooth_loss,
                         &curves.norm, &curves.rate, &curves.tokens_per_s};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        YK_TRY_NEW(arena, *arrays[i], (int64_t)curves.count + 1);
    }
    for (int32_t i = 0; i < curves.count; i++) {
        const struct yk_run_report_step *step = &report->steps[i];
        curves.step[i] = (double)step->step;
        curves.loss[i] = step->loss;
        curves.norm[i] = step->norm;
        curves.rate[i] = step->rate;
        curves.tokens_per_s[i] = step->tokens_per_s;
        yk_range_include(&curves.steps, curves.step[i]);
    }
    for (int32_t i = 0; i < report->evaluation_count; i++) {
        yk_range_include(&curves.steps, (double)report->evaluations[i].step);
    }
    for (int32_t i = 0; i < report->rebalancing_count; i++) {
        yk_range_include(&curves.steps, (double)report->rebalancings[i].step);
    }
    if (curves.steps.low == curves.steps.high) {
        curves.steps.low -= 1;
        curves.steps.high += 1;
    }
    yk_range_widen(&curves.steps, 0);
    YK_TRY(smooth(curves.loss, curves.count, arena, curves.smooth_loss));
    *out = curves;
    return YK_OK;
}

void yk_run_add_catch(const struct yk_plot *plot, const char *label)
{
    struct yk_text *out = plot->figure.out;
    if (plot->figure.alone) {
        return;
    }
    yk_figure_begin_rect(&plot->figure, "catch", plot->left, plot->top, plot->right - plot->left,
                         plot->bottom - plot->top);
    yk_text_add(out, " data-low=\"");
    yk_text_add_number(out, plot->x.low);
    yk_text_add(out, "\" data-high=\"");
    yk_text_add_number(out, plot->x.high);
    yk_text_add(out, "\" tabindex=\"0\" role=\"application\" aria-roledescription=\"chart\" "
                     "aria-label=\"");
    yk_text_add_xml(out, label);
    yk_text_add(out, ". Arrow keys go from step to step.\"/>\n");
}

static void draw_evaluations(const struct yk_run_report *report, const struct yk_plot *plot)
{
    struct yk_text *out = plot->figure.out;
    for (int32_t i = 0; i < report->evaluation_count; i++) {
        const struct yk_run_report_evaluation *evaluation = &report->evaluations[i];
        char number[YK_NUMBER_SIZE];
        if (!yk_plot_holds(evaluation->loss)) {
            continue;
        }
        yk_label_number(evaluation->loss, number);
        yk_text_addf(out,
                     "<circle class=\"dot s1\" cx=\"%.2f\" cy=\"%.2f\" r=\"4\"><title>evaluation "
                     "after step %lld: %s</title></circle>\n",
                     yk_plot_x(plot, (double)evaluation->step), yk_plot_y(plot, evaluation->loss),
                     (long long)evaluation->step, number);
    }
}

static void draw_loss_legend(const struct yk_run_report *report, const struct yk_plot *plot,
                             double y)
{
    const struct yk_figure *figure = &plot->figure;
    double x = plot->left;
    yk_figure_line(figure, "curve thin s0", x, y + 9, x + 20, y + 9);
    yk_figure_text(figure, "soft", x + 26, y + 13, "every step");
    x += 26 + yk_label_pixels("every step") + 14;
    yk_figure_line(figure, "curve s0", x, y + 9, x + 20, y + 9);
    yk_figure_text(figure, "soft", x + 26, y + 13, "smoothed");
    x += 26 + yk_label_pixels("smoothed") + 14;
    if (report->evaluation_count > 0) {
        yk_text_addf(figure->out, "<circle class=\"dot s1\" cx=\"%.2f\" cy=\"%.2f\" r=\"4\"/>",
                     x + 8, y + 9);
        yk_figure_text(figure, "soft", x + 18, y + 13, "evaluation");
    }
}

void yk_run_draw_loss(const struct yk_run_report *report, const struct yk_run_curves *curves,
                      struct yk_figure frame)
{
    struct yk_plot plot = {
        .figure = frame,
        .left = LEFT,
        .right = frame.width - RIGHT_MARGIN,
        .top = 10 + (frame.alone ? YK_FIGURE_HEADING : 0),
        .x = curves->steps,
        .counts = true,
        .y = yk_range_empty(),
    };
    plot.bottom = plot.top + LOSS_HEIGHT;
    plot.figure.height = plot.bottom + 40 + LEGEND_HEIGHT + 4;
    for (int32_t i = 0; i < curves->count; i++) {
        yk_range_include(&plot.y, curves->loss[i]);
    }
    for (int32_t i = 0; i < report->evaluation_count; i++) {
        yk_range_include(&plot.y, report->evaluations[i].loss);
    }
    yk_range_widen(&plot.y, 0.04);
    yk_figure_begin(&plot.figure, "Loss by step");
    yk_plot_axes(&plot, 1, "", 6);
    yk_figure_text(&plot.figure, "small soft end", plot.right, plot.bottom + 33, "step");
    yk_plot_curve(&plot, "curve thin s0", curves->step, curves->loss, curves->count);
    yk_plot_curve(&plot, "curve s0", curves->step, curves->smooth_loss, curves->count);
    draw_evaluations(report, &plot);
    yk_run_add_catch(&plot, "Loss by step");
    draw_loss_legend(report, &plot, plot.bottom + 38);
    yk_figure_end(&plot.figure);
}

void yk_run_draw_small(const struct yk_run_curves *curves, const double *values, const char *title,
                       const char *words, struct yk_figure frame)
{
    struct yk_plot plot = {
        .figure = frame,
        .left = LEFT,
        .right = frame.width - RIGHT_MARGIN,
        .top = TITLE_HEIGHT + (frame.alone ? YK_FIGURE_HEADING : 0),
        .x = curves->steps,
        .counts = true,
        .y = {0, 0},
    };
    char label[96];
    plot.bottom = plot.top + SMALL_HEIGHT;
    plot.figure.height = plot.bottom + AXIS_HEIGHT;
    for (int32_t i = 0; i < curves->count; i++) {
        yk_range_include(&plot.y, values[i]);
    }
    plot.y.high = plot.y.high > 0 ? plot.y.high * 1.06 : 1;
    snprintf(label, sizeof label, "%.64s by step", title);
    yk_figure_begin(&plot.figure, label);
    yk_plot_axes(&plot, 1, "", 4);
    yk_figure_text(&plot.figure, "strong", plot.left, plot.top - 9, title);
    yk_figure_text(&plot.figure, "soft end", plot.right, plot.top - 9, words);
    yk_plot_curve(&plot, "curve fine s0", curves->step, values, curves->count);
    yk_run_add_catch(&plot, label);
    yk_figure_end(&plot.figure);
}
