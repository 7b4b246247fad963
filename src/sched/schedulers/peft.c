/*
 * PEFT, predict earliest finish time (Arabnejad and Barbosa, 2014): the optimistic cost table
 * holds, for each task and device, the minimum time from the finish of the task to the end. The
 * priority of a task is the mean of its row. Each task goes to the device with the smallest sum of
 * finish and table entry.
 */
#include "sched/scheduler.h"
#include "sched/schedulers/list_scheduler.h"

/* The minimum over all devices q of the transfer to q, the cost of `next` on q, and the time after
 * it.
 */
static int64_t best_continuation(const struct yk_graph *graph, const int64_t *table, int32_t next,
                                 int64_t transfer, int32_t device)
{
    int64_t best = INT64_MAX;
    for (int32_t q = 0; q < graph->device_count; q++) {
        if (!yk_graph_task_can_run_on(graph, next, q)) {
            continue;
        }
        const int64_t time = table[(int64_t)next * graph->device_count + q] +
                             yk_graph_task_cost(graph, next, q) + (q == device ? 0 : transfer);
        best = time < best ? time : best;
    }
    return best;
}

/* The optimistic cost table: (n, P) ticks from the end of a task to the end of all. */
static void fill_table(const struct yk_graph *graph, int64_t *table)
{
    const int32_t P = graph->device_count;
    for (int32_t k = graph->task_count - 1; k >= 0; k--) {
        const int32_t task = graph->order[k];
        int64_t *row = &table[(int64_t)task * P];
        for (int32_t e = graph->out_first[task]; e < graph->out_first[task + 1]; e++) {
            const struct yk_graph_edge *edge = &graph->edges[e];
            const int64_t transfer = yk_graph_mean_transfer_ticks(graph, edge);
            for (int32_t p = 0; p < P; p++) {
                const int64_t time = best_continuation(graph, table, edge->to, transfer, p);
                row[p] = time > row[p] ? time : row[p];
            }
        }
    }
}

static yk_status prepare(struct yk_schedule_builder *builder, int64_t *priorities, void **state)
{
    const int64_t P = builder->graph->device_count;
    int64_t *table = NULL;
    YK_TRY_NEW(builder->arena, table, builder->graph->task_count * P);
    fill_table(builder->graph, table);
    for (int32_t i = 0; i < builder->graph->task_count; i++) {
        for (int64_t p = 0; p < P; p++) {
            priorities[i] += table[i * P + p];
        }
    }
    *state = table;
    return YK_OK;
}

static struct yk_schedule_slot choose(struct yk_schedule_builder *builder, void *state,
                                      int32_t task)
{
    const int64_t *table = state;
    const int64_t *row = &table[(int64_t)task * builder->graph->device_count];
    const int64_t *ready = yk_schedule_builder_compute_ready_times(builder, task);
    struct yk_schedule_slot best = {YK_SCHEDULE_NO_DEVICE, 0, 0};
    for (int32_t p = 0; p < builder->graph->device_count; p++) {
        if (!yk_schedule_builder_allows_device(builder, task, p)) {
            continue;
        }
        const struct yk_schedule_slot slot =
            yk_schedule_builder_find_slot_on_device(builder, task, p, ready[p]);
        if (best.device == YK_SCHEDULE_NO_DEVICE ||
            slot.finish + row[p] < best.finish + row[best.device]) {
            best = slot;
        }
    }
    return best;
}

static const struct yk_list_scheduler_rule rule = {.prepare = prepare, .choose = choose};

const struct yk_scheduler yk_scheduler_peft = {
    .name = "peft",
    .summary = "each task where its end plus the best future after it is least",
    .run = yk_list_scheduler_run,
    .rule = &rule,
};
