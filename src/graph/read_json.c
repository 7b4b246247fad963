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
#include "base/array.h"
#include "base/json.h"
#include "base/name_index.h"
#include "base/nearest_name.h"
#include "base/number.h"
#include "base/text.h"
#include "graph/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    NOT_LISTED = -1
};

/* Groups are named in three places, which must agree: a task's "group", a task's "resident", and
 * the list "groups". */
struct group {
    double resident;   /* NAN where nobody said */
    int64_t listed_at; /* its place in "groups", or NOT_LISTED */
    bool used;
};

struct reading {
    const struct yk_json *root;
    struct yk_graph_builder *builder;
    struct yk_name_index *group_names;
    struct group *groups; /* by number of the name */
    int32_t group_capacity;
    struct yk_name_index *store_names; /* of "stores", in its order */
    bool *store_used;                  /* likewise */
};

/* Reads a member with a quantity. Leaves `*out` unchanged if there is no such member. */
static yk_status read_optional(const struct yk_json *object, const char *key, enum yk_unit unit,
                               double *out)
{
    const struct yk_json *node = yk_json_get_member(object, key);
    return node ? yk_json_read_quantity(node, key, unit, out) : YK_OK;
}

/* Reads a member with a quantity. Fails if there is no such member. */
static yk_status read_required(const struct yk_json *object, const char *key, enum yk_unit unit,
                               double *out)
{
    return yk_json_get_member(object, key) ? read_optional(object, key, unit, out)
                                           : yk_fail(YK_ERROR_INPUT, "\"%s\" is missing", key);
}

static yk_status add_group(struct reading *reading, const char *name, struct group **out)
{
    bool added = false;
    int32_t number = 0;
    YK_TRY(yk_name_index_add(reading->group_names, name, &added, &number));
    if (added) {
        YK_TRY_GROW_ARRAY(reading->groups, reading->group_capacity, number);
        reading->groups[number] = (struct group){.resident = NAN, .listed_at = NOT_LISTED};
    }
    *out = &reading->groups[number];
    return YK_OK;
}

static yk_status add_listed_group(struct reading *reading, const struct yk_json *node, size_t place)
{
    static const char *const known[] = {"name", "resident", "store"};
    const char *name = NULL;
    struct group *group = NULL;
    YK_TRY(yk_json_check_object_keys(node, known, COUNT(known)));
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(node, "name"), "name", &name));
    YK_TRY(add_group(reading, name, &group));
    if (group->listed_at != NOT_LISTED) {
        return yk_fail(YK_ERROR_INPUT, "this group is given twice");
    }
    group->listed_at = (int64_t)place;
    return read_optional(node, "resident", YK_UNIT_BYTES, &group->resident);
}

static yk_status list_groups(struct reading *reading)
{
    const struct yk_json *listed = NULL;
    YK_TRY(yk_json_get_array(reading->root, "groups", &listed));
    for (size_t i = 0; i < yk_json_array_count(listed); i++) {
        const struct yk_json *node = yk_json_array_at(listed, i);
        YK_TRY(yk_json_prefix_error_with_element(
            add_listed_group(reading, node, i), "groups", i,
            yk_json_string_value(yk_json_get_member(node, "name"))));
    }
    const struct yk_json *tasks = yk_json_get_member(reading->root, "tasks");
    for (size_t i = 0; i < yk_json_array_count(tasks); i++) {
        const char *name =
            yk_json_string_value(yk_json_get_member(yk_json_array_at(tasks, i), "group"));
        struct group *group = NULL;
        if (name) {
            YK_TRY(add_group(reading, name, &group));
        }
    }
    return YK_OK;
}

/* A group for one task alone: named like the task unless another group has that name. */
static yk_status add_own_group(struct reading *reading, const char *task, struct group **out)
{
    struct yk_text name = {0};
    yk_text_add(&name, task);
    for (int copy = 2; !name.failed && yk_name_index_find(reading->group_names, name.bytes) >= 0;
         copy++) {
        name.length = 0;
        yk_text_addf(&name, "%s (%d)", task, copy);
    }
    yk_status status = yk_text_status(&name);
    YK_IF_OK(add_group(reading, name.bytes, out));
    yk_text_free(&name);
    return status;
}

