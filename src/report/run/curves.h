/* Run curves: what a run's charts show over its steps, one array for each. In the arena they were
 * made in. */
#ifndef YK_REPORT_RUN_CURVES_H
#define YK_REPORT_RUN_CURVES_H

#include "base/arena.h"
#include "report/figure.h"
#include "report/plot.h"
#include "report/run/ranks.h"

struct yk_run_curves {
    int32_t count;
    double *step;
    double *loss;
    double *smooth_loss; /* the mean over the steps around, as many before as after */
    double *norm;
    double *rate;
    double *tokens_per_s;
    struct yk_plot_range steps; /* from the first to the last */
};

yk_status yk_run_curves_make(const struct yk_run_report *report, struct yk_arena *arena,
                             struct yk_run_curves *out) YK_MUST_USE;

/* Where a script shows the step that is pointed at; nothing in a picture that stands alone. */
void yk_run_curves_add_hover_area(const struct yk_plot *plot, const char *label);

/* Says that the numbers are of every so many steps; nothing where that is every one. */
void yk_run_curves_add_note(int32_t stride, struct yk_text *out);

#endif
