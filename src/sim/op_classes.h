/*
 * Op classes: the ops of a simulated step, those alike counted together, each with what it takes
 * alone: where that comes from and how far off it may be.
 */
#ifndef YK_SIM_OP_CLASSES_H
#define YK_SIM_OP_CLASSES_H

#include "sim/sim.h"

struct yk_op_class {
    enum yk_op_kind kind; /* recomputation counts as forward; a message as its send */
    int32_t rank;         /* the first that has such an op */
    int32_t layer;        /* of it */
    int64_t samples;      /* 0 of updates */
    double bytes;         /* of messages, else 0 */
    int64_t count;        /* on all ranks */
    struct yk_cost_time time;
};

/* In the order in which they come up, rank by rank; without those that take no time. `prices` are
 * those of the simulation; in the arena. */
yk_status yk_sim_op_classes(const struct yk_sim *sim, struct yk_layer_costs *prices,
                            struct yk_arena *arena, struct yk_op_class **out,
                            int32_t *out_count) YK_MUST_USE;

#endif
