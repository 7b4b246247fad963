#include "graph/graph.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/text.h"
#include "graph/builder.h"
#include "graph/builder_record.h"

#include <string.h>

/* No schedule may be longer than this many ticks: sums of two still fit a double exactly, and a sum
 * over YK_GRAPH_MAX_DEVICES devices fits an int64_t. */
static const double LONGEST_SCHEDULE_TICKS = 4503599627370496.0; /* 2^52 */
/* Larger powers of ten are not exact in a double. */
enum {
    MAX_DECIMALS = 22
};

static double largest_cost(const struct yk_graph_builder *builder, int32_t task)
{
    const int64_t P = yk_name_index_count(builder->device_names);
    double largest = NAN;
    for (int64_t p = 0; p < P; p++) {
        largest = fmax(largest, builder->costs[task * P + p]);
    }
    return largest;
}

static bool has_links(const struct yk_graph_builder *builder, const struct yk_graph *graph)
{
    return builder->links && graph->device_count > 1;
}

/* The time of all tasks and transfers in sequence, in units of the input. */
static double longest_schedule(const struct yk_graph_builder *builder, const struct yk_graph *graph)
{
    double latency = 0;
    double slowest = INFINITY;
    const int32_t P = graph->device_count;
    for (int32_t i = 0; has_links(builder, graph) && i < P * P; i++) {
        if (i / P != i % P && builder->links[i].bytes_per_unit > 0) {
            latency = fmax(latency, builder->links[i].latency);
            slowest = fmin(slowest, builder->links[i].bytes_per_unit);
        }
    }
    double sum = 0;
    for (int32_t i = 0; i < graph->task_count; i++) {
        sum += largest_cost(builder, i);
    }
    for (int32_t e = 0; e < builder->edge_count; e++) {
        const struct edge_record *edge = &builder->edges[e];
        sum += isnan(edge->cost) ? latency + ceil(edge->bytes) / slowest : edge->cost;
    }
    return sum;
}

static yk_status choose_ticks(const struct yk_graph_builder *builder, struct yk_graph *graph)
{
    const double sum = longest_schedule(builder, graph);
    /* One extra tick per task and edge, because rounding may add half a tick each. */
    const double slack = (double)graph->task_count + (double)graph->edge_count;
    double scale = 1;
    if (!(sum + slack < LONGEST_SCHEDULE_TICKS)) {
        return yk_fail(YK_ERROR_INPUT,
                       "all costs together are %.3g, which is too large; use a larger unit of time",
                       sum);
    }
    for (int k = 0; k < MAX_DECIMALS && sum * scale * 10 + slack < LONGEST_SCHEDULE_TICKS; k++) {
        scale *= 10;
    }
    graph->ticks_per_unit = scale;
    return YK_OK;
}

static yk_status convert_costs(const struct yk_graph_builder *builder, struct yk_graph *graph)
{
    const size_t count = (size_t)graph->task_count * (size_t)graph->device_count;
    YK_TRY_NEW(graph->arena, graph->costs, count);
    bool vanished = false;
    for (size_t i = 0; i < count; i++) {
        graph->costs[i] = isnan(builder->costs[i])
                              ? YK_GRAPH_INFINITE_COST
                              : llround(builder->costs[i] * graph->ticks_per_unit);
        vanished = vanished || (graph->costs[i] == 0 && builder->costs[i] > 0);
    }
    if (vanished) {
        yk_log(YK_LOG_WARNING, "some costs are so small beside the others that they count as 0");
    }
    return YK_OK;
}

