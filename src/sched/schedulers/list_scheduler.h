/*
 * List scheduler: places the tasks one by one. A rule chooses a slot (a device and a time interval)
 * for each task. HEFT, CPOP, PEFT and lookahead are such rules.
 *
 * The order of placement is always topological. Of the tasks whose inputs are all placed, the list
 * scheduler takes the one with the highest priority (yk_task_rank_order_by_priority()). So when
 * choose() is called for a task, all inputs of the task are placed, whatever the priorities are.
 * schedule->order[0 … placed_count - 1] holds the placed tasks in this order. A rule that needs a
 * topological order before any task is placed, for example to compute ranks, uses graph->order.
 */
#ifndef YK_SCHED_SCHEDULERS_LIST_SCHEDULER_H
#define YK_SCHED_SCHEDULERS_LIST_SCHEDULER_H

#include "sched/scheduler.h"
#include "sched/timeline/schedule_builder.h"

struct yk_list_scheduler_rule {
    /* Writes the priority of each task to `priorities`, whose elements are initially 0. May set
     * `*state`, which is then passed to choose(). Allocates memory in the builder's arena. If the
     * function is NULL, the priorities are the upward ranks (task_rank.h). */
    yk_status (*prepare)(struct yk_schedule_builder *builder, int64_t *priorities, void **state);
    /* Returns the slot for `task`. The list scheduler places the task there. */
    struct yk_schedule_slot (*choose)(struct yk_schedule_builder *builder, void *state,
                                      int32_t task);
};

/* The function `run` of all schedulers that have a rule. */
yk_status yk_list_scheduler_run(const struct yk_scheduler *scheduler,
                                const struct yk_scheduler_options *options,
                                struct yk_schedule *schedule) YK_MUST_USE;

/* Runs a rule without a struct yk_scheduler. `name` is used in progress reports. `state` is the
 * initial value of the state that the rule receives. */
yk_status yk_list_scheduler_run_rule(const struct yk_list_scheduler_rule *rule, const char *name,
                                     void *state, const struct yk_scheduler_options *options,
                                     struct yk_schedule *schedule) YK_MUST_USE;

#endif
