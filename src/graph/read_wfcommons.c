/*
 * Workflow instances of WfCommons (Coleman et al., 2022), schema 1.5: tasks and files under
 * workflow.specification, measured run times under workflow.execution. An edge carries the files
 * its first task writes and its second one reads. Members not needed here are not looked at.
 */
#include "base/arena.h"
#include "base/json.h"
#include "base/log.h"
#include "base/name_index.h"
#include "base/number.h"
#include "base/units.h"
#include "graph/builder.h"
#include "graph/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What workflow.specification says. */
struct specification {
    const struct yk_json *tasks;      /* a list of objects with an id */
    struct yk_name_index *task_names; /* in the order of that list */
    struct yk_name_index *file_names;
    double *file_bytes; /* by number of the file's name */
};

/* Numbers of files, rising, each once. */
struct file_set {
    int32_t *files;
    size_t count;
};

struct task {
    struct file_set inputs;
    struct file_set outputs;
};

struct pair {
    int32_t parent;
    int32_t child;
};

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *left = a;
    const struct pair *right = b;
    const int by_parent = yk_number_compare(left->parent, right->parent);
    return by_parent != 0 ? by_parent : yk_number_compare(left->child, right->child);
}

/* A list of strings that may be missing; NULL then. */
static yk_status get_names(const struct yk_json *task, const char *id, const char *key,
                           const struct yk_json **out)
{
    const struct yk_json *list = yk_json_get_member(task, key);
    if (list && !yk_json_is_array(list)) {
        return yk_fail(YK_ERROR_INPUT, "task \"%s\": \"%s\" must be a list, not %s", id, key,
                       yk_json_type_name(list));
    }
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        if (!yk_json_string_value(yk_json_array_at(list, i))) {
            return yk_fail(YK_ERROR_INPUT, "task \"%s\": \"%s\" must be a list of strings", id,
                           key);
        }
    }
    *out = list;
    return YK_OK;
}

static yk_status read_file_set(const struct specification *input, struct yk_arena *arena,
                               int32_t task, const char *key, struct file_set *out)
{
    const char *id = yk_name_index_name(input->task_names, task);
    const struct yk_json *list = NULL;
    YK_TRY(get_names(yk_json_array_at(input->tasks, (size_t)task), id, key, &list));
    const size_t count = yk_json_array_count(list);
    YK_TRY_NEW(arena, out->files, count);
    for (size_t i = 0; i < count; i++) {
        const char *file = yk_json_string_value(yk_json_array_at(list, i));
        out->files[i] = yk_name_index_find(input->file_names, file);
        if (out->files[i] < 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "task \"%s\": \"%s\" names the file \"%s\", which "
                           "workflow.specification.files does not list",
                           id, key, file);
        }
    }
    if (count > 0) {
        qsort(out->files, count, sizeof *out->files, yk_number_qsort_compare_int32);
    }
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || out->files[i] != out->files[i - 1]) {
            out->files[out->count++] = out->files[i];
        }
    }
    return YK_OK;
}

/* Walks the shorter set and looks each file up in the longer one. */
static double shared_bytes(const struct specification *input, const struct file_set *a,
                           const struct file_set *b)
{
    const struct file_set *few = a->count < b->count ? a : b;
    const struct file_set *many = few == a ? b : a;
    double bytes = 0;
    for (size_t i = 0; i < few->count; i++) {
        if (bsearch(&few->files[i], many->files, many->count, sizeof *many->files,
                    yk_number_qsort_compare_int32)) {
            bytes += input->file_bytes[few->files[i]];
        }
    }
    return bytes;
}

/* Adds the pairs of one task's parents or children to `pairs`, or only counts them where NULL. */
static yk_status read_pairs(const struct specification *input, int32_t task, const char *key,
                            struct pair *pairs, size_t *count)
{
    const char *id = yk_name_index_name(input->task_names, task);
    const bool upwards = key[0] == 'p';
    const struct yk_json *list = NULL;
    YK_TRY(get_names(yk_json_array_at(input->tasks, (size_t)task), id, key, &list));
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        const char *name = yk_json_string_value(yk_json_array_at(list, i));
        const int32_t other = yk_name_index_find(input->task_names, name);
        if (other < 0) {
            return yk_fail(YK_ERROR_INPUT, "task \"%s\": its %s \"%s\" is no task", id,
                           upwards ? "parent" : "child", name);
        }
        if (pairs) {
            pairs[*count] = (struct pair){upwards ? other : task, upwards ? task : other};
        }
        (*count)++;
    }
    return YK_OK;
}

