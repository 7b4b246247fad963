/*
 * Best: runs every fast scheduler, then annealing from the best schedule. So the result is never
 * worse than that of any fast scheduler.
 *
 * It also runs HEFT with a cost penalty: each task goes to the device where its finish plus
 * `penalty` times its cost is smallest. This helps if devices are fast at different tasks: a task
 * that runs on a device that is slow at it takes time that other tasks could use better.
 */
#include "base/clock.h"
#include "sched/bound/makespan_bound.h"
#include "sched/schedule.h"
#include "sched/scheduler.h"
#include "sched/schedulers/list_scheduler.h"

static struct yk_schedule_slot choose_with_penalty(struct yk_schedule_builder *builder, void *state,
                                                   int32_t task)
{
    const double penalty = *(const double *)state; /* set by run_heft_with_penalty() */
    const struct yk_graph *graph = builder->graph;
    const int64_t *ready = yk_schedule_builder_compute_ready_times(builder, task);
    struct yk_schedule_slot best = {YK_SCHEDULE_NO_DEVICE, 0, 0};
    double min = INFINITY;
    for (int32_t p = 0; p < graph->device_count; p++) {
        if (!yk_schedule_builder_allows_device(builder, task, p)) {
            continue;
        }
        const double extra = penalty * (double)yk_graph_task_cost(graph, task, p);
        if ((double)(ready[p] + yk_graph_task_cost(graph, task, p)) + extra >= min) {
            continue;
        }
        const struct yk_schedule_slot slot =
            yk_schedule_builder_find_slot_on_device(builder, task, p, ready[p]);
        if ((double)slot.finish + extra < min) {
            min = (double)slot.finish + extra;
            best = slot;
        }
    }
    return best;
}

static yk_status run_heft_with_penalty(double penalty, const struct yk_scheduler_options *options,
                                       struct yk_schedule *schedule)
{
    static const struct yk_list_scheduler_rule rule = {.choose = choose_with_penalty};
    return yk_list_scheduler_run_rule(&rule, "heft with a cost penalty", &penalty, options,
                                      schedule);
}

#define SCHEDULER(name) &yk_scheduler_##name,
static const struct yk_scheduler *const fast_schedulers[] = {YK_FAST_SCHEDULERS(SCHEDULER)};

static const double penalties[] = {0.5, 1, 2, 4, 8, 1e9};
enum {
    PENALTY_COUNT = sizeof penalties / sizeof penalties[0]
};

struct contest {
    const struct yk_scheduler_options *options;
    struct yk_schedule *best;
    struct yk_schedule *trial;
    double begin_s;
    bool found; /* `best` holds a schedule */
};

/* Keeps the trial schedule if its scheduler succeeded, it fits into memory and it is the shortest.
 * That a schedule does not fit is no failure here. */
static yk_status consider(struct contest *contest, yk_status status)
{
    YK_IF_OK(yk_schedule_check_memory_limits(contest->trial));
    if (status == YK_OK &&
        (!contest->found || contest->trial->makespan < contest->best->makespan)) {
        yk_schedule_copy(contest->trial, contest->best);
        contest->found = true;
    }
    return status == YK_ERROR_NO_FIT ? YK_OK : status;
}

static bool time_is_over(const struct contest *contest)
{
    return contest->options->moves == 0 &&
           yk_clock_now_s() - contest->begin_s > contest->options->budget_s;
}

static yk_status run_contest(struct contest *contest)
{
    for (int i = 0; i < PENALTY_COUNT && !time_is_over(contest); i++) {
        YK_TRY(consider(contest,
                        run_heft_with_penalty(penalties[i], contest->options, contest->trial)));
    }
    for (size_t i = 0; i < sizeof fast_schedulers / sizeof fast_schedulers[0]; i++) {
        const struct yk_scheduler *fast = fast_schedulers[i];
        if (fast != &yk_scheduler_heft_memory) {
            YK_TRY(consider(contest, fast->run(fast, contest->options, contest->trial)));
        }
    }
    /* The memory-aware scheduler is last: if nothing fits, its error message is the clearest. */
    YK_TRY(consider(contest, yk_scheduler_heft_memory.run(&yk_scheduler_heft_memory,
                                                          contest->options, contest->trial)));
    return contest->found ? YK_OK : YK_ERROR_NO_FIT;
}

static yk_status run(const struct yk_scheduler *scheduler,
                     const struct yk_scheduler_options *options, struct yk_schedule *schedule)
{
    (void)scheduler;
    struct contest contest = {.options = options, .best = schedule, .begin_s = yk_clock_now_s()};
    int64_t bound = 0;
    YK_TRY(yk_schedule_create(schedule->graph, &contest.trial));
    const yk_status status = run_contest(&contest);
    yk_schedule_destroy(contest.trial);
    YK_TRY(status);
    YK_TRY(yk_makespan_bound_compute(schedule->graph, &bound));
    const double left_s = options->budget_s - (yk_clock_now_s() - contest.begin_s);
    return yk_anneal_run(options, left_s, bound, schedule);
}

const struct yk_scheduler yk_scheduler_best = {
    .name = "best",
    .summary = "the best of all of these, then annealing for --budget seconds",
    .respects_memory = true,
    .run = run,
};
