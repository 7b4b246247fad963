/*
 * Partial: a schedule under exact search. Tasks are appended and undone in turn; it knows which
 * steps are possible, a lower bound for everything that could follow, and whether a visited state
 * dominates this one. Of memory it knows what holds at any order and any time: the resident bytes
 * of the groups on a device, and what a single task needs while it runs. One thread at a time.
 */
#ifndef YK_SCHED_SEARCH_PARTIAL_H
#define YK_SCHED_SEARCH_PARTIAL_H

#include "sched/bound/paths.h"
#include "sched/bound/prices.h"
#include "sched/schedule.h"
#include "sched/search/visited.h"
#include "sched/timeline/group_devices.h"

/* A task that could be appended. */
struct yk_partial_step {
    int64_t bound; /* for all schedules that take this step */
    int64_t start;
    int64_t finish;
    int64_t idle_from; /* of the device before the step, for undoing it */
    int32_t task;
    int32_t device;
};

/* The work of the tasks not placed, at some prices of the devices. */
struct yk_partial_work {
    struct yk_bound_prices prices;
    yk_bound_priced_ticks *cheapest; /* (n) */
    yk_bound_priced_ticks left;
};

enum {
    YK_PARTIAL_WORKS = 2 /* at equal prices, and at the ones where work crowds */
};

struct yk_partial {
    const struct yk_graph *graph;
    struct yk_bound_paths paths;
    struct yk_visited *visited;
    double deadline_s;    /* listing steps stops at this time of the clock; 0: never */
    bool timed_out;       /* it was reached: what was listed is not all */
    bool keeps_dominated; /* no state is dominated: orders that differ only in memory are all tried
                           */
    int64_t granularity;  /* every schedule's length is a multiple of it */
    int32_t placed;
    int32_t *sequence;              /* (n) */
    int32_t *devices;               /* (n) YK_DRAFT_NO_DEVICE when not placed */
    int64_t *starts;                /* (n) */
    int64_t *finishes;              /* (n) */
    int64_t *idle_from;             /* (P) */
    int32_t *used;                  /* (P) how many tasks are on it */
    int32_t *missing;               /* (n) inputs not placed yet */
    int32_t *unused;                /* (n) outputs not used yet */
    struct yk_group_devices groups; /* of the groups */
    int64_t *room;  /* (P) memory without what the groups settled there hold throughout */
    int64_t *needs; /* (n) what is held while a task runs: its own bytes and all its data */
    struct yk_partial_work works[YK_PARTIAL_WORKS];
    int32_t *twin;    /* (P) the first device that is equal in every way */
    uint16_t *key;    /* (n) room for a state's key */
    int64_t *times;   /* (n + P) and its times */
    int64_t *ends;    /* (n, P) room for bounding: earliest finishes from here on */
    int64_t *min_end; /* (n) the least of each row */
};

/* With no task placed. At most `max_states` states will be asked about; memory is the arena's. */
yk_status yk_partial_create(const struct yk_graph *graph, int64_t max_states,
                            struct yk_arena *arena, struct yk_partial **out) YK_MUST_USE;

void yk_partial_place(struct yk_partial *partial, const struct yk_partial_step *step);

/* Undoes `step`, the last one placed. */
void yk_partial_undo(struct yk_partial *partial, const struct yk_partial_step *step);

/* Whether a visited state dominates this one; if not, this one is remembered. */
bool yk_partial_is_dominated(struct yk_partial *partial);

/*
 * Lists the steps from here that could lead to a schedule shorter than `limit`, the most promising
 * first, and returns how many there are. `out` has room for every task left on every device.
 */
int32_t yk_partial_list_steps(struct yk_partial *partial, int64_t limit,
                              struct yk_partial_step *out);

/* The length so far. */
int64_t yk_partial_makespan(const struct yk_partial *partial);

#endif
