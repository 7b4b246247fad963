/*
 * Partial schedule: the state of the exact search. The search appends a task to the schedule, or
 * undoes the last step. A partial schedule lists the possible next steps, each with a lower bound
 * of the makespan. It also detects states that need not be searched, because a visited state
 * dominates them (see struct yk_visited_states below). Of the memory limits, it checks only what
 * does not depend on the order of the tasks: the resident bytes of groups, and the bytes that a
 * single running task needs. In the comments below, n is the number of tasks and P the number of
 * devices. A partial schedule is not thread-safe.
 */
#ifndef YK_SCHED_SEARCH_PARTIAL_SCHEDULE_H
#define YK_SCHED_SEARCH_PARTIAL_SCHEDULE_H

#include "sched/bound/makespan_bound.h"
#include "sched/schedule.h"
#include "sched/timeline/group_placement.h"

/* A possible step: append `task` to the tasks of `device`. */
struct yk_partial_schedule_step {
    int64_t bound; /* lower bound of the makespan after this step */
    int64_t start;
    int64_t finish;
    /* The time from which the device was idle before the step; needed to undo the step. */
    int64_t idle_from;
    int32_t task;
    int32_t device;
};

/* The work of the unplaced tasks, priced with one set of dual prices (makespan_bound.h). */
struct yk_partial_schedule_priced_work {
    struct yk_dual_prices prices;
    yk_dual_priced_ticks *cheapest; /* (n) yk_dual_prices_min_task_price() of each task */
    yk_dual_priced_ticks left;      /* sum of `cheapest` over the unplaced tasks */
};

enum {
    YK_PARTIAL_SCHEDULE_PRICE_SETS = 2 /* equal prices, and the prices of yk_dual_prices_search() */
};

struct yk_partial_schedule {
    const struct yk_graph *graph;
    struct yk_path_bounds paths;
    struct yk_visited_states *visited;
    double deadline_s;    /* time of yk_clock_now_s() from which no steps are listed; 0 means: no
                             deadline */
    bool timed_out;       /* yk_partial_schedule_list_next_steps() listed no steps, because the
                             deadline had passed */
    bool keeps_dominated; /* true means: states are not compared with visited states, because a
                             dominated state may need less memory */
    int64_t granularity;  /* bounds are rounded up to a multiple of this */
    int32_t placed;       /* number of placed tasks */
    /* The schedule of the placed tasks. The device of unplaced tasks is YK_SCHEDULE_NO_DEVICE. The
     * makespan and the lower bound are not set. */
    struct yk_schedule schedule;
    int64_t *idle_from; /* (P) finish of the last task on the device */
    int32_t *used;      /* (P) number of placed tasks on the device */
    int32_t *missing;   /* (n) number of unplaced inputs */
    int32_t *unused;    /* (n) number of outgoing edges to unplaced tasks */
    struct yk_group_placement groups;
    int64_t *free_bytes;   /* (P) free memory: the limit minus the resident bytes of groups */
    int64_t *needed_bytes; /* (n) memory of the task and resident bytes of all its edges */
    struct yk_partial_schedule_priced_work works[YK_PARTIAL_SCHEDULE_PRICE_SETS];
    int32_t *twin; /* (P) the first device that has the same costs, links and memory as this device;
                      may be this device itself */
    uint16_t *key; /* (n) temporary: the key of the state */
    int64_t *times;   /* (n + P) temporary: the times of the state */
    int64_t *ends;    /* (n, P) temporary: lower bounds of the finishes of unplaced tasks */
    int64_t *min_end; /* (n) temporary: the minimum of each row of `ends` */
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

/* Returns true if a visited state dominates this state. Otherwise adds this state to the visited
 * states and returns false. If `keeps_dominated` is true, always returns false and adds nothing. */
bool yk_partial_schedule_dominated_or_add(struct yk_partial_schedule *partial);

/* Lists the possible next steps whose bound is less than `limit`, smallest bound first, and returns
 * their number. If several unused devices are equal (see `twin`), lists steps only for the first of
 * them. `out` must have space for all unplaced tasks on all devices. */
int32_t yk_partial_schedule_list_next_steps(struct yk_partial_schedule *partial, int64_t limit,
                                            struct yk_partial_schedule_step *out);

/* Returns the latest finish of the placed tasks. */
int64_t yk_partial_schedule_makespan(const struct yk_partial_schedule *partial);

/*
 * Visited states of the search. A state consists of a key and a list of times. The key says which
 * tasks are placed and where their data is. Let V be a visited state and S a state with the same
 * key. V dominates S if no time of V is later than the corresponding time of S. The table has a
 * fixed size. When there is no space, new states replace old ones. The search then takes longer
 * than with a larger table, but its result stays correct.
 */
struct yk_visited_states;

/* Creates the table in `arena`. A key has `key_length` numbers, and a state has at most
 * `max_times` times. The table holds about `max_states` states, or fewer if it reaches its
 * memory limit first. */
yk_status yk_visited_states_create(struct yk_arena *arena, int32_t key_length, int32_t max_times,
                                   int64_t max_states, struct yk_visited_states **out) YK_MUST_USE;

/* Returns true if a visited state dominates this state. Otherwise adds this state to the table and
 * returns false. */
bool yk_visited_states_dominate_or_add(struct yk_visited_states *visited, const uint16_t *key,
                                       const int64_t *times, int32_t time_count);

#endif
