#include "sched/schedule.h"

#include "base/number.h"
#include "base/units.h"
#include "sched/timeline/group_placement.h"

#include <stdlib.h>
#include <string.h>

/* A change of what one device holds. */
struct change {
    int64_t time;
    int64_t bytes;
    int32_t device;
};

struct changes {
    struct change *entries;
    size_t count;
};

/* By device and time. At one time, memory is freed before it is allocated. */
static int compare_changes(const void *left, const void *right)
{
    const struct change *a = left;
    const struct change *b = right;
    int order = yk_number_compare(a->device, b->device);
    order = order != 0 ? order : yk_number_compare(a->time, b->time);
    return order != 0 ? order : yk_number_compare(a->bytes, b->bytes);
}

static void hold(struct changes *changes, int32_t device, int64_t from, int64_t until,
                 int64_t bytes)
{
    if (from < until && bytes > 0) {
        changes->entries[changes->count++] = (struct change){from, bytes, device};
        changes->entries[changes->count++] = (struct change){until, -bytes, device};
    }
}

static void hold_edge(const struct yk_schedule *schedule, const struct yk_graph_edge *edge,
                      struct changes *changes)
{
    const int32_t from_device = schedule->devices[edge->from];
    const int32_t to_device = schedule->devices[edge->to];
    const int64_t until = schedule->finishes[edge->to];
    hold(changes, from_device, schedule->starts[edge->from], until, edge->resident_bytes);
    if (to_device != from_device) {
        hold(changes, to_device, schedule->finishes[edge->from], until, edge->resident_bytes);
    }
}

/* Computes the resident bytes of the groups on each device. */
static yk_status hold_groups(const struct yk_schedule *schedule, struct yk_arena *arena,
                             int64_t *held)
{
    const struct yk_graph *graph = schedule->graph;
    struct yk_group_placement groups;
    YK_TRY(yk_group_placement_create(arena, graph, &groups));
    memset(held, 0, (size_t)graph->device_count * sizeof *held);
    for (int32_t i = 0; i < graph->task_count; i++) {
        held[schedule->devices[i]] +=
            yk_group_placement_added_bytes(&groups, i, schedule->devices[i]);
        yk_group_placement_add_task(&groups, i, schedule->devices[i]);
    }
    return YK_OK;
}

yk_status yk_schedule_compute_memory_peaks(const struct yk_schedule *schedule, int64_t *out)
{
    const struct yk_graph *graph = schedule->graph;
    YK_TRY_WITH_TEMPORARY_ARENA(arena, hold_groups(schedule, arena, out));
    const size_t capacity = 2 * (size_t)graph->task_count + 4 * (size_t)graph->edge_count;
    struct changes changes = {calloc(capacity, sizeof *changes.entries), 0};
    YK_TRY_ALLOCATED(changes.entries);
    for (int32_t i = 0; i < graph->task_count; i++) {
        hold(&changes, schedule->devices[i], schedule->starts[i], schedule->finishes[i],
             graph->tasks[i].memory_bytes);
    }
    for (int32_t e = 0; e < graph->edge_count; e++) {
        hold_edge(schedule, &graph->edges[e], &changes);
    }
    qsort(changes.entries, changes.count, sizeof *changes.entries, compare_changes);
    int64_t held = 0;
    for (size_t i = 0; i < changes.count; i++) {
        const int32_t device = changes.entries[i].device;
        if (i == 0 || device != changes.entries[i - 1].device) {
            held = out[device]; /* resident bytes; the changes of a device sum to 0 */
        }
        held += changes.entries[i].bytes;
        out[device] = held > out[device] ? held : out[device];
    }
    free(changes.entries);
    return YK_OK;
}

yk_status yk_schedule_check_memory_limits(const struct yk_schedule *schedule)
{
    const struct yk_graph *graph = schedule->graph;
    if (!graph->limited) {
        return YK_OK;
    }
    int64_t *peaks = calloc((size_t)graph->device_count, sizeof *peaks);
    YK_TRY_ALLOCATED(peaks);
    yk_status status = yk_schedule_compute_memory_peaks(schedule, peaks);
    for (int32_t p = 0; status == YK_OK && p < graph->device_count; p++) {
        const struct yk_graph_device *device = &graph->devices[p];
        if (peaks[p] > device->memory_bytes) {
            status = yk_fail(
                YK_ERROR_NO_FIT, "device \"%s\" would need %s more than its %s", device->name,
                YK_UNITS_FORMAT_TEMPORARY((double)(peaks[p] - device->memory_bytes), YK_UNIT_BYTES),
                YK_UNITS_FORMAT_TEMPORARY((double)device->memory_bytes, YK_UNIT_BYTES));
        }
    }
    free(peaks);
    return status;
}
