/*
 * Plan move: the moves of local search. A move is given by its kind and a number. After a move,
 * shard fractions and transfer order must be computed again.
 */
#ifndef YK_PLANNER_SEARCH_PLAN_MOVE_H
#define YK_PLANNER_SEARCH_PLAN_MOVE_H

#include "planner/search/search_context.h"

enum yk_plan_move_result {
    YK_PLAN_MOVE_APPLIED,   /* the plan was changed */
    YK_PLAN_MOVE_INVALID,   /* there is no valid move of this number; the plan may be invalid now */
    YK_PLAN_MOVE_PAST_LAST, /* the number is past the last move of this kind */
};

/* Kinds below YK_PLAN_MOVE_FIRST_PLACEMENT_KIND change strategies and messages. The others change
 * shares, stages, micro-batches and devices. */
enum {
    YK_PLAN_MOVE_FIRST_PLACEMENT_KIND = 2,
    YK_PLAN_MOVE_KIND_COUNT = 7,
};

/* Applies a move to `plan`. New arrays of the plan are in `arena`. */
yk_status yk_plan_move_apply(const struct yk_search_context *study, int32_t kind, int32_t number,
                             struct yk_arena *arena, struct yk_plan *plan,
                             enum yk_plan_move_result *out) YK_MUST_USE;

/* Changes the plan to use little memory: sharding, recomputation, no prefetch, as far as the search
 * decides them. Returns false if `variant` is past the last variant. */
bool yk_plan_move_save_memory(const struct yk_search_context *study, int32_t variant,
                              struct yk_plan *plan);

/* The next larger number of micro-batches to try, a divisor of the batch or a power of two; 0 after
 * the last. */
int32_t yk_plan_move_next_micro_batches(int64_t batch, int32_t micro_batches);

#endif
