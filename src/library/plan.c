#include "base/file.h"
#include "library/library.h"
#include "plan/plan_file.h"
#include "planner/planner.h"
#include "program/program.h"

#include <string.h>

_Static_assert((int)YOKE_MEMORY_PARAMETERS == (int)YK_MEMORY_PARAMETERS &&
                   (int)YOKE_MEMORY_GATHERED == (int)YK_MEMORY_GATHERED &&
                   (int)YOKE_MEMORY_GRADIENTS == (int)YK_MEMORY_GRADIENTS &&
                   (int)YOKE_MEMORY_OPTIMIZER == (int)YK_MEMORY_OPTIMIZER &&
                   (int)YOKE_MEMORY_ACTIVATIONS == (int)YK_MEMORY_ACTIVATIONS &&
                   (int)YOKE_MEMORY_BUFFERS == (int)YK_MEMORY_BUFFERS &&
                   (int)YOKE_MEMORY_CONTEXT == (int)YK_MEMORY_CONTEXT &&
                   (int)YOKE_MEMORY_KIND_COUNT == (int)YK_MEMORY_KIND_COUNT,
               "yoke_memory_kind is yk_memory_kind");

static void fill_info(struct yoke_plan *handle)
{
    const struct yk_planner_outcome *planned = handle->planned;
    const struct yk_plan *plan = planned->plan;
    const struct yk_plan_evaluation *evaluation = &planned->evaluation;
    const struct yk_mfu mfu = yk_planner_predicted_mfu(planned);
    handle->info = (struct yoke_plan_info){
        .step_s = evaluation->step_s,
        .bound_s = planned->bound_s,
        .tokens_per_s = planned->tokens_per_s,
        .mfu = mfu.formula,
        .exact_mfu = mfu.exact,
        .summary = planned->summary,
        .bottleneck = planned->bottleneck,
        .source = planned->source,
        .fits = evaluation->fits,
        .missing_rank = evaluation->fits ? -1 : evaluation->rank,
        .missing_bytes = evaluation->missing_bytes,
        .rank_count = plan->rank_count,
        .layer_count = plan->layer_count,
        .transfer_count = plan->transfer_count,
        .alternative_count = planned->alternative_count,
        .leave_one_out_count = planned->leave_one_out_count,
        .micro_batches = plan->micro_batches,
        .pipeline = yk_plan_pipeline_schedule_name(plan->pipeline),
        .no_sync = plan->no_sync,
        .clip = plan->clip,
        .prefetch = plan->prefetch,
        .block_bytes = plan->block_bytes,
        .bucket_bytes = plan->bucket_bytes,
        .search_s = planned->search_s,
        .trials = planned->evaluation_count,
        .error = yk_error_band_relative_error(&evaluation->band),
        .cut_short = planned->cut_short,
    };
}

static struct yoke_rank rank_record(const struct yk_planner_outcome *planned, int32_t rank)
{
    const struct yk_plan_rank *decided = &planned->plan->ranks[rank];
    const struct yk_plan_group_member *member =
        yk_planner_find_group_member_of_rank(planned->plan, rank);
    const struct yk_sim_rank_result *simulated = &planned->evaluation.sim->ranks[rank];
    const struct yk_memory_peak *peak = &planned->evaluation.peaks[rank];
    return (struct yoke_rank){
        .device = decided->device,
        .device_name = planned->context->cluster->devices[decided->device].name,
        .share = member ? member->share : 0,
        .part = member ? member->shard_fraction : 0,
        .peak_bytes = peak->bytes,
        .limit_bytes = decided->limit_bytes,
        .compute_s = simulated->compute_s,
        .exposed_s = simulated->exposed_s,
        .idle_s = simulated->idle_s,
        .memory_bytes = peak->by_kind,
    };
}

