#include "library/plan_handle.h"
#include "planner/planned_facts.h"

_Static_assert((int)YOKE_MEMORY_PARAMETERS == (int)YK_MEMORY_PARAMETERS &&
                   (int)YOKE_MEMORY_GATHERED == (int)YK_MEMORY_GATHERED &&
                   (int)YOKE_MEMORY_GRADIENTS == (int)YK_MEMORY_GRADIENTS &&
                   (int)YOKE_MEMORY_OPTIMIZER == (int)YK_MEMORY_OPTIMIZER &&
                   (int)YOKE_MEMORY_ACTIVATIONS == (int)YK_MEMORY_ACTIVATIONS &&
                   (int)YOKE_MEMORY_BUFFERS == (int)YK_MEMORY_BUFFERS &&
                   (int)YOKE_MEMORY_CONTEXT == (int)YK_MEMORY_CONTEXT &&
                   (int)YOKE_MEMORY_KIND_COUNT == (int)YK_MEMORY_KIND_COUNT,
               "yoke_memory_kind is yk_memory_kind");

static void tell_info(struct yoke_plan *handle)
{
    const struct yk_planner_outcome *planned = handle->planned;
    const struct yk_plan *plan = planned->plan;
    const struct yk_trial *trial = &planned->trial;
    const struct yk_mfu mfu = yk_planner_mfu(planned);
    handle->info = (struct yoke_plan_info){
        .step_s = trial->step_s,
        .bound_s = planned->bound_s,
        .tokens_per_s = planned->tokens_per_s,
        .mfu = mfu.formula,
        .exact_mfu = mfu.exact,
        .summary = planned->summary,
        .bottleneck = planned->bottleneck,
        .source = planned->source,
        .fits = trial->fits,
        .missing_rank = trial->fits ? -1 : trial->rank,
        .missing_bytes = trial->missing_bytes,
        .rank_count = plan->rank_count,
        .layer_count = plan->layer_count,
        .transfer_count = plan->transfer_count,
        .alternative_count = planned->alternative_count,
        .leave_one_out_count = planned->leave_one_out_count,
        .micro_batches = plan->micro_batches,
        .pipeline = yk_plan_pipeline_name(plan->pipeline),
        .no_sync = plan->no_sync,
        .clip = plan->clip,
        .prefetch = plan->prefetch,
        .block_bytes = plan->block_bytes,
        .bucket_bytes = plan->bucket_bytes,
        .search_s = planned->search_s,
        .trials = planned->trials,
        .error = yk_error_band_error(&trial->band),
        .cut_short = planned->cut_short,
    };
}

static void tell_rank(const struct yk_planner_outcome *planned, int32_t rank, struct yoke_rank *out)
{
    const struct yk_plan_rank *decided = &planned->plan->ranks[rank];
    const struct yk_plan_member *member = yk_planner_member(planned->plan, rank);
    const struct yk_sim_rank *simulated = &planned->trial.sim->ranks[rank];
    const struct yk_memory_peak *peak = &planned->trial.peaks[rank];
    *out = (struct yoke_rank){
        .device = decided->device,
        .device_name = planned->study->cluster->devices[decided->device].name,
        .share = member ? member->share : 0,
        .part = member ? member->part : 0,
        .peak_bytes = peak->bytes,
        .limit_bytes = decided->limit_bytes,
        .compute_s = simulated->compute_s,
        .exposed_s = simulated->exposed_s,
        .idle_s = simulated->idle_s,
        .memory_bytes = peak->by_kind,
    };
}

static yk_status tell_ranks(struct yoke_plan *handle)
{
    YK_TRY_NEW(handle->arena, handle->ranks, handle->info.rank_count);
    for (int32_t r = 0; r < handle->info.rank_count; r++) {
        tell_rank(handle->planned, r, &handle->ranks[r]);
    }
    return YK_OK;
}

static yk_status tell_layer(const struct yk_planner_outcome *planned, int32_t layer,
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
        parts[i] = group->members[i].part;
    }
    *out = (struct yoke_plan_layer){
        .name = planned->study->model->layers[layer].name,
        .strategy = yk_plan_strategy_name(yk_plan_strategy(plan, layer)),
        .recompute = plan->layers[layer].recompute,
        .rank_count = group->member_count,
        .ranks = ranks,
        .shares = shares,
        .parts = parts,
    };
    return YK_OK;
}

static yk_status tell_layers(struct yoke_plan *handle)
{
    YK_TRY_NEW(handle->arena, handle->layers, handle->info.layer_count);
    for (int32_t l = 0; l < handle->info.layer_count; l++) {
        YK_TRY(tell_layer(handle->planned, l, handle->arena, &handle->layers[l]));
    }
    return YK_OK;
}

yk_status yk_library_copy_plan_transfers(const struct yk_plan_transfer *transfers, int32_t count,
                                         struct yk_arena *arena, struct yoke_transfer **out)
{
    struct yoke_transfer *records = NULL;
    YK_TRY_NEW(arena, records, count);
    for (int32_t i = 0; i < count; i++) {
        records[i] = (struct yoke_transfer){
            .kind = yk_plan_transfer_name(transfers[i].kind),
            .layer = transfers[i].layer,
            .first_block = transfers[i].first_block,
            .block_count = transfers[i].block_count,
            .slot = transfers[i].slot,
        };
    }
    *out = records;
    return YK_OK;
}

static yk_status tell_comparisons(struct yoke_plan *handle)
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

yk_status yk_library_fill_plan(struct yoke_plan *handle)
{
    tell_info(handle);
    YK_TRY(tell_ranks(handle));
    YK_TRY(tell_layers(handle));
    YK_TRY(yk_library_copy_plan_transfers(handle->planned->plan->transfers,
                                          handle->info.transfer_count, handle->arena,
                                          &handle->transfers));
    return tell_comparisons(handle);
}

const struct yoke_plan_info *yoke_plan_info(const yoke_plan *plan)
{
    return &plan->info;
}

const struct yoke_rank *yoke_plan_rank(const yoke_plan *plan, int32_t rank)
{
    return YK_LIBRARY_AT(plan->ranks, plan->info.rank_count, rank);
}

const struct yoke_plan_layer *yoke_plan_layer(const yoke_plan *plan, int32_t layer)
{
    return YK_LIBRARY_AT(plan->layers, plan->info.layer_count, layer);
}

const struct yoke_transfer *yoke_plan_transfer(const yoke_plan *plan, int32_t number)
{
    return YK_LIBRARY_AT(plan->transfers, plan->info.transfer_count, number);
}

const struct yoke_alternative *yoke_plan_alternative(const yoke_plan *plan, int32_t number)
{
    return YK_LIBRARY_AT(plan->alternatives, plan->info.alternative_count, number);
}

const struct yoke_leave_one_out *yoke_plan_leave_one_out(const yoke_plan *plan, int32_t number)
{
    return YK_LIBRARY_AT(plan->leave_one_out, plan->info.leave_one_out_count, number);
}

const char *yoke_memory_kind_name(enum yoke_memory_kind kind)
{
    return (int)kind >= 0 && kind < YOKE_MEMORY_KIND_COUNT
               ? yk_memory_kind_name((enum yk_memory_kind)kind)
               : NULL;
}
