/*
 * Exact: branch and bound. The search appends tasks one by one, each on every device that can run
 * it. Every schedule without unnecessary idle time is such a sequence. A branch is pruned if
 * - its lower bound is not below the best makespan: the paths from the placed tasks to the end, and
 *   the remaining work at the dual prices (bound/makespan_bound.h);
 * - a visited state dominates it;
 * - it differs from another branch only by the numbers of equal, unused devices.
 *
 * The search starts from the best schedule of the other algorithms and ends with the optimum. If it
 * needs more than half of its budget, it spends the rest on annealing, and returns the best
 * schedule with the gap to the smallest bound of the open branches.
 *
 * The search checks only memory constraints that hold for every order of tasks. A complete schedule
 * that exceeds a memory limit is rejected. Its makespan is a lower bound for the schedules that
 * wait for memory. So the result may have a gap even if the search is complete.
 */
#include "base/clock.h"
#include "sched/bound/makespan_bound.h"
#include "sched/schedule.h"
#include "sched/scheduler.h"
#include "sched/search/partial_schedule.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    MAX_TASKS = 300,     /* larger graphs are not searched */
    QUICK_TASKS = 100,   /* up to this size the first annealing takes milliseconds */
    FIRST_MOVES = 20000, /* number of moves of the first annealing */
};

#define NO_SCHEDULE INT64_MAX /* the makespan while none is known */

struct search {
    const struct yk_scheduler_options *options;
    struct yk_partial_schedule *partial;
    struct yk_schedule *best;
    int64_t most_nodes; /* 0: search until the deadline */
    int64_t nodes;
    int64_t open_bound; /* the smallest bound of the branches that were not examined */
    bool over;          /* the budget is used up */
};

/* Records that schedules with a makespan of `bound` or more were not examined. */
static void leave_open(struct search *search, int64_t bound)
{
    search->open_bound = bound < search->open_bound ? bound : search->open_bound;
}

/*
 * Keeps the completed schedule as the best one if it fits into memory. Otherwise a schedule with
 * the same order that waits for memory may fit; it is not shorter than this one.
 */
static yk_status keep(struct search *search)
{
    const struct yk_schedule *found = &search->partial->schedule;
    const int64_t makespan = yk_partial_schedule_makespan(search->partial);
    const int64_t lower_bound = search->best->lower_bound;
    const yk_status status = yk_schedule_check_memory_limits(found);
    if (status == YK_OK) {
        yk_schedule_copy(found, search->best);
        search->best->makespan = makespan;
        search->best->lower_bound = lower_bound;
    } else if (status == YK_ERROR_NO_FIT) {
        leave_open(search, makespan);
        return YK_OK;
    }
    return status;
}

static bool budget_is_over(struct search *search)
{
    search->nodes++;
    if (search->most_nodes > 0) {
        return search->nodes > search->most_nodes;
    }
    const double now_s = yk_clock_now_s();
    if (search->options->progress) {
        const double left = (search->partial->deadline_s - now_s) / search->options->budget_s;
        search->options->progress(search->options->progress_user, "branch and bound", 0.5 - left);
    }
    return now_s >= search->partial->deadline_s || yk_scheduler_stop_requested(search->options);
}

/* Follows every branch from here; `bound` holds for all of them. */
static yk_status follow(struct search *search, int64_t bound)
{
    struct yk_partial_schedule *partial = search->partial;
    const int32_t left = partial->graph->task_count - partial->placed;
    if (left == 0) {
        return keep(search);
    }
    struct yk_partial_schedule_step *steps =
        calloc((size_t)left * (size_t)partial->graph->device_count, sizeof *steps);
    YK_TRY_ALLOCATED(steps);
    yk_status status = YK_OK;
    const int32_t count =
        yk_partial_schedule_list_next_steps(partial, search->best->makespan, steps);
    if (partial->timed_out) {
        search->over = true;
        leave_open(search, bound);
    }
    for (int32_t i = 0; i < count && steps[i].bound < search->best->makespan; i++) {
        if (search->over || budget_is_over(search)) {
            search->over = true;
            leave_open(search, steps[i].bound); /* the least: they are sorted */
            break;
        }
        yk_partial_schedule_place(partial, &steps[i]);
        status =
            yk_partial_schedule_dominated_or_add(partial) ? YK_OK : follow(search, steps[i].bound);
        yk_partial_schedule_undo(partial, &steps[i]);
        if (status != YK_OK) {
            break;
        }
    }
    free(steps);
    return status;
}

