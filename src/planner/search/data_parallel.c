#include "planner/search/data_parallel.h"

#include "base/number.h"
#include "base/random.h"
#include "cost/saturation_size.h"
#include "model/model.h"
#include "planner/order/plan_transfer_order.h"
#include "planner/search/device_sets.h"

#include <math.h>
#include <string.h>

struct splitting {
    struct yk_search_context *context;
    const struct yk_data_parallel_spec *split;
    struct yk_arena *arena;
    double *pass_s; /* (count, batch + 1) of a micro-batch of that size; NAN: not computed yet */
    double whole_bytes;   /* state that is not sharded */
    double largest_bytes; /* memory of gathered layers, at least */
    double summed_bytes;  /* full gradients that are accumulated until the last micro-batch */
};

static void add_state(struct splitting *splitting, int32_t layer)
{
    const struct yk_model *model = splitting->context->model;
    const struct yk_model_layer_state_bytes state =
        yk_model_layer_state_bytes(model, &model->layers[layer]);
    const double changing = state.gradient_bytes + state.optimizer_bytes;
    const bool sums = splitting->split->micro_batches > 1 && splitting->split->no_sync;
    const enum yk_sharding_strategy strategy = splitting->split->strategies[layer];
    if (strategy == YK_SHARDING_REPLICATED || splitting->split->count == 1) {
        splitting->whole_bytes += state.weight_bytes + changing;
        return;
    }
    splitting->summed_bytes += sums ? state.gradient_bytes : 0;
    if (strategy == YK_SHARDING_SHARDED_STATE) {
        splitting->whole_bytes += state.weight_bytes;
    } else {
        splitting->largest_bytes =
            fmax(splitting->largest_bytes, 2 * state.weight_bytes + state.gradient_bytes);
    }
}

static yk_status share_s(void *user, int32_t rank, int64_t samples, double *out_s)
{
    struct splitting *splitting = user;
    const struct yk_data_parallel_spec *split = splitting->split;
    const int64_t M = split->micro_batches;
    const int64_t sizes[2] = {samples / M, samples / M + 1};
    const int64_t counts[2] = {M - samples % M, samples % M};
    const int64_t batch = splitting->context->request->workload.batch;
    double seconds = 0;
    for (int32_t i = 0; i < 2; i++) {
        if (counts[i] == 0 || sizes[i] == 0) {
            continue;
        }
        double *pass_s = &splitting->pass_s[rank * (batch + 1) + sizes[i]];
        if (isnan(*pass_s)) {
            YK_TRY(yk_search_context_all_layers_compute_s(splitting->context, split->devices[rank],
                                                          sizes[i], split->recompute, pass_s));
        }
        seconds += (double)counts[i] * *pass_s;
    }
    *out_s = seconds;
    return YK_OK;
}

/* Estimates the bytes of a micro-batch besides state; evaluations correct it later. */
static yk_status pass_bytes(const struct splitting *splitting, int64_t samples, double *out)
{
    struct yk_search_context *context = splitting->context;
    const struct yk_model *plain = NULL;
    const struct yk_model *saving = NULL;
    double saved = 0;
    double besides = 0;
    if (samples > 0) {
        YK_TRY(yk_model_cache_get(context->cache, samples, false, &plain));
        YK_TRY(yk_model_cache_get(context->cache, samples, true, &saving));
        for (int32_t l = 0; l < plain->layer_count; l++) {
            const bool again = splitting->split->recompute[l];
            const double all = (double)plain->layers[l].saved_bytes;
            const double kept = again ? (double)saving->layers[l].saved_bytes : all;
            saved += kept;
            besides = fmax(besides, (double)plain->layers[l].workspace_bytes + all - kept);
        }
    }
    *out = saved + besides;
    return YK_OK;
}

/* The largest share of a rank that fits, by the estimate. */
static yk_status max_samples(const struct splitting *splitting, int32_t rank, int64_t *out)
{
    const struct yk_data_parallel_spec *split = splitting->split;
    const struct yk_search_context *context = splitting->context;
    const int32_t device = split->devices[rank];
    const double room =
        context->limit_bytes[device] -
        yk_device_measurements_context_bytes(context->measurements, context->cluster, device) -
        splitting->whole_bytes - splitting->largest_bytes - splitting->summed_bytes;
    const int64_t M = split->micro_batches;
    int64_t low = 0;
    int64_t high = (context->request->workload.batch + M - 1) / M;
    while (low < high) {
        const int64_t half = low + (high - low + 1) / 2;
        double bytes = 0;
        YK_TRY(pass_bytes(splitting, half, &bytes));
        if (bytes <= room) {
            low = half;
        } else {
            high = half - 1;
        }
    }
    *out = low * M;
    return YK_OK;
}

