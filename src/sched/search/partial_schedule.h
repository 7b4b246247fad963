/*
 * Partial schedule: the state of the exact search. The search appends a task to it or undoes the
 * last one. It lists the possible steps with a lower bound of the makespan for each, and detects
 * states that a visited state dominates. Of the memory limits it checks the part that does not
 * depend on the order of tasks: the resident bytes of groups, and the needs of a single running
 * task. It is not thread-safe.
 */
#ifndef YK_SCHED_SEARCH_PARTIAL_SCHEDULE_H
#define YK_SCHED_SEARCH_PARTIAL_SCHEDULE_H

#include "sched/bound/makespan_bound.h"
#include "sched/schedule.h"
#include "sched/timeline/group_devices.h"

/* A possible step: append `task` on `device`. */
struct yk_partial_schedule_step {
    int64_t bound; /* lower bound of the makespan after this step */
    int64_t start;
    int64_t finish;
    int64_t idle_from; /* when the device was idle before the step; needed to undo it */
    int32_t task;
    int32_t device;
};

/* The work of the unplaced tasks for one set of dual prices. */
struct yk_partial_schedule_work {
    struct yk_dual_prices prices;
    yk_dual_priced_ticks *cheapest; /* (n) price of each task on its cheapest device */
    yk_dual_priced_ticks left;      /* sum over the unplaced tasks */
};

enum {
    YK_PARTIAL_SCHEDULE_PRICE_SETS = 2 /* equal prices, and the prices of yk_dual_prices_search() */
};

struct yk_partial_schedule {
    const struct yk_graph *graph;
    struct yk_path_bounds paths;
    struct yk_visited_states *visited;
    double deadline_s;    /* clock time when listing steps stops; 0: never */
    bool timed_out;       /* the deadline passed: the list of steps is not complete */
    bool keeps_dominated; /* try dominated states too: they may need less memory */
    int64_t granularity;  /* every makespan is a multiple of it */
    int32_t placed;       /* number of placed tasks */
    int32_t *order;       /* (placed) the tasks in the order of placement */
    int32_t *devices;     /* (n) YK_SCHEDULE_NO_DEVICE: not placed */
    int64_t *starts;      /* (n) */
    int64_t *finishes;    /* (n) */
    int64_t *idle_from;   /* (P) the finish of the last task */
    int32_t *used;        /* (P) number of tasks on the device */
    int32_t *missing;     /* (n) number of unplaced inputs */
    int32_t *unused;      /* (n) number of outgoing edges to unplaced tasks */
    struct yk_group_devices groups;
    int64_t *free_bytes;   /* (P) free memory: the limit minus the resident bytes of groups */
    int64_t *needed_bytes; /* (n) bytes of the task and of all its edges */
    struct yk_partial_schedule_work works[YK_PARTIAL_SCHEDULE_PRICE_SETS];
    int32_t *twin;    /* (P) the first device with equal costs, links and memory */
    uint16_t *key;    /* (n) scratch: the key of the state */
    int64_t *times;   /* (n + P) scratch: the times of the state */
    int64_t *ends;    /* (n, P) scratch: lower bounds of the finishes of unplaced tasks */
    int64_t *min_end; /* (n) the minimum of each row of `ends` */
};

/* Creates an empty partial schedule in `arena`. `max_states` limits the size of the table of
 * visited states. */
yk_status yk_partial_schedule_create(const struct yk_graph *graph, int64_t max_states,
                                     struct yk_arena *arena,
                                     struct yk_partial_schedule **out) YK_MUST_USE;

void yk_partial_schedule_place(struct yk_partial_schedule *partial,
                               const struct yk_partial_schedule_step *step);

/* Undoes the last step, which must be `step`. */
void yk_partial_schedule_undo(struct yk_partial_schedule *partial,
                              const struct yk_partial_schedule_step *step);

/* True if a visited state dominates this one. Otherwise adds this state to the visited states. */
bool yk_partial_schedule_is_dominated(struct yk_partial_schedule *partial);

/* Lists the steps whose bound is below `limit`, smallest bound first, and returns their number.
 * `out` must have space for all unplaced tasks on all devices. */
int32_t yk_partial_schedule_list_steps(struct yk_partial_schedule *partial, int64_t limit,
                                       struct yk_partial_schedule_step *out);

/* The latest finish of the placed tasks. */
int64_t yk_partial_schedule_makespan(const struct yk_partial_schedule *partial);

/*
 * Visited states of the search. A state has a key (which tasks are done, where their data is) and
 * times. A visited state with the same key dominates a state if none of its times is later. The
 * table has a fixed size. When it is full, new states replace old ones: the search then takes
 * longer, but stays correct.
 */
struct yk_visited_states;

/* Creates the table in `arena`. Keys have `key_length` numbers, states at most `max_times` times.
 * The table holds about `max_states` states, or fewer if its memory limit is reached first. */
yk_status yk_visited_states_create(struct yk_arena *arena, int32_t key_length, int32_t max_times,
                                   int64_t max_states, struct yk_visited_states **out) YK_MUST_USE;

/* True if a visited state dominates this state. Otherwise adds the state to the table. */
bool yk_visited_states_dominate(struct yk_visited_states *visited, const uint16_t *key,
                                const int64_t *times, int32_t time_count);

#endif
