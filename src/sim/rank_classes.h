/*
 * Rank classes: ranks that do the same at the same time, so that one of them stands for all.
 *
 * Two ranks are in one class when they have one list of ops, devices that take equal times, and
 * equal parts of every group, and when the list neither sends nor receives. All that they
 * communicate then is with groups that both are in: they start together and, one op after the
 * other, end together. What a message costs still counts every rank.
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
    int32_t *ranks;   /* (count) the first of each */
    int32_t *of_rank; /* (ranks of the program) */
    double *parts;    /* (ranks, groups) each rank's part of sharded state; −1: not a member */
};

yk_status yk_rank_classes_find(const struct yk_program *program,
                               const struct yk_layer_costs *prices, struct yk_arena *arena,
                               struct yk_rank_classes *out) YK_MUST_USE;

#endif
