/*
 * yoke's own form:
 *
 *   {"yoke": 1, "kind": "graph", "devices": ["P1", "P2"],
 *    "tasks": [{"name": "a", "cost": [3, 5]}, {"name": "b", "cost": [4, null]}],
 *    "edges": [{"from": "a", "to": "b", "cost": 2}]}
 *
 * Bare numbers are in the graph's own unit of time and in bytes; strings carry units ("10us",
 * "24GiB"), and make the second the unit of time.
 */
#include "base/json.h"
#include "graph/json_groups.h"
#include "graph/json_links.h"
#include "graph/json_stores.h"
#include "graph/reader.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct reading {
    const struct yk_json *root;
    struct yk_graph_json_groups *groups;
    struct yk_graph_builder *builder;
};

struct task {
    const char *name;
    const char *group; /* NULL where the task is in none */
    double memory;
    double costs[YK_GRAPH_MAX_DEVICES];
};

static bool recognises(const struct yk_graph_document *document)
{
    return yk_json_get(document->json, "yoke") || yk_json_get(document->json, "tasks");
}

static yk_status check_root(const struct yk_json *root)
{
    static const char *const known[] = {"yoke",  "kind",   "name",   "comment", "devices",
                                        "links", "groups", "stores", "tasks",   "edges"};
    return yk_json_check_document(root, "graph", known, COUNT(known));
}

static yk_status parse_device(const struct yk_json *node, const char **name, double *memory)
{
    static const char *const known[] = {"name", "memory"};
    *memory = INFINITY;
    if (!yk_json_is_object(node)) {
        return yk_json_read_name(node, "name", name);
    }
    YK_TRY(yk_json_check_object(node, known, COUNT(known)));
    YK_TRY(yk_json_read_name(yk_json_get(node, "name"), "name", name));
    const struct yk_json *limit = yk_json_get(node, "memory");
    return limit ? yk_json_read_quantity(limit, "memory", YK_UNIT_BYTES, memory) : YK_OK;
}

static yk_status read_devices(const struct reading *reading)
{
    const struct yk_json *list = NULL;
    YK_TRY(yk_json_require_list(reading->root, "devices", &list));
    if (yk_json_count(list) == 0) {
        return yk_fail(YK_ERROR_INPUT, "\"devices\" is empty");
    }
    for (size_t i = 0; i < yk_json_count(list); i++) {
        const char *name = NULL;
        double memory = 0;
        YK_TRY(yk_json_add_location(parse_device(yk_json_at(list, i), &name, &memory), "devices", i,
                                    name));
        YK_TRY(yk_graph_builder_add_device(reading->builder, name, memory));
    }
    return YK_OK;
}

/* One cost for all devices, or a list with one for each, null where it cannot run. */
static yk_status parse_costs(const struct yk_json *node, size_t device_count, double *out)
{
    if (!node) {
        return yk_fail(YK_ERROR_INPUT, "\"cost\" is missing");
    }
    if (!yk_json_is_array(node)) {
        YK_TRY(yk_json_read_quantity(node, "cost", YK_UNIT_SECONDS, &out[0]));
        for (size_t p = 1; p < device_count; p++) {
            out[p] = out[0];
        }
        return YK_OK;
    }
    if (yk_json_count(node) != device_count) {
        return yk_fail(YK_ERROR_INPUT, "\"cost\" has %zu entries for %zu devices",
                       yk_json_count(node), device_count);
    }
    for (size_t p = 0; p < device_count; p++) {
        const struct yk_json *cost = yk_json_at(node, p);
        if (yk_json_is_null(cost)) {
            out[p] = NAN;
        } else {
            YK_TRY(yk_json_read_quantity(cost, "cost", YK_UNIT_SECONDS, &out[p]));
        }
    }
    return YK_OK;
}

static yk_status parse_task(const struct reading *reading, const struct yk_json *node,
                            struct task *out)
{
    static const char *const known[] = {"name", "cost", "memory", "group", "resident"};
    const size_t device_count = (size_t)yk_graph_builder_device_count(reading->builder);
    YK_TRY(yk_json_check_object(node, known, COUNT(known)));
    YK_TRY(yk_json_read_name(yk_json_get(node, "name"), "name", &out->name));
    YK_TRY(parse_costs(yk_json_get(node, "cost"), device_count, out->costs));
    const struct yk_json *memory = yk_json_get(node, "memory");
    const struct yk_json *group = yk_json_get(node, "group");
    const struct yk_json *resident = yk_json_get(node, "resident");
    double resident_bytes = NAN;
    out->memory = 0;
    out->group = NULL;
    if (memory) {
        YK_TRY(yk_json_read_quantity(memory, "memory", YK_UNIT_BYTES, &out->memory));
    }
    if (group) {
        YK_TRY(yk_json_read_name(group, "group", &out->group));
    }
    if (resident) {
        YK_TRY(yk_json_read_quantity(resident, "resident", YK_UNIT_BYTES, &resident_bytes));
    }
    return yk_graph_json_groups_join(reading->groups, out->name, out->group, resident_bytes,
                                     &out->group);
}

