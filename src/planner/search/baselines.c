#include "planner/search/baselines.h"

#include "base/units.h"
#include "model/state.h"
#include "planner/placement/placement.h"
#include "planner/placement/plan.h"
#include "planner/search/data_parallel.h"
#include "planner/search/device_sets.h"

#include <math.h>
#include <string.h>

enum {
    MOST_MICRO_BATCHES = 64
};

static const double ddp_bucket_bytes = 25.0 * 1024 * 1024;
/* DeepSpeed's presets, in elements of two bytes. */
static const double deepspeed_bucket_bytes = 2 * 5e8;
static const double deepspeed_prefetch_bytes = 2 * 5e7;
static const double deepspeed_persistent = 1e5;

struct rivalry {
    struct yk_search *finder;
    struct yk_arena *arena;
    struct yk_baselines *rivals;
    struct yk_device_set all;
    enum yk_strategy *strategies; /* (L) */
    bool *recompute;              /* (L) */
};

static yk_status copy_words(struct yk_arena *arena, struct yk_text *words, const char **out)
{
    *out = yk_arena_copy_text(arena, yk_text_chars(words), words->length);
    const yk_status status = *out ? yk_text_status(words) : yk_fail_out_of_memory();
    yk_text_free(words);
    return status;
}

/* How the best of a rival's plans is run, or what the nearest lacks. */
static yk_status describe(const struct rivalry *rivalry, const struct yk_search *own,
                          const char **out)
{
    struct yk_text words = {0};
    if (own->best) {
        const bool again = own->best->layers[own->best->layer_count / 2].recompute;
        if (own->best->micro_batches > 1) {
            yk_text_addf(&words, "%d micro-batches", own->best->micro_batches);
        }
        if (again) {
            yk_text_addf(&words, "%srecomputation", words.length > 0 ? ", " : "");
        }
    } else if (own->nearest) {
        char bytes[YK_UNITS_SIZE];
        yk_units_format(own->missing_bytes, YK_UNIT_BYTES, bytes);
        yk_text_addf(&words, "%s lacks %s",
                     rivalry->finder->study->cluster->devices[own->missing_device].name, bytes);
    } else {
        yk_text_add(&words, "too large for any split of the batch");
    }
    return copy_words(rivalry->arena, &words, out);
}

/* Whether all that rivals decide is to be decided: else they are no answers to the request. */
static bool is_open(const struct yk_plan_request *request, const struct yk_plan *plan)
{
    return (request->micro_batches == 0 || plan->micro_batches == request->micro_batches) &&
           (request->decisions | YK_DECIDE_RECOMPUTATION) == YK_DECIDE_ALL &&
           request->strategy == YK_STRATEGY_COUNT && !request->random_strategies;
}

/* The row of a rival, whose plans `own` has seen; the best goes into the main search if that is
 * free to choose it. */
static yk_status add_row(struct rivalry *rivalry, const char *name, struct yk_search *own)
{
    struct yk_plan_alternative *row = &rivalry->rivals->rows[rivalry->rivals->count];
    *row = (struct yk_plan_alternative){
        .name = name, .step_s = own->best ? own->best_s : NAN, .fits = own->best != NULL};
    YK_TRY(describe(rivalry, own, &row->remark));
    const struct yk_plan_request *request = rivalry->finder->study->request;
    const struct yk_plan *plan = own->best ? own->best : own->nearest;
    if (plan && is_open(request, plan)) {
        YK_TRY(yk_search_consider(rivalry->finder, plan, name, NULL));
    }
    if (!own->best && own->nearest) {
        /* Its time is shown all the same: what it would take if it fitted. */
        struct yk_trial trial;
        YK_TRY(yk_trial_run(rivalry->finder->study, own->nearest, YK_TRIAL_ALWAYS, &trial));
        row->step_s = trial.step_s;
        yk_trial_free(&trial);
    }
    rivalry->rivals->count++;
    return YK_OK;
}

static yk_status try_split(struct rivalry *rivalry, struct yk_data_parallel_spec *split,
                           struct yk_search *own)
{
    struct yk_arena *arena = NULL;
    struct yk_plan *plan = NULL;
    bool fits = false;
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_data_parallel_plan(rivalry->finder->study, split, arena, &plan, &fits);
    if (status == YK_OK && plan) {
        status = yk_search_consider(own, plan, "rival", NULL);
    }
    yk_arena_destroy(arena);
    return status;
}