static yk_status fill_layer(const struct yk_planner_outcome *planned, int32_t layer,
                            struct yk_arena *arena, struct yoke_plan_layer *out)
{
    const struct yk_plan *plan = planned->plan;
    const struct yk_plan_group *group = &plan->groups[plan->layers[layer].group];
    int32_t *ranks = NULL;
    int64_t *shares = NULL;
    double *parts = NULL;
    YK_TRY_NEW(arena, ranks, group->member_count);
    YK_TRY_NEW(arena, shares, group->member_count);
    YK_TRY_NEW(arena, parts, group->member_count);
    for (int32_t i = 0; i < group->member_count; i++) {
        ranks[i] = group->members[i].rank;
        shares[i] = group->members[i].share;
        parts[i] = group->members[i].shard_fraction;
    }
    *out = (struct yoke_plan_layer){
        .name = planned->context->model->layers[layer].name,
        .strategy = yk_plan_strategy_name(yk_plan_effective_strategy(plan, layer)),
        .recompute = plan->layers[layer].recompute,
        .rank_count = group->member_count,
        .ranks = ranks,
        .shares = shares,
        .parts = parts,
    };
    return YK_OK;
}

yk_status yk_library_convert_plan_transfers(const struct yk_plan_transfer *transfers, int32_t count,
                                            struct yk_arena *arena, struct yoke_transfer **out)
{
    struct yoke_transfer *records = NULL;
    YK_TRY_NEW(arena, records, count);
    for (int32_t i = 0; i < count; i++) {
        records[i] = (struct yoke_transfer){
            .kind = yk_plan_transfer_kind_name(transfers[i].kind),
            .layer = transfers[i].layer,
            .first_block = transfers[i].first_block,
            .block_count = transfers[i].block_count,
            .slot = transfers[i].slot,
        };
    }
    *out = records;
    return YK_OK;
}

static yk_status fill_comparisons(struct yoke_plan *handle)
{
    const struct yk_planner_outcome *planned = handle->planned;
    YK_TRY_NEW(handle->arena, handle->alternatives, planned->alternative_count);
    YK_TRY_NEW(handle->arena, handle->leave_one_out, planned->leave_one_out_count);
    for (int32_t i = 0; i < planned->alternative_count; i++) {
        const struct yk_plan_alternative *row = &planned->alternatives[i];
        handle->alternatives[i] =
            (struct yoke_alternative){row->name, row->remark, row->step_s, row->fits};
    }
    for (int32_t i = 0; i < planned->leave_one_out_count; i++) {
        handle->leave_one_out[i] = (struct yoke_leave_one_out){planned->leave_one_out[i].device,
                                                               planned->leave_one_out[i].step_s};
    }
    return YK_OK;
}

static yk_status fill_plan(struct yoke_plan *handle)
{
    fill_info(handle);
    YK_TRY_NEW(handle->arena, handle->ranks, handle->info.rank_count);
    for (int32_t r = 0; r < handle->info.rank_count; r++) {
        handle->ranks[r] = rank_record(handle->planned, r);
    }
    YK_TRY_NEW(handle->arena, handle->layers, handle->info.layer_count);
    for (int32_t l = 0; l < handle->info.layer_count; l++) {
        YK_TRY(fill_layer(handle->planned, l, handle->arena, &handle->layers[l]));
    }
    YK_TRY(yk_library_convert_plan_transfers(handle->planned->plan->transfers,
                                             handle->info.transfer_count, handle->arena,
                                             &handle->transfers));
    return fill_comparisons(handle);
}

const struct yoke_plan_info *yoke_plan_info(const yoke_plan *plan)
{
    return &plan->info;
}

const struct yoke_rank *yoke_plan_rank(const yoke_plan *plan, int32_t rank)
{
    return YK_LIBRARY_ELEMENT_OR_NULL(plan->ranks, plan->info.rank_count, rank);
}

const struct yoke_plan_layer *yoke_plan_layer(const yoke_plan *plan, int32_t layer)
{
    return YK_LIBRARY_ELEMENT_OR_NULL(plan->layers, plan->info.layer_count, layer);
}

const struct yoke_transfer *yoke_plan_transfer(const yoke_plan *plan, int32_t number)
{
    return YK_LIBRARY_ELEMENT_OR_NULL(plan->transfers, plan->info.transfer_count, number);
}

const struct yoke_alternative *yoke_plan_alternative(const yoke_plan *plan, int32_t number)
{
    return YK_LIBRARY_ELEMENT_OR_NULL(plan->alternatives, plan->info.alternative_count, number);
}

