#include "graph/wfcommons_edges.h"

#include <math.h>
#include <stdlib.h>

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

static int compare_numbers(const void *a, const void *b)
{
    const int32_t left = *(const int32_t *)a;
    const int32_t right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *left = a;
    const struct pair *right = b;
    const int by_parent = compare_numbers(&left->parent, &right->parent);
    return by_parent != 0 ? by_parent : compare_numbers(&left->child, &right->child);
}

/* A list of strings that may be missing; NULL then. */
static yk_status get_names(const struct yk_json *task, const char *id, const char *key,
                           const struct yk_json **out)
{
    const struct yk_json *list = yk_json_get(task, key);
    if (list && !yk_json_is_array(list)) {
        return yk_fail(YK_ERROR_INPUT, "task \"%s\": \"%s\" must be a list, not %s", id, key,
                       yk_json_kind(list));
    }
    for (size_t i = 0; i < yk_json_count(list); i++) {
        if (!yk_json_string(yk_json_at(list, i))) {
            return yk_fail(YK_ERROR_INPUT, "task \"%s\": \"%s\" must be a list of strings", id,
                           key);
        }
    }
    *out = list;
    return YK_OK;
}

static yk_status read_file_set(const struct yk_graph_wfcommons_input *input, struct yk_arena *arena,
                               int32_t task, const char *key, struct file_set *out)
{
    const char *id = yk_names_at(input->task_names, task);
    const struct yk_json *list = NULL;
    YK_TRY(get_names(yk_json_at(input->tasks, (size_t)task), id, key, &list));
    const size_t count = yk_json_count(list);
    YK_TRY_NEW(arena, out->files, count);
    for (size_t i = 0; i < count; i++) {
        const char *file = yk_json_string(yk_json_at(list, i));
        out->files[i] = yk_names_find(input->file_names, file);
        if (out->files[i] < 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "task \"%s\": \"%s\" names the file \"%s\", which "
                           "workflow.specification.files does not list",
                           id, key, file);
        }
    }
    if (count > 0) {
        qsort(out->files, count, sizeof *out->files, compare_numbers);
    }
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || out->files[i] != out->files[i - 1]) {
            out->files[out->count++] = out->files[i];
        }
    }
    return YK_OK;
}

/* Walks the shorter set and looks each file up in the longer one. */
static double shared_bytes(const struct yk_graph_wfcommons_input *input, const struct file_set *a,
                           const struct file_set *b)
{
    const struct file_set *few = a->count < b->count ? a : b;
    const struct file_set *many = few == a ? b : a;
    double bytes = 0;
    for (size_t i = 0; i < few->count; i++) {
        if (bsearch(&few->files[i], many->files, many->count, sizeof *many->files,
                    compare_numbers)) {
            bytes += input->file_bytes[few->files[i]];
        }
    }
    return bytes;
}

/* Adds the pairs of one task's parents or children to `pairs`, or only counts them where NULL. */
static yk_status read_pairs(const struct yk_graph_wfcommons_input *input, int32_t task,
                            const char *key, struct pair *pairs, size_t *count)
{
    const char *id = yk_names_at(input->task_names, task);
    const bool upwards = key[0] == 'p';
    const struct yk_json *list = NULL;
    YK_TRY(get_names(yk_json_at(input->tasks, (size_t)task), id, key, &list));
    for (size_t i = 0; i < yk_json_count(list); i++) {
        const char *name = yk_json_string(yk_json_at(list, i));
        const int32_t other = yk_names_find(input->task_names, name);
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

static yk_status read_all_pairs(const struct yk_graph_wfcommons_input *input, struct pair *pairs,
                                size_t *count)
{
    *count = 0;
    for (int32_t i = 0; i < yk_names_count(input->task_names); i++) {
        YK_TRY(read_pairs(input, i, "parents", pairs, count));
        YK_TRY(read_pairs(input, i, "children", pairs, count));
    }
    return YK_OK;
}

yk_status yk_graph_wfcommons_add_edges(const struct yk_graph_wfcommons_input *input,
                                       struct yk_arena *arena, struct yk_graph_builder *builder)
{
    const int32_t task_count = yk_names_count(input->task_names);
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
        const struct yk_graph_edge_spec edge = {
            .from = yk_names_at(input->task_names, pairs[i].parent),
            .to = yk_names_at(input->task_names, pairs[i].child),
            .cost = NAN,
            .bytes =
                shared_bytes(input, &tasks[pairs[i].parent].outputs, &tasks[pairs[i].child].inputs),
        };
        YK_TRY(yk_graph_builder_add_edge(builder, &edge));
    }
    return YK_OK;
}
