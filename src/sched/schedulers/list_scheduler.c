#include "sched/schedulers/list_scheduler.h"

#include "sched/scheduler.h"
#include "sched/task_rank.h"

static yk_status place_all(const struct yk_list_scheduler_rule *rule, const char *name, void *state,
                           const struct yk_scheduler_options *options,
                           struct yk_schedule_builder *draft)
{
    const int32_t n = draft->graph->task_count;
    int64_t *priorities = NULL;
    int32_t *order = NULL;
    YK_TRY_NEW(draft->arena, priorities, n);
    YK_TRY_NEW(draft->arena, order, n);
    YK_TRY(rule->prepare(draft, priorities, &state));
    YK_TRY(yk_task_rank_priority_order(draft->graph, priorities, draft->arena, order));
    for (int32_t k = 0; k < n; k++) {
        yk_schedule_builder_place(draft, order[k], rule->choose(draft, state, order[k]));
        yk_scheduler_report_progress(options, name, k, n);
    }
    yk_schedule_builder_finish(draft);
    return YK_OK;
}

yk_status yk_list_scheduler_run_rule(const struct yk_list_scheduler_rule *rule, const char *name,
                                     void *state, const struct yk_scheduler_options *options,
                                     struct yk_schedule *schedule)
{
    struct yk_schedule_builder *draft = NULL;
    YK_TRY(yk_schedule_builder_create(schedule, &draft));
    const yk_status status = place_all(rule, name, state, options, draft);
    yk_schedule_builder_destroy(draft);
    return status;
}

yk_status yk_list_scheduler_run(const struct yk_scheduler *scheduler,
                                const struct yk_scheduler_options *options,
                                struct yk_schedule *schedule)
{
    return yk_list_scheduler_run_rule(scheduler->rule, scheduler->name, NULL, options, schedule);
}
