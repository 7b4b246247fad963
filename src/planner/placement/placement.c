#include "planner/placement/placement.h"

#include "base/text.h"
#include "base/units.h"
#include "planner/placement/placement_search.h"
#include "sched/bound/makespan_bound.h"
#include "sched/schedule.h"
#include "sched/scheduler.h"

#include <math.h>
#include <string.h>

/* The best candidate over all numbers of micro-batches. */
struct best_candidate {
    struct yk_placement_search
        candidates;  /* those with the best; its step is NULL if there is none */
    double on_all_s; /* of the best that uses all devices, or INFINITY */
    int32_t on_all_micro_batches;
};

struct context {
    const struct yk_placement_request *request;
    struct yk_placements *out;
    const struct yk_module_tree *modules;
    struct best_candidate pipeline; /* its step is NULL before search_pipeline() */
    double started_s;
    struct yk_deadline deadline; /* of this phase */
    double micro_batch_s;        /* time to build a step graph, per micro-batch */
};

/* The phase ends when the given fraction of the budget is spent. Moves have no deadline. */
static void begin_phase(struct context *context, double part)
{
    const struct yk_placement_request *request = context->request;
    const struct yk_scheduler_options *search = &request->search;
    const bool timed = search->moves <= 0 && search->budget_s > 0;
    context->deadline = (struct yk_deadline){
        .at_s = timed ? context->started_s + part * search->budget_s : INFINITY,
        .clock = search->clock,
    };
    if (request->deadline) {
        context->deadline.at_s = fmin(context->deadline.at_s, request->deadline->at_s);
    }
}

/* The step graph of that many micro-batches, built on first use. */
static yk_status get_step_graph(struct context *context, int32_t micro_batches,
                                const struct yk_step_graph **out)
{
    struct yk_placements *placements = context->out;
    for (int32_t i = 0; i < placements->step_count; i++) {
        if (placements->steps[i]->micro_batch_count == micro_batches) {
            *out = placements->steps[i];
            return YK_OK;
        }
    }
    const struct yk_step_graph_spec spec = {
        .cost_sources = context->request->cost_sources,
        .config = context->request->config,
        .workload = context->request->workload,
        .micro_batches = micro_batches,
    };
    const struct yk_deadline_clock *clock = &context->request->search.clock;
    const double begin_s = yk_deadline_now_s(clock);
    YK_TRY(yk_step_graph_create(&spec, &placements->steps[placements->step_count]));
    context->micro_batch_s = (yk_deadline_now_s(clock) - begin_s) / micro_batches;
    *out = placements->steps[placements->step_count++];
    return YK_OK;
}

/* Marks the placement as failed, with the last error message. */
static yk_status refuse(struct context *context, struct yk_placement *placement)
{
    placement->step_s = NAN;
    return yk_arena_strdup(context->out->arena, yk_status_message(), &placement->refusal);
}

/* Sets `devices` from the forward tasks, and `divided`. */
static yk_status read_devices(struct context *context, struct yk_placement *placement)
{
    const struct yk_step_graph *step = placement->step;
    const int32_t L = step->layer_count;
    YK_TRY_NEW(context->out->arena, placement->devices, (int64_t)step->micro_batch_count * L);
    for (int32_t i = 0; i < step->micro_batch_count * L; i++) {
        placement->devices[i] = placement->schedule->devices[step->forward[i]];
        placement->divided =
            placement->divided || placement->devices[i] != placement->devices[i % L];
    }
    return YK_OK;
}

/* Completes a placement whose name and step are set from its schedule, which it then owns. */
static yk_status finish(struct context *context, struct yk_schedule *schedule,
                        struct yk_placement *placement)
{
    const struct yk_graph *graph = placement->step->graph;
    const struct yk_device_measurements *measurements =
        context->request->cost_sources->measurements;
    const struct yk_cluster *cluster = context->request->cost_sources->cluster;
    placement->schedule = schedule;
    placement->step_s = yk_placement_evaluate_step_s(placement->step, schedule);
    YK_TRY(yk_placement_evaluate_memory_fit(schedule, &placement->fit));
    if (!placement->fit.fits) {
        /* In the graph, a device smaller than its driver context has no memory. */
        const int32_t device = placement->fit.device;
        placement->fit.missing_bytes +=
            (int64_t)fmax(0, yk_device_measurements_context_bytes(measurements, cluster, device) -
                                 cluster->devices[device].memory_bytes);
    }
    YK_TRY_NEW(context->out->arena, placement->peak_bytes, graph->device_count);
    YK_TRY(yk_schedule_compute_memory_peaks(schedule, placement->peak_bytes));
    for (int32_t p = 0; p < graph->device_count; p++) {
        /* Unused devices have no driver context. */
        if (placement->peak_bytes[p] > 0) {
            placement->peak_bytes[p] +=
                (int64_t)yk_device_measurements_context_bytes(measurements, cluster, p);
        }
    }
    YK_TRY(read_devices(context, placement));
    /* A divided layer is mapped to the device of its first micro-batch, which updates it. */
    return placement->map
               ? YK_OK
               : yk_device_map_create_from_layers(placement->step->model, placement->devices,
                                                  context->modules, graph->device_count,
                                                  context->out->arena, &placement->map);
}

