#include "sched/timeline/memory_aware_builder.h"

#include "base/units.h"
#include "sched/timeline/device_memory_timeline.h"

#include <stdlib.h>

static const int64_t MAX_BYTES = (int64_t)1 << 61; /* more than all of a graph together */

/* An input that comes from another device, and so takes room from its production on. */
struct arrival {
    int64_t produced;
    int64_t bytes;
};

/* What placing one task on one device would hold. */
struct need {
    int64_t limit;    /* the device's memory, less what the task's group brings to it */
    int64_t running;  /* from start to finish: the task itself, its outputs, remote inputs */
    int64_t after;    /* from its finish on: outputs, less the local inputs it was last to use */
    int64_t resident; /* that its group brings, when this is the first of it */
    int32_t arrival_count;
};

struct yk_memory_aware_builder {
    struct yk_schedule_builder *builder;
    struct yk_device_memory_timeline *usage;
    int64_t extra_bytes;      /* that every device would need to have more; for explaining */
    struct arrival *arrivals; /* (largest number of inputs) of the task being looked at, by time */
};

yk_status yk_memory_aware_builder_create(struct yk_schedule_builder *builder,
                                         struct yk_memory_aware_builder **out)
{
    const struct yk_graph *graph = builder->graph;
    struct yk_memory_aware_builder *fit = NULL;
    int32_t max_inputs = 0;
    for (int32_t i = 0; i < graph->task_count; i++) {
        const int32_t inputs = graph->in_first[i + 1] - graph->in_first[i];
        max_inputs = inputs > max_inputs ? inputs : max_inputs;
    }
    YK_TRY_NEW(builder->arena, fit, 1);
    YK_TRY_NEW(builder->arena, fit->arrivals, max_inputs);
    /* Starts and finishes of tasks; productions and last uses of inputs from elsewhere. */
    int32_t max_steps = 0;
    if (__builtin_add_overflow(2 * (int64_t)graph->task_count, 2 * (int64_t)graph->edge_count,
                               &max_steps)) {
        return yk_fail(YK_ERROR_INPUT, "the graph is too large to count its memory");
    }
    YK_TRY(yk_device_memory_timeline_create(builder->arena, graph->device_count, max_steps,
                                            &fit->usage));
    fit->builder = builder;
    *out = fit;
    return YK_OK;
}

void yk_memory_aware_builder_clear(struct yk_memory_aware_builder *builder)
{
    yk_schedule_builder_clear(builder->builder);
    yk_device_memory_timeline_clear(builder->usage);
}

static int by_production(const void *left, const void *right)
{
    const struct arrival *a = left;
    const struct arrival *b = right;
    return (a->produced > b->produced) - (a->produced < b->produced);
}

static int64_t output_bytes(const struct yk_graph *graph, int32_t task)
{
    int64_t bytes = 0;
    for (int32_t e = graph->out_first[task]; e < graph->out_first[task + 1]; e++) {
        bytes += graph->edges[e].resident_bytes;
    }
    return bytes;
}

static struct need find_need(struct yk_memory_aware_builder *builder, int32_t task, int32_t device)
{
    const struct yk_graph *graph = builder->builder->graph;
    const struct yk_schedule *schedule = builder->builder->schedule;
    const int64_t outputs = output_bytes(graph, task);
    struct need need = {
        .running = graph->tasks[task].memory_bytes + outputs,
        .after = outputs,
        .resident = yk_group_placement_added_bytes(&builder->builder->groups, task, device),
    };
    need.limit = graph->devices[device].memory_bytes + builder->extra_bytes - need.resident;
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        const struct yk_graph_edge *edge = &graph->edges[graph->inputs[k].edge];
        if (edge->resident_bytes == 0) {
            continue;
        }
        if (schedule->devices[edge->from] == device) {
            need.after -= edge->resident_bytes;
        } else {
            need.running += edge->resident_bytes;
            builder->arrivals[need.arrival_count++] =
                (struct arrival){schedule->finishes[edge->from], edge->resident_bytes};
        }
    }
    qsort(builder->arrivals, (size_t)need.arrival_count, sizeof *builder->arrivals, by_production);
    return need;
}

/* Whether the inputs from elsewhere have room while they wait for a start at `start`. */
static bool inputs_can_wait(const struct yk_memory_aware_builder *builder, const struct need *need,
                            int32_t device, int64_t start)
{
    int64_t waiting = 0;
    for (int32_t k = 0; k < need->arrival_count; k++) {
        const bool last = k + 1 == need->arrival_count;
        const int64_t until = last ? start : builder->arrivals[k + 1].produced;
        waiting += builder->arrivals[k].bytes;
        if (yk_device_memory_timeline_excess_end(builder->usage, device,
                                                 builder->arrivals[k].produced, until,
                                                 need->limit - waiting) >= 0) {
            return false;
        }
    }
    return true;
}

