/*
 * Pipeline: plans of consecutive stages of layers, each on a group of devices. A group of several
 * devices divides every micro-batch among them. Cuts are found by dynamic programming from the last
 * stage to the first: they minimise the time of the slowest stage, and every stage must fit, by an
 * estimate, with its micro-batches in flight. Layers with shared weights are with the first of
 * them.
 */
#include "planner/search/search.h"

#include "model/model.h"

#include <math.h>

struct pipeline_spec {
    const int32_t *devices; /* of all groups, in the order of the stages */
    const int32_t *sizes;   /* (group_count) devices of each group */
    int32_t group_count;    /* K */
    int32_t micro_batches;
    enum yk_pipeline_schedule_kind order;
    enum yk_sharding_strategy strategy; /* of layers in groups of several devices */
    bool recompute;                     /* all blocks */
};

struct cutting {
    struct yk_search_context *context;
    const struct pipeline_spec *spec;
    struct yk_arena *arena;
    int32_t *first_device;  /* (K + 1) of each group */
    int64_t *samples;       /* (devices) of a micro-batch */
    int32_t group;          /* whose samples are divided */
    int32_t chain;          /* layers that are cut; the layers after them share weights */
    double *time_s;         /* (K, L + 1) forward and backward of all layers before */
    double *saved_bytes;    /* (K, L + 1) for one micro-batch on the rank with most samples */
    double *state_bytes;    /* (K, L + 1) */
    double *besides_bytes;  /* (K, L) workspace and recomputed activations of a layer */
    double *limit_bytes;    /* (K) of the group's smallest device */
    bool minimises_missing; /* no cut fits, so minimise the missing memory */
    double *best; /* (K + 1, L + 1) seconds of the slowest stage from group k on, from layer
                     l on; or bytes of the one that lacks most */
    int32_t *end; /* (K, L) where group k's stage ends if it begins at l */
};

static double *row(const struct cutting *cutting, double *table, int32_t k)
{
    return &table[(int64_t)k * (cutting->context->model->layer_count + 1)];
}

static yk_status micro_batch_s(void *user, int32_t rank, int64_t samples, double *out_s)
{
    const struct cutting *cutting = user;
    const int32_t device = cutting->spec->devices[cutting->first_device[cutting->group] + rank];
    *out_s = 0;
    return samples == 0 ? YK_OK
                        : yk_search_context_all_layers_compute_s(cutting->context, device, samples,
                                                                 NULL, out_s);
}

/* Divides a micro-batch among a group; YK_ERROR_NO_FIT if the batch is not divisible. */
static yk_status share_out(struct cutting *cutting, int32_t group)
{
    const struct pipeline_spec *spec = cutting->spec;
    const int64_t batch = cutting->context->request->workload.batch;
    const int64_t M = spec->micro_batches;
    int64_t *samples = &cutting->samples[cutting->first_device[group]];
    int64_t *max = NULL;
    double slowest_s = 0;
    if (spec->sizes[group] == 1) {
        samples[0] = (batch + M - 1) / M;
        return YK_OK;
    }
    if (batch % M != 0) {
        return YK_ERROR_NO_FIT;
    }
    YK_TRY_NEW(cutting->arena, max, spec->sizes[group]);
    for (int32_t i = 0; i < spec->sizes[group]; i++) {
        max[i] = batch / M;
    }
    cutting->group = group;
    const struct yk_sample_shares_problem problem = {
        .rank_count = spec->sizes[group],
        .samples = batch / M,
        .max = max,
        .time = micro_batch_s,
        .user = cutting,
    };
    return yk_sample_shares_find(&problem, samples, &slowest_s);
}

static yk_status layer_s(const struct cutting *cutting, int32_t k, int32_t layer, double *out_s)
{
    double slowest_s = 0;
    for (int32_t i = cutting->first_device[k]; i < cutting->first_device[k + 1]; i++) {
        double seconds = 0;
        YK_TRY(yk_search_context_layer_compute_s(
            cutting->context, cutting->spec->devices[i], layer, cutting->samples[i],
            cutting->spec->recompute && cutting->context->recomputes[layer], &seconds));
        slowest_s = fmax(slowest_s, seconds);
    }
    *out_s = slowest_s;
    return YK_OK;
}