/* The group of a task: the one it names or, where that is NULL but the task has resident bytes, one
 * of its own; NULL when it is in none. `resident` is NAN where the task does not say. */
static yk_status join_group(struct reading *reading, const char *task, const char *named,
                            double resident, const char **out)
{
    struct group *group = NULL;
    *out = NULL;
    if (named) {
        YK_TRY(add_group(reading, named, &group));
    } else if (!isnan(resident)) {
        YK_TRY(add_own_group(reading, task, &group));
    } else {
        return YK_OK;
    }
    group->used = true;
    *out = yk_name_index_name(reading->group_names, (int32_t)(group - reading->groups));
    if (isnan(resident) || resident == group->resident) {
        return YK_OK;
    }
    if (!isnan(group->resident)) {
        char here[YK_NUMBER_BUFFER_SIZE];
        char before[YK_NUMBER_BUFFER_SIZE];
        yk_number_format(resident, here);
        yk_number_format(group->resident, before);
        return yk_fail(YK_ERROR_INPUT,
                       "\"resident\" is %s here, but %s bytes were given for group \"%s\" before",
                       here, before, *out);
    }
    group->resident = resident;
    return YK_OK;
}

/* The names that tasks use and the list lacks: one of them may be the unused one misspelt. */
static yk_status fail_unused_group(const struct reading *reading, int32_t unused)
{
    const int32_t count = yk_name_index_count(reading->group_names);
    const char **candidates = calloc((size_t)count, sizeof *candidates);
    YK_TRY_ALLOCATED(candidates);
    size_t candidate_count = 0;
    for (int32_t i = 0; i < count; i++) {
        if (reading->groups[i].used && reading->groups[i].listed_at == NOT_LISTED) {
            candidates[candidate_count++] = yk_name_index_name(reading->group_names, i);
        }
    }
    const char *name = yk_name_index_name(reading->group_names, unused);
    const char *nearest = yk_nearest_name(name, candidates, candidate_count);
    const yk_status status =
        nearest ? yk_fail(YK_ERROR_INPUT, "no task is in this group; did you mean \"%s\"?", nearest)
                : yk_fail(YK_ERROR_INPUT, "no task is in this group");
    free(candidates);
    return yk_json_prefix_error_with_element(status, "groups",
                                             (size_t)reading->groups[unused].listed_at, name);
}

/* After the last task. */
static yk_status finish_groups(const struct reading *reading)
{
    for (int32_t i = 0; i < yk_name_index_count(reading->group_names); i++) {
        const struct group *group = &reading->groups[i];
        if (!group->used) {
            return fail_unused_group(reading, i);
        }
        if (!isnan(group->resident)) {
            YK_TRY(yk_graph_builder_set_group_resident_bytes(
                reading->builder, yk_name_index_name(reading->group_names, i), group->resident));
        }
    }
    return YK_OK;
}

struct link {
    const char *between[2]; /* NULL in the link of all other pairs */
    double latency;
    double bandwidth;
};

static const char *const link_keys[] = {"between", "latency", "bandwidth"};

/* Only a link of the list "links" may have the key "between". */
static yk_status parse_link(const struct yk_json *node, bool listed, struct link *out)
{
    const size_t first_key = listed ? 0 : 1;
    YK_TRY(yk_json_check_object_keys(node, link_keys + first_key, COUNT(link_keys) - first_key));
    YK_TRY(read_required(node, "bandwidth", YK_UNIT_BYTES_PER_S, &out->bandwidth));
    YK_TRY(read_optional(node, "latency", YK_UNIT_SECONDS, &out->latency));
    const struct yk_json *between = yk_json_get_member(node, "between");
    if (!between) {
        return YK_OK;
    }
    if (yk_json_array_count(between) != 2) {
        return yk_fail(YK_ERROR_INPUT, "\"between\" must be a list of two devices");
    }
    YK_TRY(yk_json_read_nonempty_string(yk_json_array_at(between, 0), "between", &out->between[0]));
    return yk_json_read_nonempty_string(yk_json_array_at(between, 1), "between", &out->between[1]);
}

