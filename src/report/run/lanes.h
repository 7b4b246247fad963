/*
 * Run lanes: the predicted and the measured step of a run as a time chart, and the total time of
 * each kind of op.
 *
 * Every lane of every rank is a group of two rows, "predicted" and "measured". Lanes without events
 * are left out. If there are more than YK_RUN_LANES_MAX_UNMERGED_RANKS ranks, ranks with equal
 * predictions are merged: only the rank with the longest measured computation is shown.
 *
 * A rank may begin a step while another rank still runs the previous step, so the first op of a
 * trace may begin at a negative time. In this case the same time is added to all times of both
 * traces, so that the earliest op begins at 0. Results live in the caller's arena.
 */
#ifndef YK_REPORT_RUN_LANES_H
#define YK_REPORT_RUN_LANES_H

#include "report/plan/equal_ranks.h"
#include "report/run/ranks.h"

enum {
    YK_RUN_LANES_MAX_UNMERGED_RANKS = 8
};

enum {
    YK_RUN_TRACE_PREDICTED,
    YK_RUN_TRACE_MEASURED,
    YK_RUN_TRACE_COUNT,
};

/* One lane of a rank (or of merged ranks), with a row for each trace. */
struct yk_run_lane {
    int32_t rank;        /* the rank that is shown */
    int32_t count;       /* number of ranks that are merged into this lane, including `rank` */
    const char *lane;    /* name of the lane, such as "compute" */
    const char *device;  /* name of the rank's device, and the merged ranks if there are several */
    const char *name;    /* `device` and `lane` together */
    const char *numbers; /* numbers of the merged ranks: "2", "0 to 31, 40" */
    struct yk_time_chart_row rows[YK_RUN_TRACE_COUNT];
};

struct yk_run_lanes {
    const struct yk_run_lane *all; /* one for each group of `chart` */
    struct yk_time_chart chart;
    double shift_s; /* added to all times of both traces */
    bool merged;    /* true if some ranks were merged */
};

yk_status yk_run_lanes_make(const struct yk_run_report *report, const struct yk_run_ranks *ranks,
                            struct yk_arena *arena, struct yk_run_lanes *out) YK_MUST_USE;

/* The number and the total time of all ops of one kind on all ranks, in each trace. */
struct yk_run_op_kind_times {
    int32_t count[YK_RUN_TRACE_COUNT];
    double seconds[YK_RUN_TRACE_COUNT];
};

void yk_run_lanes_sum_op_kind_times(const struct yk_run_report *report,
                                    struct yk_run_op_kind_times out[YK_OP_STYLE_COUNT]);

#endif
