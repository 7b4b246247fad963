#include "planner/placement/placement.h"

#include "planner/placement/auto.h"
#include "planner/placement/context.h"
#include "sched/bound/bound.h"

#include <string.h>

/* The devices that Accelerate would number 0, 1, 2 …: returns how many. */
static int32_t list_devices(const struct yk_cluster *cluster, int32_t *numbers)
{
    int32_t count = 0;
    for (int32_t p = 0; p < cluster->device_count; p++) {
        if (!cluster->devices[p].is_cpu) {
            numbers[count++] = p;
        }
    }
    for (int32_t p = 0; count == 0 && p < cluster->device_count; p++) {
        numbers[p] = p;
    }
    return count > 0 ? count : cluster->device_count;
}

static int64_t host_bytes(const struct yk_cluster *cluster, int32_t listed)
{
    double bytes = cluster->host_memory_bytes;
    for (int32_t p = 0; bytes == 0 && listed < cluster->device_count && p < cluster->device_count;
         p++) {
        bytes += cluster->devices[p].is_cpu ? cluster->devices[p].memory_bytes : 0;
    }
    return bytes > 0 ? (int64_t)bytes : YK_AUTO_NO_CPU;
}

/* The map with the cluster's numbers in place of Accelerate's. */
static yk_status renumber(const struct yk_module_map *map, const int32_t *numbers,
                          struct yk_arena *arena, const struct yk_module_map **out)
{
    struct yk_module_map *copy = NULL;
    struct yk_module_map_entry *entries = NULL;
    YK_TRY_NEW(arena, copy, 1);
    YK_TRY_NEW(arena, entries, map->count);
    for (int32_t i = 0; i < map->count; i++) {
        entries[i] = map->entries[i];
        entries[i].place = entries[i].place >= 0 ? numbers[entries[i].place] : entries[i].place;
    }
    *copy = (struct yk_module_map){entries, map->count};
    *out = copy;
    return YK_OK;
}

static yk_status place_auto(struct yk_placement_context *context, struct yk_placement *placement)
{
    const struct yk_cluster *cluster = context->request->book->cluster;
    struct yk_arena *arena = context->out->arena;
    const struct yk_module_map *map = NULL;
    int32_t *numbers = NULL;
    int64_t *memory = NULL;
    YK_TRY_NEW(arena, numbers, cluster->device_count);
    YK_TRY_NEW(arena, memory, cluster->device_count);
    const int32_t count = list_devices(cluster, numbers);
    for (int32_t i = 0; i < count; i++) {
        memory[i] = (int64_t)cluster->devices[numbers[i]].memory_bytes;
    }
    const struct yk_auto_request request = {
        .modules = context->modules,
        .precision = context->request->workload.precision,
        .nf4 = context->request->workload.nf4,
        .memory_bytes = memory,
        .device_count = count,
        .cpu_bytes = host_bytes(cluster, count),
    };
    YK_TRY(yk_auto_place(&request, arena, &map));
    YK_TRY(renumber(map, numbers, arena, &map));
    return yk_placement_context_apply_map(context, map, placement);
}

enum {
    MAX_STEPS = 64
};

/* Micro-batches of a way that does not choose them itself. */
static int32_t given_micro_batches(const struct yk_placement_context *context)
{
    return context->request->micro_batches > 0 ? context->request->micro_batches : 1;
}

static yk_status place_map(struct yk_placement_context *context, struct yk_placement *placement)
{
    return yk_placement_context_apply_map(context, context->request->map, placement);
}

static yk_status place_by_scheduler(struct yk_placement_context *context,
                                    struct yk_placement *placement)
{
    const struct yk_scheduler *scheduler = yk_scheduler_find(placement->name);
    struct yk_schedule *schedule = NULL;
    YK_TRY(yk_schedule_create(placement->step->graph, &schedule));
    const yk_status status = scheduler->run(scheduler, &context->request->search, schedule);
    if (status == YK_OK) {
        return yk_placement_context_finish(context, schedule, placement);
    }
    yk_schedule_destroy(schedule);
    return status == YK_ERROR_NO_FIT ? yk_placement_context_refuse(context, placement) : status;
}

