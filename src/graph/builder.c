#include "graph/builder.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/log.h"
#include "base/name_index.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* 2^53: larger integers are not exact in a double, and no machine has as many bytes. */
static const double LARGEST_BYTES = 9007199254740992.0;

/* The sum of all bytes of a graph is smaller. */
static const double LARGEST_SUM_OF_BYTES = 2305843009213693952.0; /* 2^61 */

/* With less, the time of one byte could exceed the longest schedule, and could not be represented.
 */
static const double SMALLEST_BANDWIDTH = 1e-16;

/* No schedule may be longer than this many ticks: sums of two still fit a double exactly, and a sum
 * over YK_GRAPH_MAX_DEVICES devices fits an int64_t. */
static const double LONGEST_SCHEDULE_TICKS = 4503599627370496.0; /* 2^52 */
/* Larger powers of ten are not exact in a double. */
enum {
    MAX_DECIMALS = 22
};

struct task_record {
    double memory_bytes;
    int32_t group;
};

struct group_record {
    double resident_bytes;
    int32_t store;
};

struct edge_record {
    int32_t from;
    int32_t to;
    double cost;
    double bytes;
    double resident_bytes;
};

struct link_record {
    double latency;
    double bytes_per_unit; /* 0 means: no link is set */
};

/* n is the number of tasks and P the number of devices. */
struct yk_graph_builder {
    struct yk_name_index *device_names;
    struct yk_name_index *task_names;
    struct yk_name_index *group_names;
    struct yk_name_index *store_names;
    double *device_bytes; /* (P) memory; INFINITY means: no limit */
    double *store_bytes;
    struct task_record *tasks;
    struct group_record *groups;
    struct edge_record *edges;
    struct link_record *links; /* (P, P) NULL until the first link is set */
    double *costs;             /* (n, P) NAN means: the device cannot run the task */
    int32_t edge_count;
    int32_t device_capacity;
    int32_t task_capacity;
    int32_t group_capacity;
    int32_t store_capacity;
    int32_t edge_capacity;
    int32_t cost_capacity; /* number of tasks for which `costs` has space */
};

yk_status yk_graph_builder_create(struct yk_graph_builder **out)
{
    struct yk_graph_builder *builder = calloc(1, sizeof *builder);
    YK_TRY_ALLOCATED(builder);
    yk_status status = YK_OK;
    YK_TRY_GOTO(yk_name_index_create(&builder->device_names), fail);
    YK_TRY_GOTO(yk_name_index_create(&builder->task_names), fail);
    YK_TRY_GOTO(yk_name_index_create(&builder->group_names), fail);
    YK_TRY_GOTO(yk_name_index_create(&builder->store_names), fail);
    *out = builder;
    return YK_OK;
fail:
    yk_graph_builder_destroy(builder);
    return status;
}

void yk_graph_builder_destroy(struct yk_graph_builder *builder)
{
    if (!builder) {
        return;
    }
    yk_name_index_destroy(builder->device_names);
    yk_name_index_destroy(builder->task_names);
    yk_name_index_destroy(builder->group_names);
    yk_name_index_destroy(builder->store_names);
    free(builder->device_bytes);
    free(builder->store_bytes);
    free(builder->tasks);
    free(builder->groups);
    free(builder->edges);
    free(builder->links);
    free(builder->costs);
    free(builder);
}

static yk_status check_bytes(const char *what, const char *name, const char *which, double bytes)
{
    if (!isfinite(bytes) || bytes < 0) {
        return yk_fail(YK_ERROR_INPUT, "%s \"%s\": %s must be a number of bytes, 0 or more", what,
                       name, which);
    }
    if (bytes > LARGEST_BYTES) {
        return yk_fail(YK_ERROR_INPUT, "%s \"%s\": %s of %g bytes is too large", what, name, which,
                       bytes);
    }
    return YK_OK;
}