/* Converts the links of all pairs. If all are equal, only `mean_link` is kept. */
static yk_status convert_links(const struct yk_graph_builder *builder, struct yk_graph *graph)
{
    if (!has_links(builder, graph)) {
        return YK_OK;
    }
    const int32_t P = graph->device_count;
    const double scale = graph->ticks_per_unit;
    YK_TRY_NEW(graph->arena, graph->links, P * P);
    struct yk_graph_link sum = {0, 0};
    struct yk_graph_link fastest = {INFINITY, INFINITY};
    bool equal = true;
    for (int32_t i = 0; i < P * P; i++) {
        const struct link_record *record = &builder->links[i];
        if (i / P == i % P || record->bytes_per_unit == 0) {
            continue;
        }
        /* Place 1 is the link from the first device to the second: never on the diagonal. */
        equal = equal && record->latency == builder->links[1].latency &&
                record->bytes_per_unit == builder->links[1].bytes_per_unit;
        graph->links[i].latency_ticks = record->latency * scale;
        graph->links[i].ticks_per_byte = scale / record->bytes_per_unit;
        sum.latency_ticks += graph->links[i].latency_ticks;
        sum.ticks_per_byte += graph->links[i].ticks_per_byte;
        fastest.latency_ticks = fmin(fastest.latency_ticks, graph->links[i].latency_ticks);
        fastest.ticks_per_byte = fmin(fastest.ticks_per_byte, graph->links[i].ticks_per_byte);
    }
    const double pairs = (double)P * (P - 1);
    graph->mean_link.latency_ticks = sum.latency_ticks / pairs;
    graph->mean_link.ticks_per_byte = sum.ticks_per_byte / pairs;
    graph->fastest_link = fastest;
    if (equal) {
        graph->mean_link = graph->links[1];
        graph->links = NULL;
    }
    return YK_OK;
}

static yk_status convert_to_ticks(const struct yk_graph_builder *builder, struct yk_graph *graph)
{
    YK_TRY(choose_ticks(builder, graph));
    YK_TRY(convert_costs(builder, graph));
    return convert_links(builder, graph);
}

static int64_t edge_ticks(const struct yk_graph *graph, const struct edge_record *record)
{
    if (!isnan(record->cost)) {
        return llround(record->cost * graph->ticks_per_unit);
    }
    if (graph->links) {
        return YK_GRAPH_COST_FROM_LINK;
    }
    /* With a single device the mean link is zero, and so is the time. */
    return llround(graph->mean_link.latency_ticks +
                   ceil(record->bytes) * graph->mean_link.ticks_per_byte);
}

static const double MAX_BYTES = 2305843009213693952.0; /* 2^61 */

static yk_status copy_name(struct yk_graph *graph, const struct yk_name_index *names,
                           int32_t number, const char **out)
{
    return yk_arena_strdup(graph->arena, yk_name_index_name(names, number), out);
}

static yk_status copy_devices(const struct yk_graph_builder *builder, struct yk_graph *graph)
{
    YK_TRY_NEW(graph->arena, graph->devices, graph->device_count);
    for (int32_t p = 0; p < graph->device_count; p++) {
        struct yk_graph_device *device = &graph->devices[p];
        const double memory_bytes = builder->devices[p].memory_bytes;
        YK_TRY(copy_name(graph, builder->device_names, p, &device->name));
        device->memory_bytes =
            isinf(memory_bytes) ? YK_GRAPH_UNLIMITED_MEMORY : (int64_t)floor(memory_bytes);
        graph->limited = graph->limited || device->memory_bytes != YK_GRAPH_UNLIMITED_MEMORY;
    }
    return YK_OK;
}

static yk_status copy_tasks(const struct yk_graph_builder *builder, struct yk_graph *graph)
{
    YK_TRY_NEW(graph->arena, graph->tasks, graph->task_count);
    for (int32_t i = 0; i < graph->task_count; i++) {
        YK_TRY(copy_name(graph, builder->task_names, i, &graph->tasks[i].name));
        graph->tasks[i].memory_bytes = (int64_t)ceil(builder->tasks[i].memory_bytes);
        graph->tasks[i].group = builder->tasks[i].group;
    }
    YK_TRY_NEW(graph->arena, graph->groups, graph->group_count);
    for (int32_t g = 0; g < graph->group_count; g++) {
        YK_TRY(copy_name(graph, builder->group_names, g, &graph->groups[g].name));
        graph->groups[g].resident_bytes = (int64_t)ceil(builder->groups[g].resident_bytes);
        graph->groups[g].shared_store = builder->groups[g].store;
    }
    YK_TRY_NEW(graph->arena, graph->shared_stores, graph->store_count);
    for (int32_t s = 0; s < graph->store_count; s++) {
        YK_TRY(copy_name(graph, builder->store_names, s, &graph->shared_stores[s].name));
        graph->shared_stores[s].bytes = (int64_t)ceil(builder->stores[s].bytes);
    }
    return YK_OK;
}

/* A device that cannot run one task of a group cannot run any of them. */
static yk_status spread_group_limits(struct yk_graph_builder *builder, const struct yk_graph *graph)
{
    const int64_t P = graph->device_count;
    bool *barred = NULL;
    YK_TRY_NEW(graph->arena, barred, graph->group_count * P + 1);
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
    return YK_OK;
}