bool yk_memory_aware_builder_find_slot_on(struct yk_memory_aware_builder *builder, int32_t task,
                                          int32_t device, int64_t ready,
                                          struct yk_schedule_slot *out)
{
    if (builder->builder->graph->devices[device].memory_bytes == YK_GRAPH_UNLIMITED_MEMORY) {
        *out = yk_schedule_builder_find_slot_on_device(builder->builder, task, device, ready);
        return true;
    }
    const struct need need = find_need(builder, task, device);
    const struct yk_device_memory_timeline *usage = builder->usage;
    const bool has_length = yk_graph_task_cost(builder->builder->graph, task, device) > 0;
    if ((has_length && need.running > need.limit) ||
        yk_device_memory_timeline_excess_end(usage, device, 0, YK_DEVICE_MEMORY_TIMELINE_FOREVER,
                                             need.limit) >= 0) {
        return false;
    }
    for (;;) {
        const struct yk_schedule_slot slot =
            yk_schedule_builder_find_slot_on_device(builder->builder, task, device, ready);
        /* Later starts only make inputs wait longer: what does not fit now never will. */
        if (!inputs_can_wait(builder, &need, device, slot.start)) {
            return false;
        }
        int64_t crowded_until = yk_device_memory_timeline_excess_end(
            usage, device, slot.finish, YK_DEVICE_MEMORY_TIMELINE_FOREVER, need.limit - need.after);
        if (crowded_until < 0) {
            crowded_until = yk_device_memory_timeline_excess_end(
                usage, device, slot.start, slot.finish, need.limit - need.running);
        }
        if (crowded_until < 0) {
            *out = slot;
            return true;
        }
        if (crowded_until == YK_DEVICE_MEMORY_TIMELINE_FOREVER) {
            return false;
        }
        ready = crowded_until;
    }
}

struct yk_schedule_slot yk_memory_aware_builder_find_slot(struct yk_memory_aware_builder *builder,
                                                          int32_t task)
{
    const int64_t *ready = yk_schedule_builder_compute_ready_times(builder->builder, task);
    struct yk_schedule_slot best = {YK_SCHEDULE_NO_DEVICE, 0, INT64_MAX};
    for (int32_t p = 0; p < builder->builder->graph->device_count; p++) {
        struct yk_schedule_slot slot;
        if (yk_schedule_builder_allows_device(builder->builder, task, p) &&
            ready[p] + yk_graph_task_cost(builder->builder->graph, task, p) < best.finish &&
            yk_memory_aware_builder_find_slot_on(builder, task, p, ready[p], &slot) &&
            slot.finish < best.finish) {
            best = slot;
        }
    }
    return best;
}

void yk_memory_aware_builder_place(struct yk_memory_aware_builder *builder, int32_t task,
                                   struct yk_schedule_slot slot)
{
    const struct yk_graph *graph = builder->builder->graph;
    const struct yk_schedule *schedule = builder->builder->schedule;
    struct yk_device_memory_timeline *usage = builder->usage;
    yk_device_memory_timeline_add_bytes(
        usage, slot.device, 0, YK_DEVICE_MEMORY_TIMELINE_FOREVER,
        yk_group_placement_added_bytes(&builder->builder->groups, task, slot.device));
    yk_schedule_builder_place(builder->builder, task, slot);
    yk_device_memory_timeline_add_bytes(usage, slot.device, slot.start, slot.finish,
                                        graph->tasks[task].memory_bytes);
    yk_device_memory_timeline_add_bytes(usage, slot.device, slot.start,
                                        YK_DEVICE_MEMORY_TIMELINE_FOREVER,
                                        output_bytes(graph, task));
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        const struct yk_graph_edge *edge = &graph->edges[graph->inputs[k].edge];
        const int32_t source = schedule->devices[edge->from];
        yk_device_memory_timeline_add_bytes(
            usage, source, slot.finish, YK_DEVICE_MEMORY_TIMELINE_FOREVER, -edge->resident_bytes);
        if (source != slot.device) {
            yk_device_memory_timeline_add_bytes(usage, slot.device, schedule->finishes[edge->from],
                                                slot.finish, edge->resident_bytes);
        }
    }
}

/* How much more memory `device` would need for `task` to have a slot on it, by halving. */
static int64_t missing_bytes(struct yk_memory_aware_builder *builder, int32_t task, int32_t device,
                             int64_t ready)
{
    int64_t too_little = 0;
    int64_t enough = MAX_BYTES;
    while (enough - too_little > 1) {
        struct yk_schedule_slot slot;
        builder->extra_bytes = too_little + (enough - too_little) / 2;
        if (yk_memory_aware_builder_find_slot_on(builder, task, device, ready, &slot)) {
            enough = builder->extra_bytes;
        } else {
            too_little = builder->extra_bytes;
        }
    }
    builder->extra_bytes = 0;
    return enough;
}

yk_status yk_memory_aware_builder_fail_no_slot(struct yk_memory_aware_builder *builder,
                                               int32_t task)
{
    const struct yk_graph *graph = builder->builder->graph;
    const int64_t *ready = yk_schedule_builder_compute_ready_times(builder->builder, task);
    int32_t nearest = YK_SCHEDULE_NO_DEVICE;
    int64_t min_missing = INT64_MAX;
    for (int32_t p = 0; p < graph->device_count; p++) {
        const int64_t missing = yk_schedule_builder_allows_device(builder->builder, task, p)
                                    ? missing_bytes(builder, task, p, ready[p])
                                    : INT64_MAX;
        if (missing < min_missing) {
            nearest = p;
            min_missing = missing;
        }
    }
    return yk_fail(
        YK_ERROR_NO_FIT,
        "no room for task \"%s\": on device \"%s\", the nearest to fit, it would need %s "
        "more than the %s there are; give that device more memory or add a device",
        graph->tasks[task].name, graph->devices[nearest].name,
        YK_UNITS_FORMAT_TEMPORARY((double)min_missing, YK_UNIT_BYTES),
        YK_UNITS_FORMAT_TEMPORARY((double)graph->devices[nearest].memory_bytes, YK_UNIT_BYTES));
}
