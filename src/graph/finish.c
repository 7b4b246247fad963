/* The second half of the builder: checks what was collected and makes the graph. */
#include "base/arena.h"
#include "base/text.h"
#include "graph/builder.h"
#include "graph/builder_record.h"
#include "graph/ticks.h"

#include <stdlib.h>
#include <string.h>

static const double MOST_BYTES = 2305843009213693952.0; /* 2^61 */

static yk_status name_devices(const struct yk_graph_builder *builder, struct yk_graph *graph)
{
    YK_TRY_NEW(graph->arena, graph->devices, graph->device_count);
    for (int32_t p = 0; p < graph->device_count; p++) {
        struct yk_graph_device *device = &graph->devices[p];
        const char *name = yk_names_at(builder->device_names, p);
        const double memory_bytes = builder->devices[p].memory_bytes;
        device->name = yk_arena_copy_text(graph->arena, name, strlen(name));
        if (!device->name) {
            return yk_fail_out_of_memory();
        }
        device->memory_bytes =
            isinf(memory_bytes) ? YK_GRAPH_UNLIMITED : (int64_t)floor(memory_bytes);
        graph->limited = graph->limited || device->memory_bytes != YK_GRAPH_UNLIMITED;
    }
    return YK_OK;
}

static yk_status name_tasks(const struct yk_graph_builder *builder, struct yk_graph *graph)
{
    YK_TRY_NEW(graph->arena, graph->tasks, graph->task_count);
    for (int32_t i = 0; i < graph->task_count; i++) {
        struct yk_graph_task *task = &graph->tasks[i];
        const char *name = yk_names_at(builder->task_names, i);
        task->name = yk_arena_copy_text(graph->arena, name, strlen(name));
        if (!task->name) {
            return yk_fail_out_of_memory();
        }
        task->memory_bytes = (int64_t)ceil(builder->tasks[i].memory_bytes);
        task->group = builder->tasks[i].group;
    }
    YK_TRY_NEW(graph->arena, graph->groups, graph->group_count);
    for (int32_t g = 0; g < graph->group_count; g++) {
        const char *name = yk_names_at(builder->group_names, g);
        graph->groups[g].name = yk_arena_copy_text(graph->arena, name, strlen(name));
        if (!graph->groups[g].name) {
            return yk_fail_out_of_memory();
        }
        graph->groups[g].resident_bytes = (int64_t)ceil(builder->groups[g].resident_bytes);
        graph->groups[g].store = builder->groups[g].store;
    }
    return YK_OK;
}

static yk_status name_stores(const struct yk_graph_builder *builder, struct yk_graph *graph)
{
    YK_TRY_NEW(graph->arena, graph->stores, graph->store_count);
    for (int32_t s = 0; s < graph->store_count; s++) {
        const char *name = yk_names_at(builder->store_names, s);
        graph->stores[s].name = yk_arena_copy_text(graph->arena, name, strlen(name));
        if (!graph->stores[s].name) {
            return yk_fail_out_of_memory();
        }
        graph->stores[s].bytes = (int64_t)ceil(builder->stores[s].bytes);
    }
    return YK_OK;
}

/* A group runs where all of its tasks can run: what one cannot, none can. */
static yk_status spread_group_limits(struct yk_graph_builder *builder, const struct yk_graph *graph)
{
    const int64_t P = graph->device_count;
    bool *barred = calloc((size_t)graph->group_count * (size_t)P + 1, sizeof *barred);
    if (!barred) {
        return yk_fail_out_of_memory();
    }
    for (int32_t i = 0; i < graph->task_count; i++) {
        const int64_t group = graph->tasks[i].group;
        for (int64_t p = 0; group != YK_GRAPH_NO_GROUP && p < P; p++) {
            barred[group * P + p] = barred[group * P + p] || isnan(builder->costs[i * P + p]);
        }
    }
    for (int32_t i = 0; i < graph->task_count; i++) {
        const int64_t group = graph->tasks[i].group;
        for (int64_t p = 0; group != YK_GRAPH_NO_GROUP && p < P; p++) {
            if (barred[group * P + p]) {
                builder->costs[i * P + p] = NAN;
            }
        }
    }
    free(barred);
    return YK_OK;
}

