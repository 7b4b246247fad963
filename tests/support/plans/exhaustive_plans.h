/*
 * Every plan: looks at all plans there are for a small problem, each compiled, its memory counted
 * and simulated: all subsets of the devices, all ways to line them up in groups, all cuts between
 * the groups' layers, all numbers of micro-batches that divide the batch, all integer shares, all
 * strategies of all layers, recomputation of each block. For at most one group of several devices,
 * so for at most three devices.
 *
 * Plans that cannot be faster than asked for are passed over: those that compute too long, or whose
 * bytes alone travel too long.
 */
#ifndef YK_TESTS_EVERY_PLAN_H
#define YK_TESTS_EVERY_PLAN_H

#include "planner/search/search_context.h"

struct every_plan {
    struct yk_search_context *context;
    struct yk_arena *arena;     /* owns the plan */
    double below_s;             /* only plans that take less count */
    const struct yk_plan *best; /* the fastest of them that fits; NULL: there is none */
    double best_s;
    int64_t looked;
};

/* The plan is in the arena. With `any`, ends at the first plan that fits. */
void every_plan_look(struct yk_search_context *context, double below_s, bool any,
                     struct yk_arena *arena, struct every_plan *out);

#endif
