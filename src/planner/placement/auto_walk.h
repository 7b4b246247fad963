/* Auto walk: the greedy walk over the modules, given how much each place may hold. */
#ifndef YK_PLANNER_PLACEMENT_AUTO_WALK_H
#define YK_PLANNER_PLACEMENT_AUTO_WALK_H

#include "base/arena.h"
#include "base/status.h"
#include "planner/placement/auto_tree.h"

#include <stdbool.h>
#include <stdint.h>

/* Where modules may go, tried in this order; behind the last, everything fits on disk. */
struct yk_auto_stop {
    int32_t place;
    int64_t nibbles; /* what it may hold */
    bool reserves; /* keeps room for the largest layer to come, should that have to be brought in */
};

/* Gives every node that is put down as one its place in `out`, YK_PLACE_NONE to the others. */
yk_status yk_auto_walk(const struct yk_auto_tree *tree, const struct yk_auto_stop *stops,
                       int32_t stop_count, struct yk_arena *arena, int32_t *out) YK_MUST_USE;

#endif