static yk_status read_tasks(const struct reading *reading)
{
    const struct yk_json *list = NULL;
    struct task task = {0};
    YK_TRY(yk_json_require_list(reading->root, "tasks", &list));
    for (size_t i = 0; i < yk_json_count(list); i++) {
        const struct yk_json *node = yk_json_at(list, i);
        YK_TRY(yk_json_add_location(parse_task(reading, node, &task), "tasks", i,
                                    yk_json_string(yk_json_get(node, "name"))));
        YK_TRY(yk_graph_builder_add_task(reading->builder, task.name, task.costs));
        YK_TRY(yk_graph_builder_set_memory(reading->builder, task.memory));
        if (task.group) {
            YK_TRY(yk_graph_builder_set_group(reading->builder, task.group));
        }
    }
    return YK_OK;
}

static yk_status parse_edge(const struct yk_json *node, struct yk_graph_edge_spec *out)
{
    static const char *const known[] = {"from", "to", "cost", "bytes", "passing"};
    YK_TRY(yk_json_check_object(node, known, COUNT(known)));
    YK_TRY(yk_json_read_name(yk_json_get(node, "from"), "from", &out->from));
    YK_TRY(yk_json_read_name(yk_json_get(node, "to"), "to", &out->to));
    const struct yk_json *cost = yk_json_get(node, "cost");
    const struct yk_json *bytes = yk_json_get(node, "bytes");
    if (!cost && !bytes) {
        return yk_fail(YK_ERROR_INPUT, "\"cost\" is missing; give the edge a cost or bytes");
    }
    if (cost) {
        YK_TRY(yk_json_read_quantity(cost, "cost", YK_UNIT_SECONDS, &out->cost));
    }
    YK_TRY(yk_json_get_flag(node, "passing", &out->passing));
    return bytes ? yk_json_read_quantity(bytes, "bytes", YK_UNIT_BYTES, &out->bytes) : YK_OK;
}

static yk_status read_edges(const struct reading *reading)
{
    const struct yk_json *list = NULL;
    YK_TRY(yk_json_get_list(reading->root, "edges", &list));
    for (size_t i = 0; i < yk_json_count(list); i++) {
        struct yk_graph_edge_spec edge = {.cost = NAN};
        YK_TRY(yk_json_add_location(parse_edge(yk_json_at(list, i), &edge), "edges", i, NULL));
        YK_TRY(yk_graph_builder_add_edge(reading->builder, &edge));
    }
    return YK_OK;
}

/* Where the file leaves links out, the options may give one for all pairs. */
static yk_status read_links(const struct reading *reading,
                            const struct yk_graph_read_options *options)
{
    const struct yk_json *links = yk_json_get(reading->root, "links");
    const double bandwidth = options->bandwidth_bytes_per_s;
    if (bandwidth == 0 && options->latency_s == 0) {
        return yk_graph_json_links_read(links, reading->builder);
    }
    if (links) {
        return yk_fail(YK_ERROR_USAGE,
                       "this file has its own links; leave out --latency and --bandwidth");
    }
    return yk_graph_builder_set_links(reading->builder, options->latency_s,
                                      bandwidth > 0 ? bandwidth
                                                    : YK_GRAPH_READ_BANDWIDTH_BYTES_PER_S);
}

static yk_status read_json(const struct yk_graph_document *document,
                           const struct yk_graph_read_options *options,
                           struct yk_graph_builder *builder)
{
    struct reading reading = {.root = document->json, .builder = builder};
    YK_TRY(check_root(reading.root));
    YK_TRY(yk_graph_json_groups_create(reading.root, &reading.groups));
    yk_status status = YK_OK;
    YK_TRY_GOTO(read_devices(&reading), done);
    YK_TRY_GOTO(read_links(&reading, options), done);
    YK_TRY_GOTO(read_tasks(&reading), done);
    YK_TRY_GOTO(yk_graph_json_groups_finish(reading.groups, builder), done);
    YK_TRY_GOTO(yk_graph_json_read_stores(reading.root, builder), done);
    status = read_edges(&reading);
done:
    yk_graph_json_groups_destroy(reading.groups);
    return status;
}

const struct yk_graph_reader yk_graph_reader_json = {
    .name = "JSON with \"yoke\": 1",
    .takes_links = true,
    .recognises = recognises,
    .read = read_json,
};
