/*
 * Baselines: common strategies as plans: Accelerate's device map, HEFT, one device alone, and even
 * data parallelism as in DDP, FSDP and DeepSpeed. Each has its best number of micro-batches and its
 * best choice of recomputation.
 */
#include "planner/search/search.h"

#include "base/units.h"
#include "model/model.h"
#include "planner/placement/placement.h"
#include "planner/search/data_parallel.h"
#include "planner/search/device_sets.h"

#include <math.h>
#include <string.h>

enum {
    MAX_MICRO_BATCHES = 64
};

static const double ddp_bucket_bytes = 25.0 * 1024 * 1024;
/* DeepSpeed's defaults, in elements of two bytes. */
static const double deepspeed_bucket_bytes = 2 * 5e8;
static const double deepspeed_prefetch_bytes = 2 * 5e7;
static const double deepspeed_persistent = 1e5;

struct baselines {
    struct yk_plan_search *search;
    struct yk_arena *arena;
    struct yk_plan_alternative *rows;
    int32_t *row_count;
    struct yk_data_parallel_spec spec; /* on all devices */
};

/* Describes the best plan of a baseline, or the memory that the nearest plan lacks. */
static yk_status describe(const struct baselines *baselines, const struct yk_plan_search *own,
                          const char **out)
{
    struct yk_text text = {0};
    if (own->best) {
        const bool again = own->best->layers[own->best->layer_count / 2].recompute;
        if (own->best->micro_batches > 1) {
            yk_text_addf(&text, "%d micro-batches", own->best->micro_batches);
        }
        if (again) {
            yk_text_addf(&text, "%srecomputation", text.length > 0 ? ", " : "");
        }
    } else if (own->nearest) {
        yk_text_addf(&text, "%s lacks %s",
                     baselines->search->context->cluster->devices[own->missing_device].name,
                     YK_UNITS_FORMAT_TEMPORARY(own->missing_bytes, YK_UNIT_BYTES));
    } else {
        yk_text_add(&text, "too large for any split of the batch");
    }
    return yk_text_move_to_arena(&text, baselines->arena, out);
}

/* Whether the request allows everything that the baseline's plan decides. */
static bool is_open(const struct yk_plan_request *request, const struct yk_plan *plan)
{
    return (request->micro_batches == 0 || plan->micro_batches == request->micro_batches) &&
           (request->decisions | YK_DECIDE_RECOMPUTATION) == YK_DECIDE_ALL &&
           request->strategy == YK_SHARDING_STRATEGY_COUNT && !request->random_strategies;
}

/* Adds the row of a baseline whose plans are in `own`. Its best plan is also offered to the main
 * search, if the request allows it. */
static yk_status add_row(struct baselines *baselines, const char *name, struct yk_plan_search *own)
{
    struct yk_plan_alternative *row = &baselines->rows[*baselines->row_count];
    *row = (struct yk_plan_alternative){
        .name = name, .step_s = own->best ? own->best_s : NAN, .fits = own->best != NULL};
    YK_TRY(describe(baselines, own, &row->remark));
    const struct yk_plan_request *request = baselines->search->context->request;
    const struct yk_plan *plan = own->best ? own->best : own->nearest;
    if (plan && is_open(request, plan)) {
        YK_TRY(yk_plan_search_try_plan(baselines->search, plan, NULL));
    }
    if (!own->best && own->nearest) {
        /* The step time that it would have if it did fit. */
        struct yk_plan_evaluation evaluation;
        YK_TRY(yk_plan_evaluation_run(baselines->search->context, own->nearest,
                                      YK_PLAN_EVALUATION_SIMULATE, &evaluation));
        row->step_s = evaluation.step_s;
        yk_plan_evaluation_free(&evaluation);
    }
    (*baselines->row_count)++;
    return YK_OK;
}

static yk_status try_split(const struct yk_data_parallel_spec *split, struct yk_plan_search *own,
                           struct yk_arena *arena)
{
    struct yk_plan *plan = NULL;
    bool fits = false;
    YK_TRY(yk_data_parallel_create_plan(own->context, split, arena, &plan, &fits));
    return plan ? yk_plan_search_try_plan(own, plan, NULL) : YK_OK;
}

