/*
 * Run ranks: what is known about every rank of a run, from the numbers of its report and from sums
 * over its traces; and the ops whose measured and predicted times differ most. Results are in the
 * caller's arena.
 */
#ifndef YK_REPORT_RUN_RANKS_H
#define YK_REPORT_RUN_RANKS_H

#include "base/arena.h"
#include "report/run/report.h"

struct yk_run_ranks {
    struct yk_run_rank *ranks; /* each with a device */
    int32_t count;
    double predicted_step_s; /* what the times of a rank add up to; NAN: not known */
    double measured_step_s;  /* the same, of the last step */
};

/* Times are those of the traces, where there are any. */
yk_status yk_run_ranks_make(const struct yk_run_report *report, struct yk_arena *arena,
                            struct yk_run_ranks *out) YK_MUST_USE;

/* The rank that computes longest, as measured, or else as predicted; −1: not known. */
int32_t yk_run_ranks_slowest(const struct yk_run_ranks *ranks);

/* All ops of one name, on the rank where measurement and prediction differ most. Communication is
 * counted only while data moves, without waiting for other ranks. */
struct yk_run_difference {
    const char *op;
    int32_t rank;
    double predicted_s;
    double measured_s;
};

/* The largest differences, largest first, at most `max`; none unless there are both traces. */
yk_status yk_run_ranks_find_differences(const struct yk_run_report *report, int32_t max,
                                        struct yk_arena *arena, struct yk_run_difference **out,
                                        int32_t *out_count) YK_MUST_USE;

#endif
