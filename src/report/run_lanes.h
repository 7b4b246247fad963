/*
 * Run lanes: the predicted and the measured step of a run, lane by lane, and their sums.
 *
 * A fold is one lane of one rank with two rows, "predicted" and "measured"; lanes on which neither
 * has anything are left out. Where there are more than YK_RUN_LANES_APART ranks, those that were
 * predicted to do the same at the same times are one, and the one that computed longest stands for
 * them. Ranks may begin a step while others are still at the one before: times are counted from the
 * first op of either trace, if that is before the step. All in the arena they were made in.
 */
#ifndef YK_REPORT_RUN_LANES_H
#define YK_REPORT_RUN_LANES_H

#include "report/plan_fold.h"
#include "report/plan_look.h"
#include "report/run_ranks.h"

enum {
    YK_RUN_LANES_APART = 8
};

enum {
    YK_RUN_PREDICTED,
    YK_RUN_MEASURED,
    YK_RUN_TRACE_COUNT,
};

/* Does not move once made: the folds point at its result. */
struct yk_run_lanes {
    struct yk_plan_result result; /* the title alone: what pictures of folds ask for */
    struct yk_plan_folds folds;
    const char *const *devices; /* (folds) the name of the rank's, and whom it stands for */
    double shift_s;             /* that was added to the times of both traces */
    bool folded;                /* some rank stands for others */
};

yk_status yk_run_lanes_make(const struct yk_run_report *report, const struct yk_run_ranks *ranks,
                            struct yk_arena *arena, struct yk_run_lanes *out) YK_MUST_USE;

/* "predicted", "measured". */
const char *yk_run_trace_name(int trace);

/* All ops of a kind on all ranks together. */
struct yk_run_kind {
    int32_t count[YK_RUN_TRACE_COUNT];
    double seconds[YK_RUN_TRACE_COUNT];
};

void yk_run_kinds_sum(const struct yk_run_report *report, struct yk_run_kind out[YK_LOOK_OP_COUNT]);

#endif
