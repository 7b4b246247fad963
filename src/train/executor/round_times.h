/*
 * Round times: when the ops of one round ran on a rank. The one form in which measured times leave
 * the executor: the trace, the log of rounds, what ops took and what meters are read for are made
 * from it.
 */
#ifndef YK_TRAIN_EXECUTOR_ROUND_TIMES_H
#define YK_TRAIN_EXECUTOR_ROUND_TIMES_H

#include "base/status.h"
#include "program/program.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* When an op ran, on the clock of base/clock.h. */
struct yk_op_time {
    int32_t op; /* of the rank's list */
    double start_s;
    double end_s;
};

struct yk_round_times {
    const struct yk_program *program;
    int32_t rank;
    struct yk_op_time *ops; /* that had something to do, in the order of the list */
    int32_t count;
    double began_s; /* when the step before was done, or this one was begun; NAN: not known */
    double done_s;
};

/* Whether all ops of the list had something to do, and none ended before it started. */
bool yk_round_times_are_whole(const struct yk_round_times *times);

/* As a trace, from the round's begin at 0. The caller destroys it. */
yk_status yk_round_times_trace(const struct yk_round_times *times,
                               struct yk_trace **out) YK_MUST_USE;

#endif
