#include "planner/search/find_split.h"

#include "base/random.h"
#include "cost/communication.h"
#include "cost/knee.h"
#include "model/model.h"
#include "planner/order/plan.h"
#include "planner/search/device_sets.h"
#include "planner/search/plan_move.h"

#include <math.h>

/* A layer is small when its weights are less than this. */
static const double small_bytes = 1024 * 1024;
static const double most_block_bytes = 64.0 * 1024 * 1024;
static const double plain_bucket_bytes = 25.0 * 1024 * 1024;

struct family {
    const char *how;
    enum yk_strategy strategy;
    bool no_sync;
    int32_t least_micro_batches;
};

/* With one micro-batch `kept` and `fully-sharded` are one family where the order decides. */
static const struct family families[] = {
    {"sharded", YK_FULLY_SHARDED, true, 1},
    {"kept", YK_KEPT, true, 1},
    {"replicated", YK_REPLICATED, true, 1},
    {"sharded-state", YK_SHARDED_STATE, true, 1},
    {"sharded, scattered", YK_FULLY_SHARDED, false, 2},
    {"kept, scattered", YK_KEPT, false, 2},
    {"state, scattered", YK_SHARDED_STATE, false, 2},
};

/*
 * The smallest message that saturates one link of the ring: the knee of what was measured there. A
 * message beside computation takes so many times as long, its latency as much as its bytes, so the
 * knee beside computation is the same. On the line that the datasheet gives, a round of the ring
 * moves an n-th of the block.
 */
static yk_status saturating_bytes(const struct yk_cost_book *book, int32_t a, int32_t b,
                                  int32_t count, double *out)
{
    const struct yk_link *link = yk_cluster_link(book->cluster, a, b);
    YK_TRY(yk_knee_of_link(book, a, b, count, out));
    if (isnan(*out)) {
        *out = YK_KNEE_BANDWIDTH_FRACTION / (1 - YK_KNEE_BANDWIDTH_FRACTION) * count *
               link->latency_s * link->bytes_per_s;
    }
    return YK_OK;
}

yk_status yk_data_parallel_block_bytes(const struct yk_study *study, const int32_t *devices,
                                       int32_t count, double *out)
{
    double block = YK_DATA_PARALLEL_MIN_BLOCK_BYTES;
    for (int32_t i = 0; i < count && count > 1; i++) {
        double bytes = 0;
        YK_TRY(saturating_bytes(study->request->book, devices[i], devices[(i + 1) % count], count,
                                &bytes));
        block = fmax(block, bytes);
    }
    *out = yk_study_decides(study, YK_DECIDE_BLOCK) ? round(fmin(block, most_block_bytes))
                                                    : plain_bucket_bytes;
    return YK_OK;
}

void yk_data_parallel_tie(const struct yk_model *model, enum yk_strategy *strategies)
{
    for (int32_t l = 0; l < model->layer_count; l++) {
        const int32_t owner = model->layers[l].shares;
        strategies[l] = owner == YK_LAYER_NONE ? strategies[l] : strategies[owner];
    }
}

void yk_data_parallel_uniform(const struct yk_study *study, enum yk_strategy strategy,
                              enum yk_strategy *out)
{
    const struct yk_model *model = study->model;
    for (int32_t l = 0; l < model->layer_count; l++) {
        const struct yk_model_layer_state state = yk_model_layer_state(model, &model->layers[l]);
        out[l] = state.weight_bytes < small_bytes ? YK_REPLICATED : strategy;
    }
    yk_data_parallel_tie(model, out);
}

static yk_status order_and_consider(struct yk_search *finder, struct yk_plan *plan, const char *how,
                                    struct yk_arena *arena)
{
    const struct yk_order_plan_options ordering = {
        .method = YK_ORDER_METHOD_GREEDY,
        .open = finder->study->request->strategy == YK_STRATEGY_COUNT &&
                !finder->study->request->random_strategies &&
                yk_study_decides(finder->study, YK_DECIDE_STRATEGIES),
    };
    bool ordered = false;
    YK_TRY(yk_order_plan_apply(finder->study, &ordering, arena, plan, &ordered));
    return ordered ? yk_search_consider(finder, plan, how, NULL) : YK_OK;
}

static bool communicates(const struct yk_plan *plan)
{
    return plan->rank_count > 1 && plan->micro_batches == 1;
}

static yk_status try_in(struct yk_search *finder, const struct yk_data_parallel_spec *split,
                        const char *how, struct yk_arena *arena)
{
    struct yk_plan *plan = NULL;
    bool fits = false;
    YK_TRY(yk_data_parallel_plan(finder->study, split, arena, &plan, &fits));
    if (!plan) {
        return YK_OK;
    }
    YK_TRY(yk_search_consider(finder, plan, how, NULL));
    if (!fits && !split->keeps_idle && plan->rank_count < split->count) {
        struct yk_data_parallel_spec all = *split;
        all.keeps_idle = true;
        return try_in(finder, &all, how, arena);
    }
    if (fits && communicates(plan) && yk_study_decides(finder->study, YK_DECIDE_ORDER)) {
        return order_and_consider(finder, plan, how, arena);
    }
    return YK_OK;
}