static yk_status check_runnable(const struct yk_graph_builder *builder,
                                const struct yk_graph *graph)
{
    for (int32_t i = 0; i < graph->task_count; i++) {
        if (!isnan(yk_ticks_largest_cost(builder, i))) {
            continue;
        }
        const struct yk_graph_task *task = &graph->tasks[i];
        if (task->group == YK_GRAPH_NO_GROUP) {
            return yk_fail(YK_ERROR_INPUT, "task \"%s\": no device can run it", task->name);
        }
        return yk_fail(YK_ERROR_INPUT, "group \"%s\": no device can run all of its tasks",
                       graph->groups[task->group].name);
    }
    return YK_OK;
}

static yk_status check_links(const struct yk_graph_builder *builder, const struct yk_graph *graph)
{
    const int32_t P = graph->device_count;
    int32_t first = 0;
    while (first < builder->edge_count && !isnan(builder->edges[first].cost)) {
        first++;
    }
    if (first == builder->edge_count || P == 1) {
        return YK_OK;
    }
    const struct edge_record *edge = &builder->edges[first];
    if (!builder->links) {
        return yk_fail(YK_ERROR_INPUT,
                       "edge \"%s\" -> \"%s\" has bytes but the graph has no \"links\" to carry "
                       "them; give it a cost, add links or say --bandwidth",
                       graph->tasks[edge->from].name, graph->tasks[edge->to].name);
    }
    for (int32_t i = 0; i < P * P; i++) {
        if (i / P != i % P && builder->links[i].bytes_per_unit == 0) {
            return yk_fail(YK_ERROR_INPUT, "links: there is none between \"%s\" and \"%s\"",
                           graph->devices[i / P].name, graph->devices[i % P].name);
        }
    }
    return YK_OK;
}

/* What all tasks, groups, stores (on every device) and edges (on both sides) hold together must not
 * overflow when added up. */
static yk_status check_bytes(const struct yk_graph_builder *builder, const struct yk_graph *graph)
{
    double sum = 0;
    for (int32_t i = 0; i < graph->task_count; i++) {
        sum += builder->tasks[i].memory_bytes;
    }
    for (int32_t g = 0; g < graph->group_count; g++) {
        sum += builder->groups[g].resident_bytes;
    }
    for (int32_t s = 0; s < graph->store_count; s++) {
        sum += builder->stores[s].bytes * graph->device_count;
    }
    for (int32_t e = 0; e < builder->edge_count; e++) {
        sum += 2 * builder->edges[e].held;
    }
    return sum < MOST_BYTES
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "all bytes together are %.3g, which is too large", sum);
}

/* Edges by their first task, kept in the order of the input, with both indexes. */
static yk_status sort_edges(const struct yk_graph_builder *builder, struct yk_graph *graph)
{
    YK_TRY_NEW(graph->arena, graph->edges, graph->edge_count);
    YK_TRY_NEW(graph->arena, graph->inputs, graph->edge_count);
    YK_TRY_NEW(graph->arena, graph->out_first, graph->task_count + 1);
    YK_TRY_NEW(graph->arena, graph->in_first, graph->task_count + 1);
    for (int32_t e = 0; e < graph->edge_count; e++) {
        graph->out_first[builder->edges[e].from + 1]++;
        graph->in_first[builder->edges[e].to + 1]++;
    }
    for (int32_t i = 0; i < graph->task_count; i++) {
        graph->out_first[i + 1] += graph->out_first[i];
        graph->in_first[i + 1] += graph->in_first[i];
    }
    int32_t *filled = NULL;
    YK_TRY_NEW(graph->arena, filled, graph->task_count);
    for (int32_t e = 0; e < graph->edge_count; e++) {
        const struct edge_record *record = &builder->edges[e];
        const int32_t place = graph->out_first[record->from] + filled[record->from]++;
        graph->edges[place] = (struct yk_graph_edge){
            .from = record->from,
            .to = record->to,
            .cost = yk_ticks_of_edge(graph, record),
            .bytes = (int64_t)ceil(record->bytes),
            .held = (int64_t)ceil(record->held),
        };
    }
    memset(filled, 0, (size_t)graph->task_count * sizeof *filled);
    for (int32_t e = 0; e < graph->edge_count; e++) {
        const struct yk_graph_edge *edge = &graph->edges[e];
        const int32_t place = graph->in_first[edge->to] + filled[edge->to]++;
        graph->inputs[place] = (struct yk_graph_input){edge->cost, edge->from, e};
    }
    return YK_OK;
}