/* Every number of micro-batches, with and without recomputation. */
static yk_status try_splits(struct rivalry *rivalry, struct yk_data_parallel_spec *split,
                            struct yk_search *own)
{
    const struct yk_study *study = rivalry->finder->study;
    const struct yk_plan_request *request = study->request;
    const bool open = yk_study_decides(study, YK_DECIDE_RECOMPUTATION);
    split->recompute = rivalry->recompute;
    for (int32_t M = 1; M <= MOST_MICRO_BATCHES && M <= request->workload.batch; M *= 2) {
        split->micro_batches = request->micro_batches > 0 ? request->micro_batches : M;
        for (int32_t again = 0; again < 2; again++) {
            for (int32_t l = 0; l < study->model->layer_count; l++) {
                rivalry->recompute[l] = again == 1 && study->recomputes[l];
            }
            if (open || (again == 1) == request->workload.recompute) {
                YK_TRY(try_split(rivalry, split, own));
            }
        }
        if (request->micro_batches > 0 || (int64_t)M * split->count >= request->workload.batch) {
            break;
        }
    }
    return YK_OK;
}

static yk_status add_split(struct rivalry *rivalry, const char *name,
                           struct yk_data_parallel_spec split)
{
    struct yk_search own;
    split.strategies = rivalry->strategies;
    split.no_sync = true;
    split.even_shares = true;
    split.even_parts = true;
    split.most_s = INFINITY;
    split.block_bytes = ddp_bucket_bytes;
    YK_TRY(yk_search_create(rivalry->finder->study, &own));
    yk_status status = try_splits(rivalry, &split, &own);
    if (status == YK_OK) {
        status = add_row(rivalry, name, &own);
    }
    yk_search_free(&own);
    return status;
}

static void fill_strategies(const struct rivalry *rivalry, enum yk_strategy blocks,
                            enum yk_strategy others)
{
    const struct yk_model *model = rivalry->finder->study->model;
    for (int32_t l = 0; l < model->layer_count; l++) {
        const bool block = strstr(model->layers[l].kind, "block") != NULL;
        rivalry->strategies[l] = block ? blocks : others;
    }
}

/* How many blocks of the model DeepSpeed gathers ahead. */
static int32_t deepspeed_prefetch(const struct yk_model *model)
{
    const struct yk_layer *middle = &model->layers[model->layer_count / 2];
    const double bytes = yk_model_layer_state(model, middle).weight_bytes;
    return bytes > 0 && bytes < deepspeed_prefetch_bytes
               ? (int32_t)(deepspeed_prefetch_bytes / bytes)
               : 1;
}

static yk_status add_splits(struct rivalry *rivalry)
{
    const struct yk_model *model = rivalry->finder->study->model;
    struct yk_data_parallel_spec split = {
        .devices = rivalry->all.devices,
        .count = rivalry->all.count,
        .prefetch = 1,
        .bucket_bytes = ddp_bucket_bytes,
    };
    if (rivalry->all.count < 2) {
        return YK_OK;
    }
    fill_strategies(rivalry, YK_REPLICATED, YK_REPLICATED);
    YK_TRY(add_split(rivalry, "even data-parallel", split));
    /* FSDP keeps what is outside the blocks, its root, from forward to backward. */
    fill_strategies(rivalry, YK_FULLY_SHARDED, YK_KEPT);
    YK_TRY(add_split(rivalry, "fully-sharded, prefetch of one", split));
    fill_strategies(rivalry, YK_KEPT, YK_KEPT);
    YK_TRY(add_split(rivalry, "kept", split));
    fill_strategies(rivalry, YK_FULLY_SHARDED, YK_FULLY_SHARDED);
    for (int32_t l = 0; l < model->layer_count; l++) {
        if ((double)model->layers[l].parameters < deepspeed_persistent) {
            rivalry->strategies[l] = YK_REPLICATED;
        }
    }
    yk_data_parallel_tie(model, rivalry->strategies);
    split.prefetch = deepspeed_prefetch(model);
    split.bucket_bytes = deepspeed_bucket_bytes;
    return add_split(rivalry, "DeepSpeed-like", split);
}

