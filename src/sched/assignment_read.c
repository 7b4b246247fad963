#include "sched/assignment.h"

#include "base/json.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

enum {
    NOWHERE = -1
};

static int32_t find_device(const struct yk_graph *graph, const char *name)
{
    for (int32_t p = 0; p < graph->device_count; p++) {
        if (strcmp(graph->devices[p].name, name) == 0) {
            return p;
        }
    }
    return NOWHERE;
}

/* The device that the map names for `name`, or NOWHERE when it does not name it. */
static yk_status look_up(const struct yk_json *root, const struct yk_graph *graph, const char *name,
                         int32_t *out)
{
    const struct yk_json *node = yk_json_get_member(root, name);
    *out = NOWHERE;
    if (!node) {
        return YK_OK;
    }
    const char *device = yk_json_string_value(node);
    if (!device) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be the name of a device, not %s", name,
                       yk_json_type_name(node));
    }
    *out = find_device(graph, device);
    return *out != NOWHERE
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "\"%s\": there is no device \"%s\"", name, device);
}

static yk_status place_task(const struct yk_json *root, const struct yk_graph *graph, int32_t task,
                            int32_t *out)
{
    const char *name = graph->tasks[task].name;
    const int32_t group = graph->tasks[task].group;
    YK_TRY(look_up(root, graph, name, out));
    if (*out == NOWHERE && group != YK_GRAPH_NO_GROUP) {
        YK_TRY(look_up(root, graph, graph->groups[group].name, out));
    }
    if (*out == NOWHERE) {
        return yk_fail(YK_ERROR_INPUT, "no device is given for task \"%s\"", name);
    }
    return yk_graph_task_can_run_on(graph, task, *out)
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "device \"%s\" cannot run task \"%s\"",
                         graph->devices[*out].name, name);
}

static yk_status check_groups(const struct yk_graph *graph, const int32_t *devices)
{
    int32_t *groups = calloc((size_t)graph->group_count + 1, sizeof *groups);
    YK_TRY_ALLOCATED(groups);
    yk_status status = YK_OK;
    yk_number_fill_int32_array(groups, graph->group_count, NOWHERE);
    for (int32_t i = 0; status == YK_OK && i < graph->task_count; i++) {
        const int32_t group = graph->tasks[i].group;
        if (group == YK_GRAPH_NO_GROUP) {
            continue;
        }
        if (groups[group] != NOWHERE && groups[group] != devices[i]) {
            status = yk_fail(YK_ERROR_INPUT, "group \"%s\" is on devices \"%s\" and \"%s\"",
                             graph->groups[group].name, graph->devices[groups[group]].name,
                             graph->devices[devices[i]].name);
        }
        groups[group] = devices[i];
    }
    free(groups);
    return status;
}

/* Every key must be a task or a group. */
static yk_status check_names(const struct yk_json *root, const struct yk_graph *graph)
{
    const size_t count = (size_t)graph->task_count + (size_t)graph->group_count;
    const char **known = calloc(count, sizeof *known);
    YK_TRY_ALLOCATED(known);
    for (int32_t i = 0; i < graph->task_count; i++) {
        known[i] = graph->tasks[i].name;
    }
    for (int32_t g = 0; g < graph->group_count; g++) {
        known[graph->task_count + g] = graph->groups[g].name;
    }
    const yk_status status = yk_json_check_keys(root, known, count);
    free(known);
    return status;
}

static yk_status place_all(const struct yk_json *root, const struct yk_graph *graph, int32_t *out)
{
    if (!yk_json_is_object(root)) {
        return yk_fail(YK_ERROR_INPUT, "a map is an object of task names and devices, not %s",
                       yk_json_type_name(root));
    }
    YK_TRY(check_names(root, graph));
    for (int32_t i = 0; i < graph->task_count; i++) {
        YK_TRY(place_task(root, graph, i, &out[i]));
    }
    return check_groups(graph, out);
}

yk_status yk_assignment_read_devices(const char *text, size_t length, const char *source,
                                     const struct yk_graph *graph, int32_t *out)
{
    YK_TRY_WITH_PARSED_JSON(root, text, length, source, place_all(root, graph, out));
    return YK_OK;
}
