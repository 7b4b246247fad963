#include "sched/schedulers/heft_penalty.h"

#include "base/arena.h"
#include "sched/schedulers/list.h"
#include "sched/task_rank.h"

static struct yk_draft_slot choose(struct yk_draft *draft, void *state, int32_t task)
{
    const double thrift = *(const double *)state;
    const struct yk_graph *graph = draft->graph;
    const int64_t *ready = yk_draft_ready_times(draft, task);
    struct yk_draft_slot best = {YK_DRAFT_NO_DEVICE, 0, 0};
    double least = INFINITY;
    for (int32_t p = 0; p < graph->device_count; p++) {
        if (!yk_draft_allows(draft, task, p)) {
            continue;
        }
        /* The cost on the fastest device is the same for all, so it need not be taken off. */
        const double extra = thrift * (double)yk_graph_cost(graph, task, p);
        if ((double)(ready[p] + yk_graph_cost(graph, task, p)) + extra >= least) {
            continue;
        }
        const struct yk_draft_slot slot = yk_draft_slot_on(draft, task, p, ready[p]);
        if ((double)slot.finish + extra < least) {
            least = (double)slot.finish + extra;
            best = slot;
        }
    }
    return best;
}

static yk_status prepare(struct yk_draft *draft, int64_t *priorities, void **state)
{
    (void)state; /* the thrift itself, set by yk_heft_penalty_run */
    yk_task_rank_upward(draft->graph, priorities);
    return YK_OK;
}

yk_status yk_heft_penalty_run(double thrift, const struct yk_scheduler_options *options,
                              struct yk_schedule *schedule)
{
    static const struct yk_list_rule rule = {
        .name = "heft, with thrift", .prepare = prepare, .choose = choose};
    return yk_list_run(&rule, &thrift, options, schedule);
}
