#include "support/plans/random_plan.h"

#include "support/support.h"

#include <string.h>

enum {
    MOST_MEMBERS = 16,
    MOST_GROUPS = 4,
    MOST_SHARE = 9,
    LONGEST_RUN = 5,
    MOST_TRANSFERS = 24,
};

static bool chance(struct yk_random *random, int64_t of)
{
    return yk_random_below(random, of) == 0;
}

/* From `least` to `most`. */
static int32_t pick(struct yk_random *random, int32_t lowest, int32_t most)
{
    return lowest + (int32_t)yk_random_below(random, most - lowest + 1);
}

/* Round and crooked amounts alike. */
static double pick_bytes(struct yk_random *random, double most)
{
    static const double units[] = {1, 1024, 1048576, 1073741824, 1e6, 1e9, 0.125};
    const double unit = units[yk_random_below(random, 7)];
    const double bytes = chance(random, 3) ? most * (1 - yk_random_uniform(random))
                                           : unit * (double)pick(random, 1, 24);
    return bytes < most ? bytes : most;
}

static void pick_workload(struct yk_random *random, int64_t batch, struct yk_workload *out)
{
    *out = (struct yk_workload){
        .batch = batch,
        .sequence = pick(random, 1, 64),
        .precision = (enum yk_precision)pick(random, 0, YK_PRECISION_COUNT - 1),
        .lora_rank = chance(random, 2) ? 0 : pick(random, 1, 64),
    };
    out->nf4 = out->lora_rank > 0 && chance(random, 2);
}

static void shuffle(struct yk_random *random, int32_t *numbers, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        numbers[i] = i;
    }
    for (int32_t i = count - 1; i > 0; i--) {
        const int32_t other = pick(random, 0, i);
        const int32_t kept = numbers[i];
        numbers[i] = numbers[other];
        numbers[other] = kept;
    }
}

static void pick_ranks(struct yk_random *random, const struct yk_cluster *cluster,
                       struct yk_plan *plan)
{
    int32_t devices[YK_CLUSTER_MAX_DEVICES];
    shuffle(random, devices, cluster->device_count);
    for (int32_t i = 0; i < plan->rank_count; i++) {
        plan->ranks[i].device = devices[i];
        plan->ranks[i].limit_bytes = pick_bytes(random, cluster->devices[devices[i]].memory_bytes);
    }
}

static void pick_parts(struct yk_random *random, struct yk_plan_group *group)
{
    const bool equal = chance(random, 2);
    double sum = 0;
    for (int32_t i = 0; i < group->member_count; i++) {
        group->members[i].shard_fraction = equal ? 1 : yk_random_uniform(random) + 1e-3;
        sum += group->members[i].shard_fraction;
    }
    for (int32_t i = 0; i < group->member_count; i++) {
        group->members[i].shard_fraction /= sum;
    }
}

/* Gives out the whole batch, `unit` samples at a time. */
static void pick_shares(struct yk_random *random, const struct yk_plan *plan, int64_t unit,
                        struct yk_plan_group *group)
{
    for (int64_t given = 0; given < plan->workload.batch; given += unit) {
        group->members[yk_random_below(random, group->member_count)].share += unit;
    }
}

static void pick_groups(struct yk_random *random, struct yk_plan *plan)
{
    for (int32_t g = 0; g < plan->group_count; g++) {
        struct yk_plan_group *group = &plan->groups[g];
        int32_t ranks[MOST_MEMBERS] = {0};
        shuffle(random, ranks, plan->rank_count);
        group->member_count = pick(random, 1, plan->rank_count);
        for (int32_t i = 0; i < group->member_count; i++) {
            group->members[i].rank = ranks[i];
        }
        pick_parts(random, group);
        pick_shares(random, plan, plan->group_count > 1 ? plan->micro_batches : 1, group);
    }
}

/* With one group, the largest share must do for all micro-batches. */
static void fit_micro_batches(struct yk_plan *plan)
{
    int64_t largest = 0;
    for (int32_t i = 0; i < plan->groups[0].member_count; i++) {
        const int64_t share = plan->groups[0].members[i].share;
        largest = share > largest ? share : largest;
    }
    if (plan->group_count == 1 && plan->micro_batches > largest) {
        plan->micro_batches = (int32_t)largest;
    }
}

static void pick_layers(struct yk_random *random, const struct yk_model *model,
                        struct yk_plan *plan)
{
    struct yk_plan_layer layer = {0};
    int32_t left = 0;
    for (int32_t i = 0; i < plan->layer_count; i++, left--) {
        if (left <= 0) {
            left = pick(random, 1, LONGEST_RUN);
            layer.group = pick(random, 0, plan->group_count - 1);
            layer.strategy =
                (enum yk_sharding_strategy)pick(random, 0, YK_SHARDING_STRATEGY_COUNT - 1);
            layer.recompute = chance(random, 3);
        }
        plan->layers[i] = layer;
        if (model->layers[i].shares_weights_of != YK_LAYER_NONE) {
            plan->layers[i] = plan->layers[model->layers[i].shares_weights_of];
            plan->layers[i].recompute = layer.recompute;
        }
    }
}