yk_status yk_data_parallel_try(struct yk_search *finder, const struct yk_data_parallel_spec *split,
                               const char *how)
{
    struct yk_data_parallel_spec hopeful = *split;
    struct yk_arena *arena = NULL;
    hopeful.hopeful = true;
    YK_TRY(yk_arena_create(&arena));
    yk_status status = try_in(finder, split, how, arena);
    if (status == YK_OK && split->count > 1 && !split->even_shares) {
        status = try_in(finder, &hopeful, how, arena);
    }
    yk_arena_destroy(arena);
    return status;
}

struct looking {
    struct yk_search *finder;
    struct yk_data_parallel_spec split;
    enum yk_strategy *strategies; /* (L) */
    bool *recompute;              /* (L) */
};

static void draw_strategies(const struct looking *looking)
{
    const struct yk_study *study = looking->finder->study;
    struct yk_random random = yk_random_from_seed(study->request->search.seed);
    for (int32_t l = 0; l < study->model->layer_count; l++) {
        looking->strategies[l] = (enum yk_strategy)yk_random_below(&random, YK_STRATEGY_COUNT);
    }
    yk_data_parallel_tie(study->model, looking->strategies);
}

/* Families that the request leaves open, for the split's number of micro-batches. */
static yk_status try_families(struct looking *looking)
{
    const struct yk_study *study = looking->finder->study;
    const struct yk_plan_request *request = study->request;
    const enum yk_strategy fixed =
        yk_study_decides(study, YK_DECIDE_STRATEGIES)
            ? request->strategy
            : (request->strategy == YK_STRATEGY_COUNT ? YK_FULLY_SHARDED : request->strategy);
    if (request->random_strategies) {
        draw_strategies(looking);
        looking->split.no_sync = true;
        return yk_data_parallel_try(looking->finder, &looking->split, "random");
    }
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
        const struct family *family = &families[f];
        const bool alone = looking->split.count == 1 && family->strategy != YK_REPLICATED;
        if (looking->split.micro_batches < family->least_micro_batches || alone ||
            (fixed != YK_STRATEGY_COUNT && family->strategy != fixed)) {
            continue;
        }
        looking->split.no_sync = family->no_sync;
        looking->split.most_s = looking->finder->best_s;
        yk_data_parallel_uniform(study, family->strategy, looking->strategies);
        for (int32_t l = 0; l < study->model->layer_count && fixed != YK_STRATEGY_COUNT; l++) {
            looking->strategies[l] = fixed;
        }
        YK_TRY(yk_data_parallel_try(looking->finder, &looking->split, family->how));
    }
    return YK_OK;
}

static yk_status try_recomputation(struct looking *looking)
{
    const struct yk_study *study = looking->finder->study;
    const bool asked = study->request->workload.recompute;
    const bool open = yk_study_decides(study, YK_DECIDE_RECOMPUTATION);
    for (int32_t again = 0; again < 2; again++) {
        if ((again == 1) != asked && !open) {
            continue;
        }
        for (int32_t l = 0; l < study->model->layer_count; l++) {
            looking->recompute[l] = again == 1 && study->recomputes[l];
        }
        YK_TRY(try_families(looking));
    }
    return YK_OK;
}

static yk_status try_set(void *user, const struct yk_device_set *set, struct yk_arena *arena)
{
    struct looking *looking = user;
    const struct yk_study *study = looking->finder->study;
    const int32_t asked = study->request->micro_batches;
    const int64_t batch = study->request->workload.batch;
    yk_study_report(study, "data parallelism");
    YK_TRY_NEW(arena, looking->strategies, study->model->layer_count);
    YK_TRY_NEW(arena, looking->recompute, study->model->layer_count);
    looking->split = (struct yk_data_parallel_spec){
        .devices = set->devices,
        .count = set->count,
        .strategies = looking->strategies,
        .recompute = looking->recompute,
        .even_shares = !yk_study_decides(study, YK_DECIDE_SHARES),
        .prefetch = 1,
        .bucket_bytes = plain_bucket_bytes,
        .most_s = INFINITY,
    };
    YK_TRY(
        yk_data_parallel_block_bytes(study, set->devices, set->count, &looking->split.block_bytes));
    for (int32_t M = 1; M > 0; M = yk_plan_move_next_micro_batches(batch, M)) {
        looking->split.micro_batches = asked > 0 ? asked : M;
        if (!yk_search_has_budget(looking->finder)) {
            break;
        }
        YK_TRY(try_recomputation(looking));
        if (asked > 0 || (int64_t)M * set->count >= batch) {
            break;
        }
    }
    return YK_OK;
}

yk_status yk_search_data_parallel(struct yk_search *finder, enum yk_search_devices devices)
{
    struct looking looking = {.finder = finder};
    return yk_search_each_device_set(finder, devices, try_set, &looking);
}