/* Whether a module, or one inside it, has parameters. */
static bool has_parameters(const struct yk_module_tree *modules, const char *name)
{
    const int32_t module = yk_module_tree_find_module(modules, name);
    for (int32_t i = 0; module != YK_MODULE_NONE && i < modules->tensor_count; i++) {
        const struct yk_module_tensor *tensor = &modules->tensors[i];
        if (!tensor->buffer && tensor->module >= module &&
            tensor->module < modules->modules[module].end) {
            return true;
        }
    }
    return false;
}

/* The number of places of the layer's parameters, 1 or 2 for several; `*first` is the first. */
static int32_t spread_of(const struct context *context, const struct yk_device_map *map,
                         const struct yk_layer *layer, int32_t *first)
{
    int32_t spread = 1;
    for (int32_t i = 0; i < layer->module_count; i++) {
        int32_t places[2] = {YK_DEVICE_MAP_UNASSIGNED, YK_DEVICE_MAP_UNASSIGNED};
        const int32_t count = yk_device_map_list_places(map, layer->modules[i], 2, places);
        *first = i == 0 ? places[0] : *first;
        const bool apart = count > 1 || (count > 0 && places[0] != *first);
        spread = apart && has_parameters(context->modules, layer->modules[i]) ? 2 : spread;
    }
    return spread;
}

/* Evaluates `map`. A layer is placed where its first module is. */
static yk_status apply_map(struct context *context, const struct yk_device_map *map,
                           struct yk_placement *placement)
{
    const struct yk_step_graph *step = placement->step;
    const int32_t L = step->layer_count;
    int32_t *devices = NULL;
    struct yk_schedule *schedule = NULL;
    struct yk_placement_memory_fit fit;
    placement->map = map;
    YK_TRY_NEW(context->out->arena, devices, (int64_t)step->micro_batch_count * L);
    for (int32_t l = 0; l < L; l++) {
        const struct yk_layer *layer = &step->model->layers[yk_model_weight_owner(step->model, l)];
        int32_t places[1] = {YK_DEVICE_MAP_UNASSIGNED};
        if (spread_of(context, map, layer, places) > 1 && !placement->remark) {
            placement->remark = "a layer is spread over several places; it is counted where its "
                                "first module is";
        }
        if (places[0] < 0) {
            (void)!yk_fail(YK_ERROR_NO_FIT, "%s is kept on the %s, where nothing is trained",
                           layer->name, places[0] == YK_DEVICE_MAP_CPU ? "host" : "disk");
            return refuse(context, placement);
        }
        for (int32_t m = 0; m < step->micro_batch_count; m++) {
            devices[m * L + l] = places[0];
        }
    }
    YK_TRY(yk_schedule_create(step->graph, &schedule));
    YK_TRY_OR_CLEAN_UP(yk_placement_evaluate_device_map(step, devices, schedule, &fit),
                       yk_schedule_destroy(schedule));
    return finish(context, schedule, placement);
}

enum {
    MAX_MICRO_BATCHES = 64,
};

/* Fractions of the budget at which phases end at the latest, and the one for annealing. */
static const double pipeline_alone_part = 0.9;
static const double pipeline_part = 0.5;
static const double candidates_part = 0.75;
static const double annealing_part = 0.25;