static void pick_transfer(struct yk_random *random, const struct yk_model *model,
                          const struct yk_plan *plan, struct yk_plan_transfer *out)
{
    do {
        out->layer = pick(random, 0, plan->layer_count - 1);
    } while (model->layers[out->layer].shares_weights_of != YK_LAYER_NONE ||
             yk_plan_layer_block_count(plan, model, out->layer) == 0);
    const int32_t blocks = yk_plan_layer_block_count(plan, model, out->layer);
    out->kind = yk_plan_effective_strategy(plan, out->layer) == YK_SHARDING_REPLICATED
                    ? YK_TRANSFER_ALL_REDUCE
                : chance(random, 2) ? YK_TRANSFER_ALL_GATHER
                                    : YK_TRANSFER_REDUCE_SCATTER;
    out->first_block = chance(random, 2) ? 0 : pick(random, 0, blocks - 1);
    out->block_count =
        chance(random, 2) ? blocks - out->first_block : pick(random, 1, blocks - out->first_block);
}

static void pick_transfers(struct yk_random *random, const struct yk_model *model,
                           struct yk_arena *arena, struct yk_plan *plan)
{
    int32_t slot = 0;
    plan->transfers = yk_arena_allocate(arena, MOST_TRANSFERS, sizeof *plan->transfers);
    assert_non_null(plan->transfers);
    while (plan->transfer_count < MOST_TRANSFERS && slot < yk_plan_slot_count(plan)) {
        struct yk_plan_transfer *transfer = &plan->transfers[plan->transfer_count++];
        pick_transfer(random, model, plan, transfer);
        transfer->slot = slot;
        slot += pick(random, 0, 3);
    }
}

static void pick_scalars(struct yk_random *random, struct yk_plan *plan)
{
    plan->pipeline =
        (enum yk_pipeline_schedule_kind)pick(random, 0, YK_PIPELINE_SCHEDULE_COUNT - 1);
    plan->no_sync = chance(random, 2);
    plan->clip = chance(random, 2);
    plan->prefetch = pick(random, 1, 4);
    plan->block_bytes = pick_bytes(random, 1e8);
    plan->bucket_bytes = chance(random, 8) ? 0 : pick_bytes(random, 1e9);
}

/* By numbers of its own, so that the rest of a plan does not depend on it. */
static void pick_options(struct yk_random random, const struct yk_cluster *cluster,
                         struct yk_arena *arena, struct yk_plan *plan)
{
    struct yk_plan_restrictions *options = &plan->options;
    options->memory_bytes = chance(&random, 2) ? 0 : pick_bytes(&random, 1e11);
    options->micro_batches = chance(&random, 2) ? 0 : plan->micro_batches;
    options->recompute = chance(&random, 2);
    options->undecided = chance(&random, 2) ? 0 : (uint32_t)pick(&random, 1, YK_DECIDE_ALL);
    options->random_strategies = chance(&random, 4);
    options->one_strategy = !options->random_strategies && chance(&random, 2);
    if (options->one_strategy) {
        options->strategy =
            (enum yk_sharding_strategy)pick(&random, 0, YK_SHARDING_STRATEGY_COUNT - 1);
    }
    options->slowdown = chance(&random, 2) ? 0 : 1 + yk_random_uniform(&random);
    if (chance(&random, 2)) {
        bool *left_out = yk_arena_allocate(arena, (size_t)cluster->device_count, sizeof *left_out);
        assert_non_null(left_out);
        for (int32_t i = 0; i < cluster->device_count; i++) {
            left_out[i] = i > 0 && chance(&random, 2);
        }
        options->excluded_devices = left_out;
        options->device_count = cluster->device_count;
    }
}