const struct yoke_leave_one_out *yoke_plan_leave_one_out(const yoke_plan *plan, int32_t number)
{
    return YK_LIBRARY_ELEMENT_OR_NULL(plan->leave_one_out, plan->info.leave_one_out_count, number);
}

const char *yoke_memory_kind_name(enum yoke_memory_kind kind)
{
    return (int)kind >= 0 && kind < YOKE_MEMORY_KIND_COUNT
               ? yk_memory_kind_name((enum yk_memory_kind)kind)
               : NULL;
}

static const double usual_budget_s = 8;
static const double usual_compare_s = 10;

/* Creates a plan that has only its request. */
static yk_status create(const struct yoke_request *request, struct yoke_plan **out)
{
    struct yoke_plan *plan = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(plan);
    YK_TRY_OR_CLEAN_UP(yk_library_result_inputs_open(request, &plan->context),
                       yoke_plan_destroy(plan));
    *out = plan;
    return YK_OK;
}

/* If `status` is YK_OK, fills the records and stores the plan in `*out`; else destroys it. */
static yk_status finish(yk_status status, struct yoke_plan *plan, struct yoke_plan **out)
{
    YK_IF_OK(fill_plan(plan));
    YK_TRY_OR_CLEAN_UP(status, yoke_plan_destroy(plan));
    *out = plan;
    return YK_OK;
}

static yk_status search(struct yoke_plan *plan)
{
    struct yk_plan_request request;
    YK_TRY(yk_library_result_inputs_make_plan_request(&plan->context, usual_budget_s, &request));
    YK_TRY(yk_planner_search(&request, &plan->planned));
    return plan->planned->plan ? YK_OK : yk_planner_fail_no_plan_found(plan->planned);
}

yoke_status yoke_plan_find(const yoke_request *request, yoke_plan **out)
{
    struct yoke_plan *plan = NULL;
    YK_LIBRARY_REQUIRE_NOT_NULL(request, out);
    YK_LIBRARY_TRY(create(request, &plan));
    return yk_library_to_public_status(finish(search(plan), plan, out));
}

/* The inputs of reading a plan file. The resulting plan retains the model and the cluster. */
struct reading {
    const char *text;
    size_t length;
    const char *source;
    struct yoke_plan_reading given;
    struct yk_arena *arena; /* owns `plan` */
    struct yoke_model *model;
    struct yoke_cluster *cluster;
    const struct yk_plan *plan;
};

/* Opens the model and the cluster that the file names, unless the caller provides them. */
static yk_status open_sources(struct reading *reading)
{
    struct yoke_plan_reading *given = &reading->given;
    struct yk_plan_source_paths sources;
    YK_TRY(yk_plan_file_parse_source_paths(reading->text, reading->length, reading->source,
                                           reading->arena, &sources));
    YK_TRY(given->model ? yk_library_create_model_sharing_config(given->model, &reading->model)
                        : yk_library_open_model(sources.model, &reading->model));
    if (given->cluster) {
        reading->cluster = YK_LIBRARY_RETAIN(given->cluster);
    } else {
        YK_TRY(yk_library_open_cluster(sources.cluster, &reading->cluster));
    }
    given->profile = given->profile ? given->profile : sources.profile;
    return YK_OK;
}

static yk_status read_file(struct reading *reading)
{
    struct yk_profile *profile = NULL;
    if (reading->given.profile) {
        YK_TRY(yk_profile_open_for_reading(reading->given.profile, &profile));
    }
    const struct yk_plan_file_context context = {
        .config = reading->model->config,
        .cluster = reading->cluster->cluster,
        .profile = profile,
    };
    const yk_status status = yk_plan_file_parse(reading->text, reading->length, reading->source,
                                                &context, reading->arena, &reading->plan);
    yk_profile_close(profile);
    return status;
}

/* Creates the request that corresponds to the plan. */
static yk_status make_request(const struct reading *reading, struct yoke_request **out)
{
    struct yoke_request *request = NULL;
    YK_TRY(yk_library_check_request_slowdown(reading->given.slowdown));
    YK_TRY((yk_status)yoke_request_create(reading->model, reading->cluster, &request));
    YK_TRY_OR_CLEAN_UP(yk_arena_strdup(request->arena, reading->given.profile, &request->profile),
                       yoke_request_destroy(request));
    request->clip = reading->plan->clip;
    request->slowdown = reading->given.slowdown;
    request->search = reading->given.search ? *reading->given.search : (struct yoke_search){0};
    *out = request;
    return YK_OK;
}