/* All small numbers, some larger ones, and the batch size itself. */
static bool is_worth_trying(const struct context *context, int32_t micro_batches)
{
    static const int32_t larger[] = {8, 10, 12, 16, 20, 24, 32, 48, 64};
    const int64_t batch = context->request->workload.batch;
    if (context->request->micro_batches > 0 || micro_batches <= 6 || micro_batches == batch) {
        return context->request->micro_batches > 0 || micro_batches <= batch;
    }
    for (size_t i = 0; i < sizeof larger / sizeof larger[0]; i++) {
        if (micro_batches == larger[i]) {
            return micro_batches < batch;
        }
    }
    return false;
}

/* Keeps the candidates if they contain the best so far; frees the others. */
static void keep_better(struct best_candidate *choice, struct yk_placement_search *candidates)
{
    const struct yk_placement_search *before = &choice->candidates;
    const bool better =
        !before->step || yk_placement_fits_better_or_is_faster(&candidates->fit, candidates->step_s,
                                                               &before->fit, before->step_s);
    if (candidates->on_all_s < choice->on_all_s) {
        choice->on_all_s = candidates->on_all_s;
        choice->on_all_micro_batches = candidates->step->micro_batch_count;
    }
    if (better) {
        yk_placement_search_free(&choice->candidates);
        choice->candidates = *candidates;
    } else {
        yk_placement_search_free(candidates);
    }
}

/* Considers the placements of other algorithms for the same step. */
static yk_status consider_others(const struct context *context,
                                 struct yk_placement_search *candidates)
{
    for (int32_t i = 0; i < context->out->count; i++) {
        const struct yk_placement *placement = &context->out->placements[i];
        if (placement->step == candidates->step && placement->schedule && !placement->divided) {
            YK_TRY(yk_placement_search_try_schedule(candidates, placement->schedule));
        }
    }
    return YK_OK;
}

typedef yk_status (*filler)(struct yk_placement_search *candidates);

/* Whether building and evaluating the step graph, about equally long, would exceed the deadline. */
static bool is_too_long(const struct context *context, int32_t micro_batches)
{
    const double now_s = yk_deadline_now_s(&context->deadline.clock);
    return now_s + 2 * micro_batches * context->micro_batch_s > context->deadline.at_s;
}

/* Calls `fill` for every number of micro-batches, and keeps the best candidate. */
static yk_status search_micro_batches(struct context *context, filler fill,
                                      struct best_candidate *choice)
{
    const struct yk_scheduler_options *search = &context->request->search;
    const int32_t given = context->request->micro_batches;
    /* One, then from many to few, since many micro-batches keep many devices busy. */
    for (int32_t k = 0; k < (given > 0 ? 1 : MAX_MICRO_BATCHES); k++) {
        const int32_t M = given > 0 ? given : (k == 0 ? 1 : MAX_MICRO_BATCHES + 1 - k);
        if (!is_worth_trying(context, M)) {
            continue;
        }
        if (choice->candidates.step && search->stop && atomic_load(search->stop)) {
            return YK_OK;
        }
        if (choice->candidates.step && is_too_long(context, M)) {
            context->out->cut_short = true;
            continue;
        }
        const struct yk_step_graph *step = NULL;
        struct yk_placement_search candidates;
        YK_TRY(get_step_graph(context, M, &step));
        YK_TRY(yk_placement_search_create(step, &context->deadline, &candidates));
        yk_status status = fill(&candidates);
        context->out->trials += candidates.trials;
        context->out->cut_short |= yk_deadline_has_passed(&context->deadline);
        YK_IF_OK(consider_others(context, &candidates));
        YK_TRY_OR_CLEAN_UP(status, yk_placement_search_free(&candidates));
        if (isfinite(candidates.step_s)) {
            keep_better(choice, &candidates);
        } else {
            yk_placement_search_free(&candidates);
        }
        if (search->progress) {
            search->progress(search->progress_user, "best", (double)k / MAX_MICRO_BATCHES);
        }
    }
    return YK_OK;
}

