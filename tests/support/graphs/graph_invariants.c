#include "support/support.h"

#include <stdlib.h>

static const char *check_order(const struct yk_graph *graph, int32_t *place)
{
    for (int32_t i = 0; i < graph->task_count; i++) {
        place[i] = -1;
    }
    for (int32_t i = 0; i < graph->task_count; i++) {
        const int32_t task = graph->order[i];
        if (task < 0 || task >= graph->task_count || place[task] >= 0) {
            return "order holds each task once";
        }
        place[task] = i;
    }
    for (int32_t e = 0; e < graph->edge_count; e++) {
        if (place[graph->edges[e].from] >= place[graph->edges[e].to]) {
            return "order is topological";
        }
    }
    return NULL;
}

static const char *check_indexes(const struct yk_graph *graph)
{
    const int32_t n = graph->task_count;
    if (graph->out_first[0] != 0 || graph->out_first[n] != graph->edge_count ||
        graph->in_first[0] != 0 || graph->in_first[n] != graph->edge_count) {
        return "the indexes cover all edges";
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t e = graph->out_first[i]; e < graph->out_first[i + 1]; e++) {
            if (graph->edges[e].from != i) {
                return "out_first finds the edges that leave a task";
            }
        }
        for (int32_t k = graph->in_first[i]; k < graph->in_first[i + 1]; k++) {
            if (graph->edges[graph->inputs[k].edge].to != i) {
                return "inputs finds the edges that enter a task";
            }
            const struct yk_graph_edge *edge = &graph->edges[graph->inputs[k].edge];
            if (graph->inputs[k].from != edge->from || graph->inputs[k].cost != edge->cost) {
                return "inputs says what the edges say";
            }
            if (k > graph->in_first[i] && graph->inputs[k].edge <= graph->inputs[k - 1].edge) {
                return "inputs rises";
            }
        }
    }
    return NULL;
}

static const char *check_task(const struct yk_graph *graph, int32_t task, double *total)
{
    int64_t largest = -1;
    const struct yk_graph_task *record = &graph->tasks[task];
    for (int32_t p = 0; p < graph->device_count; p++) {
        const int64_t cost = yk_graph_task_cost(graph, task, p);
        if (cost < 0) {
            return "no cost is negative";
        }
        largest = cost != YK_GRAPH_INFINITE_COST && cost > largest ? cost : largest;
    }
    if (largest < 0) {
        return "every task has a device";
    }
    if (!record->name || !*record->name || record->memory_bytes < 0) {
        return "a task has a name and its memory is not negative";
    }
    if (record->group < YK_GRAPH_NO_GROUP || record->group >= graph->group_count) {
        return "a task's group exists";
    }
    *total += (double)largest;
    return NULL;
}

static const char *check_edge(const struct yk_graph *graph, const struct yk_graph_edge *edge,
                              double *total)
{
    if (edge->cost < 0 && edge->cost != YK_GRAPH_COST_FROM_LINK) {
        return "no edge's cost is negative";
    }
    if (edge->bytes < 0 || (edge->cost == YK_GRAPH_COST_FROM_LINK && !graph->links)) {
        return "an edge has bytes of 0 or more, and links where its time follows from them";
    }
    int64_t largest = 0;
    for (int32_t i = 0; graph->device_count > 1 && i < graph->device_count; i++) {
        const int64_t ticks =
            yk_graph_transfer_ticks(graph, edge, i, (i + 1) % graph->device_count);
        if (ticks < 0) {
            return "no transfer takes negative time";
        }
        largest = ticks > largest ? ticks : largest;
    }
    if (graph->device_count > 1 && yk_graph_mean_transfer_ticks(graph, edge) < 0) {
        return "no transfer takes negative time on average";
    }
    *total += (double)largest;
    return NULL;
}

const char *support_broken_promise(const struct yk_graph *graph)
{
    double total = 0;
    const char *broken = check_indexes(graph);
    for (int32_t i = 0; !broken && i < graph->task_count; i++) {
        broken = check_task(graph, i, &total);
    }
    for (int32_t e = 0; !broken && e < graph->edge_count; e++) {
        broken = check_edge(graph, &graph->edges[e], &total);
    }
    if (!broken && total > 0x1.0p52) {
        broken = "no schedule is longer than 2^52 ticks";
    }
    int32_t *place = calloc((size_t)graph->task_count, sizeof *place);
    if (!place) {
        return "memory for the check";
    }
    broken = broken ? broken : check_order(graph, place);
    free(place);
    return broken;
}
