#include "sched/schedule.h"

#include "base/arena.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

/* One task of a schedule, for sorting. */
struct entry {
    int64_t start;
    int64_t finish;
    int32_t device;
    int32_t place;
    int32_t task;
};

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left;
    const struct entry *b = right;
    int order = yk_number_compare(a->device, b->device);
    order = order != 0 ? order : yk_number_compare(a->start, b->start);
    order = order != 0 ? order : yk_number_compare(a->finish, b->finish);
    return order != 0 ? order : yk_number_compare(a->place, b->place);
}

yk_status yk_schedule_sort_tasks_by_start(const int32_t *devices, const int64_t *starts,
                                          const int64_t *finishes, int32_t *tasks, int32_t count)
{
    struct entry *entries = calloc((size_t)count, sizeof *entries);
    YK_TRY_ALLOCATED(entries);
    for (int32_t k = 0; k < count; k++) {
        const int32_t task = tasks[k];
        const int32_t device = devices ? devices[task] : 0;
        entries[k] = (struct entry){starts[task], finishes[task], device, k, task};
    }
    qsort(entries, (size_t)count, sizeof *entries, compare_entries);
    for (int32_t k = 0; k < count; k++) {
        tasks[k] = entries[k].task;
    }
    free(entries);
    return YK_OK;
}

yk_status yk_schedule_create_in_arena(const struct yk_graph *graph, struct yk_arena *arena,
                                      struct yk_schedule *out)
{
    *out = (struct yk_schedule){.graph = graph, .arena = arena};
    YK_TRY_NEW(arena, out->devices, graph->task_count);
    YK_TRY_NEW(arena, out->starts, graph->task_count);
    YK_TRY_NEW(arena, out->finishes, graph->task_count);
    YK_TRY_NEW(arena, out->order, graph->task_count);
    return YK_OK;
}

yk_status yk_schedule_create(const struct yk_graph *graph, struct yk_schedule **out)
{
    struct yk_schedule *schedule = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(schedule);
    struct yk_arena *arena = schedule->arena;
    YK_TRY_OR_CLEAN_UP(yk_schedule_create_in_arena(graph, arena, schedule),
                       yk_arena_destroy(arena));
    *out = schedule;
    return YK_OK;
}

void yk_schedule_destroy(struct yk_schedule *schedule)
{
    if (schedule) {
        yk_arena_destroy(schedule->arena);
    }
}

void yk_schedule_copy(const struct yk_schedule *from, struct yk_schedule *to)
{
    const size_t n = (size_t)from->graph->task_count;
    memcpy(to->order, from->order, n * sizeof *to->order);
    memcpy(to->devices, from->devices, n * sizeof *to->devices);
    memcpy(to->starts, from->starts, n * sizeof *to->starts);
    memcpy(to->finishes, from->finishes, n * sizeof *to->finishes);
    to->makespan = from->makespan;
    to->lower_bound = from->lower_bound;
}

int32_t yk_schedule_count_used_devices(const struct yk_schedule *schedule)
{
    bool used[YK_GRAPH_MAX_DEVICES] = {false};
    int32_t count = 0;
    for (int32_t i = 0; i < schedule->graph->task_count; i++) {
        count += used[schedule->devices[i]] ? 0 : 1;
        used[schedule->devices[i]] = true;
    }
    return count;
}

yk_status yk_schedule_list_device_tasks(struct yk_schedule *schedule,
                                        struct yk_schedule_device_tasks *out)
{
    const int32_t n = schedule->graph->task_count;
    const int32_t P = schedule->graph->device_count;
    struct yk_schedule_device_tasks lanes = {0};
    YK_TRY_NEW(schedule->arena, lanes.tasks, n);
    YK_TRY_NEW(schedule->arena, lanes.first, P + 1);
    for (int32_t k = 0; k < n; k++) {
        lanes.tasks[k] = schedule->order[k];
        lanes.first[schedule->devices[k] + 1]++;
    }
    for (int32_t p = 0; p < P; p++) {
        lanes.first[p + 1] += lanes.first[p];
    }
    YK_TRY(yk_schedule_sort_tasks_by_start(schedule->devices, schedule->starts, schedule->finishes,
                                           lanes.tasks, n));
    *out = lanes;
    return YK_OK;
}
