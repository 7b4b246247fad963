/*
 * HEFT, heterogeneous earliest finish time (Topcuoglu, Hariri, Wu, 2002): the priority of a task is
 * its upward rank. Each task goes to the device with the earliest finish, possibly in a gap.
 */
#include "sched/scheduler.h"
#include "sched/schedulers/list_scheduler.h"

static struct yk_schedule_slot choose(struct yk_schedule_builder *builder, void *state,
                                      int32_t task)
{
    (void)state;
    return yk_schedule_builder_find_earliest_slot(builder, task);
}

static const struct yk_list_scheduler_rule rule = {.choose = choose};

const struct yk_scheduler yk_scheduler_heft = {
    .name = "heft",
    .summary = "by upward rank, each task where it ends first",
    .run = yk_list_scheduler_run,
    .rule = &rule,
};
