#include "sched/scheduler.h"

#include "sched/schedule.h"

#include <string.h>

#define SCHEDULER(name) &yk_scheduler_##name,
const struct yk_scheduler *const yk_schedulers[] = {YK_SCHEDULERS(SCHEDULER)};
const size_t yk_scheduler_count = sizeof yk_schedulers / sizeof yk_schedulers[0];

const struct yk_scheduler *yk_scheduler_find(const char *name)
{
    for (size_t i = 0; i < yk_scheduler_count; i++) {
        if (strcmp(yk_schedulers[i]->name, name) == 0) {
            return yk_schedulers[i];
        }
    }
    return NULL;
}

yk_status yk_scheduler_run(const struct yk_scheduler *scheduler, const struct yk_graph *graph,
                           const struct yk_scheduler_options *options, struct yk_schedule **out)
{
    struct yk_schedule *schedule = NULL;
    YK_TRY(yk_schedule_create(graph, &schedule));
    yk_status status = scheduler->run(scheduler, options, schedule);
    YK_IF_OK(yk_schedule_check_memory_limits(schedule));
    YK_TRY_OR_CLEAN_UP(status, yk_schedule_destroy(schedule));
    *out = schedule;
    return YK_OK;
}
