/*
 * Scheduler: an algorithm that computes a schedule.
 *
 * Files of this folder:
 *   schedule           a schedule
 *   schedule_memory    the memory that a schedule needs on each device
 *   task_wait          the reasons why tasks wait
 *   scheduler          the table of schedulers
 *   task_rank          upward and downward ranks, and orders of tasks
 *   task_heap          a heap of tasks
 *   assignment         computes the schedule for given devices
 *   assignment_read    reads the given devices from JSON
 *   schedulers/        one file per scheduler, and list_scheduler, on which several are based
 *   timeline/          builds a schedule: gaps, memory over time, groups
 *   search/            simulated annealing, and branch and bound
 *   bound/             lower bounds of the makespan
 *
 * To add a scheduler, write schedulers/NAME.c that defines `const struct yk_scheduler
 * yk_scheduler_NAME`, and add ROW(NAME) to YK_FAST_SCHEDULERS below. schedulers/heft.c is a short
 * example of a list scheduler, whose tasks have fixed priorities. If the next task depends on the
 * tasks that are already placed, the scheduler places the tasks itself, with
 * timeline/schedule_builder.h; schedulers/heft_memory.c is an example. The help, the shell
 * completion, `--algorithm all` and the scheduler `best` use the table. The tests run every
 * scheduler of the table on thousands of random graphs:
 *
 *   tools/build release && ctest --test-dir build/release -R ^sched/
 *
 * Afterwards record the cases in tests/cli/cases whose output lists the schedulers (all, all-json,
 * all-some-fit, help-schedule, typo-choice, completion-*), and add the scheduler to the table in
 * docs/graphs.md.
 */
#ifndef YK_SCHED_SCHEDULER_H
#define YK_SCHED_SCHEDULER_H

#include "base/deadline.h"
#include "graph/graph.h"
#include "sched/schedule.h"

#include <stdatomic.h>
#include <stddef.h>

struct yk_scheduler_options {
    double budget_s; /* time limit of a search; schedulers without a search ignore the limit */
    int64_t moves; /* the search makes this many moves and ignores the time limit; 0 means: only the
                      time limit counts */
    uint64_t seed;
    /* Called in the thread that runs the scheduler, with the completed fraction, 0 to 1. NULL
     * means: no reports. */
    void (*progress)(void *user, const char *what, double done);
    void *progress_user;
    /* When this becomes true, the search returns the best schedule so far. May be NULL. */
    const atomic_bool *stop;
    /* For the planner, to measure its time budget. Schedulers do not use this clock. */
    struct yk_deadline_clock clock;
};

struct yk_scheduler {
    const char *name;
    const char *summary;  /* one line for the help */
    bool respects_memory; /* true means: the scheduler considers the memory limits of the devices */
    /* Fills `schedule`, which was created for the graph. Fails with YK_ERROR_NO_FIT if the
     * scheduler finds no schedule. */
    yk_status (*run)(const struct yk_scheduler *scheduler,
                     const struct yk_scheduler_options *options, struct yk_schedule *schedule);
    /* The rule of the list scheduler if `run` is yk_list_scheduler_run(); otherwise NULL. */
    const struct yk_list_scheduler_rule *rule;
};

/* All schedulers, in the order of the help. The fast schedulers do not search; `best` runs each of
 * them and then searches, so it is never worse than any of them. */
/* clang-format off */
#define YK_FAST_SCHEDULERS(ROW) \
    ROW(heft) \
    ROW(cpop) \
    ROW(peft) \
    ROW(lookahead) \
    ROW(heft_memory) \
    ROW(single)
#define YK_SCHEDULERS(ROW) \
    YK_FAST_SCHEDULERS(ROW) \
    ROW(best) \
    ROW(exact)
/* clang-format on */

#define YK_SCHEDULER_DECLARE(name) extern const struct yk_scheduler yk_scheduler_##name;
YK_SCHEDULERS(YK_SCHEDULER_DECLARE)

extern const struct yk_scheduler *const yk_schedulers[];
extern const size_t yk_scheduler_count;

/* Returns the scheduler with this name, or NULL if no scheduler has this name. */
const struct yk_scheduler *yk_scheduler_find(const char *name);

/* Creates a schedule of the graph and runs a scheduler on it. Fails with YK_ERROR_NO_FIT if the
 * scheduler finds no schedule, or if its schedule exceeds the memory of a device. */
yk_status yk_scheduler_run(const struct yk_scheduler *scheduler, const struct yk_graph *graph,
                           const struct yk_scheduler_options *options,
                           struct yk_schedule **out) YK_MUST_USE;

/*
 * For schedulers: shortens a schedule by simulated annealing over the order of the tasks and over
 * their devices, within the memory limits. Stops after options->moves moves (or after `seconds`, if
 * options->moves is 0), or as soon as the makespan equals `lower_bound`. Two threads search, and
 * the better of their results is used. With a given number of moves the result is the same on every
 * machine.
 */
yk_status yk_anneal_run(const struct yk_scheduler_options *options, double seconds,
                        int64_t lower_bound, struct yk_schedule *schedule) YK_MUST_USE;

/* For schedulers: returns whether the caller requested the search to stop. */
static inline bool yk_scheduler_stop_requested(const struct yk_scheduler_options *options)
{
    return options->stop && atomic_load_explicit(options->stop, memory_order_relaxed);
}

/* For schedulers: reports progress, but only if `done` is a multiple of 1024. `done` is the number
 * of tasks placed so far, `all` the number of all tasks. */
static inline void yk_scheduler_report_progress(const struct yk_scheduler_options *options,
                                                const char *what, int32_t done, int32_t all)
{
    if (options->progress && done % 1024 == 0) {
        options->progress(options->progress_user, what, (double)done / (double)all);
    }
}

#endif