static yk_status add_name(struct yk_name_index *names, const char *what, const char *name,
                          int32_t *out)
{
    bool added = false;
    if (!*name) {
        return yk_fail(YK_ERROR_INPUT, "a %s has an empty name", what);
    }
    YK_TRY(yk_name_index_add(names, name, &added, out));
    return added
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "%s \"%s\" is given twice; names must differ", what, name);
}

yk_status yk_graph_builder_add_device(struct yk_graph_builder *builder, const char *name,
                                      double memory_bytes)
{
    if (yk_name_index_count(builder->device_names) == YK_GRAPH_MAX_DEVICES) {
        return yk_fail(YK_ERROR_INPUT, "more than %d devices", YK_GRAPH_MAX_DEVICES);
    }
    if (memory_bytes != INFINITY) {
        YK_TRY(check_bytes("device", name, "memory", memory_bytes));
    }
    int32_t device = 0;
    YK_TRY(add_name(builder->device_names, "device", name, &device));
    YK_TRY_GROW_ARRAY(builder->device_bytes, builder->device_capacity, device);
    builder->device_bytes[device] = memory_bytes;
    return YK_OK;
}

int32_t yk_graph_builder_device_count(const struct yk_graph_builder *builder)
{
    return yk_name_index_count(builder->device_names);
}

static yk_status check_cost(const char *task, double cost)
{
    if (isnan(cost)) {
        return YK_OK;
    }
    if (!isfinite(cost)) {
        return yk_fail(YK_ERROR_INPUT, "task \"%s\": its cost is not finite", task);
    }
    return cost >= 0 ? YK_OK
                     : yk_fail(YK_ERROR_INPUT, "task \"%s\": its cost %g is negative", task, cost);
}

yk_status yk_graph_builder_add_task(struct yk_graph_builder *builder, const char *name,
                                    const double *costs)
{
    const int32_t device_count = yk_name_index_count(builder->device_names);
    if (device_count == 0) {
        return yk_fail(YK_ERROR_INPUT, "there is no device to run anything on");
    }
    for (int32_t p = 0; p < device_count; p++) {
        YK_TRY(check_cost(name, costs[p]));
    }
    int32_t task = 0;
    YK_TRY(add_name(builder->task_names, "task", name, &task));
    YK_TRY_GROW_ARRAY(builder->tasks, builder->task_capacity, task);
    YK_TRY(yk_array_grow((void **)&builder->costs, &builder->cost_capacity, task,
                         sizeof *builder->costs * (size_t)device_count));
    builder->tasks[task] = (struct task_record){.group = YK_GRAPH_NO_GROUP};
    for (int32_t p = 0; p < device_count; p++) {
        builder->costs[(int64_t)task * device_count + p] = costs[p];
    }
    return YK_OK;
}

yk_status yk_graph_builder_set_last_task_bytes(struct yk_graph_builder *builder, double bytes)
{
    const int32_t last = yk_name_index_count(builder->task_names) - 1;
    YK_TRY(check_bytes("task", yk_name_index_name(builder->task_names, last), "memory", bytes));
    builder->tasks[last].memory_bytes = bytes;
    return YK_OK;
}

/* These find the number of a name. A new name gets a new record. */
static yk_status group_of(struct yk_graph_builder *builder, const char *name, int32_t *out)
{
    bool added = false;
    YK_TRY(yk_name_index_add(builder->group_names, name, &added, out));
    if (added) {
        YK_TRY_GROW_ARRAY(builder->groups, builder->group_capacity, *out);
        builder->groups[*out] = (struct group_record){.store = YK_GRAPH_NO_SHARED_STORE};
    }
    return YK_OK;
}

static yk_status store_of(struct yk_graph_builder *builder, const char *name, int32_t *out)
{
    bool added = false;
    YK_TRY(yk_name_index_add(builder->store_names, name, &added, out));
    if (added) {
        YK_TRY_GROW_ARRAY(builder->store_bytes, builder->store_capacity, *out);
        builder->store_bytes[*out] = 0;
    }
    return YK_OK;
}

