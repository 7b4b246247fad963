/*
 * Rank classes: sets of ranks that do the same at the same time. Only one rank of each class is
 * simulated.
 *
 * Two ranks are in one class if they have the same op list, devices of the same speed, equal parts
 * of the state of every group, and no send or recv. The ranks of a class take part in the same
 * collectives, and their ops start and end at the same times. All ranks of a collective count for
 * its cost, also those that are not simulated.
 */
#ifndef YK_SIM_RANK_CLASSES_H
#define YK_SIM_RANK_CLASSES_H

#include "base/arena.h"
#include "base/status.h"
#include "cost/layer_costs.h"
#include "program/program.h"

#include <stdint.h>

struct yk_rank_classes {
    int32_t count;
    int32_t *ranks;   /* (count) the first rank of each class */
    int32_t *of_rank; /* (ranks of the program) the class of each rank */
    /* (ranks, groups) fraction of the sharded state of the group that the rank holds; −1 means: the
     * rank is not a member */
    double *parts;
};

yk_status yk_rank_classes_find(const struct yk_program *program, const struct yk_layer_costs *costs,
                               struct yk_arena *arena, struct yk_rank_classes *out) YK_MUST_USE;

#endif
