/*
 * Exact: branch and bound. Tasks are appended one by one, each on every device it may run on; every
 * schedule without needless waiting is some such sequence. A branch is left when
 * - its lower bound is no better than the best schedule known: paths from here to the end, with all
 *   data that is already placed, and the work still to do at good prices (bound/prices.h);
 * - a visited state had done the same tasks no later (search/visited.h);
 * - it differs from another branch only by the names of equal devices not used yet.
 *
 * It starts from the best schedule of the other algorithms and ends with the optimum. When half of
 * its budget is over before that, it spends the rest on annealing what it has, and ends with the
 * gap between that and the best branch not yet followed.
 *
 * Of memory the search knows what holds in any order (search/partial.h). A schedule that breaks a
 * limit all the same is not taken, but its length bounds what could be reached by waiting for
 * memory: then the result may be a schedule and a gap even though the search is complete.
 */
#include "base/clock.h"
#include "sched/bound/bound.h"
#include "sched/memory.h"
#include "sched/scheduler.h"
#include "sched/search/anneal.h"
#include "sched/search/partial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_TASKS = 300,     /* above, the search would not get anywhere */
    QUICK_TASKS = 100,   /* up to here the first annealing takes milliseconds */
    FIRST_MOVES = 20000, /* of that annealing */
};

#define NO_SCHEDULE INT64_MAX /* the makespan while none is known */

struct search {
    const struct yk_scheduler_options *options;
    struct yk_partial *partial;
    struct yk_schedule *best;
    struct yk_schedule *found; /* room for one that may not fit */
    int64_t most_nodes;        /* 0: until the deadline */
    int64_t nodes;
    int64_t open_bound; /* the least bound of the branches given up */
    bool over;          /* the budget is */
};

/* Notes that there may be schedules of length `bound` or more that were not looked at. */
static void leave_open(struct search *search, int64_t bound)
{
    search->open_bound = bound < search->open_bound ? bound : search->open_bound;
}

/*
 * Takes the partial schedule, which is complete, for the best one if it fits. If it does not, one
 * with the same order may fit that waits for memory somewhere, and it is no shorter than this one.
 */
static yk_status keep(struct search *search)
{
    const struct yk_partial *partial = search->partial;
    struct yk_schedule *found = search->found;
    const size_t n = (size_t)partial->graph->task_count;
    memcpy(found->sequence, partial->sequence, n * sizeof *found->sequence);
    memcpy(found->devices, partial->devices, n * sizeof *found->devices);
    memcpy(found->starts, partial->starts, n * sizeof *found->starts);
    memcpy(found->finishes, partial->finishes, n * sizeof *found->finishes);
    found->makespan = yk_partial_makespan(partial);
    const yk_status status = yk_schedule_memory_check(found);
    if (status == YK_OK) {
        found->lower_bound = search->best->lower_bound;
        yk_schedule_copy(found, search->best);
    } else if (status == YK_ERROR_NO_FIT) {
        leave_open(search, found->makespan);
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
    return now_s >= search->partial->deadline_s || yk_scheduler_is_stopped(search->options);
}

/* Follows every branch from here; `bound` holds for all of them. */
static yk_status follow(struct search *search, int64_t bound)
{
    struct yk_partial *partial = search->partial;
    const int32_t left = partial->graph->task_count - partial->placed;
    if (left == 0) {
        return keep(search);
    }
    struct yk_partial_step *steps =
        calloc((size_t)left * (size_t)partial->graph->device_count, sizeof *steps);
    if (!steps) {
        return yk_fail_out_of_memory();
    }
    yk_status status = YK_OK;
    const int32_t count = yk_partial_list_steps(partial, search->best->makespan, steps);
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
        yk_partial_place(partial, &steps[i]);
        status = yk_partial_is_dominated(partial) ? YK_OK : follow(search, steps[i].bound);
        yk_partial_undo(partial, &steps[i]);
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
 * Of states with the same tasks done, the first search keeps the earlier one, which may hold memory
 * in another way. So where a schedule was turned down for its memory, a second search tries all.
 */
static yk_status search_twice(struct search *search)
{
    YK_TRY(search_through(search));
    if (!search->over && search->best->lower_bound < search->best->makespan) {
        search->partial->keeps_dominated = true;
        YK_TRY(search_through(search));
    }
    return YK_OK;
}

static yk_status anneal(const struct yk_scheduler_options *options, double begin_s,
                        struct yk_schedule *schedule)
{
    struct search search = {.options = options, .best = schedule, .most_nodes = options->moves};
    struct yk_arena *arena = NULL;
    yk_status status = YK_OK;
    YK_TRY(yk_arena_create(&arena));
    YK_TRY_GOTO(yk_partial_create(schedule->graph, options->moves > 0 ? options->moves : INT64_MAX,
                                  arena, &search.partial),
                done);
    YK_TRY_GOTO(yk_schedule_create(schedule->graph, &search.found), done);
    search.partial->deadline_s = options->moves > 0 ? 0 : begin_s + options->budget_s / 2;
    status = search_twice(&search);
done:
    yk_schedule_destroy(search.found);
    yk_arena_destroy(arena);
    return status;
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
    YK_TRY(yk_bound_compute(schedule->graph, &schedule->lower_bound));
    if (schedule->makespan > schedule->lower_bound && schedule->graph->task_count <= MAX_TASKS) {
        YK_TRY(anneal(options, begin_s, schedule));
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
