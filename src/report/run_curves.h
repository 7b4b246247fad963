/* Run curves: what a run's charts show over its steps, one array for each. In the arena they were
 * made in. */
#ifndef YK_REPORT_RUN_CURVES_H
#define YK_REPORT_RUN_CURVES_H

#include "base/arena.h"
#include "report/plan_figure.h"
#include "report/plot.h"
#include "report/run_ranks.h"

struct yk_run_curves {
    int32_t count;
    double *step;
    double *loss;
    double *smooth_loss; /* the mean over the steps around, as many before as after */
    double *norm;
    double *rate;
    double *tokens_per_s;
    struct yk_range steps; /* from the first to the last */
};

yk_status yk_run_curves_make(const struct yk_run_report *report, struct yk_arena *arena,
                             struct yk_run_curves *out) YK_MUST_USE;

void yk_run_draw_loss(const struct yk_run_report *report, const struct yk_run_curves *curves,
                      struct yk_figure frame);

/* A small chart of one of the arrays from 0 up; `title` is its name, `words` its value now. */
void yk_run_draw_small(const struct yk_run_curves *curves, const double *values, const char *title,
                       const char *words, struct yk_figure frame);

/* What every rank computed in every step, its prediction dashed, and where shares changed. */
yk_status yk_run_draw_ranks(const struct yk_run_report *report, const struct yk_run_curves *curves,
                            const struct yk_run_ranks *ranks, struct yk_arena *arena,
                            struct yk_figure frame) YK_MUST_USE;

/* Where a script shows the step that is pointed at; nothing in a picture that stands alone. */
void yk_run_add_catch(const struct yk_plot *plot, const char *label);

#endif
