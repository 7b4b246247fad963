/*
 * List scheduler: places the tasks one by one, each in a slot that a rule chooses. HEFT, CPOP, PEFT
 * and lookahead are rules.
 *
 * The order of placement is always topological. Of the tasks whose inputs are all placed, the list
 * scheduler takes the one with the highest priority (yk_task_rank_priority_order()). So when
 * choose() is called for a task, all inputs of the task are placed, whatever the priorities are.
 * schedule->order[0 … placed_count - 1] holds the placed tasks in this order.
 * A rule that needs a topological order before placement, for example for ranks, uses graph->order.
 */
#ifndef YK_SCHED_SCHEDULERS_LIST_SCHEDULER_H
#define YK_SCHED_SCHEDULERS_LIST_SCHEDULER_H

#include "sched/scheduler.h"
#include "sched/timeline/schedule_builder.h"

struct yk_list_scheduler_rule {
    /* Fills the priorities (n), initially 0. May set `*state`, the argument of choose(). Memory is
     * allocated in draft->arena. */
    yk_status (*prepare)(struct yk_schedule_builder *builder, int64_t *priorities, void **state);
    /* Returns the slot for `task`. The list scheduler places the task in it. */
    struct yk_schedule_slot (*choose)(struct yk_schedule_builder *draft, void *state, int32_t task);
};

/* The `run` function of all schedulers that have a rule. */
yk_status yk_list_scheduler_run(const struct yk_scheduler *scheduler,
                                const struct yk_scheduler_options *options,
                                struct yk_schedule *schedule) YK_MUST_USE;

/* Runs a rule without a scheduler. `name` is used in progress reports. `state` is the initial
 * value of the rule's state. */
yk_status yk_list_scheduler_run_rule(const struct yk_list_scheduler_rule *rule, const char *name,
                                     void *state, const struct yk_scheduler_options *options,
                                     struct yk_schedule *schedule) YK_MUST_USE;

#endif