static yk_status read_link_list(const struct yk_json *list, struct yk_graph_builder *builder)
{
    struct link others = {0};
    bool has_others = false;
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        struct link link = {0};
        YK_TRY(yk_json_prefix_error_with_element(parse_link(yk_json_array_at(list, i), true, &link),
                                                 "links", i, NULL));
        if (link.between[0]) {
            YK_TRY(yk_graph_builder_set_link(builder, link.between[0], link.between[1],
                                             link.latency, link.bandwidth));
            continue;
        }
        if (has_others) {
            return yk_json_prefix_error_with_element(
                yk_fail(YK_ERROR_INPUT, "a second link without \"between\"; only one can be for "
                                        "all other pairs"),
                "links", i, NULL);
        }
        others = link;
        has_others = true;
    }
    /* Last, so that it fills only the pairs nobody named. */
    return has_others ? yk_graph_builder_set_default_link(builder, others.latency, others.bandwidth)
                      : YK_OK;
}

static yk_status read_own_links(const struct yk_json *node, struct yk_graph_builder *builder)
{
    if (!node) {
        return YK_OK;
    }
    if (yk_json_is_array(node)) {
        return read_link_list(node, builder);
    }
    struct link link = {0};
    const yk_status status = parse_link(node, false, &link);
    return status == YK_OK
               ? yk_graph_builder_set_default_link(builder, link.latency, link.bandwidth)
               : yk_status_prefix_message(status, "links");
}

static yk_status add_store(const struct reading *reading, const struct yk_json *node)
{
    static const char *const known[] = {"name", "bytes"};
    const char *name = NULL;
    bool added = false;
    int32_t number = 0;
    double bytes = 0;
    YK_TRY(yk_json_check_object_keys(node, known, COUNT(known)));
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(node, "name"), "name", &name));
    YK_TRY(yk_name_index_add(reading->store_names, name, &added, &number));
    if (!added) {
        return yk_fail(YK_ERROR_INPUT, "this store is given twice");
    }
    YK_TRY(read_required(node, "bytes", YK_UNIT_BYTES, &bytes));
    return yk_graph_builder_set_shared_store_bytes(reading->builder, name, bytes);
}

static yk_status use_store(const struct reading *reading, const struct yk_json *group)
{
    const struct yk_json *node = yk_json_get_member(group, "store");
    const char *store = NULL;
    if (!node) {
        return YK_OK;
    }
    YK_TRY(yk_json_read_nonempty_string(node, "store", &store));
    const int32_t number = yk_name_index_find(reading->store_names, store);
    if (number < 0) {
        const char *nearest = yk_name_index_find_nearest(reading->store_names, store);
        return yk_fail(YK_ERROR_INPUT, "there is no store \"%s\" in \"stores\"%s%s%s", store,
                       nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                       nearest ? "\"?" : "");
    }
    reading->store_used[number] = true;
    return yk_graph_builder_set_group_shared_store(
        reading->builder, yk_json_string_value(yk_json_get_member(group, "name")), store);
}

/* The list "stores", and the "store" of each group in the list "groups". */
static yk_status read_stores(struct reading *reading)
{
    const struct yk_json *groups = yk_json_get_member(reading->root, "groups");
    const struct yk_json *stores = NULL;
    YK_TRY(yk_json_get_array(reading->root, "stores", &stores));
    YK_TRY(yk_name_index_create(&reading->store_names));
    reading->store_used = calloc(yk_json_array_count(stores) + 1, sizeof *reading->store_used);
    YK_TRY_ALLOCATED(reading->store_used);
    for (size_t i = 0; i < yk_json_array_count(stores); i++) {
        const struct yk_json *node = yk_json_array_at(stores, i);
        YK_TRY(yk_json_prefix_error_with_element(
            add_store(reading, node), "stores", i,
            yk_json_string_value(yk_json_get_member(node, "name"))));
    }
    for (size_t i = 0; i < yk_json_array_count(groups); i++) {
        const struct yk_json *node = yk_json_array_at(groups, i);
        YK_TRY(yk_json_prefix_error_with_element(
            use_store(reading, node), "groups", i,
            yk_json_string_value(yk_json_get_member(node, "name"))));
    }
    for (size_t i = 0; i < yk_json_array_count(stores); i++) {
        if (!reading->store_used[i]) {
            return yk_json_prefix_error_with_element(
                yk_fail(YK_ERROR_INPUT, "no group uses this store"), "stores", i,
                yk_name_index_name(reading->store_names, (int32_t)i));
        }
    }
    return YK_OK;
}