static yk_status find_shares(struct splitting *splitting, int64_t *shares)
{
    const struct yk_data_parallel_spec *split = splitting->split;
    const int64_t batch = splitting->context->request->workload.batch;
    int64_t *max = NULL;
    int64_t *min = NULL; /* largest shares that fit, by the estimate */
    double slowest_s = 0;
    YK_TRY_NEW(splitting->arena, max, split->count);
    YK_TRY_NEW(splitting->arena, min, split->count);
    if (split->even_shares) {
        for (int32_t i = 0; i < split->count; i++) {
            shares[i] = yk_number_even_part_size(batch, split->count, i);
        }
        return YK_OK;
    }
    YK_TRY_NEW(splitting->arena, splitting->pass_s, split->count * (batch + 1));
    for (int64_t i = 0; i < split->count * (batch + 1); i++) {
        splitting->pass_s[i] = NAN;
    }
    for (int32_t i = 0; i < split->count; i++) {
        YK_TRY(max_samples(splitting, i, &min[i]));
        max[i] = split->ignores_memory || min[i] > batch ? batch : min[i];
    }
    const struct yk_sample_shares_problem problem = {
        .rank_count = split->count,
        .samples = batch,
        .max = max,
        .time = share_s,
        .user = splitting,
    };
    YK_TRY(yk_sample_shares_find(&problem, shares, &slowest_s));
    bool careful = true;
    for (int32_t i = 0; i < split->count; i++) {
        careful = careful && shares[i] <= min[i];
    }
    if (split->ignores_memory && careful) {
        return YK_ERROR_NO_FIT; /* the same shares as with the estimate */
    }
    return slowest_s < split->max_s ? YK_OK : YK_ERROR_NO_FIT;
}

/* Removes the devices that are not in the plan from `shares`. */
static yk_status make_plan(const struct splitting *splitting, int64_t *shares, struct yk_plan **out)
{
    const struct yk_data_parallel_spec *split = splitting->split;
    struct yk_plan *plan = NULL;
    int32_t *devices = NULL;
    int32_t count = 0;
    YK_TRY_NEW(splitting->arena, devices, split->count);
    for (int32_t i = 0; i < split->count; i++) {
        if (shares[i] > 0 || split->keeps_idle) {
            shares[count] = shares[i];
            devices[count++] = split->devices[i];
        }
    }
    YK_TRY(yk_search_context_create_default_plan(splitting->context, devices, count, 1,
                                                 splitting->arena, &plan));
    plan->groups[0].member_count = count;
    for (int32_t i = 0; i < count; i++) {
        plan->groups[0].members[i] = (struct yk_plan_group_member){
            .rank = i, .share = shares[i], .shard_fraction = 1.0 / count};
    }
    plan->micro_batches = split->micro_batches;
    plan->no_sync = split->no_sync;
    plan->prefetch = split->prefetch;
    plan->block_bytes = split->block_bytes;
    plan->bucket_bytes = split->bucket_bytes;
    for (int32_t l = 0; l < plan->layer_count; l++) {
        plan->layers[l] = (struct yk_plan_layer){
            .group = 0, .strategy = split->strategies[l], .recompute = split->recompute[l]};
    }
    *out = plan;
    return YK_OK;
}

yk_status yk_data_parallel_create_plan(struct yk_search_context *context,
                                       const struct yk_data_parallel_spec *split,
                                       struct yk_arena *arena, struct yk_plan **out, bool *out_fits)
{
    struct splitting splitting = {.context = context, .split = split, .arena = arena};
    int64_t *shares = NULL;
    *out = NULL;
    *out_fits = false;
    for (int32_t l = 0; l < context->model->layer_count; l++) {
        add_state(&splitting, l);
    }
    YK_TRY_NEW(arena, shares, split->count);
    const yk_status status = find_shares(&splitting, shares);
    if (status != YK_OK) {
        return status == YK_ERROR_NO_FIT ? YK_OK : status;
    }
    int64_t largest = 0;
    for (int32_t i = 0; i < split->count; i++) {
        largest = yk_number_max(largest, shares[i]);
    }
    if (largest < split->micro_batches) {
        return YK_OK;
    }
    YK_TRY(make_plan(&splitting, shares, out));
    struct yk_plan_evaluation evaluation;
    if (split->even_parts) {
        YK_TRY(yk_plan_evaluation_run(context, *out, YK_PLAN_EVALUATION_MEMORY_ONLY, &evaluation));
    } else {
        YK_TRY(yk_shard_fractions_fit_plan(context, *out, split->room_balance,
                                           YK_PLAN_EVALUATION_MEMORY_ONLY, &evaluation));
    }
    *out_fits = evaluation.fits;
    yk_plan_evaluation_free(&evaluation);
    return YK_OK;
}