/* Notes why the best leaves devices out, and how long the best on all devices takes. */
static yk_status explain(struct context *context, const struct best_candidate *choice)
{
    const struct yk_step_graph *step = choice->candidates.step;
    const int32_t P = step->graph->device_count;
    const int32_t used = yk_schedule_count_used_devices(choice->candidates.best);
    if (used == P || !choice->candidates.fit.fits) {
        return YK_OK;
    }
    struct yk_text note = {0};
    yk_text_addf(&note, "%d of %d devices stay idle: ", P - used, P);
    if (used == 1 && context->request->workload.batch == 1) {
        yk_text_add(&note, "one sample goes through the layers one after the other; ");
    } else if (used == 1 && context->request->micro_batches == 1) {
        yk_text_add(&note, "one micro-batch goes through the layers one after the other (leave out "
                           "--micro-batches to let best choose); ");
    }
    if (isinf(choice->on_all_s)) {
        yk_text_add(&note, "no way was found that uses all of them and fits");
    } else {
        yk_text_addf(
            &note,
            "the best way found that uses all of them takes %s (%d micro-batch%s), %.1f %% "
            "longer",
            YK_UNITS_FORMAT_TEMPORARY(choice->on_all_s, YK_UNIT_SECONDS),
            choice->on_all_micro_batches, choice->on_all_micro_batches == 1 ? "" : "es",
            100 * (choice->on_all_s / choice->candidates.step_s - 1));
    }
    return yk_text_move_to_arena(&note, context->out->arena, &context->out->note);
}

/* Annealing ignores the traffic of ports, so its result is evaluated again. */
static yk_status anneal(struct context *context, struct yk_placement_search *candidates)
{
    const struct yk_scheduler_options *search = &context->request->search;
    const double left_s = context->deadline.at_s - yk_deadline_now_s(&context->deadline.clock);
    int64_t bound = 0;
    if (!candidates->fit.fits || left_s <= 0) {
        return YK_OK;
    }
    YK_TRY(yk_makespan_bound_compute(candidates->step->graph, &bound));
    yk_schedule_copy(candidates->best, candidates->trial);
    YK_TRY(yk_anneal_run(search, fmin(left_s, annealing_part * search->budget_s), bound,
                         candidates->trial));
    return yk_placement_search_try_schedule(candidates, candidates->trial);
}

static yk_status copy_best(struct context *context, const struct best_candidate *choice,
                           struct yk_placement *placement)
{
    struct yk_schedule *schedule = NULL;
    placement->step = choice->candidates.step;
    YK_TRY(yk_schedule_create(placement->step->graph, &schedule));
    yk_schedule_copy(choice->candidates.best, schedule);
    return finish(context, schedule, placement);
}

static yk_status search_pipeline(struct context *context, double part)
{
    struct best_candidate *choice = &context->pipeline;
    if (choice->candidates.step) {
        return YK_OK;
    }
    *choice = (struct best_candidate){.on_all_s = INFINITY};
    begin_phase(context, part);
    YK_TRY(search_micro_batches(context, yk_placement_search_try_undivided_maps, choice));
    const int64_t before = choice->candidates.trials;
    YK_TRY(yk_placement_search_refine_stage_cuts(&choice->candidates));
    context->out->trials += choice->candidates.trials - before;
    context->out->cut_short |= yk_deadline_has_passed(&context->deadline);
    return YK_OK;
}

static yk_status place_pipeline(struct context *context, struct yk_placement *placement)
{
    YK_TRY(search_pipeline(context,
                           context->request->algorithm ? pipeline_alone_part : pipeline_part));
    return copy_best(context, &context->pipeline, placement);
}

static yk_status fill_divided(struct yk_placement_search *candidates)
{
    YK_TRY(yk_placement_search_try_divided_maps(candidates));
    return yk_placement_search_try_single_nodes(candidates);
}

/* The algorithm best, starting from the best pipeline. */
static yk_status search(struct context *context, struct best_candidate *choice,
                        struct yk_placement *placement)
{
    const struct yk_placement_search *pipeline = &context->pipeline.candidates;
    begin_phase(context, candidates_part);
    YK_TRY(yk_placement_search_create(pipeline->step, &context->deadline, &choice->candidates));
    YK_TRY(yk_placement_search_try_schedule(&choice->candidates, pipeline->best));
    YK_TRY(search_micro_batches(context, fill_divided, choice));
    begin_phase(context, 1);
    YK_TRY(anneal(context, &choice->candidates));
    YK_TRY(explain(context, choice));
    return copy_best(context, choice, placement);
}

static yk_status place_best(struct context *context, struct yk_placement *placement)
{
    YK_TRY(search_pipeline(context, pipeline_part));
    struct best_candidate choice = context->pipeline;
    choice.candidates = (struct yk_placement_search){0};
    const yk_status status = search(context, &choice, placement);
    yk_placement_search_free(&choice.candidates);
    return status;
}