static double state_of(const struct cutting *cutting, int32_t k, int32_t layer)
{
    const struct yk_model *model = cutting->context->model;
    const struct yk_model_layer_state_bytes state =
        yk_model_layer_state_bytes(model, &model->layers[layer]);
    const double changing = state.gradient_bytes + state.optimizer_bytes;
    const int32_t n = cutting->spec->sizes[k];
    if (n == 1 || cutting->spec->strategy == YK_SHARDING_REPLICATED) {
        return state.weight_bytes + changing;
    }
    /* Full gradients are accumulated until the last micro-batch; kept weights are not sharded. */
    const double summed = changing / n + state.gradient_bytes;
    return cutting->spec->strategy == YK_SHARDING_FULLY_SHARDED ? summed + state.weight_bytes / n
                                                                : summed + state.weight_bytes;
}

static yk_status fill_group(struct cutting *cutting, int32_t k)
{
    const struct pipeline_spec *spec = cutting->spec;
    const int32_t L = cutting->context->model->layer_count;
    int64_t max = 1;
    const struct yk_model *plain = NULL;
    const struct yk_model *saving = NULL;
    for (int32_t i = cutting->first_device[k]; i < cutting->first_device[k + 1]; i++) {
        max = cutting->samples[i] > max ? cutting->samples[i] : max;
    }
    YK_TRY(yk_model_cache_get(cutting->context->cache, max, false, &plain));
    YK_TRY(yk_model_cache_get(cutting->context->cache, max, spec->recompute, &saving));
    double *time_s = row(cutting, cutting->time_s, k);
    double *saved = row(cutting, cutting->saved_bytes, k);
    double *state = row(cutting, cutting->state_bytes, k);
    double *besides = row(cutting, cutting->besides_bytes, k);
    for (int32_t l = 0; l < L; l++) {
        double seconds = 0;
        const double kept = (double)saving->layers[l].saved_bytes;
        const double all = (double)plain->layers[l].saved_bytes;
        YK_TRY(layer_s(cutting, k, l, &seconds));
        time_s[l + 1] = time_s[l] + seconds;
        saved[l + 1] = saved[l] + kept;
        state[l + 1] = state[l] + state_of(cutting, k, l);
        besides[l] = (double)plain->layers[l].workspace_bytes + all - kept;
    }
    return YK_OK;
}

static double limit_of(const struct cutting *cutting, int32_t k)
{
    double limit = INFINITY;
    for (int32_t i = cutting->first_device[k]; i < cutting->first_device[k + 1]; i++) {
        const int32_t device = cutting->spec->devices[i];
        limit =
            fmin(limit, cutting->context->limit_bytes[device] -
                            yk_device_measurements_context_bytes(
                                cutting->context->measurements, cutting->context->cluster, device));
    }
    return limit;
}

/* Sum over layers [from, to). The first stage includes the layers that share weights. */
static double sum(const struct cutting *cutting, double *table, int32_t k, int32_t from, int32_t to)
{
    const double *values = row(cutting, table, k);
    const int32_t L = cutting->context->model->layer_count;
    return values[to] - values[from] + (from == 0 ? values[L] - values[cutting->chain] : 0);
}

/* `besides` is the largest workspace of a layer of the stage. */
static double missing_bytes(const struct cutting *cutting, int32_t k, int32_t from, int32_t to,
                            double besides)
{
    const int32_t M = cutting->spec->micro_batches;
    const int32_t after = cutting->spec->group_count - k;
    const int32_t in_flight = cutting->spec->order == YK_PIPELINE_GPIPE || after > M ? M : after;
    return sum(cutting, cutting->state_bytes, k, from, to) +
           in_flight * sum(cutting, cutting->saved_bytes, k, from, to) + besides -
           cutting->limit_bytes[k];
}

static void cut_group(struct cutting *cutting, int32_t k, int32_t from)
{
    const int32_t n = cutting->chain;
    const int32_t L = cutting->context->model->layer_count;
    double *best = &row(cutting, cutting->best, k)[from];
    double besides = 0;
    *best = INFINITY;
    for (int32_t to = from + 1; to <= n && (k > 0 || from == 0); to++) {
        const double rest = row(cutting, cutting->best, k + 1)[to];
        besides = fmax(besides, row(cutting, cutting->besides_bytes, k)[to - 1]);
        const double missing = missing_bytes(cutting, k, from, to, besides);
        const double worst =
            fmax(cutting->minimises_missing ? missing : sum(cutting, cutting->time_s, k, from, to),
                 rest);
        if (worst < *best && (cutting->minimises_missing || missing <= 0)) {
            *best = worst;
            cutting->end[(int64_t)k * (L + 1) + from] = to;
        }
    }
}