/* Among tasks that all wait for another of them, walking backwards must come round. */
static yk_status name_cycle(const struct yk_graph *graph, const int32_t *waits_for)
{
    int32_t task = 0;
    while (waits_for[task] == 0) {
        task++;
    }
    int32_t *path = calloc((size_t)graph->task_count, sizeof *path);
    int32_t *place = calloc((size_t)graph->task_count, sizeof *place);
    if (!path || !place) {
        free(path);
        free(place);
        return yk_fail_out_of_memory();
    }
    int32_t length = 0;
    while (place[task] == 0) {
        path[length++] = task;
        place[task] = length;
        int32_t k = graph->in_first[task];
        while (waits_for[graph->inputs[k].from] == 0) {
            k++;
        }
        task = graph->inputs[k].from;
    }
    /* The walk went against the edges, so the cycle is read from its end. */
    enum {
        MOST_NAMED = 8
    };
    struct yk_text names = {0};
    yk_text_addf(&names, "\"%s\"", graph->tasks[task].name);
    const int32_t first = place[task] - 1;
    for (int32_t i = length - 1; i >= first; i--) {
        if (length - i > MOST_NAMED && i > first) {
            yk_text_addf(&names, " -> … (%d more)", i - first);
            i = first;
        }
        yk_text_addf(&names, " -> \"%s\"", graph->tasks[path[i]].name);
    }
    const yk_status status =
        yk_fail(YK_ERROR_INPUT, "tasks wait for each other in a cycle: %s", yk_text_chars(&names));
    yk_text_free(&names);
    free(path);
    free(place);
    return status;
}

static yk_status sort_tasks(struct yk_graph *graph)
{
    const int32_t n = graph->task_count;
    int32_t *waits_for = NULL;
    YK_TRY_NEW(graph->arena, graph->order, n);
    YK_TRY_NEW(graph->arena, waits_for, n);
    int32_t known = 0;
    for (int32_t i = 0; i < n; i++) {
        waits_for[i] = graph->in_first[i + 1] - graph->in_first[i];
        if (waits_for[i] == 0) {
            graph->order[known++] = i;
        }
    }
    for (int32_t done = 0; done < known; done++) {
        const int32_t task = graph->order[done];
        for (int32_t e = graph->out_first[task]; e < graph->out_first[task + 1]; e++) {
            const int32_t next = graph->edges[e].to;
            if (--waits_for[next] == 0) {
                graph->order[known++] = next;
            }
        }
    }
    return known == n ? YK_OK : name_cycle(graph, waits_for);
}

static yk_status fill_graph(struct yk_graph_builder *builder, struct yk_graph *graph)
{
    YK_TRY(name_devices(builder, graph));
    YK_TRY(name_tasks(builder, graph));
    YK_TRY(name_stores(builder, graph));
    YK_TRY(spread_group_limits(builder, graph));
    YK_TRY(check_runnable(builder, graph));
    YK_TRY(check_links(builder, graph));
    YK_TRY(check_bytes(builder, graph));
    YK_TRY(yk_ticks_convert(builder, graph));
    YK_TRY(sort_edges(builder, graph));
    return sort_tasks(graph);
}

yk_status yk_graph_builder_finish(struct yk_graph_builder *builder, struct yk_graph **out)
{
    if (yk_names_count(builder->task_names) == 0) {
        return yk_fail(YK_ERROR_INPUT, "the graph has no tasks");
    }
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    struct yk_graph *graph = yk_arena_allocate(arena, 1, sizeof *graph);
    if (!graph) {
        yk_arena_destroy(arena);
        return yk_fail_out_of_memory();
    }
    graph->arena = arena;
    graph->device_count = yk_names_count(builder->device_names);
    graph->task_count = yk_names_count(builder->task_names);
    graph->edge_count = builder->edge_count;
    graph->group_count = yk_names_count(builder->group_names);
    graph->store_count = yk_names_count(builder->store_names);
    const yk_status status = fill_graph(builder, graph);
    if (status != YK_OK) {
        yk_arena_destroy(arena);
        return status;
    }
    *out = graph;
    return YK_OK;
}
