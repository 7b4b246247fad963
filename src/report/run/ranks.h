/*
 * Run ranks: the predicted and measured times of every rank of a run, from its traces, or from the
 * report where there is no trace; the ops whose measured and predicted times differ most; and
 * sentences about them. Results live in the caller's arena.
 */
#ifndef YK_REPORT_RUN_RANKS_H
#define YK_REPORT_RUN_RANKS_H

#include "base/arena.h"
#include "report/run/report.h"

struct yk_run_ranks {
    struct yk_run_rank *ranks; /* `device` is never NULL */
    int32_t count;
    double predicted_step_s; /* compute + exposed + idle time of a rank; NAN: unknown */
    double measured_step_s;  /* the same for the last step of the run */
};

yk_status yk_run_ranks_make(const struct yk_run_report *report, struct yk_arena *arena,
                            struct yk_run_ranks *out) YK_MUST_USE;

/* The measured times of the rank, or the predicted ones. */
static inline const struct yk_trace_breakdown *yk_run_ranks_times(const struct yk_run_ranks *ranks,
                                                                  int32_t rank, bool measured)
{
    return measured ? &ranks->ranks[rank].measured : &ranks->ranks[rank].predicted;
}

/* The rank that computes longest, by measured times, or by predicted times if none were measured;
 * -1: unknown. */
int32_t yk_run_ranks_slowest(const struct yk_run_ranks *ranks);

/* All ops of one name, on the rank where measured and predicted time differ most. The time of a
 * message is counted from the arrival of its last rank. */
struct yk_run_op_difference {
    const char *op;
    int32_t rank;
    double predicted_s;
    double measured_s;
};

/* The `max` largest differences, largest first; none if a trace is missing. */
yk_status yk_run_ranks_find_differences(const struct yk_run_report *report, int32_t max,
                                        struct yk_arena *arena, struct yk_run_op_difference **out,
                                        int32_t *out_count) YK_MUST_USE;

/* Says where the time of a step goes, and how far that is from the prediction: plain text, one
 * sentence or two per line; nothing if nothing is known. */
void yk_run_describe_time(const struct yk_run_report *report, const struct yk_run_ranks *ranks,
                          struct yk_text *out);

#endif
