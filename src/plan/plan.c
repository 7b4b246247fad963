#include "plan/plan.h"

#include "base/number.h"
#include "model/model.h"

#include <math.h>
#include <string.h>

const char *yk_plan_strategy_name(enum yk_sharding_strategy strategy)
{
    static const char *const names[YK_SHARDING_STRATEGY_COUNT] = {
        [YK_SHARDING_REPLICATED] = "replicated",
        [YK_SHARDING_SHARDED_STATE] = "sharded-state",
        [YK_SHARDING_KEPT_AFTER_FORWARD] = "kept",
        [YK_SHARDING_FULLY_SHARDED] = "fully-sharded",
    };
    return names[strategy];
}

const char *yk_plan_pipeline_schedule_name(enum yk_pipeline_schedule_kind pipeline)
{
    static const char *const names[YK_PIPELINE_SCHEDULE_COUNT] = {
        [YK_PIPELINE_GPIPE] = "gpipe",
        [YK_PIPELINE_1F1B] = "1f1b",
        [YK_PIPELINE_NESTED] = "nested",
    };
    return names[pipeline];
}

const char *yk_plan_decision_name(int32_t bit)
{
    static const char *const names[YK_PLAN_DECISION_COUNT] = {
        "shares", "parts", "strategies", "block", "order", "placement", "recomputation",
    };
    return names[bit];
}

const char *yk_plan_transfer_kind_name(enum yk_transfer_kind kind)
{
    static const char *const names[] = {
        [YK_TRANSFER_ALL_GATHER] = "all_gather",
        [YK_TRANSFER_REDUCE_SCATTER] = "reduce_scatter",
        [YK_TRANSFER_ALL_REDUCE] = "all_reduce",
    };
    return names[kind];
}

yk_status yk_plan_create(struct yk_arena *arena, int32_t ranks, int32_t groups, int32_t layers,
                         struct yk_plan **out)
{
    struct yk_plan *plan = NULL;
    YK_TRY_NEW(arena, plan, 1);
    YK_TRY_NEW(arena, plan->ranks, ranks);
    YK_TRY_NEW(arena, plan->groups, groups);
    YK_TRY_NEW(arena, plan->layers, layers);
    for (int32_t i = 0; i < groups; i++) {
        YK_TRY_NEW(arena, plan->groups[i].members, ranks);
    }
    plan->rank_count = ranks;
    plan->group_count = groups;
    plan->layer_count = layers;
    *out = plan;
    return YK_OK;
}

yk_status yk_plan_copy(const struct yk_plan *plan, struct yk_arena *arena, struct yk_plan **out)
{
    struct yk_plan *copy = NULL;
    YK_TRY(yk_plan_create(arena, plan->rank_count, plan->group_count, plan->layer_count, &copy));
    struct yk_plan values = *plan;
    values.ranks = copy->ranks;
    values.groups = copy->groups;
    values.layers = copy->layers;
    values.transfers = NULL;
    YK_TRY(yk_arena_strdup(arena, plan->model_source, &values.model_source));
    YK_TRY(yk_arena_strdup(arena, plan->cluster_source, &values.cluster_source));
    YK_TRY(yk_arena_strdup(arena, plan->profile_source, &values.profile_source));
    memcpy(copy->ranks, plan->ranks, (size_t)plan->rank_count * sizeof *plan->ranks);
    memcpy(copy->layers, plan->layers, (size_t)plan->layer_count * sizeof *plan->layers);
    for (int32_t i = 0; i < plan->group_count; i++) {
        const struct yk_plan_group *group = &plan->groups[i];
        memcpy(copy->groups[i].members, group->members,
               (size_t)group->member_count * sizeof *group->members);
        copy->groups[i].member_count = group->member_count;
    }
    if (plan->transfer_count > 0) {
        YK_TRY_NEW(arena, values.transfers, plan->transfer_count);
        memcpy(values.transfers, plan->transfers,
               (size_t)plan->transfer_count * sizeof *plan->transfers);
    }
    if (plan->options.excluded_devices) {
        bool *left_out = NULL;
        YK_TRY_NEW(arena, left_out, plan->options.device_count);
        memcpy(left_out, plan->options.excluded_devices,
               (size_t)plan->options.device_count * sizeof *left_out);
        values.options.excluded_devices = left_out;
    }
    *copy = values;
    *out = copy;
    return YK_OK;
}

/* The first group whose members alternate, or NULL. */
static const struct yk_plan_group *find_alternating(const struct yk_plan *plan)
{
    for (int32_t g = 0; g < plan->group_count; g++) {
        if (plan->groups[g].member_count > 0 && plan->groups[g].members[0].micro_batch_number > 0) {
            return &plan->groups[g];
        }
    }
    return NULL;
}

int64_t yk_plan_largest_share_of_rank(const struct yk_plan *plan, int32_t rank)
{
    int64_t share = 0;
    for (int32_t g = 0; g < plan->group_count; g++) {
        for (int32_t m = 0; m < plan->groups[g].member_count; m++) {
            const struct yk_plan_group_member *member = &plan->groups[g].members[m];
            share = member->rank == rank && member->share > share ? member->share : share;
        }
    }
    return share;
}