static yk_status examine(const struct reading *reading, struct yoke_plan *plan)
{
    struct yk_plan_request request;
    struct yk_plan *kept =
        NULL; /* a copy that lives as long as the request, which points into it */
    YK_TRY(yk_plan_copy(reading->plan, plan->arena, &kept));
    YK_TRY(yk_library_result_inputs_make_plan_request(&plan->context, usual_compare_s, &request));
    yk_search_context_fill_request_from_plan(kept, &request);
    if (reading->given.slowdown > 0) {
        request.slowdown = reading->given.slowdown;
    }
    return yk_planner_evaluate_plan(&request, kept, reading->given.compare, &plan->planned);
}

static yk_status make(struct reading *reading, struct yoke_plan **out)
{
    struct yoke_request *request = NULL;
    struct yoke_plan *plan = NULL;
    YK_TRY(open_sources(reading));
    YK_TRY(read_file(reading));
    YK_TRY(yk_library_build_model_layers(reading->model, &reading->plan->workload));
    YK_TRY(make_request(reading, &request));
    const yk_status status = create(request, &plan);
    yoke_request_destroy(request); /* the plan retains it */
    return status == YK_OK ? finish(examine(reading, plan), plan, out) : status;
}

static yk_status read_text(const char *text, size_t length, const char *source,
                           const struct yoke_plan_reading *given, struct yoke_plan **out)
{
    struct reading reading = {.text = text, .length = length, .source = source};
    if (given) {
        reading.given = *given;
    }
    YK_TRY(yk_arena_create(&reading.arena));
    const yk_status status = make(&reading, out);
    yoke_cluster_destroy(reading.cluster);
    yoke_model_destroy(reading.model);
    yk_arena_destroy(reading.arena);
    return status;
}

yoke_status yoke_plan_read(const char *text, const char *source,
                           const struct yoke_plan_reading *reading, yoke_plan **out)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(text, source, out);
    return yk_library_to_public_status(read_text(text, strlen(text), source, reading, out));
}

yoke_status yoke_plan_open(const char *path, const struct yoke_plan_reading *reading,
                           yoke_plan **out)
{
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE_NOT_NULL(path, out);
    yk_status status = yk_file_read_document(path, &text);
    YK_IF_OK(read_text(yk_text_chars(&text), text.length, path, reading, out));
    yk_text_free(&text);
    return yk_library_to_public_status(status);
}

void yoke_plan_destroy(yoke_plan *plan)
{
    if (plan) {
        yk_planner_outcome_destroy(plan->planned);
        yk_library_result_inputs_close(&plan->context);
        yk_arena_destroy(plan->arena);
    }
}

/* `path` is the destination of the file, or NULL. */
static yk_status write_file(const yoke_plan *plan, const char *path, struct yk_text *out)
{
    const struct yk_plan_file_context context = {
        .config = plan->planned->request.config,
        .cluster = plan->context.sources.cluster,
        .profile = plan->context.profile,
        .path = path,
    };
    return yk_plan_file_to_json(plan->planned->plan, &context, out);
}

yoke_status yoke_plan_write(const yoke_plan *plan, char **out)
{
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE_NOT_NULL(plan, out);
    return yk_library_return_text_or_free(write_file(plan, NULL, &text), &text, out);
}

yoke_status yoke_plan_save(const yoke_plan *plan, const char *path)
{
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE_NOT_NULL(plan, path);
    yk_status status = write_file(plan, path, &text);
    YK_IF_OK(yk_file_write(path, &text));
    yk_text_free(&text);
    return yk_library_to_public_status(status);
}

yoke_status yoke_plan_program(const yoke_plan *plan, char **out)
{
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE_NOT_NULL(plan, out);
    return yk_library_return_text_or_free(
        yk_program_text_write(plan->planned->evaluation.program, &text), &text, out);
}
