#include "job/planning/planning_inputs.h"

#include "base/file.h"
#include "job/profile_path.h"

static yk_status open_named(const char *model, const char *cluster, const char *profile,
                            struct yk_planning_inputs *out)
{
    YK_TRY(yk_model_config_open(model, out->arena, &out->request.config));
    YK_TRY(yk_cluster_read_or_parse(cluster, &out->cluster));
    if (profile) {
        YK_TRY(yk_profile_open_for_reading(profile, &out->profile));
    }
    struct yk_device_measurements *measurements = NULL;
    YK_TRY(yk_device_measurements_read(out->profile, out->request.config->name, out->cluster,
                                       out->arena, &measurements));
    out->sources = (struct yk_cost_sources){
        .cluster = out->cluster, .profile = out->profile, .measurements = measurements};
    out->request.cost_sources = &out->sources;
    out->request.model_source = model;
    out->request.cluster_source = cluster;
    out->request.profile_source = profile;
    out->request.strategy = YK_SHARDING_STRATEGY_COUNT;
    out->request.decisions = YK_DECIDE_ALL;
    return YK_OK;
}

yk_status yk_planning_inputs_open(const struct yk_planning_inputs_request *request,
                                  struct yk_planning_inputs *out)
{
    if (!request->model) {
        return yk_fail(YK_ERROR_USAGE, "name a model: --model gpt2-xl; yoke model lists them");
    }
    if (!request->cluster) {
        return yk_fail(YK_ERROR_USAGE, "name the devices: --cluster \"1xrtx6000ada + 2xrtx3090 @ "
                                       "32GB/s\", or a cluster file");
    }
    const char *profile = NULL;
    YK_TRY(yk_arena_create(&out->arena));
    YK_TRY(yk_profile_path_resolve_readable(request->profile, out->arena, &profile));
    YK_TRY(open_named(request->model, request->cluster, profile, out));
    out->request.memory_bytes = request->memory_bytes;
    out->request.slowdown = request->slowdown;
    return YK_OK;
}

yk_status yk_planning_inputs_open_plan_file(const char *path,
                                            const struct yk_planning_inputs_request *request,
                                            struct yk_planning_inputs *out,
                                            const struct yk_plan **plan)
{
    struct yk_plan_source_paths sources;
    const char *profile = NULL;
    const char *text = NULL;
    size_t length = 0;
    YK_TRY(yk_arena_create(&out->arena));
    YK_TRY(yk_file_read_document_to_arena(path, out->arena, &text, &length));
    YK_TRY(yk_plan_file_parse_source_paths(text, length, path, out->arena, &sources));
    profile = sources.profile; /* one that was made without a profile stays without */
    if (request->profile) {
        YK_TRY(yk_profile_path_resolve_readable(request->profile, out->arena, &profile));
    }
    const yk_status status =
        open_named(request->model ? request->model : sources.model,
                   request->cluster ? request->cluster : sources.cluster, profile, out);
    if (status != YK_OK) {
        const bool named_here = request->model || request->cluster || request->profile;
        return named_here ? status : yk_status_prefix_message(status, path);
    }
    struct yk_plan_file_context context = yk_planning_inputs_plan_file_context(out);
    context.any_profile = request->any_profile;
    YK_TRY(yk_plan_file_parse(text, length, path, &context, out->arena, plan));
    yk_search_context_fill_request_from_plan(*plan, &out->request);
    if (request->slowdown > 0) {
        out->request.slowdown = request->slowdown;
    }
    return YK_OK;
}

void yk_planning_inputs_close(struct yk_planning_inputs *planning)
{
    yk_profile_close(planning->profile);
    yk_cluster_destroy(planning->cluster);
    yk_arena_destroy(planning->arena);
    *planning = (struct yk_planning_inputs){0};
}

struct yk_plan_file_context
yk_planning_inputs_plan_file_context(const struct yk_planning_inputs *planning)
{
    return (struct yk_plan_file_context){
        .config = planning->request.config,
        .cluster = planning->cluster,
        .profile = planning->profile,
    };
}

yk_status yk_planning_inputs_read_device_map(const char *path, const struct yk_model_config *config,
                                             int32_t device_count, struct yk_arena *arena,
                                             const struct yk_device_map **out)
{
    const struct yk_module_tree *modules = NULL;
    const char *text = NULL;
    size_t length = 0;
    YK_TRY(yk_module_tree_build(config, arena, &modules));
    YK_TRY(yk_file_read_document_to_arena(path, arena, &text, &length));
    return yk_device_map_parse(text, length, path, modules, device_count, arena, out);
}
