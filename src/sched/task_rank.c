#include "sched/task_rank.h"

#include "base/number.h"
#include "sched/task_heap.h"

#include <assert.h>

int64_t yk_task_rank_scaled_mean_cost(const struct yk_graph *graph, int32_t task)
{
    const int32_t P = graph->device_count;
    int64_t sum = 0;
    int64_t able = 0;
    for (int32_t p = 0; p < P; p++) {
        const int64_t cost = yk_graph_task_cost(graph, task, p);
        if (cost != YK_GRAPH_INFINITE_COST) {
            sum += cost;
            able++;
        }
    }
    assert(able > 0); /* guaranteed by the graph builder */
    return able == P ? sum : (int64_t)(((__int128)sum * P + able / 2) / able);
}

int64_t yk_task_rank_scaled_mean_transfer(const struct yk_graph *graph,
                                          const struct yk_graph_edge *edge)
{
    return yk_graph_mean_transfer_ticks(graph, edge) * graph->device_count;
}

static int64_t largest_input(const struct yk_graph *graph, int32_t task)
{
    int64_t largest = 0;
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        const struct yk_graph_edge *edge = &graph->edges[graph->inputs[k].edge];
        largest = yk_number_max(largest, yk_task_rank_scaled_mean_transfer(graph, edge));
    }
    return largest;
}

void yk_task_rank_compute_upward(const struct yk_graph *graph, bool with_input, int64_t *out)
{
    for (int32_t k = graph->task_count - 1; k >= 0; k--) {
        const int32_t task = graph->order[k];
        int64_t longest = 0;
        for (int32_t e = graph->out_first[task]; e < graph->out_first[task + 1]; e++) {
            const struct yk_graph_edge *edge = &graph->edges[e];
            const int64_t path = yk_task_rank_scaled_mean_transfer(graph, edge) + out[edge->to];
            longest = path > longest ? path : longest;
        }
        out[task] = yk_task_rank_scaled_mean_cost(graph, task) + longest +
                    (with_input ? largest_input(graph, task) : 0);
    }
}

void yk_task_rank_compute_downward(const struct yk_graph *graph, int64_t *out)
{
    for (int32_t i = 0; i < graph->task_count; i++) {
        out[i] = 0;
    }
    for (int32_t k = 0; k < graph->task_count; k++) {
        const int32_t task = graph->order[k];
        const int64_t through = out[task] + yk_task_rank_scaled_mean_cost(graph, task);
        for (int32_t e = graph->out_first[task]; e < graph->out_first[task + 1]; e++) {
            const struct yk_graph_edge *edge = &graph->edges[e];
            const int64_t path = through + yk_task_rank_scaled_mean_transfer(graph, edge);
            out[edge->to] = path > out[edge->to] ? path : out[edge->to];
        }
    }
}

yk_status yk_task_rank_order_by_priority(const struct yk_graph *graph, const int64_t *priorities,
                                         struct yk_arena *arena, int32_t *out)
{
    const int32_t n = graph->task_count;
    struct yk_task_heap heap = {.keys = priorities};
    int32_t *waits_for = NULL;
    YK_TRY_NEW(arena, heap.tasks, n);
    YK_TRY_NEW(arena, waits_for, n);
    for (int32_t i = 0; i < n; i++) {
        waits_for[i] = graph->in_first[i + 1] - graph->in_first[i];
        if (waits_for[i] == 0) {
            yk_task_heap_push(&heap, i);
        }
    }
    for (int32_t count = 0; count < n; count++) {
        const int32_t task = yk_task_heap_pop(&heap);
        out[count] = task;
        for (int32_t e = graph->out_first[task]; e < graph->out_first[task + 1]; e++) {
            if (--waits_for[graph->edges[e].to] == 0) {
                yk_task_heap_push(&heap, graph->edges[e].to);
            }
        }
    }
    return YK_OK;
}

yk_status yk_task_rank_order_depth_first(const struct yk_graph *graph, struct yk_arena *arena,
                                         int32_t *out)
{
    const int32_t n = graph->task_count;
    int32_t *waits_for = NULL;
    int32_t *stack = NULL;
    YK_TRY_NEW(arena, waits_for, n);
    YK_TRY_NEW(arena, stack, n);
    int32_t height = 0;
    for (int32_t i = n - 1; i >= 0; i--) {
        waits_for[i] = graph->in_first[i + 1] - graph->in_first[i];
        if (waits_for[i] == 0) {
            stack[height++] = i;
        }
    }
    for (int32_t count = 0; count < n; count++) {
        const int32_t task = stack[--height];
        out[count] = task;
        for (int32_t e = graph->out_first[task + 1] - 1; e >= graph->out_first[task]; e--) {
            if (--waits_for[graph->edges[e].to] == 0) {
                stack[height++] = graph->edges[e].to;
            }
        }
    }
    return YK_OK;
}