static const double small_bytes = 1024 * 1024;
static const double max_block_bytes = 64.0 * 1024 * 1024;
static const double plain_bucket_bytes = 25.0 * 1024 * 1024;

struct family {
    enum yk_sharding_strategy strategy;
    bool no_sync;
    int32_t min_micro_batches;
};

static const struct family families[] = {
    {YK_SHARDING_FULLY_SHARDED, true, 1},  {YK_SHARDING_KEPT_AFTER_FORWARD, true, 1},
    {YK_SHARDING_REPLICATED, true, 1},     {YK_SHARDING_SHARDED_STATE, true, 1},
    {YK_SHARDING_FULLY_SHARDED, false, 2}, {YK_SHARDING_KEPT_AFTER_FORWARD, false, 2},
    {YK_SHARDING_SHARDED_STATE, false, 2},
};

/*
 * The smallest block that saturates one link of the ring, from measurements or the datasheet.
 * During computation, latency and transfer slow down by the same factor, so the size is the same.
 * On a ring of n ranks each round moves 1/n of the block.
 */
static yk_status saturating_bytes(const struct yk_cost_sources *sources, int32_t a, int32_t b,
                                  int32_t count, double *out)
{
    const struct yk_link *link = yk_cluster_link_between(sources->cluster, a, b);
    YK_TRY(yk_saturation_size_of_all_gather(sources, a, b, count, out));
    if (isnan(*out)) {
        *out = YK_SATURATION_SIZE_BANDWIDTH_FRACTION / (1 - YK_SATURATION_SIZE_BANDWIDTH_FRACTION) *
               count * link->latency_s * link->bytes_per_s;
    }
    return YK_OK;
}

yk_status yk_data_parallel_choose_block_bytes(const struct yk_search_context *context,
                                              const int32_t *devices, int32_t count, double *out)
{
    double block = YK_DATA_PARALLEL_MIN_BLOCK_BYTES;
    for (int32_t i = 0; i < count && count > 1; i++) {
        double bytes = 0;
        YK_TRY(saturating_bytes(context->request->cost_sources, devices[i],
                                devices[(i + 1) % count], count, &bytes));
        block = fmax(block, bytes);
    }
    *out = yk_search_context_decides(context, YK_DECIDE_BLOCK_SIZE)
               ? round(fmin(block, max_block_bytes))
               : plain_bucket_bytes;
    return YK_OK;
}

void yk_data_parallel_unify_tied_strategies(const struct yk_model *model,
                                            enum yk_sharding_strategy *strategies)
{
    for (int32_t l = 0; l < model->layer_count; l++) {
        strategies[l] = strategies[yk_model_weight_owner(model, l)];
    }
}

void yk_data_parallel_set_large_layer_strategy(const struct yk_search_context *context,
                                               enum yk_sharding_strategy strategy,
                                               enum yk_sharding_strategy *out)
{
    const struct yk_model *model = context->model;
    for (int32_t l = 0; l < model->layer_count; l++) {
        const struct yk_model_layer_state_bytes state =
            yk_model_layer_state_bytes(model, &model->layers[l]);
        out[l] = state.weight_bytes < small_bytes ? YK_SHARDING_REPLICATED : strategy;
    }
    yk_data_parallel_unify_tied_strategies(model, out);
}

static yk_status order_and_consider(struct yk_plan_search *search, struct yk_plan *plan,
                                    struct yk_arena *arena)
{
    const struct yk_plan_transfer_order_options options = {
        .method = YK_TRANSFER_ORDER_METHOD_GREEDY,
        .open = yk_search_context_chooses_strategies(search->context),
    };
    bool ordered = false;
    YK_TRY(yk_plan_transfer_order_optimize(search->context, &options, arena, plan, &ordered));
    return ordered ? yk_plan_search_try_plan(search, plan, NULL) : YK_OK;
}

static yk_status try_in(struct yk_plan_search *search, const struct yk_data_parallel_spec *split,
                        struct yk_arena *arena)
{
    struct yk_plan *plan = NULL;
    bool fits = false;
    YK_TRY(yk_data_parallel_create_plan(search->context, split, arena, &plan, &fits));
    if (!plan) {
        return YK_OK;
    }
    YK_TRY(yk_plan_search_try_plan(search, plan, NULL));
    if (!fits && !split->keeps_idle && plan->rank_count < split->count) {
        struct yk_data_parallel_spec all = *split;
        all.keeps_idle = true;
        return try_in(search, &all, arena);
    }
    if (fits && plan->rank_count > 1 && plan->micro_batches == 1 &&
        yk_search_context_decides(search->context, YK_DECIDE_TRANSFER_ORDER)) {
        return order_and_consider(search, plan, arena);
    }
    return YK_OK;
}