/* One search through all branches; raises search->best->lower_bound to what it proves. */
static yk_status search_through(struct search *search)
{
    struct yk_schedule *best = search->best;
    search->open_bound = INT64_MAX;
    search->nodes = 0;
    YK_TRY(follow(search, best->lower_bound));
    leave_open(search, best->makespan);
    best->lower_bound =
        search->open_bound > best->lower_bound ? search->open_bound : best->lower_bound;
    return YK_OK;
}

/*
 * The first search prunes dominated states, although they may need less memory. If it rejected a
 * schedule because of memory, a second search examines dominated states too.
 */
static yk_status branch_and_bound(const struct yk_scheduler_options *options, double begin_s,
                                  struct yk_arena *arena, struct yk_schedule *schedule)
{
    struct search search = {.options = options, .best = schedule, .most_nodes = options->moves};
    YK_TRY(yk_partial_schedule_create(
        schedule->graph, options->moves > 0 ? options->moves : INT64_MAX, arena, &search.partial));
    search.partial->deadline_s = options->moves > 0 ? 0 : begin_s + options->budget_s / 2;
    YK_TRY(search_through(&search));
    if (!search.over && schedule->lower_bound < schedule->makespan) {
        search.partial->keeps_dominated = true;
        YK_TRY(search_through(&search));
    }
    return YK_OK;
}

/* The best schedule of the other algorithms: where to start from, and what to give back at worst.
 * Where it is quick, its moves are counted, so that a search that ends proves one schedule. */
static yk_status find_first(const struct yk_scheduler_options *options,
                            struct yk_schedule *schedule)
{
    const struct yk_graph *graph = schedule->graph;
    struct yk_scheduler_options first = *options;
    if (options->moves == 0 && graph->task_count <= QUICK_TASKS && !graph->limited) {
        first.moves = FIRST_MOVES;
    } else if (graph->task_count <= MAX_TASKS) {
        first.budget_s = options->budget_s / 4;
    }
    return yk_scheduler_best.run(&yk_scheduler_best, &first, schedule);
}

static yk_status run(const struct yk_scheduler *scheduler,
                     const struct yk_scheduler_options *options, struct yk_schedule *schedule)
{
    (void)scheduler;
    const double begin_s = yk_clock_now_s();
    const yk_status first = find_first(options, schedule);
    if (first != YK_OK && first != YK_ERROR_NO_FIT) {
        return first;
    }
    char message[256];
    snprintf(message, sizeof message, "%s", yk_status_message());
    if (first == YK_ERROR_NO_FIT) {
        schedule->makespan = NO_SCHEDULE;
    }
    YK_TRY(yk_makespan_bound_compute(schedule->graph, &schedule->lower_bound));
    if (schedule->makespan > schedule->lower_bound && schedule->graph->task_count <= MAX_TASKS) {
        YK_TRY_WITH_TEMPORARY_ARENA(arena, branch_and_bound(options, begin_s, arena, schedule));
    }
    if (schedule->makespan == NO_SCHEDULE) {
        return yk_fail(YK_ERROR_NO_FIT, "%s", message);
    }
    const double left_s = begin_s + options->budget_s - yk_clock_now_s();
    return yk_anneal_run(options, left_s, schedule->lower_bound, schedule);
}

const struct yk_scheduler yk_scheduler_exact = {
    .name = "exact",
    .summary = "branch and bound: the optimum, or its gap when --budget is over",
    .respects_memory = true,
    .run = run,
};
