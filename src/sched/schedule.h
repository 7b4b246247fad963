/*
 * Schedule: which device runs each task, and when.
 *
 * A schedule owns its arrays and refers to its graph, which must outlive it. Times are the graph's
 * ticks. A schedule belongs to one thread at a time: listing its lanes allocates from it.
 */
#ifndef YK_SCHED_SCHEDULE_H
#define YK_SCHED_SCHEDULE_H

#include "base/status.h"
#include "graph/graph.h"

struct yk_schedule {
    const struct yk_graph *graph;
    struct yk_arena *arena;
    int32_t *devices;    /* (n) of each task */
    int64_t *starts;     /* (n) */
    int64_t *finishes;   /* (n) */
    int32_t *sequence;   /* (n) the tasks in the order they were placed, a topological one */
    int64_t makespan;    /* the last finish */
    int64_t lower_bound; /* what the scheduler itself has proved; 0 when it proves nothing */
};

yk_status yk_schedule_create(const struct yk_graph *graph, struct yk_schedule **out) YK_MUST_USE;
void yk_schedule_destroy(struct yk_schedule *schedule);

/* Makes `to` equal to `from`; both are of the same graph. */
void yk_schedule_copy(const struct yk_schedule *from, struct yk_schedule *to);

/* How many devices the schedule uses. */
int32_t yk_schedule_count_devices(const struct yk_schedule *schedule);

/* The tasks of all devices, device after device, each device's by start. */
struct yk_schedule_lanes {
    int32_t *tasks; /* (n) */
    int32_t *first; /* (P + 1) device p has tasks [first[p], first[p + 1]) */
};

/* Lists the tasks by device and start; the arrays are the schedule's and live as long as it. */
yk_status yk_schedule_list_lanes(struct yk_schedule *schedule,
                                 struct yk_schedule_lanes *out) YK_MUST_USE;

/* A task with when and where it runs, for sorting tasks by time. */
struct yk_schedule_entry {
    int64_t start;
    int64_t finish;
    int32_t device; /* the same for all where devices do not matter */
    int32_t place;  /* in a topological order */
    int32_t task;
};

/*
 * By device, then by time. A task without length comes before one that starts when it does, and of
 * two without length the one with the earlier place: so an order by time is a topological one, too.
 */
void yk_schedule_sort_entries(struct yk_schedule_entry *entries, int32_t count);

#endif