yk_status yk_data_parallel_try_spec(struct yk_plan_search *search,
                                    const struct yk_data_parallel_spec *split)
{
    struct yk_data_parallel_spec ignores_memory = *split;
    ignores_memory.ignores_memory = true;
    YK_TRY_WITH_TEMPORARY_ARENA(arena, try_in(search, split, arena));
    if (split->count > 1 && !split->even_shares) {
        YK_TRY_WITH_TEMPORARY_ARENA(arena, try_in(search, &ignores_memory, arena));
    }
    return YK_OK;
}

static void draw_strategies(const struct yk_search_context *context,
                            enum yk_sharding_strategy *strategies)
{
    struct yk_random random = yk_random_from_seed(context->request->search.seed);
    for (int32_t l = 0; l < context->model->layer_count; l++) {
        strategies[l] =
            (enum yk_sharding_strategy)yk_random_below(&random, YK_SHARDING_STRATEGY_COUNT);
    }
    yk_data_parallel_unify_tied_strategies(context->model, strategies);
}

/* Tries the families that the request allows, for one number of micro-batches. */
static yk_status try_families(struct yk_plan_search *search, struct yk_data_parallel_spec *split)
{
    const struct yk_search_context *context = search->context;
    const enum yk_sharding_strategy fixed = yk_search_context_fixed_strategy(context);
    if (context->request->random_strategies) {
        draw_strategies(context, split->strategies);
        split->no_sync = true;
        return yk_data_parallel_try_spec(search, split);
    }
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
        const struct family *family = &families[f];
        const bool alone = split->count == 1 && family->strategy != YK_SHARDING_REPLICATED;
        if (split->micro_batches < family->min_micro_batches || alone ||
            (fixed != YK_SHARDING_STRATEGY_COUNT && family->strategy != fixed)) {
            continue;
        }
        split->no_sync = family->no_sync;
        split->max_s = search->best_s;
        yk_data_parallel_set_large_layer_strategy(context, family->strategy, split->strategies);
        for (int32_t l = 0; l < context->model->layer_count && fixed != YK_SHARDING_STRATEGY_COUNT;
             l++) {
            split->strategies[l] = fixed;
        }
        YK_TRY(yk_data_parallel_try_spec(search, split));
    }
    return YK_OK;
}

static yk_status try_recomputation(struct yk_plan_search *search,
                                   struct yk_data_parallel_spec *split)
{
    const struct yk_search_context *context = search->context;
    const bool open = yk_search_context_decides(context, YK_DECIDE_RECOMPUTATION);
    for (int32_t again = 0; again < 2; again++) {
        if ((again == 1) != context->request->workload.recompute && !open) {
            continue;
        }
        for (int32_t l = 0; l < context->model->layer_count; l++) {
            split->recompute[l] = again == 1 && context->recomputes[l];
        }
        YK_TRY(try_families(search, split));
    }
    return YK_OK;
}

static yk_status try_set(struct yk_plan_search *search, const struct yk_device_set *set,
                         struct yk_arena *arena)
{
    const struct yk_search_context *context = search->context;
    const int32_t asked = context->request->micro_batches;
    const int64_t batch = context->request->workload.batch;
    struct yk_data_parallel_spec split = {
        .devices = set->devices,
        .count = set->count,
        .even_shares = !yk_search_context_decides(context, YK_DECIDE_SAMPLE_SHARES),
        .prefetch = 1,
        .bucket_bytes = plain_bucket_bytes,
        .max_s = INFINITY,
    };
    yk_search_context_report_progress(context, "data parallelism");
    YK_TRY_NEW(arena, split.strategies, context->model->layer_count);
    YK_TRY_NEW(arena, split.recompute, context->model->layer_count);
    YK_TRY(
        yk_data_parallel_choose_block_bytes(context, set->devices, set->count, &split.block_bytes));
    for (int32_t M = 1; M > 0 && yk_plan_search_has_budget(search);
         M = yk_plan_move_next_micro_batch_count(batch, M)) {
        split.micro_batches = asked > 0 ? asked : M;
        YK_TRY(try_recomputation(search, &split));
        if (asked > 0 || (int64_t)M * set->count >= batch) {
            break;
        }
    }
    return YK_OK;
}

yk_status yk_plan_search_try_data_parallel(struct yk_plan_search *search,
                                           enum yk_plan_search_device_choice devices)
{
    return yk_plan_search_for_each_device_set(search, devices, try_set);
}