/* Fills best and end from the last group to the first; every group has at least one layer. */
static void cut(struct cutting *cutting)
{
    const int32_t K = cutting->spec->group_count;
    const int32_t L = cutting->context->model->layer_count;
    for (int32_t l = 0; l <= L; l++) {
        row(cutting, cutting->best, K)[l] = l == cutting->chain ? -INFINITY : INFINITY;
    }
    for (int32_t k = K - 1; k >= 0; k--) {
        row(cutting, cutting->best, k)[L] = INFINITY;
        row(cutting, cutting->best, k)[cutting->chain] = INFINITY;
        for (int32_t from = 0; from < cutting->chain; from++) {
            cut_group(cutting, k, from);
        }
    }
}

static void make_groups(const struct cutting *cutting, struct yk_plan *plan)
{
    const struct pipeline_spec *spec = cutting->spec;
    for (int32_t k = 0; k < spec->group_count; k++) {
        struct yk_plan_group *group = &plan->groups[k];
        const int32_t first = cutting->first_device[k];
        group->member_count = spec->sizes[k];
        for (int32_t i = 0; i < group->member_count; i++) {
            group->members[i] = (struct yk_plan_group_member){
                .rank = first + i,
                .share = group->member_count == 1
                             ? plan->workload.batch
                             : cutting->samples[first + i] * spec->micro_batches,
                .shard_fraction = 1.0 / group->member_count,
            };
        }
    }
}

static yk_status make_plan(const struct cutting *cutting, struct yk_plan **out)
{
    const struct pipeline_spec *spec = cutting->spec;
    const int32_t L = cutting->context->model->layer_count;
    struct yk_plan *plan = NULL;
    YK_TRY(yk_search_context_create_default_plan(cutting->context, spec->devices,
                                                 cutting->first_device[spec->group_count],
                                                 spec->group_count, cutting->arena, &plan));
    make_groups(cutting, plan);
    plan->micro_batches = spec->micro_batches;
    plan->pipeline = spec->order;
    int32_t from = 0;
    for (int32_t k = 0; k < spec->group_count; k++) {
        const int32_t to = cutting->end[(int64_t)k * (L + 1) + from];
        for (int32_t l = from; l < to; l++) {
            plan->layers[l].group = k;
        }
        from = to;
    }
    for (int32_t l = 0; l < L; l++) {
        plan->layers[l].strategy = spec->strategy;
        plan->layers[l].recompute = spec->recompute && cutting->context->recomputes[l];
    }
    yk_plan_unify_tied_layers(plan, cutting->context->model);
    *out = plan;
    return YK_OK;
}

static yk_status allocate_tables(struct cutting *cutting)
{
    const int64_t K = cutting->spec->group_count;
    const int64_t width = cutting->context->model->layer_count + 1;
    YK_TRY_NEW(cutting->arena, cutting->time_s, K * width);
    YK_TRY_NEW(cutting->arena, cutting->saved_bytes, K * width);
    YK_TRY_NEW(cutting->arena, cutting->state_bytes, K * width);
    YK_TRY_NEW(cutting->arena, cutting->besides_bytes, K * width);
    YK_TRY_NEW(cutting->arena, cutting->limit_bytes, K);
    YK_TRY_NEW(cutting->arena, cutting->best, (K + 1) * width);
    YK_TRY_NEW(cutting->arena, cutting->end, K * width);
    return YK_OK;
}

/* The number of layers before the last ones that share weights with earlier layers. */
static int32_t chain_length(const struct yk_model *model)
{
    int32_t length = model->layer_count;
    while (length > 1 && model->layers[length - 1].shares_weights_of != YK_LAYER_NONE) {
        length--;
    }
    return length;
}

/* Creates the plan, in `arena`; if no cut fits, the one that lacks least memory. `*out` is NULL if
 * there are more groups than layers, or the samples cannot be divided. */
static yk_status create_plan(struct yk_search_context *context, const struct pipeline_spec *spec,
                             struct yk_arena *arena, struct yk_plan **out)
{
    struct cutting cutting = {.context = context, .spec = spec, .arena = arena};
    const int32_t K = spec->group_count;
    *out = NULL;
    YK_TRY_NEW(arena, cutting.first_device, K + 1);
    for (int32_t k = 0; k < K; k++) {
        cutting.first_device[k + 1] = cutting.first_device[k] + spec->sizes[k];
    }
    YK_TRY_NEW(arena, cutting.samples, cutting.first_device[K]);
    YK_TRY(allocate_tables(&cutting));
    cutting.chain = chain_length(context->model);
    for (int32_t k = 0; k < K; k++) {
        const yk_status status = share_out(&cutting, k);
        if (status != YK_OK) {
            return status == YK_ERROR_NO_FIT ? YK_OK : status;
        }
        YK_TRY(fill_group(&cutting, k));
        cutting.limit_bytes[k] = limit_of(&cutting, k);
    }
    cut(&cutting);
    if (!isfinite(row(&cutting, cutting.best, 0)[0])) {
        cutting.minimises_missing = true;
        cut(&cutting);
    }
    return isfinite(row(&cutting, cutting.best, 0)[0]) ? make_plan(&cutting, out) : YK_OK;
}

