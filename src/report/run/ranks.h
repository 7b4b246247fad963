/*
 * Run ranks: the predicted and measured times of every rank of a run. They come from the traces of
 * the run, or from struct yk_run_report if there is no trace. This module also lists the ops whose
 * measured and predicted times differ most, and describes the times in sentences. Results live in
 * the caller's arena.
 */
#ifndef YK_REPORT_RUN_RANKS_H
#define YK_REPORT_RUN_RANKS_H

#include "base/arena.h"
#include "report/run/report.h"

struct yk_run_ranks {
    struct yk_run_rank_summary *ranks; /* (count) the member `device` of each rank is not NULL */
    int32_t count;
    double predicted_step_s; /* predicted length of the step. On every rank, the compute,
                                exposed and idle times add up to it. NAN means: unknown */
    double measured_step_s;  /* measured length of the last step of the run; NAN means: unknown */
};

yk_status yk_run_ranks_make(const struct yk_run_report *report, struct yk_arena *arena,
                            struct yk_run_ranks *out) YK_MUST_USE;

/* Returns the measured times of the rank if `measured` is true, otherwise the predicted times. */
static inline struct yk_trace_breakdown *yk_run_ranks_get_times(const struct yk_run_ranks *ranks,
                                                                int32_t rank, bool measured)
{
    return measured ? &ranks->ranks[rank].measured : &ranks->ranks[rank].predicted;
}

/* Returns the rank with the longest computation time. Uses the measured times, or the predicted
 * times if there are no measured times. Returns -1 if there are neither. */
int32_t yk_run_ranks_find_slowest(const struct yk_run_ranks *ranks);

/* The total time of all ops named `op` on one rank: the rank on which the measured and the
 * predicted total differ most. The time of a message or a collective is counted from the moment
 * when all its ranks are ready. */
struct yk_run_op_difference {
    const char *op;
    int32_t rank;
    double predicted_s;
    double measured_s;
};

/* Finds the `max` largest differences and sorts them, largest first. Finds none if the predicted or
 * the measured trace is missing. */
yk_status yk_run_ranks_find_op_differences(const struct yk_run_report *report, int32_t max,
                                           struct yk_arena *arena,
                                           struct yk_run_op_difference **out,
                                           int32_t *out_count) YK_MUST_USE;

/* Appends sentences that say how the time of a step is spent and how much this differs from the
 * prediction. The text is plain, with one or two sentences per line. Appends nothing if no times
 * are known. */
void yk_run_describe_step_time(const struct yk_run_report *report, const struct yk_run_ranks *ranks,
                               struct yk_text *out);

#endif