struct yk_plan *support_random_plan(struct yk_random *random,
                                    const struct yk_plan_file_context *context,
                                    struct yk_arena *arena)
{
    const int32_t devices = context->cluster->device_count;
    const int32_t ranks = pick(random, 1, devices < MOST_MEMBERS ? devices : MOST_MEMBERS);
    const int32_t groups = chance(random, 2) ? 1 : pick(random, 2, MOST_GROUPS);
    const int32_t micro_batches = chance(random, 2) ? 1 : pick(random, 2, 4);
    const struct yk_model *model = NULL;
    struct yk_plan *plan = NULL;
    struct yk_workload workload;
    pick_workload(random, (int64_t)micro_batches * pick(random, 1, MOST_SHARE), &workload);
    assert_ok(yk_model_build(context->config, &workload, arena, &model));
    assert_ok(yk_plan_create(arena, ranks, groups, model->layer_count, &plan));
    plan->model_source = context->config->name;
    plan->cluster_source = context->cluster->source;
    plan->profile_source = context->profile ? "here.profile" : NULL;
    plan->workload = workload;
    plan->micro_batches = micro_batches;
    pick_scalars(random, plan);
    pick_ranks(random, context->cluster, plan);
    pick_groups(random, plan);
    fit_micro_batches(plan);
    pick_layers(random, model, plan);
    if (groups == 1 && plan->micro_batches == 1 && plan->groups[0].member_count > 1 &&
        chance(random, 2)) {
        pick_transfers(random, model, arena, plan);
    }
    pick_options(*random, context->cluster, arena, plan);
    assert_ok(yk_plan_check(plan, model));
    return plan;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_options(const struct yk_plan_restrictions *a, const struct yk_plan_restrictions *b)
{
    const size_t size = (size_t)a->device_count * sizeof *a->excluded_devices;
    return a->memory_bytes == b->memory_bytes && a->micro_batches == b->micro_batches &&
           a->recompute == b->recompute && a->undecided == b->undecided &&
           a->one_strategy == b->one_strategy && a->random_strategies == b->random_strategies &&
           a->strategy == b->strategy && a->slowdown == b->slowdown &&
           a->device_count == b->device_count && !a->excluded_devices == !b->excluded_devices &&
           (!a->excluded_devices || memcmp(a->excluded_devices, b->excluded_devices, size) == 0);
}

static const char *scalar_difference(const struct yk_plan *a, const struct yk_plan *b)
{
    const struct yk_workload *left = &a->workload;
    const struct yk_workload *right = &b->workload;
    const bool sources = same_text(a->model_source, b->model_source) &&
                         same_text(a->cluster_source, b->cluster_source) &&
                         same_text(a->profile_source, b->profile_source);
    const bool workload = left->batch == right->batch && left->sequence == right->sequence &&
                          left->target_sequence == right->target_sequence &&
                          left->precision == right->precision &&
                          left->lora_rank == right->lora_rank && left->nf4 == right->nf4;
    const bool counts = a->rank_count == b->rank_count && a->group_count == b->group_count &&
                        a->layer_count == b->layer_count && a->transfer_count == b->transfer_count;
    const bool scalars = a->micro_batches == b->micro_batches && a->pipeline == b->pipeline &&
                         a->no_sync == b->no_sync && a->clip == b->clip &&
                         a->prefetch == b->prefetch && a->block_bytes == b->block_bytes &&
                         a->bucket_bytes == b->bucket_bytes;
    return !sources                                  ? "sources"
           : !workload                               ? "workload"
           : !counts                                 ? "counts"
           : !scalars                                ? "scalars"
           : !same_options(&a->options, &b->options) ? "options"
                                                     : NULL;
}

static const char *group_difference(const struct yk_plan_group *a, const struct yk_plan_group *b)
{
    bool same = a->member_count == b->member_count;
    for (int32_t i = 0; same && i < a->member_count; i++) {
        same = a->members[i].rank == b->members[i].rank &&
               a->members[i].share == b->members[i].share &&
               a->members[i].shard_fraction == b->members[i].shard_fraction &&
               a->members[i].micro_batch_number == b->members[i].micro_batch_number;
    }
    return same ? NULL : "groups";
}

static bool same_transfer(const struct yk_plan_transfer *a, const struct yk_plan_transfer *b)
{
    return a->kind == b->kind && a->layer == b->layer && a->first_block == b->first_block &&
           a->block_count == b->block_count && a->slot == b->slot;
}

const char *support_plan_difference(const struct yk_plan *a, const struct yk_plan *b)
{
    const char *difference = scalar_difference(a, b);
    for (int32_t i = 0; !difference && i < a->rank_count; i++) {
        const bool same = a->ranks[i].device == b->ranks[i].device &&
                          a->ranks[i].limit_bytes == b->ranks[i].limit_bytes;
        difference = same ? NULL : "ranks";
    }
    for (int32_t i = 0; !difference && i < a->group_count; i++) {
        difference = group_difference(&a->groups[i], &b->groups[i]);
    }
    for (int32_t i = 0; !difference && i < a->layer_count; i++) {
        const bool same = a->layers[i].group == b->layers[i].group &&
                          a->layers[i].strategy == b->layers[i].strategy &&
                          a->layers[i].recompute == b->layers[i].recompute;
        difference = same ? NULL : "layers";
    }
    for (int32_t i = 0; !difference && i < a->transfer_count; i++) {
        difference = same_transfer(&a->transfers[i], &b->transfers[i]) ? NULL : "transfers";
    }
    return difference;
}
