/* Best: every fast scheduler, then annealing from the best of them, and so never worse than any. */
#include "base/clock.h"
#include "sched/bound/bound.h"
#include "sched/memory.h"
#include "sched/schedulers/heft_penalty.h"
#include "sched/schedulers/schedulers.h"
#include "sched/search/anneal.h"

static const struct yk_scheduler *const fast_schedulers[] = {
    &yk_scheduler_heft,      &yk_scheduler_cpop,   &yk_scheduler_peft,
    &yk_scheduler_lookahead, &yk_scheduler_single, &yk_scheduler_heft_memory,
};
enum {
    FAST_COUNT = sizeof fast_schedulers / sizeof fast_schedulers[0]
};

static const double thrifts[] = {0.5, 1, 2, 4, 8, 1e9};
enum {
    THRIFT_COUNT = sizeof thrifts / sizeof thrifts[0]
};

struct contest {
    const struct yk_scheduler_options *options;
    struct yk_schedule *best;
    struct yk_schedule *trial;
    double begin_s;
    bool found; /* `best` holds a schedule */
};

/* Keeps the trial, which a scheduler filled with that status, if it fits and is the shortest. */
static yk_status consider(struct contest *contest, yk_status status)
{
    if (status == YK_OK) {
        status = yk_schedule_memory_check(contest->trial);
    }
    if (status == YK_OK &&
        (!contest->found || contest->trial->makespan < contest->best->makespan)) {
        yk_schedule_copy(contest->trial, contest->best);
        contest->found = true;
    }
    return status;
}

static bool time_is_over(const struct contest *contest)
{
    return contest->options->moves == 0 &&
           yk_clock_now_s() - contest->begin_s > contest->options->budget_s;
}

static yk_status hold_contest(struct contest *contest)
{
    yk_status status = YK_OK;
    for (int i = 0; i < THRIFT_COUNT && !time_is_over(contest); i++) {
        status =
            consider(contest, yk_heft_penalty_run(thrifts[i], contest->options, contest->trial));
        if (status != YK_OK && status != YK_ERROR_NO_FIT) {
            return status;
        }
    }
    for (int i = 0; i < FAST_COUNT; i++) {
        status = consider(contest, fast_schedulers[i]->run(contest->options, contest->trial));
        if (status != YK_OK && status != YK_ERROR_NO_FIT) {
            return status;
        }
    }
    /* If none fits, the message is that of the last, which looks at memory while it schedules. */
    return contest->found ? YK_OK : status;
}

static yk_status run(const struct yk_scheduler_options *options, struct yk_schedule *schedule)
{
    struct contest contest = {.options = options, .best = schedule, .begin_s = yk_clock_now_s()};
    int64_t bound = 0;
    YK_TRY(yk_schedule_create(schedule->graph, &contest.trial));
    const yk_status status = hold_contest(&contest);
    yk_schedule_destroy(contest.trial);
    YK_TRY(status);
    YK_TRY(yk_bound_compute(schedule->graph, &bound));
    const double left_s = options->budget_s - (yk_clock_now_s() - contest.begin_s);
    return yk_anneal_run(options, left_s, bound, schedule);
}

const struct yk_scheduler yk_scheduler_best = {
    .name = "best",
    .summary = "the best of all of these, then annealing for --budget seconds",
    .keeps_limits = true,
    .run = run,
};
