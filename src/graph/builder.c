#include "graph/builder.h"

#include "base/array.h"
#include "graph/builder_record.h"

#include <stdlib.h>
#include <string.h>

/* 2^53: larger integers are not exact in a double, and no machine has as many bytes. */
static const double LARGEST_BYTES = 9007199254740992.0;

/* With less, the time of one byte could exceed the longest schedule, and could not be represented.
 */
static const double SMALLEST_BANDWIDTH = 1e-16;

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
    free(builder->devices);
    free(builder->tasks);
    free(builder->groups);
    free(builder->stores);
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
    YK_TRY(yk_array_grow((void **)&builder->devices, &builder->device_capacity, device,
                         sizeof *builder->devices));
    builder->devices[device] = (struct device_record){.memory_bytes = memory_bytes};
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
    YK_TRY(yk_array_grow((void **)&builder->tasks, &builder->task_capacity, task,
                         sizeof *builder->tasks));
    YK_TRY(yk_array_grow((void **)&builder->costs, &builder->cost_capacity, task,
                         sizeof *builder->costs * (size_t)device_count));
    builder->tasks[task] = (struct task_record){.group = YK_GRAPH_NO_GROUP};
    for (int32_t p = 0; p < device_count; p++) {
        builder->costs[(int64_t)task * device_count + p] = costs[p];
    }
    return YK_OK;
}

static struct task_record *last_task(struct yk_graph_builder *builder)
{
    return &builder->tasks[yk_name_index_count(builder->task_names) - 1];
}

static const char *last_task_name(const struct yk_graph_builder *builder)
{
    return yk_name_index_name(builder->task_names, yk_name_index_count(builder->task_names) - 1);
}

yk_status yk_graph_builder_set_last_task_memory(struct yk_graph_builder *builder, double bytes)
{
    YK_TRY(check_bytes("task", last_task_name(builder), "memory", bytes));
    last_task(builder)->memory_bytes = bytes;
    return YK_OK;
}

/* Returns the number of a name. A new name gets a zeroed record at the end of `records`. */
static yk_status number_of(struct yk_name_index *names, const char *name, void **records,
                           int32_t *capacity, size_t size, bool *added, int32_t *out)
{
    YK_TRY(yk_name_index_add(names, name, added, out));
    if (*added) {
        YK_TRY(yk_array_grow(records, capacity, *out, size));
        memset((char *)*records + (size_t)*out * size, 0, size);
    }
    return YK_OK;
}

static yk_status group_of(struct yk_graph_builder *builder, const char *name, int32_t *out)
{
    bool added = false;
    YK_TRY(number_of(builder->group_names, name, (void **)&builder->groups,
                     &builder->group_capacity, sizeof *builder->groups, &added, out));
    if (added) {
        builder->groups[*out].store = YK_GRAPH_NO_SHARED_STORE;
    }
    return YK_OK;
}

static yk_status store_of(struct yk_graph_builder *builder, const char *name, int32_t *out)
{
    bool added = false;
    return number_of(builder->store_names, name, (void **)&builder->stores,
                     &builder->store_capacity, sizeof *builder->stores, &added, out);
}

yk_status yk_graph_builder_set_last_task_group(struct yk_graph_builder *builder, const char *group)
{
    return group_of(builder, group, &last_task(builder)->group);
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

yk_status yk_graph_builder_set_group_store(struct yk_graph_builder *builder, const char *group,
                                           const char *store)
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
    builder->stores[number].bytes = bytes;
    return YK_OK;
}

static yk_status end_of_edge(const struct yk_graph_builder *builder,
                             const struct yk_graph_builder_edge *edge, const char *name,
                             int32_t *out)
{
    *out = yk_name_index_find(builder->task_names, name);
    if (*out >= 0) {
        return YK_OK;
    }
    const char *meant = yk_name_index_find_nearest(builder->task_names, name);
    return yk_fail(YK_ERROR_INPUT, "edge \"%s\" -> \"%s\": there is no task \"%s\"%s%s%s",
                   edge->from, edge->to, name, meant ? "; did you mean \"" : "", meant ? meant : "",
                   meant ? "\"?" : "");
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
    YK_TRY(yk_array_grow((void **)&builder->edges, &builder->edge_capacity, builder->edge_count,
                         sizeof *builder->edges));
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
