/*
 * Solution: an order of all tasks and a device for each, which together say when everything runs.
 * Annealing changes solutions and asks how long they take. Without memory limits a task starts when
 * its device has finished the tasks before it and its inputs are there; with limits, each task goes
 * into the first gap in which it fits (timeline/memory_fit.h). One thread at a time.
 */
#ifndef YK_SCHED_SEARCH_SOLUTION_H
#define YK_SCHED_SEARCH_SOLUTION_H

#include "sched/schedule.h"

#define YK_SOLUTION_NONE INT64_MAX /* longer than was asked for, or no room */

struct yk_solution {
    const struct yk_graph *graph;
    struct yk_arena *arena; /* owns the solution */
    int32_t *sequence;      /* (n) tasks in a topological order */
    int32_t *places;        /* (n) where each task is in the sequence */
    int32_t *devices;       /* (n) */
    int64_t *starts;        /* (n) of the last successful decoding */
    int64_t *finishes;      /* (n) likewise */
    int32_t *previous;      /* (n) the task before it on its device, or -1; likewise */
    int64_t makespan;       /* likewise */
    struct yk_solution_decoder *decoder;
};

/* The solution that a schedule is. */
yk_status yk_solution_create(const struct yk_schedule *schedule,
                             struct yk_solution **out) YK_MUST_USE;
void yk_solution_destroy(struct yk_solution *solution);

/*
 * How long the solution takes, given that it was changed only from `first_place` on since the last
 * successful decoding. Gives up, and leaves the last decoding as it was, as soon as it is clear
 * that it takes longer than `limit`: then the result is YK_SOLUTION_NONE.
 */
int64_t yk_solution_decode(struct yk_solution *solution, int32_t first_place, int64_t limit);

/* Makes it the solution that `schedule`, of the same graph, is; the next decoding is from place 0.
 */
yk_status yk_solution_load(struct yk_solution *solution,
                           const struct yk_schedule *schedule) YK_MUST_USE;

/* Moves a task to another place in the sequence; what lies between makes room. */
void yk_solution_shift(struct yk_solution *solution, int32_t task, int32_t place);

/* Puts the sequence in the order of the starts: places then say when, and stay topological. The
 * next decoding is from place 0. */
yk_status yk_solution_sort(struct yk_solution *solution) YK_MUST_USE;

/* Writes the last decoding into a schedule of the same graph. */
void yk_solution_write(const struct yk_solution *solution, struct yk_schedule *schedule);

#endif
