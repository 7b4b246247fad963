#include "library/library.h"

yk_status yk_library_result_inputs_open_costs(const struct yk_cluster *cluster, const char *profile,
                                              const char *model,
                                              struct yk_library_result_inputs *out)
{
    struct yk_library_result_inputs context = {0};
    struct yk_device_measurements *measurements = NULL;
    YK_TRY(yk_arena_create(&context.arena));
    yk_status status = profile ? yk_profile_open_for_reading(profile, &context.profile) : YK_OK;
    YK_IF_OK(
        yk_device_measurements_read(context.profile, model, cluster, context.arena, &measurements));
    YK_TRY_OR_CLEAN_UP(status, yk_library_result_inputs_close(&context));
    context.sources = (struct yk_cost_sources){
        .cluster = cluster, .profile = context.profile, .measurements = measurements};
    *out = context;
    return YK_OK;
}

yk_status yk_library_result_inputs_open(const struct yoke_request *request,
                                        struct yk_library_result_inputs *out)
{
    YK_TRY(yk_library_result_inputs_open_costs(request->cluster->cluster, request->profile,
                                               request->model->config->name, out));
    /* Only the reference count changes. */
    out->request = YK_LIBRARY_RETAIN((struct yoke_request *)request);
    return YK_OK;
}

void yk_library_result_inputs_close(struct yk_library_result_inputs *context)
{
    yk_arena_destroy(context->arena);
    yk_profile_close(context->profile);
    yoke_request_destroy(context->request);
    *context = (struct yk_library_result_inputs){0};
}

yk_status yk_library_result_inputs_make_plan_request(const struct yk_library_result_inputs *context,
                                                     double usual_s, struct yk_plan_request *out)
{
    const struct yoke_request *request = context->request;
    *out = (struct yk_plan_request){
        .cost_sources = &context->sources,
        .config = request->model->config,
        .workload = request->model->workload,
        .model_source = request->model->word,
        .cluster_source = request->cluster->info.source,
        .profile_source = request->profile,
        .memory_bytes = request->memory_bytes,
        .micro_batches = request->micro_batches,
        .clip = request->clip,
        .decisions = request->decisions,
        .strategy = request->strategy,
        .random_strategies = request->random_strategies,
        .slowdown = request->slowdown,
    };
    if (out->workload.recompute) {
        out->decisions &= ~(uint32_t)YK_DECIDE_RECOMPUTATION;
    }
    return yk_library_convert_search_options(&request->search, usual_s, &out->search);
}