yk_status yk_graph_builder_set_last_task_group(struct yk_graph_builder *builder, const char *group)
{
    const int32_t last = yk_name_index_count(builder->task_names) - 1;
    return group_of(builder, group, &builder->tasks[last].group);
}

yk_status yk_graph_builder_set_group_resident_bytes(struct yk_graph_builder *builder,
                                                    const char *group, double bytes)
{
    YK_TRY(check_bytes("group", group, "resident", bytes));
    int32_t number = 0;
    YK_TRY(group_of(builder, group, &number));
    builder->groups[number].resident_bytes = bytes;
    return YK_OK;
}

yk_status yk_graph_builder_set_group_shared_store(struct yk_graph_builder *builder,
                                                  const char *group, const char *store)
{
    int32_t number = 0;
    YK_TRY(group_of(builder, group, &number));
    return store_of(builder, store, &builder->groups[number].store);
}

yk_status yk_graph_builder_set_shared_store_bytes(struct yk_graph_builder *builder,
                                                  const char *store, double bytes)
{
    YK_TRY(check_bytes("store", store, "bytes", bytes));
    int32_t number = 0;
    YK_TRY(store_of(builder, store, &number));
    builder->store_bytes[number] = bytes;
    return YK_OK;
}

static yk_status end_of_edge(const struct yk_graph_builder *builder,
                             const struct yk_graph_builder_edge *edge, const char *name,
                             int32_t *out)
{
    const yk_status status =
        yk_name_index_find_or_fail(builder->task_names, name, "there is no task", out);
    return status == YK_OK ? YK_OK
                           : yk_fail(status, "edge \"%s\" -> \"%s\": %s", edge->from, edge->to,
                                     yk_status_message());
}

yk_status yk_graph_builder_add_edge(struct yk_graph_builder *builder,
                                    const struct yk_graph_builder_edge *edge)
{
    struct edge_record record = {
        .cost = edge->cost,
        .bytes = edge->bytes,
        .resident_bytes = edge->passing ? 0 : edge->bytes,
    };
    YK_TRY(end_of_edge(builder, edge, edge->from, &record.from));
    YK_TRY(end_of_edge(builder, edge, edge->to, &record.to));
    if (!isnan(edge->cost) && !(isfinite(edge->cost) && edge->cost >= 0)) {
        return yk_fail(YK_ERROR_INPUT, "edge \"%s\" -> \"%s\": its cost must be 0 or more",
                       edge->from, edge->to);
    }
    if (!isfinite(edge->bytes) || edge->bytes < 0 || edge->bytes > LARGEST_BYTES) {
        return yk_fail(YK_ERROR_INPUT,
                       "edge \"%s\" -> \"%s\": its bytes must be from 0 to 9 petabytes", edge->from,
                       edge->to);
    }
    YK_TRY_GROW_ARRAY(builder->edges, builder->edge_capacity, builder->edge_count);
    builder->edges[builder->edge_count++] = record;
    return YK_OK;
}

static yk_status check_link(double latency, double bytes_per_unit)
{
    if (!isfinite(latency) || latency < 0) {
        return yk_fail(YK_ERROR_INPUT, "links: a latency must be 0 or more");
    }
    if (!isfinite(bytes_per_unit) || bytes_per_unit <= 0) {
        return yk_fail(YK_ERROR_INPUT, "links: a bandwidth must be more than 0");
    }
    if (bytes_per_unit < SMALLEST_BANDWIDTH) {
        return yk_fail(YK_ERROR_INPUT, "links: a bandwidth of %g is too small", bytes_per_unit);
    }
    return YK_OK;
}

static yk_status make_links(struct yk_graph_builder *builder)
{
    const size_t device_count = (size_t)yk_name_index_count(builder->device_names);
    if (!builder->links) {
        builder->links = calloc(device_count * device_count, sizeof *builder->links);
    }
    return builder->links ? YK_OK : yk_fail_out_of_memory();
}