/* Tries all numbers of micro-batches, with and without recomputation. */
static yk_status try_splits(struct yk_data_parallel_spec *split, struct yk_plan_search *own)
{
    const struct yk_search_context *context = own->context;
    const struct yk_plan_request *request = context->request;
    const bool open = yk_search_context_decides(context, YK_DECIDE_RECOMPUTATION);
    for (int32_t M = 1; M <= MAX_MICRO_BATCHES && M <= request->workload.batch; M *= 2) {
        split->micro_batches = request->micro_batches > 0 ? request->micro_batches : M;
        for (int32_t again = 0; again < 2; again++) {
            for (int32_t l = 0; l < context->model->layer_count; l++) {
                split->recompute[l] = again == 1 && context->recomputes[l];
            }
            if (open || (again == 1) == request->workload.recompute) {
                YK_TRY_WITH_TEMPORARY_ARENA(arena, try_split(split, own, arena));
            }
        }
        if (request->micro_batches > 0 || (int64_t)M * split->count >= request->workload.batch) {
            break;
        }
    }
    return YK_OK;
}

static yk_status add_split(struct baselines *baselines, const char *name,
                           struct yk_data_parallel_spec split)
{
    struct yk_plan_search own;
    YK_TRY(yk_plan_search_create(baselines->search->context, &own));
    yk_status status = try_splits(&split, &own);
    YK_IF_OK(add_row(baselines, name, &own));
    yk_plan_search_free(&own);
    return status;
}

static void fill_strategies(const struct baselines *baselines, enum yk_sharding_strategy blocks,
                            enum yk_sharding_strategy others)
{
    const struct yk_model *model = baselines->search->context->model;
    for (int32_t l = 0; l < model->layer_count; l++) {
        const bool block = strstr(model->layers[l].kind, "block") != NULL;
        baselines->spec.strategies[l] = block ? blocks : others;
    }
}

/* The number of blocks that DeepSpeed gathers ahead. */
static int32_t deepspeed_prefetch(const struct yk_model *model)
{
    const struct yk_layer *middle = &model->layers[model->layer_count / 2];
    const double bytes = yk_model_layer_state_bytes(model, middle).weight_bytes;
    return bytes > 0 && bytes < deepspeed_prefetch_bytes
               ? (int32_t)(deepspeed_prefetch_bytes / bytes)
               : 1;
}

static yk_status add_splits(struct baselines *baselines)
{
    const struct yk_model *model = baselines->search->context->model;
    struct yk_data_parallel_spec split = baselines->spec;
    if (split.count < 2) {
        return YK_OK;
    }
    fill_strategies(baselines, YK_SHARDING_REPLICATED, YK_SHARDING_REPLICATED);
    YK_TRY(add_split(baselines, "even data-parallel", split));
    /* FSDP keeps its root, the layers outside the blocks, from forward to backward. */
    fill_strategies(baselines, YK_SHARDING_FULLY_SHARDED, YK_SHARDING_KEPT_AFTER_FORWARD);
    YK_TRY(add_split(baselines, "fully-sharded, prefetch of one", split));
    fill_strategies(baselines, YK_SHARDING_KEPT_AFTER_FORWARD, YK_SHARDING_KEPT_AFTER_FORWARD);
    YK_TRY(add_split(baselines, "kept", split));
    fill_strategies(baselines, YK_SHARDING_FULLY_SHARDED, YK_SHARDING_FULLY_SHARDED);
    for (int32_t l = 0; l < model->layer_count; l++) {
        if ((double)model->layers[l].parameters < deepspeed_persistent) {
            baselines->spec.strategies[l] = YK_SHARDING_REPLICATED;
        }
    }
    yk_data_parallel_unify_tied_strategies(model, split.strategies);
    split.prefetch = deepspeed_prefetch(model);
    split.bucket_bytes = deepspeed_bucket_bytes;
    return add_split(baselines, "DeepSpeed-like", split);
}

