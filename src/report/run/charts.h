/*
 * Run charts: the charts of a run's page, in the order of the page. Their subject is struct
 * yk_run_page_data. A new chart is a file with a record yk_run_chart_NAME (a struct yk_chart,
 * chart.h) and one row here.
 *
 * Some other lists are kept by hand. Add a chart with a picture to run/report.h and to
 * tests/cli/cases/report-run.case, and a chart with numbers to `ids` in
 * tests/report/run_page_test.c.
 */
#ifndef YK_REPORT_RUN_CHARTS_H
#define YK_REPORT_RUN_CHARTS_H

#include "report/chart.h"
#include "report/plot.h"
#include "report/run/lanes.h"

/* Metrics over the steps of a run. All arrays have `count` elements, one for each step. */
struct yk_run_curves {
    int32_t count;
    double *step;
    double *loss;
    double *smooth_loss; /* centred moving average of the loss; its window shrinks at both ends */
    double *norm;
    double *lr;
    double *units_per_s;
    struct yk_plot_range steps; /* contains all steps, evaluations and rebalancings */
};

/* Everything that the page shows. All of it except the report lives in the arena. */
struct yk_run_page_data {
    const struct yk_run_report *report;
    const struct yk_throughput_unit *unit; /* never NULL */
    struct yk_arena *arena;
    struct yk_run_ranks ranks;
    struct yk_run_lanes lanes;
    struct yk_run_curves curves;
    struct yk_run_op_kind_times kinds[YK_OP_STYLE_COUNT];
    struct yk_run_op_difference *differences; /* largest first */
    int32_t difference_count;
};

#define YK_FOR_EACH_RUN_CHART(ROW)                                                                 \
    ROW(loss)                                                                                      \
    ROW(curves)                                                                                    \
    ROW(rank_curves)                                                                               \
    ROW(lanes)                                                                                     \
    ROW(counters)                                                                                  \
    ROW(ranks)                                                                                     \
    ROW(kinds)                                                                                     \
    ROW(differences)                                                                               \
    ROW(memory)                                                                                    \
    ROW(sample)                                                                                    \
    ROW(options)

#define YK_RUN_CHART_DECLARE(name) extern const struct yk_chart yk_run_chart_##name;
YK_FOR_EACH_RUN_CHART(YK_RUN_CHART_DECLARE)
#undef YK_RUN_CHART_DECLARE

yk_status yk_run_curves_make(const struct yk_run_report *report, struct yk_arena *arena,
                             struct yk_run_curves *out) YK_MUST_USE;

/* Makes a plot over the steps of the run, `top` pixels below the heading and `height` pixels high.
 * The caller must set the range of y. */
struct yk_plot yk_run_curves_make_plot(const struct yk_run_curves *curves, struct yk_figure frame,
                                       double top, double height);

/* Adds the area in which web/steps.js shows the step under the pointer. Adds nothing in a
 * standalone picture. */
void yk_run_curves_add_hover_area(const struct yk_plot *plot, const char *label);

/* Adds a note that the CSV table of the page has only every `stride`-th step. Adds nothing if
 * `stride` is 1. */
void yk_run_curves_add_csv_stride_note(int32_t stride, struct yk_text *out);

#endif
