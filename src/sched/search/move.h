/*
 * Move: a small change of a solution: some tasks to another device, or one to another place in the
 * order. Moves are aimed at the critical path, the chain of tasks and waits that makes the schedule
 * as long as it is. A generator belongs to one solution and its thread.
 */
#ifndef YK_SCHED_SEARCH_MOVE_H
#define YK_SCHED_SEARCH_MOVE_H

#include "base/random.h"
#include "sched/search/solution.h"

struct yk_move_generator;

struct yk_move {
    int32_t task;
    int32_t device; /* where it (and its group) goes; its present one for a shift */
    int32_t place;  /* where in the sequence it goes; its present one for a mere change */
    int32_t old_device;
    int32_t old_place;
    int32_t first_place; /* the first place in the sequence that the move touches */
};

/* Memory is the solution's. */
yk_status yk_move_generator_create(struct yk_solution *solution,
                                   struct yk_move_generator **out) YK_MUST_USE;

/* The solution was decoded anew: the critical path must be found again. */
void yk_move_invalidate_path(struct yk_move_generator *generator);

/* Draws a move; false when the draw gave none (nothing to swap, no other device). */
bool yk_move_propose(struct yk_move_generator *generator, struct yk_random *random,
                     struct yk_move *out);

void yk_move_apply(struct yk_move_generator *generator, const struct yk_move *move);
void yk_move_undo(struct yk_move_generator *generator, const struct yk_move *move);

#endif