static yk_status check_runnable(const struct yk_graph_builder *builder,
                                const struct yk_graph *graph)
{
    for (int32_t i = 0; i < graph->task_count; i++) {
        if (!isnan(largest_cost(builder, i))) {
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

/* Checks that the sum of all bytes cannot overflow: stores count on every device, edges twice. */
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
        sum += 2 * builder->edges[e].resident_bytes;
    }
    return sum < MAX_BYTES
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "all bytes together are %.3g, which is too large", sum);
}

/* Sorts the edges by their first task, then in the order of the input, and makes both indexes. */
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
            .cost = edge_ticks(graph, record),
            .bytes = (int64_t)ceil(record->bytes),
            .resident_bytes = (int64_t)ceil(record->resident_bytes),
        };
    }
    memset(filled, 0, (size_t)graph->task_count * sizeof *filled);
    for (int32_t e = 0; e < graph->edge_count; e++) {
        const struct yk_graph_edge *edge = &graph->edges[e];
        const int32_t place = graph->in_first[edge->to] + filled[edge->to]++;
        graph->inputs[place] = (struct yk_graph_incoming_edge){edge->cost, edge->from, e};
    }
    return YK_OK;
}

/* Finds a cycle for the error message: each remaining task waits for another one, so a walk against
 * the edges returns to a visited task. */
static yk_status name_cycle(const struct yk_graph *graph, const int32_t *waits_for)
{
    int32_t task = 0;
    while (waits_for[task] == 0) {
        task++;
    }
    int32_t *path = NULL;
    int32_t *place = NULL;
    int32_t length = 0;
    YK_TRY_NEW(graph->arena, path, graph->task_count);
    YK_TRY_NEW(graph->arena, place, graph->task_count);
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
        MAX_NAMED = 8
    };
    struct yk_text names = {0};
    yk_text_addf(&names, "\"%s\"", graph->tasks[task].name);
    const int32_t first = place[task] - 1;
    for (int32_t i = length - 1; i >= first; i--) {
        if (length - i > MAX_NAMED && i > first) {
            yk_text_addf(&names, " -> … (%d more)", i - first);
            i = first;
        }
        yk_text_addf(&names, " -> \"%s\"", graph->tasks[path[i]].name);
    }
    const yk_status status =
        yk_fail(YK_ERROR_INPUT, "tasks wait for each other in a cycle: %s", yk_text_chars(&names));
    yk_text_free(&names);
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
    YK_TRY(copy_devices(builder, graph));
    YK_TRY(copy_tasks(builder, graph));
    YK_TRY(spread_group_limits(builder, graph));
    YK_TRY(check_runnable(builder, graph));
    YK_TRY(check_links(builder, graph));
    YK_TRY(check_bytes(builder, graph));
    YK_TRY(convert_to_ticks(builder, graph));
    YK_TRY(sort_edges(builder, graph));
    return sort_tasks(graph);
}

yk_status yk_graph_builder_finish(struct yk_graph_builder *builder, struct yk_graph **out)
{
    if (yk_name_index_count(builder->task_names) == 0) {
        return yk_fail(YK_ERROR_INPUT, "the graph has no tasks");
    }
    struct yk_graph *graph = NULL;
    YK_TRY_NEW_WITH_ARENA(graph);
    graph->device_count = yk_name_index_count(builder->device_names);
    graph->task_count = yk_name_index_count(builder->task_names);
    graph->edge_count = builder->edge_count;
    graph->group_count = yk_name_index_count(builder->group_names);
    graph->store_count = yk_name_index_count(builder->store_names);
    YK_TRY_OR_CLEAN_UP(fill_graph(builder, graph), yk_arena_destroy(graph->arena));
    *out = graph;
    return YK_OK;
}

void yk_graph_destroy(struct yk_graph *graph)
{
    if (graph) {
        yk_arena_destroy(graph->arena);
    }
}

int64_t yk_graph_mean_transfer_ticks(const struct yk_graph *graph, const struct yk_graph_edge *edge)
{
    if (edge->cost != YK_GRAPH_COST_FROM_LINK) {
        return edge->cost;
    }
    return llround(graph->mean_link.latency_ticks +
                   (double)edge->bytes * graph->mean_link.ticks_per_byte);
}
