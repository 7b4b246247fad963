/*
 * Scheduler: one way to find a schedule. This is the principal header of the room:
 *
 *   schedule, scheduler   the result; the table of schedulers
 *   memory, wait          what a schedule holds on each device; why a task waits
 *   task_rank, task_heap  upward and downward ranks, orders of tasks; a heap of tasks
 *   task_map, mapping     which device runs each task, as a file says; the schedule of such a map
 *   schedulers/           one file for each scheduler; list.h, what those by lists share
 *   timeline/             a schedule being built: gaps, memory over time, devices of groups
 *   search/               annealing over complete schedules, exact search over partial ones
 *   bound/                lower bounds of the makespan
 *
 * To add one: write schedulers/NAME.c with `const struct yk_scheduler yk_scheduler_NAME`, and add
 * ROW(NAME) to YK_SCHEDULERS below. A list scheduler has a struct yk_list_rule, and
 * yk_list_run() as its run: see schedulers/heft.c. Help, completion and `--algorithm all` follow
 * the table, and so do the tests that hold every scheduler to thousands of random graphs:
 *
 *   tools/build release && ctest --test-dir build/release -R ^sched/
 *
 * What the command line prints is recorded in tests/cli/cases, which then differs by the new name.
 */
#ifndef YK_SCHED_SCHEDULER_H
#define YK_SCHED_SCHEDULER_H

#include "base/deadline.h"
#include "graph/graph.h"
#include "sched/schedule.h"

#include <stdatomic.h>
#include <stddef.h>

struct yk_scheduler_options {
    double budget_s; /* how long a search may take; schedulers that do not search ignore it */
    int64_t moves;   /* positive: the search makes this many moves instead, whatever the time */
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
    const char *summary;  /* one line for the help */
    bool respects_memory; /* it keeps to the devices' memory while it schedules */
    /* Fills `schedule`, which was made for the graph in question. YK_ERROR_NO_FIT when it finds
     * none that it could offer. */
    yk_status (*run)(const struct yk_scheduler *scheduler,
                     const struct yk_scheduler_options *options, struct yk_schedule *schedule);
    const struct yk_list_rule *rule; /* of list schedulers, whose run is yk_list_run() */
};

/* All schedulers, in the order they are listed. */
/* clang-format off */
#define YK_SCHEDULERS(ROW) \
    ROW(heft) \
    ROW(cpop) \
    ROW(peft) \
    ROW(lookahead) \
    ROW(heft_memory) \
    ROW(single) \
    ROW(best) \
    ROW(exact)
/* clang-format on */

#define YK_SCHEDULER_DECLARE(name) extern const struct yk_scheduler yk_scheduler_##name;
YK_SCHEDULERS(YK_SCHEDULER_DECLARE)

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

/* For schedulers: whether the caller asks for an end. */
static inline bool yk_scheduler_is_stopped(const struct yk_scheduler_options *options)
{
    return options->stop && atomic_load_explicit(options->stop, memory_order_relaxed);
}

/* For schedulers: reports progress, once in 1024 tasks. */
static inline void yk_scheduler_report(const struct yk_scheduler_options *options, const char *what,
                                       int32_t done, int32_t all)
{
    if (options->progress && done % 1024 == 0) {
        options->progress(options->progress_user, what, (double)done / (double)all);
    }
}

#endif