struct task {
    const char *name;
    const char *group; /* NULL where the task is in none */
    double memory;
    double costs[YK_GRAPH_MAX_DEVICES];
};

static bool recognises(const struct yk_graph_reader_input *document)
{
    return yk_json_get_member(document->json, "yoke") ||
           yk_json_get_member(document->json, "tasks");
}

static yk_status check_root(const struct yk_json *root)
{
    static const char *const known[] = {"yoke",  "kind",   "name",   "comment", "devices",
                                        "links", "groups", "stores", "tasks",   "edges"};
    return yk_json_check_yoke_document(root, "graph", known, COUNT(known));
}

static yk_status parse_device(const struct yk_json *node, const char **name, double *memory)
{
    static const char *const known[] = {"name", "memory"};
    *memory = INFINITY;
    if (!yk_json_is_object(node)) {
        return yk_json_read_nonempty_string(node, "name", name);
    }
    YK_TRY(yk_json_check_object_keys(node, known, COUNT(known)));
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(node, "name"), "name", name));
    return read_optional(node, "memory", YK_UNIT_BYTES, memory);
}

static yk_status read_devices(const struct reading *reading)
{
    const struct yk_json *list = NULL;
    YK_TRY(yk_json_require_array(reading->root, "devices", &list));
    if (yk_json_array_count(list) == 0) {
        return yk_fail(YK_ERROR_INPUT, "\"devices\" is empty");
    }
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        const char *name = NULL;
        double memory = 0;
        YK_TRY(yk_json_prefix_error_with_element(
            parse_device(yk_json_array_at(list, i), &name, &memory), "devices", i, name));
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
    if (yk_json_array_count(node) != device_count) {
        return yk_fail(YK_ERROR_INPUT, "\"cost\" has %zu entries for %zu devices",
                       yk_json_array_count(node), device_count);
    }
    for (size_t p = 0; p < device_count; p++) {
        const struct yk_json *cost = yk_json_array_at(node, p);
        if (yk_json_is_null(cost)) {
            out[p] = NAN;
        } else {
            YK_TRY(yk_json_read_quantity(cost, "cost", YK_UNIT_SECONDS, &out[p]));
        }
    }
    return YK_OK;
}

static yk_status parse_task(struct reading *reading, const struct yk_json *node, struct task *out)
{
    static const char *const known[] = {"name", "cost", "memory", "group", "resident"};
    const size_t device_count = (size_t)yk_graph_builder_device_count(reading->builder);
    YK_TRY(yk_json_check_object_keys(node, known, COUNT(known)));
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(node, "name"), "name", &out->name));
    YK_TRY(parse_costs(yk_json_get_member(node, "cost"), device_count, out->costs));
    const struct yk_json *group = yk_json_get_member(node, "group");
    double resident_bytes = NAN;
    out->memory = 0;
    out->group = NULL;
    YK_TRY(read_optional(node, "memory", YK_UNIT_BYTES, &out->memory));
    if (group) {
        YK_TRY(yk_json_read_nonempty_string(group, "group", &out->group));
    }
    YK_TRY(read_optional(node, "resident", YK_UNIT_BYTES, &resident_bytes));
    return join_group(reading, out->name, out->group, resident_bytes, &out->group);
}

