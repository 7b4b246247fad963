/*
 * List scheduling: places the tasks one by one in the order of their priorities, each into the slot
 * that a rule chooses. HEFT, CPOP, PEFT and lookahead are such rules.
 */
#ifndef YK_SCHED_SCHEDULERS_LIST_H
#define YK_SCHED_SCHEDULERS_LIST_H

#include "sched/scheduler.h"
#include "sched/timeline/draft.h"

struct yk_list_rule {
    /* Fills the priorities (n), and may point `state`, which choose() gets, at what it made; memory
     * is the draft's. */
    yk_status (*prepare)(struct yk_draft *draft, int64_t *priorities, void **state);
    struct yk_draft_slot (*choose)(struct yk_draft *draft, void *state, int32_t task);
};

/* The run of schedulers with a rule. */
yk_status yk_list_run(const struct yk_scheduler *scheduler,
                      const struct yk_scheduler_options *options,
                      struct yk_schedule *schedule) YK_MUST_USE;

/* A rule by itself, `name` being what progress calls it; its functions get `state` first. */
yk_status yk_list_run_rule(const struct yk_list_rule *rule, const char *name, void *state,
                           const struct yk_scheduler_options *options,
                           struct yk_schedule *schedule) YK_MUST_USE;

#endif