/* The GPipe schedule is tried for plans up to this factor slower than the best. */
static const double order_gain = 1.2;

/* GPipe uses more memory than 1F1B, but waits less if messages are slow. */
static yk_status consider(struct yk_plan_search *search, const struct pipeline_spec *spec,
                          struct yk_arena *arena)
{
    struct yk_plan *plan = NULL;
    double step_s = NAN;
    YK_TRY(create_plan(search->context, spec, arena, &plan));
    if (!plan) {
        return YK_OK;
    }
    YK_TRY(yk_plan_search_try_plan(search, plan, &step_s));
    if (plan->micro_batches == 1 || !(step_s < order_gain * search->best_s)) {
        return YK_OK;
    }
    plan->pipeline = YK_PIPELINE_GPIPE;
    return yk_plan_search_try_plan(search, plan, NULL);
}

/* Stages of one device need only one strategy, since nothing is sharded. */
static yk_status try_strategies(struct yk_plan_search *search, struct pipeline_spec *spec,
                                bool of_several)
{
    static const enum yk_sharding_strategy tried[] = {
        YK_SHARDING_REPLICATED, YK_SHARDING_SHARDED_STATE, YK_SHARDING_KEPT_AFTER_FORWARD,
        YK_SHARDING_FULLY_SHARDED};
    const struct yk_search_context *context = search->context;
    const enum yk_sharding_strategy fixed = yk_search_context_fixed_strategy(context);
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        if (fixed == YK_SHARDING_STRATEGY_COUNT ? of_several || i == 0 : tried[i] == fixed) {
            spec->strategy = tried[i];
            YK_TRY_WITH_TEMPORARY_ARENA(arena, consider(search, spec, arena));
        }
    }
    return YK_OK;
}

/* `of_several`: some group has several devices. */
static yk_status try_groups(struct yk_plan_search *search,
                            const struct yk_device_grouping *grouping, bool of_several)
{
    const struct yk_search_context *context = search->context;
    const struct yk_plan_request *request = context->request;
    const bool open = yk_search_context_decides(context, YK_DECIDE_RECOMPUTATION);
    const int32_t asked = request->micro_batches;
    for (int32_t M = 1; M > 0 && yk_plan_search_has_budget(search);
         M = yk_plan_move_next_micro_batch_count(request->workload.batch, M)) {
        struct pipeline_spec spec = {
            .devices = grouping->devices,
            .sizes = grouping->sizes,
            .group_count = grouping->group_count,
            .micro_batches = asked > 0 ? asked : M,
            .order = YK_PIPELINE_1F1B,
        };
        for (int32_t again = 0; again < 2; again++) {
            spec.recompute = again == 1;
            if (open || spec.recompute == request->workload.recompute) {
                YK_TRY(try_strategies(search, &spec, of_several));
            }
        }
        if (asked > 0) {
            break;
        }
    }
    return YK_OK;
}

static yk_status try_set(struct yk_plan_search *search, const struct yk_device_set *set,
                         struct yk_arena *arena)
{
    const struct yk_search_context *context = search->context;
    struct yk_device_grouping *grouping = NULL;
    int32_t group_count = 0;
    if (set->count < 2) {
        return YK_OK;
    }
    YK_TRY(yk_device_sets_list_stage_groupings(context, set, arena, &grouping, &group_count));
    for (int32_t g = 0; g < group_count && yk_plan_search_has_budget(search); g++) {
        yk_search_context_report_progress(context, "pipelines");
        YK_TRY(try_groups(search, &grouping[g], grouping[g].group_count < set->count));
    }
    return YK_OK;
}

yk_status yk_plan_search_try_pipelines(struct yk_plan_search *search,
                                       enum yk_plan_search_device_choice devices)
{
    return yk_search_context_decides(search->context, YK_DECIDE_PLACEMENT) &&
                   !search->context->request->random_strategies
               ? yk_plan_search_for_each_device_set(search, devices, try_set)
               : YK_OK;
}
