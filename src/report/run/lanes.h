/*
 * Run lanes: the predicted and the measured step of a run, lane by lane, and their sums.
 *
 * A lane of a rank is a group of two rows, "predicted" and "measured"; lanes on which neither
 * has anything are left out. Where there are more than YK_RUN_LANES_APART ranks, those that were
 * predicted to do the same at the same times are one, and the one that computed longest stands for
 * them. Ranks may begin a step while others are still at the one before: times are counted from the
 * first op of either trace, if that is before the step. All in the arena they were made in.
 */
#ifndef YK_REPORT_RUN_LANES_H
#define YK_REPORT_RUN_LANES_H

#include "report/op_style.h"
#include "report/plan/equal_ranks.h"
#include "report/run/ranks.h"

enum {
    YK_RUN_LANES_APART = 8
};

enum {
    YK_RUN_PREDICTED,
    YK_RUN_MEASURED,
    YK_RUN_TRACE_COUNT,
};

/* One lane of one rank, with a row for each trace. */
struct yk_run_lane {
    int32_t rank;  /* the one that is shown */
    int32_t count; /* of ranks that it stands for */
    const char *lane;
    const char *device;  /* the name of the rank's, and whom it stands for */
    const char *name;    /* device and lane */
    const char *numbers; /* of the ranks: "2", "0 to 31, 40" */
    struct yk_lanes_row rows[YK_RUN_TRACE_COUNT];
};

struct yk_run_lanes {
    const struct yk_run_lane *all; /* one for each group of `lanes` */
    struct yk_lanes lanes;
    double shift_s; /* that was added to the times of both traces */
    bool merged;    /* some rank stands for others */
};

yk_status yk_run_lanes_make(const struct yk_run_report *report, const struct yk_run_ranks *ranks,
                            struct yk_arena *arena, struct yk_run_lanes *out) YK_MUST_USE;

/* "predicted", "measured". */
const char *yk_run_lanes_trace_name(int trace);

/* All ops of a kind on all ranks together. */
struct yk_run_kind {
    int32_t count[YK_RUN_TRACE_COUNT];
    double seconds[YK_RUN_TRACE_COUNT];
};

void yk_run_lanes_sum_kinds(const struct yk_run_report *report,
                            struct yk_run_kind out[YK_OP_STYLE_COUNT]);

#endif