static yk_status add_singles(struct rivalry *rivalry)
{
    const struct yk_study *study = rivalry->finder->study;
    for (int32_t i = 0; i < rivalry->all.count; i++) {
        const int32_t device = rivalry->all.devices[i];
        bool known = false;
        for (int32_t j = 0; j < i; j++) {
            const int32_t other = rivalry->all.devices[j];
            known = known || (yk_layer_costs_device_kind(study->prices, other) ==
                                  yk_layer_costs_device_kind(study->prices, device) &&
                              study->limit_bytes[other] == study->limit_bytes[device]);
        }
        if (known) {
            continue;
        }
        struct yk_text words = {0};
        const char *name = NULL;
        yk_text_addf(&words, "%s alone", study->cluster->devices[device].name);
        YK_TRY(copy_words(rivalry->arena, &words, &name));
        fill_strategies(rivalry, YK_REPLICATED, YK_REPLICATED);
        YK_TRY(add_split(
            rivalry, name,
            (struct yk_data_parallel_spec){
                .devices = &device, .count = 1, .prefetch = 1, .bucket_bytes = ddp_bucket_bytes}));
    }
    return YK_OK;
}

static yk_status consider_map(struct rivalry *rivalry, const struct yk_placement *placement,
                              struct yk_search *own)
{
    struct yk_arena *arena = NULL;
    struct yk_plan *plan = NULL;
    YK_TRY(yk_arena_create(&arena));
    yk_status status =
        yk_placement_plan_create(rivalry->finder->study, placement->devices, arena, &plan);
    if (status == YK_OK) {
        status = yk_search_consider(own, plan, "map", NULL);
    }
    yk_arena_destroy(arena);
    return status;
}

/* What `yoke place` finds by a way of its own, the batch going through whole. */
static yk_status add_placement(struct rivalry *rivalry, const char *name, const char *algorithm)
{
    const struct yk_study *study = rivalry->finder->study;
    const struct yk_placement_request request = {
        .book = study->request->book,
        .config = study->request->config,
        .workload = study->request->workload,
        .micro_batches = 1,
        .algorithm = algorithm,
        .search = study->request->search,
    };
    struct yk_placements *placements = NULL;
    struct yk_search own = {0};
    YK_TRY(yk_deadline_check(&study->deadline));
    YK_TRY(yk_placement_compare(&request, &placements));
    const struct yk_placement *placement = &placements->placements[0];
    yk_status status = yk_search_create(rivalry->finder->study, &own);
    if (status == YK_OK && placement->devices) {
        status = consider_map(rivalry, placement, &own);
    }
    if (status == YK_OK) {
        status = add_row(rivalry, name, &own);
    }
    if (status == YK_OK && placement->refusal) {
        struct yk_text words = {0};
        yk_text_add(&words, placement->refusal);
        status = copy_words(rivalry->arena, &words,
                            &rivalry->rivals->rows[rivalry->rivals->count - 1].remark);
    }
    yk_search_free(&own);
    yk_placements_destroy(placements);
    return status;
}

yk_status yk_baselines_try(struct yk_search *finder, struct yk_arena *arena,
                           struct yk_baselines *out)
{
    struct rivalry rivalry = {.finder = finder, .arena = arena, .rivals = out};
    struct yk_device_set *sets = NULL;
    int32_t count = 0;
    *out = (struct yk_baselines){0};
    YK_TRY(yk_device_sets_list(finder->study, arena, &sets, &count));
    rivalry.all = sets[0];
    YK_TRY_NEW(arena, out->rows, rivalry.all.count + 8);
    YK_TRY_NEW(arena, rivalry.strategies, finder->study->model->layer_count);
    YK_TRY_NEW(arena, rivalry.recompute, finder->study->model->layer_count);
    /* Placements know nothing of devices that are left out. */
    if (rivalry.all.count > 1 && rivalry.all.count == finder->study->cluster->device_count) {
        YK_TRY(add_placement(&rivalry, "auto", "auto"));
        YK_TRY(add_placement(&rivalry, "HEFT placement", "heft"));
    }
    YK_TRY(add_singles(&rivalry));
    return add_splits(&rivalry);
}
