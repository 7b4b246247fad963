/* Draw: the pictures of a plan at the width a frame has, for a page or alone; each sets the frame's
 * height itself. */
#ifndef YK_REPORT_PLAN_DRAW_H
#define YK_REPORT_PLAN_DRAW_H

#include "report/plan_figure.h"
#include "report/plan_fold.h"

enum {
    YK_DRAW_NARROW = 480 /* below it, names go above what they name */
};

void yk_plan_draw_lanes(const struct yk_plan_folds *folds, struct yk_figure frame);
yk_status yk_plan_draw_memory(const struct yk_plan_folds *folds, const struct yk_plan_fold *fold,
                              struct yk_figure frame) YK_MUST_USE;
void yk_plan_draw_bars(const struct yk_plan_folds *folds, struct yk_figure frame);
yk_status yk_plan_draw_cluster(const struct yk_plan_result *result,
                               struct yk_figure frame) YK_MUST_USE;
void yk_plan_draw_tradeoff(const struct yk_plan_tradeoff *tradeoff, struct yk_figure frame);

#endif
