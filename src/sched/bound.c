#include "sched/bound.h"

#include "sched/bound_work.h"

#include <stdbool.h>
#include <string.h>

/* `row[q]` plus the way from q to `device` over `edge`, for the best device q. */
static int64_t best_arrival(const struct yk_graph *graph, const struct yk_graph_edge *edge,
                            const int64_t *row, int64_t row_least, int32_t device)
{
    const int32_t from_group = graph->tasks[edge->from].group;
    if (from_group != YK_GRAPH_NO_GROUP && from_group == graph->tasks[edge->to].group) {
        return row[device];
    }
    if (edge->cost != YK_GRAPH_BY_LINK) {
        const int64_t elsewhere = row_least + edge->cost;
        return row[device] < elsewhere ? row[device] : elsewhere;
    }
    int64_t best = row[device];
    for (int32_t q = 0; q < graph->device_count; q++) {
        if (row[q] == YK_GRAPH_NEVER) {
            continue;
        }
        const int64_t time = row[q] + yk_graph_delay(graph, edge, q, device);
        best = time < best ? time : best;
    }
    return best;
}

static int64_t least_of(const int64_t *row, int32_t count)
{
    int64_t least = YK_GRAPH_NEVER;
    for (int32_t p = 0; p < count; p++) {
        least = row[p] < least ? row[p] : least;
    }
    return least;
}

/* Raises each entry of `row` that is not NEVER to what `other`, across `edge`, allows. */
static void raise_row(const struct yk_graph *graph, const struct yk_graph_edge *edge,
                      const int64_t *other, int32_t task, int64_t *row)
{
    const int32_t P = graph->device_count;
    const int64_t other_least = least_of(other, P);
    for (int32_t p = 0; p < P; p++) {
        if (yk_graph_can_run(graph, task, p)) {
            const int64_t time = best_arrival(graph, edge, other, other_least, p);
            row[p] = time > row[p] ? time : row[p];
        }
    }
}

static void find_finishes(const struct yk_graph *graph, int64_t *finish)
{
    const int64_t P = graph->device_count;
    for (int32_t k = 0; k < graph->task_count; k++) {
        const int32_t task = graph->order[k];
        int64_t *row = &finish[task * P];
        for (int32_t j = graph->in_first[task]; j < graph->in_first[task + 1]; j++) {
            const struct yk_graph_edge *edge = &graph->edges[graph->in_edges[j]];
            raise_row(graph, edge, &finish[edge->from * P], task, row);
        }
        for (int32_t p = 0; p < P; p++) {
            const int64_t cost = yk_graph_cost(graph, task, p);
            row[p] = cost == YK_GRAPH_NEVER ? YK_GRAPH_NEVER : row[p] + cost;
        }
    }
}

/* `scratch` (P) holds a child's own cost and rest. Links are the same in both directions. */
static void find_rests(const struct yk_graph *graph, int64_t *rest, int64_t *scratch)
{
    const int64_t P = graph->device_count;
    for (int32_t k = graph->task_count - 1; k >= 0; k--) {
        const int32_t task = graph->order[k];
        for (int32_t e = graph->out_first[task]; e < graph->out_first[task + 1]; e++) {
            const struct yk_graph_edge *edge = &graph->edges[e];
            for (int32_t q = 0; q < P; q++) {
                const int64_t cost = yk_graph_cost(graph, edge->to, q);
                scratch[q] =
                    cost == YK_GRAPH_NEVER ? YK_GRAPH_NEVER : cost + rest[edge->to * P + q];
            }
            raise_row(graph, edge, scratch, task, &rest[task * P]);
        }
    }
}

yk_status yk_bound_find_paths(const struct yk_graph *graph, struct yk_arena *arena,
                              struct yk_bound_paths *out)
{
    const int64_t cells = (int64_t)graph->task_count * graph->device_count;
    int64_t *scratch = NULL;
    YK_TRY_NEW(arena, out->finish, cells);
    YK_TRY_NEW(arena, out->rest, cells);
    YK_TRY_NEW(arena, scratch, graph->device_count);
    find_finishes(graph, out->finish);
    find_rests(graph, out->rest, scratch);
    return YK_OK;
}

static int64_t greatest_common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t remainder = a % b;
        a = b;
        b = remainder;
    }
    return a;
}

int64_t yk_bound_granule(const struct yk_graph *graph)
{
    const int64_t cells = (int64_t)graph->task_count * graph->device_count;
    int64_t granule = 0;
    for (int64_t i = 0; i < cells && granule != 1; i++) {
        if (graph->costs[i] != YK_GRAPH_NEVER) {
            granule = greatest_common_divisor(granule, graph->costs[i]);
        }
    }
    for (int32_t e = 0; e < graph->edge_count && granule != 1; e++) {
        const int64_t cost = graph->edges[e].cost;
        granule = cost == YK_GRAPH_BY_LINK ? 1 : greatest_common_divisor(granule, cost);
    }
    return granule > 0 ? granule : 1;
}

/* The longest of all paths, and for each task the least time before its start and after its end. */
static int64_t longest_path(const struct yk_graph *graph, const struct yk_bound_paths *paths,
                            struct yk_bound_window *windows)
{
    const int64_t P = graph->device_count;
    int64_t longest = 0;
    for (int32_t i = 0; i < graph->task_count; i++) {
        struct yk_bound_window window = {INT64_MAX, INT64_MAX, i};
        int64_t through = INT64_MAX;
        for (int64_t p = 0; p < P; p++) {
            const int64_t finish = paths->finish[i * P + p];
            if (finish == YK_GRAPH_NEVER) {
                continue;
            }
            const int64_t rest = paths->rest[i * P + p];
            const int64_t start = finish - graph->costs[i * P + p];
            through = finish + rest < through ? finish + rest : through;
            window.before = start < window.before ? start : window.before;
            window.after = rest < window.after ? rest : window.after;
        }
        windows[i] = window;
        longest = through > longest ? through : longest;
    }
    return longest;
}

static yk_status compute(const struct yk_graph *graph, struct yk_arena *arena, int64_t *out)
{
    struct yk_bound_paths paths;
    struct yk_bound_window *windows = NULL;
    int64_t work = 0;
    YK_TRY(yk_bound_find_paths(graph, arena, &paths));
    YK_TRY_NEW(arena, windows, graph->task_count);
    const int64_t path = longest_path(graph, &paths, windows);
    YK_TRY(yk_bound_find_work(graph, arena, windows, &work));
    const int64_t granule = yk_bound_granule(graph);
    const int64_t bound = path > work ? path : work;
    *out = (bound + granule - 1) / granule * granule;
    return YK_OK;
}

yk_status yk_bound_compute(const struct yk_graph *graph, int64_t *out)
{
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = compute(graph, arena, out);
    yk_arena_destroy(arena);
    return status;
}