/* Lists the devices that Accelerate uses, the GPUs or else the CPUs; returns their number. */
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
    return bytes > 0 ? (int64_t)bytes : YK_ACCELERATE_AUTO_NO_CPU;
}

static yk_status place_auto(struct context *context, struct yk_placement *placement)
{
    const struct yk_cluster *cluster = context->request->cost_sources->cluster;
    struct yk_arena *arena = context->out->arena;
    const struct yk_device_map *map = NULL;
    int32_t *numbers = NULL;
    int64_t *memory = NULL;
    YK_TRY_NEW(arena, numbers, cluster->device_count);
    YK_TRY_NEW(arena, memory, cluster->device_count);
    const int32_t count = list_devices(cluster, numbers);
    for (int32_t i = 0; i < count; i++) {
        memory[i] = (int64_t)cluster->devices[numbers[i]].memory_bytes;
    }
    const struct yk_accelerate_auto_request request = {
        .modules = context->modules,
        .precision = context->request->workload.precision,
        .nf4 = context->request->workload.nf4,
        .memory_bytes = memory,
        .places = numbers,
        .device_count = count,
        .cpu_bytes = host_bytes(cluster, count),
    };
    YK_TRY(yk_accelerate_auto_create_device_map(&request, arena, &map));
    return apply_map(context, map, placement);
}

enum {
    MAX_STEPS = 64
};

static yk_status place_map(struct context *context, struct yk_placement *placement)
{
    return apply_map(context, context->request->map, placement);
}

static yk_status place_by_scheduler(struct context *context, struct yk_placement *placement)
{
    const struct yk_scheduler *scheduler = yk_scheduler_find(placement->name);
    struct yk_schedule *schedule = NULL;
    YK_TRY(yk_schedule_create(placement->step->graph, &schedule));
    const yk_status status = scheduler->run(scheduler, &context->request->search, schedule);
    if (status == YK_OK) {
        return finish(context, schedule, placement);
    }
    yk_schedule_destroy(schedule);
    return status == YK_ERROR_NO_FIT ? refuse(context, placement) : status;
}

static const struct {
    const char *name;
    yk_status (*run)(struct context *context, struct yk_placement *placement);
} methods[] = {
    {"auto", place_auto},         {"map", place_map},
    {"heft", place_by_scheduler}, {"heft-memory", place_by_scheduler},
    {"pipeline", place_pipeline}, {"best", place_best},
};
enum {
    METHOD_COUNT = sizeof methods / sizeof methods[0]
};

const char *yk_placement_algorithm_name(size_t number)
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

static yk_status compare(struct context *context)
{
    struct yk_placements *out = context->out;
    const int32_t given = context->request->micro_batches;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(out->arena, out->steps, MAX_STEPS);
    YK_TRY_NEW(out->arena, out->placements, METHOD_COUNT);
    YK_TRY(yk_module_tree_build(context->request->config, out->arena, &context->modules));
    for (size_t i = 0; i < METHOD_COUNT; i++) {
        if (!is_wanted(context->request, i)) {
            continue;
        }
        struct yk_placement *placement = &out->placements[out->count];
        int64_t bound = 0;
        placement->name = methods[i].name;
        YK_TRY(get_step_graph(context, given > 0 ? given : 1, &placement->step));
        out->count++;
        YK_TRY(methods[i].run(context, placement));
        YK_TRY(yk_makespan_bound_compute(placement->step->graph, &bound));
        placement->bound_s = yk_graph_ticks_to_time(placement->step->graph, bound);
        if (placement->schedule && placement->fit.fits &&
            (out->winner < 0 || placement->step_s < out->placements[out->winner].step_s)) {
            out->winner = out->count - 1;
        }
    }
    return YK_OK;
}

yk_status yk_placement_compare_algorithms(const struct yk_placement_request *request,
                                          struct yk_placements **out)
{
    struct yk_placements *placements = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(placements);
    placements->winner = -1;
    struct context context = {
        .request = request,
        .out = placements,
        .started_s = yk_deadline_now_s(&request->search.clock),
    };
    begin_phase(&context, 1);
    placements->deadline = context.deadline;
    const yk_status status = compare(&context);
    yk_placement_search_free(&context.pipeline.candidates);
    YK_TRY_OR_CLEAN_UP(status, yk_placements_destroy(placements));
    *out = placements;
    return YK_OK;
}

const struct yk_placement *yk_placements_find_best_undivided(const struct yk_placements *placements)
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