static yk_status read_all_pairs(const struct specification *input, struct pair *pairs,
                                size_t *count)
{
    *count = 0;
    for (int32_t i = 0; i < yk_name_index_count(input->task_names); i++) {
        YK_TRY(read_pairs(input, i, "parents", pairs, count));
        YK_TRY(read_pairs(input, i, "children", pairs, count));
    }
    return YK_OK;
}

static yk_status add_edges(const struct specification *input, struct yk_arena *arena,
                           struct yk_graph_builder *builder)
{
    const int32_t task_count = yk_name_index_count(input->task_names);
    struct task *tasks = NULL;
    struct pair *pairs = NULL;
    size_t count = 0;
    YK_TRY_NEW(arena, tasks, task_count);
    for (int32_t i = 0; i < task_count; i++) {
        YK_TRY(read_file_set(input, arena, i, "inputFiles", &tasks[i].inputs));
        YK_TRY(read_file_set(input, arena, i, "outputFiles", &tasks[i].outputs));
    }
    YK_TRY(read_all_pairs(input, NULL, &count));
    YK_TRY_NEW(arena, pairs, count);
    YK_TRY(read_all_pairs(input, pairs, &count));
    if (count > 0) {
        qsort(pairs, count, sizeof *pairs, compare_pairs);
    }
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && compare_pairs(&pairs[i], &pairs[i - 1]) == 0) {
            continue;
        }
        const struct yk_graph_builder_edge edge = {
            .from = yk_name_index_name(input->task_names, pairs[i].parent),
            .to = yk_name_index_name(input->task_names, pairs[i].child),
            .cost = NAN,
            .bytes =
                shared_bytes(input, &tasks[pairs[i].parent].outputs, &tasks[pairs[i].child].inputs),
        };
        YK_TRY(yk_graph_builder_add_edge(builder, &edge));
    }
    return YK_OK;
}

static const char schema_version[] = "1.5";

struct reading {
    const struct yk_graph_read_options *options;
    struct yk_graph_builder *builder;
    struct yk_arena *arena;
    struct yk_name_index *run_names; /* tasks under workflow.execution */
    double *run_times_s;             /* by number of the name */
    struct specification input;
};

static bool recognises(const struct yk_graph_reader_input *document)
{
    return yk_json_get_member(document->json, "workflow") ||
           yk_json_get_member(document->json, "schemaVersion");
}

static yk_status check_version(const struct yk_json *root)
{
    const struct yk_json *node = yk_json_get_member(root, "schemaVersion");
    const char *version = yk_json_string_value(node);
    if (!version) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"schemaVersion\" must be the string \"%s\", the one that is read, not %s",
                       schema_version, yk_json_type_name(node));
    }
    if (strcmp(version, schema_version) != 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"schemaVersion\" is \"%s\"; WfCommons is read in version %s", version,
                       schema_version);
    }
    return YK_OK;
}

/* workflow.<section>.<key>, a list. */
static yk_status find_list(const struct yk_json *root, const char *section, const char *key,
                           const struct yk_json **out)
{
    const struct yk_json *node =
        yk_json_get_member(yk_json_get_member(yk_json_get_member(root, "workflow"), section), key);
    if (!yk_json_is_array(node)) {
        return yk_fail(YK_ERROR_INPUT, "workflow.%s.%s must be a list, not %s", section, key,
                       yk_json_type_name(node));
    }
    *out = node;
    return YK_OK;
}

static yk_status need_id(const struct yk_json *node, const char *list, size_t index,
                         const char **out)
{
    const char *id = yk_json_string_value(yk_json_get_member(node, "id"));
    if (!id || !*id) {
        return yk_fail(YK_ERROR_INPUT, "workflow.%s[%zu]: \"id\" must be a string", list, index);
    }
    *out = id;
    return YK_OK;
}

/* A list of {"id", member}: adds each id to `names` and its number to the array. */
static yk_status read_numbers(const struct yk_json *list, const char *place, const char *member,
                              struct yk_name_index *names, double *out)
{
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        const struct yk_json *node = yk_json_array_at(list, i);
        const char *id = NULL;
        int32_t number = 0;
        bool added = false;
        YK_TRY(need_id(node, place, i, &id));
        YK_TRY(yk_name_index_add(names, id, &added, &number));
        if (!added) {
            return yk_fail(YK_ERROR_INPUT, "workflow.%s: \"%s\" is given twice", place, id);
        }
        if (!yk_json_number_value(yk_json_get_member(node, member), &out[number]) ||
            out[number] < 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "workflow.%s: \"%s\" needs \"%s\", a number of 0 or more", place, id,
                           member);
        }
    }
    return YK_OK;
}