static yk_status read_tasks(struct reading *reading)
{
    const struct yk_json *list = NULL;
    struct task task = {0};
    YK_TRY(yk_json_require_array(reading->root, "tasks", &list));
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        const struct yk_json *node = yk_json_array_at(list, i);
        YK_TRY(yk_json_prefix_error_with_element(
            parse_task(reading, node, &task), "tasks", i,
            yk_json_string_value(yk_json_get_member(node, "name"))));
        YK_TRY(yk_graph_builder_add_task(reading->builder, task.name, task.costs));
        YK_TRY(yk_graph_builder_set_last_task_bytes(reading->builder, task.memory));
        if (task.group) {
            YK_TRY(yk_graph_builder_set_last_task_group(reading->builder, task.group));
        }
    }
    return YK_OK;
}

static yk_status parse_edge(const struct yk_json *node, struct yk_graph_builder_edge *out)
{
    static const char *const known[] = {"from", "to", "cost", "bytes", "passing"};
    YK_TRY(yk_json_check_object_keys(node, known, COUNT(known)));
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(node, "from"), "from", &out->from));
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(node, "to"), "to", &out->to));
    if (!yk_json_get_member(node, "cost") && !yk_json_get_member(node, "bytes")) {
        return yk_fail(YK_ERROR_INPUT, "\"cost\" is missing; give the edge a cost or bytes");
    }
    YK_TRY(read_optional(node, "cost", YK_UNIT_SECONDS, &out->cost));
    YK_TRY(yk_json_get_bool(node, "passing", &out->passing));
    return read_optional(node, "bytes", YK_UNIT_BYTES, &out->bytes);
}

static yk_status read_edges(const struct reading *reading)
{
    const struct yk_json *list = NULL;
    YK_TRY(yk_json_get_array(reading->root, "edges", &list));
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        struct yk_graph_builder_edge edge = {.cost = NAN};
        YK_TRY(yk_json_prefix_error_with_element(parse_edge(yk_json_array_at(list, i), &edge),
                                                 "edges", i, NULL));
        YK_TRY(yk_graph_builder_add_edge(reading->builder, &edge));
    }
    return YK_OK;
}

/* Where the file leaves links out, the options may give one for all pairs. */
static yk_status read_links(const struct reading *reading,
                            const struct yk_graph_read_options *options)
{
    const struct yk_json *links = yk_json_get_member(reading->root, "links");
    const double bandwidth = options->bandwidth_bytes_per_s;
    if (bandwidth == 0 && options->latency_s == 0) {
        return read_own_links(links, reading->builder);
    }
    if (links) {
        return yk_fail(YK_ERROR_USAGE,
                       "this file has its own links; leave out --latency and --bandwidth");
    }
    return yk_graph_builder_set_default_link(
        reading->builder, options->latency_s,
        bandwidth > 0 ? bandwidth : YK_GRAPH_READ_DEFAULT_BANDWIDTH_BYTES_PER_S);
}

static yk_status read_json(const struct yk_graph_reader_input *document,
                           const struct yk_graph_read_options *options,
                           struct yk_graph_builder *builder)
{
    struct reading reading = {.root = document->json, .builder = builder};
    YK_TRY(check_root(reading.root));
    YK_TRY(yk_name_index_create(&reading.group_names));
    yk_status status = YK_OK;
    YK_TRY_GOTO(list_groups(&reading), done);
    YK_TRY_GOTO(read_devices(&reading), done);
    YK_TRY_GOTO(read_links(&reading, options), done);
    YK_TRY_GOTO(read_tasks(&reading), done);
    YK_TRY_GOTO(finish_groups(&reading), done);
    YK_TRY_GOTO(read_stores(&reading), done);
    status = read_edges(&reading);
done:
    yk_name_index_destroy(reading.group_names);
    yk_name_index_destroy(reading.store_names);
    free(reading.groups);
    free(reading.store_used);
    return status;
}

const struct yk_graph_reader yk_graph_reader_json = {
    .name = "JSON with \"yoke\": 1",
    .accepts_links = true,
    .recognises = recognises,
    .read = read_json,
};
