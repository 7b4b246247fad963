#include "sched/schedulers/list_scheduler.h"

#include "sched/scheduler.h"
#include "sched/task_rank.h"

static yk_status place_all(const struct yk_list_scheduler_rule *rule, const char *name, void *state,
                           const struct yk_scheduler_options *options,
                           struct yk_schedule_builder *builder)
{
    const int32_t n = builder->graph->task_count;
    int64_t *priorities = NULL;
    int32_t *order = NULL;
    YK_TRY_NEW(builder->arena, priorities, n);
    YK_TRY_NEW(builder->arena, order, n);
    if (rule->prepare) {
        YK_TRY(rule->prepare(builder, priorities, &state));
    } else {
        yk_task_rank_compute_upward(builder->graph, false, priorities);
    }
    YK_TRY(yk_task_rank_order_by_priority(builder->graph, priorities, builder->arena, order));
    for (int32_t k = 0; k < n; k++) {
        yk_schedule_builder_place(builder, order[k], rule->choose(builder, state, order[k]));
        yk_scheduler_report_progress(options, name, k, n);
    }
    yk_schedule_builder_compute_makespan(builder);
    return YK_OK;
}

yk_status yk_list_scheduler_run_rule(const struct yk_list_scheduler_rule *rule, const char *name,
                                     void *state, const struct yk_scheduler_options *options,
                                     struct yk_schedule *schedule)
{
    struct yk_schedule_builder *builder = NULL;
    YK_TRY(yk_schedule_builder_create(schedule, &builder));
    const yk_status status = place_all(rule, name, state, options, builder);
    yk_schedule_builder_destroy(builder);
    return status;
}

yk_status yk_list_scheduler_run(const struct yk_scheduler *scheduler,
                                const struct yk_scheduler_options *options,
                                struct yk_schedule *schedule)
{
    return yk_list_scheduler_run_rule(scheduler->rule, scheduler->name, NULL, options, schedule);
}