static yk_status read_files(struct reading *reading, const struct yk_json *root)
{
    const struct yk_json *workflow = yk_json_get_member(root, "workflow");
    const struct yk_json *list = NULL;
    /* A workflow whose tasks share no files needs no list of them. */
    if (yk_json_get_member(yk_json_get_member(workflow, "specification"), "files")) {
        YK_TRY(find_list(root, "specification", "files", &list));
    }
    YK_TRY_NEW(reading->arena, reading->input.file_bytes, yk_json_array_count(list));
    return read_numbers(list, "specification.files", "sizeInBytes", reading->input.file_names,
                        reading->input.file_bytes);
}

static yk_status read_run_times(struct reading *reading, const struct yk_json *root)
{
    const struct yk_json *list = NULL;
    YK_TRY(find_list(root, "execution", "tasks", &list));
    YK_TRY_NEW(reading->arena, reading->run_times_s, yk_json_array_count(list));
    return read_numbers(list, "execution.tasks", "runtimeInSeconds", reading->run_names,
                        reading->run_times_s);
}

static yk_status read_tasks(struct reading *reading, const struct yk_json *root)
{
    double costs[YK_GRAPH_MAX_DEVICES];
    YK_TRY(find_list(root, "specification", "tasks", &reading->input.tasks));
    for (size_t i = 0; i < yk_json_array_count(reading->input.tasks); i++) {
        const char *id = NULL;
        bool added = false;
        int32_t number = 0;
        YK_TRY(need_id(yk_json_array_at(reading->input.tasks, i), "specification.tasks", i, &id));
        const int32_t run = yk_name_index_find(reading->run_names, id);
        if (run < 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "task \"%s\": workflow.execution.tasks has no runtimeInSeconds for it",
                           id);
        }
        yk_graph_reader_compute_task_costs(reading->options, reading->run_times_s[run], costs);
        YK_TRY(yk_graph_builder_add_task(reading->builder, id, costs));
        YK_TRY(yk_name_index_add(reading->input.task_names, id, &added, &number));
    }
    return YK_OK;
}

static yk_status set_links(const struct yk_graph_read_options *options,
                           struct yk_graph_builder *builder)
{
    double bandwidth = options->bandwidth_bytes_per_s;
    if (bandwidth == 0) {
        bandwidth = YK_GRAPH_READ_DEFAULT_BANDWIDTH_BYTES_PER_S;
        yk_log(YK_LOG_NOTE,
               "the workflow names no links: %s between any two devices is assumed, as of "
               "ten-gigabit Ethernet; --bandwidth says otherwise",
               YK_UNITS_FORMAT_TEMPORARY(bandwidth, YK_UNIT_BYTES_PER_S));
    }
    return yk_graph_builder_set_default_link(builder, options->latency_s, bandwidth);
}

static yk_status read_all(struct reading *reading, const struct yk_json *root)
{
    YK_TRY(check_version(root));
    YK_TRY(yk_graph_reader_add_numbered_devices(reading->options, reading->builder));
    YK_TRY(set_links(reading->options, reading->builder));
    YK_TRY(read_files(reading, root));
    YK_TRY(read_run_times(reading, root));
    YK_TRY(read_tasks(reading, root));
    return add_edges(&reading->input, reading->arena, reading->builder);
}

static yk_status read_wfcommons(const struct yk_graph_reader_input *document,
                                const struct yk_graph_read_options *options,
                                struct yk_graph_builder *builder)
{
    struct reading reading = {.options = options, .builder = builder};
    yk_status status = YK_OK;
    YK_TRY_GOTO(yk_arena_create(&reading.arena), done);
    YK_TRY_GOTO(yk_name_index_create(&reading.run_names), done);
    YK_TRY_GOTO(yk_name_index_create(&reading.input.task_names), done);
    YK_TRY_GOTO(yk_name_index_create(&reading.input.file_names), done);
    status = read_all(&reading, document->json);
done:
    yk_name_index_destroy(reading.input.file_names);
    yk_name_index_destroy(reading.input.task_names);
    yk_name_index_destroy(reading.run_names);
    yk_arena_destroy(reading.arena);
    return status;
}

const struct yk_graph_reader yk_graph_reader_wfcommons = {
    .name = "WfCommons 1.5",
    .needs_devices = true,
    .accepts_links = true,
    .recognises = recognises,
    .read = read_wfcommons,
};