static const struct {
    const char *name;
    yk_status (*run)(struct yk_placement_context *context, struct yk_placement *placement);
} methods[] = {
    {"auto", place_auto},
    {"map", place_map},
    {"heft", place_by_scheduler},
    {"heft-memory", place_by_scheduler},
    {"pipeline", yk_placement_search_pipeline},
    {"best", yk_placement_search_best},
};
enum {
    METHOD_COUNT = sizeof methods / sizeof methods[0]
};

const char *yk_placement_algorithm(size_t number)
{
    return number < METHOD_COUNT ? methods[number].name : NULL;
}

static bool is_wanted(const struct yk_placement_request *request, size_t method)
{
    if (request->algorithm) {
        return strcmp(request->algorithm, methods[method].name) == 0;
    }
    return request->map || methods[method].run != place_map;
}

static yk_status find_bound(struct yk_placement *placement)
{
    int64_t bound = 0;
    YK_TRY(yk_bound_compute(placement->step->graph, &bound));
    placement->bound_s = yk_graph_time(placement->step->graph, bound);
    return YK_OK;
}

static yk_status run_methods(struct yk_placement_context *context)
{
    struct yk_placements *out = context->out;
    for (size_t i = 0; i < METHOD_COUNT; i++) {
        if (!is_wanted(context->request, i)) {
            continue;
        }
        struct yk_placement *placement = &out->placements[out->count];
        placement->name = methods[i].name;
        YK_TRY(yk_placement_context_step_graph(context, given_micro_batches(context),
                                               &placement->step));
        out->count++;
        YK_TRY(methods[i].run(context, placement));
        YK_TRY(find_bound(placement));
        const bool first = out->winner < 0;
        if (placement->schedule && placement->fit.fits &&
            (first || placement->step_s < out->placements[out->winner].step_s)) {
            out->winner = out->count - 1;
        }
    }
    return YK_OK;
}

static yk_status compare(struct yk_placement_context *context)
{
    struct yk_placements *out = context->out;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(out->arena, out->steps, MAX_STEPS);
    YK_TRY_NEW(out->arena, out->placements, METHOD_COUNT);
    YK_TRY(yk_modules_list(context->request->config, out->arena, &context->modules));
    return run_methods(context);
}

yk_status yk_placement_compare(const struct yk_placement_request *request,
                               struct yk_placements **out)
{
    struct yk_placements *placements = NULL;
    YK_TRY_NEW_OWNER(placements);
    placements->winner = -1;
    struct yk_placement_context context = {
        .request = request,
        .out = placements,
        .started_s = yk_deadline_now_s(&request->search.clock),
    };
    yk_placement_context_begin_phase(&context, 1);
    placements->deadline = context.deadline;
    const yk_status status = compare(&context);
    yk_candidates_free(&context.pipeline.candidates);
    if (status != YK_OK) {
        yk_placements_destroy(placements);
        return status;
    }
    *out = placements;
    return YK_OK;
}

const struct yk_placement *yk_placements_best_undivided(const struct yk_placements *placements)
{
    const struct yk_placement *fastest = NULL;
    for (int32_t i = 0; i < placements->count; i++) {
        const struct yk_placement *placement = &placements->placements[i];
        if (placement->schedule && placement->fit.fits && !placement->divided &&
            (!fastest || placement->step_s < fastest->step_s)) {
            fastest = placement;
        }
    }
    return fastest;
}

void yk_placements_destroy(struct yk_placements *placements)
{
    if (!placements) {
        return;
    }
    for (int32_t i = 0; i < placements->count; i++) {
        yk_schedule_destroy(placements->placements[i].schedule);
    }
    for (int32_t i = 0; i < placements->step_count; i++) {
        yk_step_graph_destroy(placements->steps[i]);
    }
    yk_arena_destroy(placements->arena);
}
