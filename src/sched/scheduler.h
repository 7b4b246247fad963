/*
 * Scheduler: one way to find a schedule, as an entry of one table.
 *
 * To add one: write src/sched/NAME.c with its `const struct yk_scheduler yk_scheduler_NAME`, and
 * add it to the table in scheduler.c. The command line, its help and the comparison follow the
 * table.
 */
#ifndef YK_SCHED_SCHEDULER_H
#define YK_SCHED_SCHEDULER_H

#include "base/deadline.h"
#include "base/status.h"
#include "graph/graph.h"
#include "sched/schedule.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_scheduler_options {
    double budget_s; /* how long a search may take; schedulers that do not search ignore it */
    int64_t moves;   /* positive: the search takes this many moves instead, whatever the time */
    uint64_t seed;
    /* Called now and then from the calling thread with the part done, 0 to 1; may be NULL. */
    void (*progress)(void *user, const char *what, double done);
    void *progress_user;
    /* Once true, a search ends with the best schedule it has; may be NULL. */
    const atomic_bool *stop;
    struct yk_deadline_clock clock; /* that the planner's budget is counted by */
};

struct yk_scheduler {
    const char *name;
    const char *summary; /* one line for the help */
    bool keeps_limits;   /* it looks at the devices' memory while it schedules */
    /* Fills `schedule`, which was made for the graph in question. YK_ERROR_NO_FIT when it finds
     * none that it could offer. */
    yk_status (*run)(const struct yk_scheduler_options *options, struct yk_schedule *schedule);
};

/* All schedulers, in the order they are listed. */
extern const struct yk_scheduler *const yk_schedulers[];
extern const size_t yk_scheduler_count;

/* The scheduler of that name, or NULL. */
const struct yk_scheduler *yk_scheduler_find(const char *name);

/*
 * Runs a scheduler and checks what it returns against every device's memory: a schedule that does
 * not fit is not returned, and the message names the device and the bytes missing.
 */
yk_status yk_scheduler_run(const struct yk_scheduler *scheduler, const struct yk_graph *graph,
                           const struct yk_scheduler_options *options,
                           struct yk_schedule **out) YK_MUST_USE;

#endif