bool yk_plan_has_alternating_members(const struct yk_plan *plan)
{
    return find_alternating(plan) != NULL;
}

static int64_t share_in(const struct yk_plan_group_member *member, int32_t micro_batch)
{
    return member->micro_batch_number == micro_batch + 1 ? member->share : 0;
}

/*
 * Samples of one member in one micro-batch. Even parts also suit plans with several groups: there,
 * a share is the whole batch or a multiple of the micro-batches. If members alternate, the single
 * member of another group has all samples of the micro-batch.
 */
static int64_t samples_of(const struct yk_plan *plan, const struct yk_plan_group *alternating,
                          const struct yk_plan_group_member *member, int32_t micro_batch)
{
    int64_t samples = 0;
    if (!alternating) {
        return yk_number_even_part_size(member->share, plan->micro_batches, micro_batch);
    }
    if (member->micro_batch_number > 0) {
        return share_in(member, micro_batch);
    }
    for (int32_t i = 0; i < alternating->member_count; i++) {
        samples += share_in(&alternating->members[i], micro_batch);
    }
    return samples;
}

int64_t yk_plan_member_sample_range(const struct yk_plan *plan, int32_t group, int32_t member,
                                    int32_t micro_batch, int64_t *first)
{
    const struct yk_plan_group *alternating = find_alternating(plan);
    const struct yk_plan_group_member *members = plan->groups[group].members;
    *first = 0;
    for (int32_t i = 0; i < member; i++) {
        *first += samples_of(plan, alternating, &members[i], micro_batch);
    }
    return samples_of(plan, alternating, &members[member], micro_batch);
}

void yk_plan_group_sample_ranges(const struct yk_plan *plan, int32_t group, int32_t micro_batch,
                                 int64_t *begins)
{
    const struct yk_plan_group *alternating = find_alternating(plan);
    const struct yk_plan_group *planned = &plan->groups[group];
    begins[0] = 0;
    for (int32_t i = 0; i < planned->member_count; i++) {
        begins[i + 1] =
            begins[i] + samples_of(plan, alternating, &planned->members[i], micro_batch);
    }
}

void yk_plan_unify_tied_layers(struct yk_plan *plan, const struct yk_model *model)
{
    for (int32_t l = 0; l < plan->layer_count; l++) {
        const struct yk_plan_layer *owner = &plan->layers[yk_model_weight_owner(model, l)];
        plan->layers[l].group = owner->group;
        plan->layers[l].strategy = owner->strategy;
    }
}

int32_t yk_plan_count_group_layers(const struct yk_plan *plan, int32_t group)
{
    int32_t count = 0;
    for (int32_t l = 0; l < plan->layer_count; l++) {
        count += plan->layers[l].group == group ? 1 : 0;
    }
    return count;
}

bool yk_plan_layers_are_equal(const struct yk_plan_layer *a, const struct yk_plan_layer *b)
{
    return a->group == b->group && a->strategy == b->strategy && a->recompute == b->recompute;
}

int32_t yk_plan_layer_block_count(const struct yk_plan *plan, const struct yk_model *model,
                                  int32_t layer)
{
    const struct yk_model_layer_state_bytes state =
        yk_model_layer_state_bytes(model, &model->layers[layer]);
    const double bytes = yk_plan_effective_strategy(plan, layer) == YK_SHARDING_SHARDED_STATE &&
                                 state.weight_bytes > 0
                             ? fmax(state.gradient_bytes, 1)
                             : state.weight_bytes;
    const double blocks = ceil(bytes / plan->block_bytes);
    return blocks > YK_PLAN_MAX_BLOCKS ? YK_PLAN_MAX_BLOCKS : (int32_t)blocks;
}

/* Largest remainders; ties go to the earlier rank. */
void yk_plan_divide_batch(const double *speeds, int32_t count, int64_t batch, int64_t *out)
{
    double sum = 0;
    int64_t left = batch;
    for (int32_t i = 0; i < count; i++) {
        sum += speeds[i];
    }
    for (int32_t i = 0; i < count; i++) {
        out[i] = (int64_t)floor((double)batch * speeds[i] / sum);
        out[i] = out[i] == 0 && speeds[i] > 0 ? 1 : out[i];
        left -= out[i];
    }
    while (left != 0) {
        int32_t best = -1;
        double largest = -INFINITY;
        for (int32_t i = 0; i < count; i++) {
            const double lacks = (double)batch * speeds[i] / sum - (double)out[i];
            const double urgency = left > 0 ? lacks : -lacks;
            if (speeds[i] > 0 && (left > 0 || out[i] > 1) && urgency > largest) {
                largest = urgency;
                best = i;
            }
        }
        if (best < 0) {
            break; /* more ranks than samples */
        }
        out[best] += left > 0 ? 1 : -1;
        left += left > 0 ? -1 : 1;
    }
}
