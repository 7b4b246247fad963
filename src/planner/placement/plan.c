/* Plan: a placement as a plan. */
#include "planner/placement/placement.h"

#include <string.h>

yk_status yk_placement_plan_from_layer_devices(const struct yk_search_context *context,
                                               const int32_t *layer_devices, struct yk_arena *arena,
                                               struct yk_plan **out)
{
    const int32_t P = context->cluster->device_count;
    struct yk_plan *plan = NULL;
    int32_t *rank_of = NULL;
    int32_t *devices = NULL;
    int32_t count = 0;
    YK_TRY_NEW(arena, rank_of, P);
    YK_TRY_NEW(arena, devices, P);
    for (int32_t l = 0; l < context->model->layer_count; l++) {
        rank_of[layer_devices[l]] = 1;
    }
    for (int32_t p = 0; p < P; p++) {
        if (rank_of[p] > 0) {
            rank_of[p] = count;
            devices[count++] = p;
        }
    }
    YK_TRY(yk_search_context_create_default_plan(context, devices, count, count, arena, &plan));
    for (int32_t g = 0; g < count; g++) {
        plan->groups[g].member_count = 1;
        plan->groups[g].members[0] = (struct yk_plan_group_member){
            .rank = g, .share = plan->workload.batch, .shard_fraction = 1};
    }
    for (int32_t l = 0; l < context->model->layer_count; l++) {
        plan->layers[l].group = rank_of[layer_devices[l]];
    }
    *out = plan;
    return YK_OK;
}

bool yk_placement_plan_supports_algorithm(const char *algorithm)
{
    return strcmp(algorithm, "best") != 0;
}

static yk_status plan_of(const struct yk_plan_request *request,
                         const struct yk_placement *placement, struct yk_arena *arena,
                         const struct yk_plan **out)
{
    struct yk_search_context *context = NULL;
    struct yk_plan *plan = NULL;
    if (!placement->devices) {
        return yk_fail(YK_ERROR_NO_FIT, "%s: %s", placement->name,
                       placement->refusal ? placement->refusal : "there is no placement");
    }
    YK_TRY(yk_search_context_create(request, &context));
    const yk_status status =
        yk_placement_plan_from_layer_devices(context, placement->devices, arena, &plan);
    yk_search_context_destroy(context);
    YK_TRY(status);
    plan->micro_batches = placement->step->micro_batch_count;
    *out = plan;
    return YK_OK;
}

yk_status yk_placement_plan_run_algorithm(const struct yk_plan_request *request,
                                          const char *algorithm, const struct yk_device_map *map,
                                          struct yk_arena *arena, struct yk_placement_plan *out)
{
    const struct yk_placement_request placement_request = {
        .cost_sources = request->cost_sources,
        .config = request->config,
        .workload = request->workload,
        .micro_batches = request->micro_batches,
        .map = map,
        .algorithm = algorithm,
        .search = request->search,
    };
    struct yk_placements *placements = NULL;
    YK_TRY(yk_placement_compare_algorithms(&placement_request, &placements));
    *out = (struct yk_placement_plan){.trials = placements->trials,
                                      .cut_short = placements->cut_short};
    const yk_status status = plan_of(request, &placements->placements[0], arena, &out->plan);
    yk_placements_destroy(placements);
    return status;
}