static yk_status add_singles(struct baselines *baselines)
{
    const struct yk_search_context *context = baselines->search->context;
    for (int32_t i = 0; i < baselines->spec.count; i++) {
        struct yk_data_parallel_spec split = baselines->spec;
        bool known = false;
        split.devices += i;
        split.count = 1;
        for (int32_t j = 0; j < i; j++) {
            known = known || yk_search_context_devices_are_equal(
                                 context, baselines->spec.devices[j], split.devices[0]);
        }
        if (known) {
            continue;
        }
        struct yk_text text = {0};
        const char *name = NULL;
        yk_text_addf(&text, "%s alone", context->cluster->devices[split.devices[0]].name);
        YK_TRY(yk_text_move_to_arena(&text, baselines->arena, &name));
        fill_strategies(baselines, YK_SHARDING_REPLICATED, YK_SHARDING_REPLICATED);
        YK_TRY(add_split(baselines, name, split));
    }
    return YK_OK;
}

static yk_status add_placement_row(struct baselines *baselines, const char *name,
                                   const struct yk_placement *placement, struct yk_plan_search *own)
{
    if (placement->devices) {
        struct yk_plan *plan = NULL;
        YK_TRY(yk_placement_plan_from_layer_devices(own->context, placement->devices, own->arena,
                                                    &plan));
        YK_TRY(yk_plan_search_try_plan(own, plan, NULL));
    }
    YK_TRY(add_row(baselines, name, own));
    struct yk_plan_alternative *row = &baselines->rows[*baselines->row_count - 1];
    return placement->refusal ? yk_arena_strdup(baselines->arena, placement->refusal, &row->remark)
                              : YK_OK;
}

/* The placement of an algorithm of `yoke place`, with one micro-batch. */
static yk_status add_placement(struct baselines *baselines, const char *name, const char *algorithm)
{
    const struct yk_search_context *context = baselines->search->context;
    const struct yk_placement_request request = {
        .cost_sources = context->request->cost_sources,
        .config = context->request->config,
        .workload = context->request->workload,
        .micro_batches = 1,
        .algorithm = algorithm,
        .search = context->request->search,
    };
    struct yk_placements *placements = NULL;
    struct yk_plan_search own = {0};
    YK_TRY(yk_deadline_check(&context->deadline));
    YK_TRY(yk_placement_compare_algorithms(&request, &placements));
    const struct yk_placement *placement = &placements->placements[0];
    yk_status status = yk_plan_search_create(baselines->search->context, &own);
    YK_IF_OK(add_placement_row(baselines, name, placement, &own));
    yk_plan_search_free(&own);
    yk_placements_destroy(placements);
    return status;
}

yk_status yk_baselines_evaluate(struct yk_plan_search *search, struct yk_arena *arena,
                                struct yk_plan_alternative **out, int32_t *out_count)
{
    struct baselines baselines = {.search = search, .arena = arena, .row_count = out_count};
    struct yk_device_set *sets = NULL;
    int32_t count = 0;
    *out = NULL;
    *out_count = 0;
    YK_TRY(yk_device_sets_list(search->context, arena, &sets, &count));
    baselines.spec = (struct yk_data_parallel_spec){
        .devices = sets[0].devices,
        .count = sets[0].count,
        .no_sync = true,
        .even_shares = true,
        .even_parts = true,
        .prefetch = 1,
        .block_bytes = ddp_bucket_bytes,
        .bucket_bytes = ddp_bucket_bytes,
        .max_s = INFINITY,
    };
    YK_TRY_NEW(arena, *out, sets[0].count + 8);
    baselines.rows = *out;
    YK_TRY_NEW(arena, baselines.spec.strategies, search->context->model->layer_count);
    YK_TRY_NEW(arena, baselines.spec.recompute, search->context->model->layer_count);
    /* Placements cannot leave out devices. */
    if (sets[0].count > 1 && sets[0].count == search->context->cluster->device_count) {
        YK_TRY(add_placement(&baselines, "auto", "auto"));
        YK_TRY(add_placement(&baselines, "HEFT placement", "heft"));
    }
    YK_TRY(add_singles(&baselines));
    return add_splits(&baselines);
}