yk_status yk_graph_builder_set_default_link(struct yk_graph_builder *builder, double latency,
                                            double bytes_per_unit)
{
    YK_TRY(check_link(latency, bytes_per_unit));
    YK_TRY(make_links(builder));
    const int32_t device_count = yk_name_index_count(builder->device_names);
    for (int32_t i = 0; i < device_count * device_count; i++) {
        if (builder->links[i].bytes_per_unit == 0) {
            builder->links[i] = (struct link_record){latency, bytes_per_unit};
        }
    }
    return YK_OK;
}

yk_status yk_graph_builder_set_link(struct yk_graph_builder *builder, const char *a, const char *b,
                                    double latency, double bytes_per_unit)
{
    YK_TRY(check_link(latency, bytes_per_unit));
    YK_TRY(make_links(builder));
    const int32_t first = yk_name_index_find(builder->device_names, a);
    const int32_t second = yk_name_index_find(builder->device_names, b);
    if (first < 0 || second < 0) {
        return yk_fail(YK_ERROR_INPUT, "links: there is no device \"%s\"", first < 0 ? a : b);
    }
    if (first == second) {
        return yk_fail(YK_ERROR_INPUT, "links: \"%s\" is linked to itself", a);
    }
    const int32_t device_count = yk_name_index_count(builder->device_names);
    struct link_record *there = &builder->links[first * device_count + second];
    struct link_record *back = &builder->links[second * device_count + first];
    if (there->bytes_per_unit > 0) {
        return yk_fail(YK_ERROR_INPUT, "links: the link between \"%s\" and \"%s\" is given twice",
                       a, b);
    }
    *there = *back = (struct link_record){latency, bytes_per_unit};
    return YK_OK;
}

/* ---- from a builder to a graph ---- */

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
        const double memory_bytes = builder->device_bytes[p];
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
        graph->shared_stores[s].bytes = (int64_t)ceil(builder->store_bytes[s]);
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
static yk_status check_sum_of_bytes(const struct yk_graph_builder *builder,
                                    const struct yk_graph *graph)
{
    double sum = 0;
    for (int32_t i = 0; i < graph->task_count; i++) {
        sum += builder->tasks[i].memory_bytes;
    }
    for (int32_t g = 0; g < graph->group_count; g++) {
        sum += builder->groups[g].resident_bytes;
    }
    for (int32_t s = 0; s < graph->store_count; s++) {
        sum += builder->store_bytes[s] * graph->device_count;
    }
    for (int32_t e = 0; e < builder->edge_count; e++) {
        sum += 2 * builder->edges[e].resident_bytes;
    }
    return sum < LARGEST_SUM_OF_BYTES
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
    YK_TRY(check_sum_of_bytes(builder, graph));
    YK_TRY(choose_ticks(builder, graph));
    YK_TRY(convert_costs(builder, graph));
    YK_TRY(convert_links(builder, graph));
    YK_TRY(sort_edges(builder, graph));
    return sort_tasks(graph);
}

yk_status yk_graph_builder_finish(struct yk_graph_builder *builder, struct yk_graph **out)
{
    if (yk_name_index_count(builder->task_names) == 0) {
        return yk_fail(YK_ERROR_INPUT, "the graph has no tasks");
    }
    struct yk_graph *graph = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(graph);
    graph->device_count = yk_name_index_count(builder->device_names);
    graph->task_count = yk_name_index_count(builder->task_names);
    graph->edge_count = builder->edge_count;
    graph->group_count = yk_name_index_count(builder->group_names);
    graph->store_count = yk_name_index_count(builder->store_names);
    YK_TRY_OR_CLEAN_UP(fill_graph(builder, graph), yk_arena_destroy(graph->arena));
    *out = graph;
    return YK_OK;
}
