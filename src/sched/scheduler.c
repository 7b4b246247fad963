#include "sched/scheduler.h"

#include "sched/memory.h"
#include "sched/schedulers/schedulers.h"

#include <string.h>

const struct yk_scheduler *const yk_schedulers[] = {
    &yk_scheduler_heft,        &yk_scheduler_cpop,   &yk_scheduler_peft, &yk_scheduler_lookahead,
    &yk_scheduler_heft_memory, &yk_scheduler_single, &yk_scheduler_best, &yk_scheduler_exact,
};
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
    yk_status status = scheduler->run(options, schedule);
    if (status == YK_OK) {
        status = yk_schedule_memory_check(schedule);
    }
    if (status != YK_OK) {
        yk_schedule_destroy(schedule);
        return status;
    }
    *out = schedule;
    return YK_OK;
}
