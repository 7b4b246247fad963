/*
 * Lanes: how far each lane of each fold is in its list of ops, and how much of what it is at is
 * left.
 */
#ifndef YK_SIM_LANES_H
#define YK_SIM_LANES_H

#include "base/arena.h"
#include "base/status.h"
#include "program/program.h"
#include "sim/rank_classes.h"
#include "sim/times.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_sim_lane {
    int32_t *ops; /* in order */
    int32_t op_count;
    int32_t next;       /* in ops: it runs, or is the next to */
    int32_t round;      /* of it */
    int32_t waits_over; /* of its waits, the first so many */
    bool taken;         /* it runs, or is ready and waits for the other ranks */

    /* While it runs; of a message, on its first fold. */
    double left_s; /* alone, at since_s */
    double since_s;
    double rate;
};

struct yk_sim_class {
    int32_t rank; /* the first of it */
    const struct yk_program_rank *list;
    const double *alone_s; /* (ops) */
    int32_t *rounds_over;  /* (ops) how often each has ended */
    struct yk_sim_lane lanes[YK_LANE_COUNT];
    int32_t message; /* that is under way here, −1: none */
    double slowdown; /* of computation while it is; 1 while none is */
    bool queued;     /* something may start */

    /* Up to now_s: how long it has computed, and waited while data moved. */
    double now_s;
    double computed_s;
    double waited_s;
};

/* All folds before the first round. */
yk_status yk_sim_classes_begin(const struct yk_program *program,
                               const struct yk_rank_classes *folds, const struct yk_times *times,
                               struct yk_arena *arena, struct yk_sim_class **out) YK_MUST_USE;

static inline const struct yk_op *yk_sim_lane_op(const struct yk_sim_class *fold,
                                                 const struct yk_sim_lane *lane)
{
    return &fold->list->ops[lane->ops[lane->next]];
}

/* Whether nothing on its own rank keeps the lane's next op from starting, be it of a round before
 * `round_count`. */
bool yk_sim_lane_is_ready(const struct yk_sim_class *fold, struct yk_sim_lane *lane,
                          int32_t round_count);

/* The lane's op is over: the next one is next. True when that was the last of its round. */
bool yk_sim_lane_advance(struct yk_sim_class *fold, struct yk_sim_lane *lane);

/* Lets the fold's clocks run up to `now_s`. */
void yk_sim_class_advance(struct yk_sim_class *fold, double now_s);

#endif
