#include "planner/placement/context.h"

#include "planner/placement/evaluate.h"
#include "sched/memory.h"

#include <math.h>
#include <string.h>

void yk_placement_context_begin_phase(struct yk_placement_context *context, double part)
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

yk_status yk_placement_context_step_graph(struct yk_placement_context *context,
                                          int32_t micro_batches, const struct yk_step_graph **out)
{
    struct yk_placements *placements = context->out;
    for (int32_t i = 0; i < placements->step_count; i++) {
        if (placements->steps[i]->micro_batch_count == micro_batches) {
            *out = placements->steps[i];
            return YK_OK;
        }
    }
    const struct yk_step_graph_spec spec = {
        .book = context->request->book,
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

yk_status yk_placement_context_refuse(struct yk_placement_context *context,
                                      struct yk_placement *placement)
{
    const char *message = yk_status_message();
    placement->refusal = yk_arena_copy_text(context->out->arena, message, strlen(message));
    placement->step_s = NAN;
    return placement->refusal ? YK_OK : yk_fail_out_of_memory();
}

/* The devices of the layers, read off the forward tasks; `divided` when they differ. */
static yk_status read_devices(struct yk_placement_context *context, struct yk_placement *placement)
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

/* One device a layer: of a divided one that of its first micro-batch, where it is updated. */
static yk_status make_map(struct yk_placement_context *context, struct yk_placement *placement)
{
    const struct yk_step_graph *step = placement->step;
    return yk_module_map_of_layers(step->model, placement->devices, context->modules,
                                   step->graph->device_count, context->out->arena, &placement->map);
}

yk_status yk_placement_context_finish(struct yk_placement_context *context,
                                      struct yk_schedule *schedule, struct yk_placement *placement)
{
    const struct yk_graph *graph = placement->step->graph;
    const struct yk_device_facts *facts = context->request->book->facts;
    const struct yk_cluster *cluster = context->request->book->cluster;
    placement->schedule = schedule;
    YK_TRY(yk_evaluate_step_s(placement->step, schedule, &placement->step_s));
    YK_TRY(yk_evaluate_memory(schedule, &placement->fit));
    if (!placement->fit.fits) {
        /* A device smaller than its own context counts as empty in the graph. */
        const int32_t device = placement->fit.device;
        placement->fit.missing_bytes +=
            (int64_t)fmax(0, yk_device_facts_context_bytes(facts, cluster, device) -
                                 cluster->devices[device].memory_bytes);
    }
    YK_TRY_NEW(context->out->arena, placement->peak_bytes, graph->device_count);
    YK_TRY(yk_schedule_memory_peaks(schedule, placement->peak_bytes));
    for (int32_t p = 0; p < graph->device_count; p++) {
        /* A device that is left out is not touched at all. */
        if (placement->peak_bytes[p] > 0) {
            placement->peak_bytes[p] += (int64_t)yk_device_facts_context_bytes(facts, cluster, p);
        }
    }
    YK_TRY(read_devices(context, placement));
    return placement->map ? YK_OK : make_map(context, placement);
}

/* Whether a module or one inside it has parameters; buffers alone do not count. */
static bool has_parameters(const struct yk_modules *modules, const char *name)
{
    const int32_t module = yk_modules_find(modules, name);
    for (int32_t i = 0; module != YK_MODULE_NONE && i < modules->tensor_count; i++) {
        const struct yk_module_tensor *tensor = &modules->tensors[i];
        if (!tensor->buffer && tensor->module >= module &&
            tensor->module < modules->modules[module].end) {
            return true;
        }
    }
    return false;
}

/* How many places the layer's parameters are on, or 2 for more; the first module's is written. */
static int32_t spread_of(const struct yk_placement_context *context,
                         const struct yk_module_map *map, const struct yk_layer *layer,
                         int32_t *first)
{
    int32_t spread = 1;
    for (int32_t i = 0; i < layer->module_count; i++) {
        int32_t places[2] = {YK_PLACE_NONE, YK_PLACE_NONE};
        const int32_t count = yk_module_map_spread(map, layer->modules[i], 2, places);
        *first = i == 0 ? places[0] : *first;
        const bool apart = count > 1 || (count > 0 && places[0] != *first);
        spread = apart && has_parameters(context->modules, layer->modules[i]) ? 2 : spread;
    }
    return spread;
}

yk_status yk_placement_context_apply_map(struct yk_placement_context *context,
                                         const struct yk_module_map *map,
                                         struct yk_placement *placement)
{
    const struct yk_step_graph *step = placement->step;
    const int32_t L = step->layer_count;
    int32_t *devices = NULL;
    struct yk_schedule *schedule = NULL;
    struct yk_placement_fit fit;
    placement->map = map;
    YK_TRY_NEW(context->out->arena, devices, (int64_t)step->micro_batch_count * L);
    for (int32_t l = 0; l < L; l++) {
        const struct yk_layer *layer = &step->model->layers[yk_step_graph_weight_owner(step, l)];
        int32_t places[1] = {YK_PLACE_NONE};
        if (spread_of(context, map, layer, places) > 1 && !placement->remark) {
            placement->remark = "a layer is spread over several places; it is counted where its "
                                "first module is";
        }
        if (places[0] < 0) {
            const yk_status status =
                yk_fail(YK_ERROR_NO_FIT, "%s is kept on the %s, where nothing is trained",
                        layer->name, places[0] == YK_PLACE_CPU ? "host" : "disk");
            return status == YK_ERROR_NO_FIT ? yk_placement_context_refuse(context, placement)
                                             : status;
        }
        for (int32_t m = 0; m < step->micro_batch_count; m++) {
            devices[m * L + l] = places[0];
        }
    }
    YK_TRY(yk_schedule_create(step->graph, &schedule));
    const yk_status status = yk_evaluate_map(step, devices, schedule, &fit);
    if (status != YK_OK) {
        yk_schedule_destroy(schedule);
        return status;
    }
    return yk_placement_context_finish(context, schedule, placement);
}
