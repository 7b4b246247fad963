/*
 * Annealing state: an order of all tasks, and a device for each task. Order and devices together
 * determine the schedule. Without memory limits, a task starts when its inputs have arrived and its
 * device has finished the preceding tasks. With memory limits, a task starts in the first gap in
 * which it fits into memory. In the comments below, n is the number of tasks. A state is not
 * thread-safe.
 */
#ifndef YK_SCHED_SEARCH_ANNEAL_STATE_H
#define YK_SCHED_SEARCH_ANNEAL_STATE_H

#include "sched/schedule.h"

/* The result of yk_anneal_state_evaluate() if the makespan exceeds the limit or the memory of a
 * device is too small. */
#define YK_ANNEAL_STATE_REJECTED INT64_MAX

struct yk_anneal_state {
    const struct yk_graph *graph;
    struct yk_arena *arena; /* owns the state and all its arrays */
    /* The members `order` and `devices` define the state. The members `starts`, `finishes` and
     * `makespan` are results of the last successful yk_anneal_state_evaluate(). */
    struct yk_schedule schedule;
    int32_t *places;   /* (n) the position of each task in the order */
    int32_t *previous; /* (n) the preceding task on the same device, a result; -1 means: none */
    struct yk_anneal_state_scratch *scratch;
};

/* Creates a state from `schedule`, as yk_anneal_state_load_schedule() does. */
yk_status yk_anneal_state_create(const struct yk_schedule *schedule,
                                 struct yk_anneal_state **out) YK_MUST_USE;
void yk_anneal_state_destroy(struct yk_anneal_state *state);

/*
 * Computes the times of all tasks and returns the makespan. `first_place` is the first position of
 * the order at which the task or its device has changed since the last successful call; an earlier
 * position is also valid. If the makespan exceeds `limit`, or if the memory of a device is too
 * small, returns YK_ANNEAL_STATE_REJECTED and keeps the times of the last successful call.
 */
int64_t yk_anneal_state_evaluate(struct yk_anneal_state *state, int32_t first_place, int64_t limit);

/* Takes over the order and the devices of `schedule`, which must belong to the same graph. If the
 * graph has no memory limits, the tasks of the order are then sorted by start. Afterwards, call
 * yk_anneal_state_evaluate() with `first_place` 0. */
yk_status yk_anneal_state_load_schedule(struct yk_anneal_state *state,
                                        const struct yk_schedule *schedule) YK_MUST_USE;

/* Moves a task to position `place` of the order. The tasks between its old and its new position
 * move by one position. */
void yk_anneal_state_move_task(struct yk_anneal_state *state, int32_t task, int32_t place);

/* Sorts the order by the starts of the tasks. The sorted order is topological, too. Afterwards,
 * call yk_anneal_state_evaluate() with `first_place` 0. */
yk_status yk_anneal_state_sort_by_start(struct yk_anneal_state *state) YK_MUST_USE;

#endif
