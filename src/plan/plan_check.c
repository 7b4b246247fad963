#include "plan/plan.h"

#include "base/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* For rounding errors, and for rounded numbers that people write. */
static const double PART_TOLERANCE = 1e-6;

static bool is_amount(double bytes)
{
    return bytes > 0 && isfinite(bytes);
}

/* Whether both describe the same layers: sequence, precision and adapters. */
static bool is_same_work(const struct yk_workload *plan, const struct yk_workload *model)
{
    const int64_t target = plan->target_sequence > 0 || model->target_sequence == 0
                               ? plan->target_sequence
                               : plan->sequence;
    return plan->sequence == model->sequence && target == model->target_sequence &&
           plan->precision == model->precision && plan->lora_rank == model->lora_rank &&
           plan->nf4 == model->nf4;
}

static yk_status check_workload(const struct yk_plan *plan, const struct yk_model *model)
{
    if (plan->workload.batch < 1) {
        return yk_fail(YK_ERROR_INPUT, "a batch has 1 sample or more, not %" PRId64,
                       plan->workload.batch);
    }
    if (plan->workload.batch != model->workload.batch ||
        !is_same_work(&plan->workload, &model->workload)) {
        return yk_fail(YK_ERROR_INPUT, "the plan's workload is not the one that the model is "
                                       "described for");
    }
    if (plan->layer_count != model->layer_count) {
        return yk_fail(YK_ERROR_INPUT, "the plan has %d layers, but the model has %d",
                       plan->layer_count, model->layer_count);
    }
    return YK_OK;
}

static yk_status check_scalars(const struct yk_plan *plan)
{
    if (plan->micro_batches < 1) {
        return yk_fail(YK_ERROR_INPUT, "there must be 1 micro-batch or more, not %d",
                       plan->micro_batches);
    }
    if ((unsigned)plan->pipeline >= YK_PIPELINE_SCHEDULE_COUNT) {
        return yk_fail(YK_ERROR_INPUT, "no pipeline has the number %d", (int)plan->pipeline);
    }
    if (plan->prefetch < (plan->transfer_count > 0 ? 0 : 1)) {
        return yk_fail(YK_ERROR_INPUT, "gathers go 1 or more ahead of their use, not %d",
                       plan->prefetch);
    }
    if (!is_amount(plan->block_bytes)) {
        return yk_fail(YK_ERROR_INPUT, "a block must be more than 0 bytes, not %g",
                       plan->block_bytes);
    }
    if (plan->bucket_bytes != 0 && !is_amount(plan->bucket_bytes)) {
        return yk_fail(YK_ERROR_INPUT, "a bucket must be 0 bytes or more, not %g",
                       plan->bucket_bytes);
    }
    return YK_OK;
}

/* Sorts `numbers` and returns one that occurs twice, or −1. */
static int32_t find_twice(int32_t *numbers, int32_t count)
{
    qsort(numbers, (size_t)count, sizeof *numbers, yk_number_qsort_compare_int32);
    for (int32_t i = 1; i < count; i++) {
        if (numbers[i] == numbers[i - 1]) {
            return numbers[i];
        }
    }
    return -1;
}

/* `scratch` has room for (ranks) numbers. */
static yk_status check_ranks(const struct yk_plan *plan, int32_t *scratch)
{
    for (int32_t i = 0; i < plan->rank_count; i++) {
        const struct yk_plan_rank *rank = &plan->ranks[i];
        if (rank->device < 0) {
            return yk_fail(YK_ERROR_INPUT, "rank %d has no device", i);
        }
        if (!is_amount(rank->limit_bytes)) {
            return yk_fail(YK_ERROR_INPUT, "rank %d: its limit must be more than 0 bytes, not %g",
                           i, rank->limit_bytes);
        }
        scratch[i] = rank->device;
    }
    const int32_t twice = find_twice(scratch, plan->rank_count);
    return twice < 0 ? YK_OK
                     : yk_fail(YK_ERROR_INPUT, "device %d has two ranks; give it one", twice);
}

static yk_status check_member(const struct yk_plan *plan, int32_t group, int32_t number)
{
    const struct yk_plan_group_member *member = &plan->groups[group].members[number];
    if (member->rank < 0 || member->rank >= plan->rank_count) {
        return yk_fail(YK_ERROR_INPUT, "group %d has rank %d, but ranks are 0 to %d", group,
                       member->rank, plan->rank_count - 1);
    }
    if (member->share < 0 || member->share > plan->workload.batch) {
        return yk_fail(YK_ERROR_INPUT,
                       "group %d: rank %d takes %" PRId64 " samples of a batch of %" PRId64, group,
                       member->rank, member->share, plan->workload.batch);
    }
    if (!(member->shard_fraction >= 0 && member->shard_fraction <= 1)) {
        return yk_fail(YK_ERROR_INPUT, "group %d: the part of rank %d must be from 0 to 1, not %g",
                       group, member->rank, member->shard_fraction);
    }
    return YK_OK;
}

/* Checks the sums over all members. They cannot overflow, since a share is at most the batch. */
static yk_status check_sums(const struct yk_plan *plan, int32_t group)
{
    const struct yk_plan_group *planned = &plan->groups[group];
    int64_t left = plan->workload.batch;
    double parts = 0;
    for (int32_t i = 0; i < planned->member_count; i++) {
        parts += planned->members[i].shard_fraction;
        left -= planned->members[i].share;
        if (left < 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "the shares of group %d are more than the batch of %" PRId64, group,
                           plan->workload.batch);
        }
    }
    if (left > 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "the shares of group %d add up to %" PRId64 ", but the batch has %" PRId64
                       " samples",
                       group, plan->workload.batch - left, plan->workload.batch);
    }
    if (fabs(parts - 1) > PART_TOLERANCE) {
        return yk_fail(YK_ERROR_INPUT, "the parts of group %d add up to %.9g, not to 1", group,
                       parts);
    }
    return YK_OK;
}

/* Every group must cut the batch into the same micro-batches, none of them empty. */
static yk_status check_micro_batches(const struct yk_plan *plan, int32_t group)
{
    const struct yk_plan_group *planned = &plan->groups[group];
    int64_t smallest = 0;
    for (int32_t i = 0; i < planned->member_count; i++) {
        const struct yk_plan_group_member *member = &planned->members[i];
        smallest += member->share / plan->micro_batches;
        if (plan->group_count > 1 && planned->member_count > 1 &&
            member->share % plan->micro_batches != 0) {
            return yk_fail(
                YK_ERROR_INPUT,
                "group %d: the share of rank %d, %" PRId64
                ", must be a multiple of the %d micro-batches, since there are several groups",
                group, member->rank, member->share, plan->micro_batches);
        }
    }
    return smallest > 0 ? YK_OK
                        : yk_fail(YK_ERROR_INPUT,
                                  "%d micro-batches are more than the shares of group "
                                  "%d can be cut into",
                                  plan->micro_batches, group);
}

/* In groups of several, every member has one micro-batch; all groups cut the batch equally. */
static yk_status check_alternating(const struct yk_plan *plan, int32_t group)
{
    const struct yk_plan_group *planned = &plan->groups[group];
    for (int32_t i = 0; i < planned->member_count; i++) {
        const struct yk_plan_group_member *member = &planned->members[i];
        if (member->micro_batch_number < 0 || member->micro_batch_number > plan->micro_batches ||
            (member->micro_batch_number > 0) != (planned->member_count > 1)) {
            char number[YK_NUMBER_BUFFER_SIZE] = "missing";
            if (member->micro_batch_number != 0) {
                yk_number_format(member->micro_batch_number - 1, number);
            }
            return yk_fail(YK_ERROR_INPUT,
                           "group %d: \"micro_batch\" of rank %d is %s; where members alternate, "
                           "each of a group of several has one "
                           "below %d, and one that is alone has none",
                           group, member->rank, number, plan->micro_batches);
        }
    }
    for (int32_t m = 0; m < plan->micro_batches; m++) {
        int64_t first = 0;
        const int32_t last = planned->member_count - 1;
        const int64_t samples = yk_plan_member_sample_range(plan, group, last, m, &first) + first;
        const struct yk_plan_group *other = &plan->groups[0];
        int64_t other_first = 0;
        const int64_t others =
            yk_plan_member_sample_range(plan, 0, other->member_count - 1, m, &other_first) +
            other_first;
        if (samples < 1) {
            return yk_fail(YK_ERROR_INPUT, "group %d: no member has micro-batch %d", group, m);
        }
        if (samples != others) {
            return yk_fail(YK_ERROR_INPUT,
                           "group %d takes %" PRId64
                           " samples in micro-batch %d, but group 0 takes %" PRId64
                           "; all groups must take the same",
                           group, samples, m, others);
        }
    }
    return YK_OK;
}

static yk_status check_group(const struct yk_plan *plan, int32_t group, int32_t *scratch)
{
    const struct yk_plan_group *planned = &plan->groups[group];
    bool alternating = yk_plan_has_alternating_members(plan);
    if (planned->member_count < 1 || planned->member_count > plan->rank_count) {
        return yk_fail(YK_ERROR_INPUT, "group %d has %d members of %d ranks", group,
                       planned->member_count, plan->rank_count);
    }
    for (int32_t i = 0; i < planned->member_count; i++) {
        YK_TRY(check_member(plan, group, i));
        scratch[i] = planned->members[i].rank;
        alternating = alternating || planned->members[i].micro_batch_number != 0;
    }
    const int32_t twice = find_twice(scratch, planned->member_count);
    if (twice >= 0) {
        return yk_fail(YK_ERROR_INPUT, "group %d has rank %d twice", group, twice);
    }
    YK_TRY(check_sums(plan, group));
    return alternating ? check_alternating(plan, group) : check_micro_batches(plan, group);
}

static yk_status check_ranks_and_groups(const struct yk_plan *plan)
{
    if (plan->rank_count < 1 || plan->group_count < 1) {
        return yk_fail(YK_ERROR_INPUT, "a plan has at least one rank and one group");
    }
    int32_t *scratch = calloc((size_t)plan->rank_count, sizeof *scratch);
    YK_TRY_ALLOCATED(scratch);
    yk_status status = check_ranks(plan, scratch);
    for (int32_t i = 0; i < plan->group_count && status == YK_OK; i++) {
        status = check_group(plan, i, scratch);
    }
    free(scratch);
    return status;
}

static yk_status check_layer(const struct yk_plan *plan, const struct yk_model *model,
                             int32_t number)
{
    const struct yk_plan_layer *layer = &plan->layers[number];
    const char *name = model->layers[number].name;
    const int32_t shares = model->layers[number].shares_weights_of;
    if (layer->group < 0 || layer->group >= plan->group_count) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" goes to group %d, but groups are 0 to %d", name,
                       layer->group, plan->group_count - 1);
    }
    if ((unsigned)layer->strategy >= YK_SHARDING_STRATEGY_COUNT) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\": no strategy has the number %d", name,
                       (int)layer->strategy);
    }
    if (shares == YK_LAYER_NONE) {
        return YK_OK;
    }
    const struct yk_plan_layer *other = &plan->layers[shares];
    const char *other_name = model->layers[shares].name;
    if (layer->group != other->group) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"%s\" uses the weights of \"%s\"; both must be in one group", name,
                       other_name);
    }
    return layer->strategy == other->strategy
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT,
                         "\"%s\" uses the weights of \"%s\"; both must have one strategy", name,
                         other_name);
}

/* Whether layers of this strategy have transfers of this kind. */
static bool suits(enum yk_sharding_strategy strategy, enum yk_transfer_kind kind)
{
    return (kind == YK_TRANSFER_ALL_REDUCE) == (strategy == YK_SHARDING_REPLICATED);
}

static yk_status check_transfer(const struct yk_plan *plan, const struct yk_model *model,
                                const struct yk_plan_transfer *transfer)
{
    if ((unsigned)transfer->kind > YK_TRANSFER_ALL_REDUCE || transfer->layer < 0 ||
        transfer->layer >= plan->layer_count) {
        return yk_fail(YK_ERROR_INPUT, "no transfer is kind %d of layer %d", (int)transfer->kind,
                       transfer->layer);
    }
    const struct yk_layer *layer = &model->layers[transfer->layer];
    const char *kind = yk_plan_transfer_kind_name(transfer->kind);
    const enum yk_sharding_strategy strategy = yk_plan_effective_strategy(plan, transfer->layer);
    if (layer->shares_weights_of != YK_LAYER_NONE &&
        yk_plan_layer_block_count(plan, model, transfer->layer) == 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s of \"%s\": it uses the weights of \"%s\", and travels with that", kind,
                       layer->name, model->layers[layer->shares_weights_of].name);
    }
    if (!suits(strategy, transfer->kind)) {
        return yk_fail(YK_ERROR_INPUT, "%s of \"%s\": that is not done with a layer that is %s",
                       kind, layer->name, yk_plan_strategy_name(strategy));
    }
    const int32_t blocks = yk_plan_layer_block_count(plan, model, transfer->layer);
    if (transfer->first_block < 0 || transfer->block_count < 1 ||
        transfer->block_count > blocks - transfer->first_block) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s of \"%s\": there are no %d blocks from block %d on; it has %d", kind,
                       layer->name, transfer->block_count, transfer->first_block, blocks);
    }
    if (transfer->slot < 0 || transfer->slot >= yk_plan_slot_count(plan)) {
        return yk_fail(YK_ERROR_INPUT, "%s of \"%s\": slots are 0 to %d, there is no slot %d", kind,
                       layer->name, yk_plan_slot_count(plan) - 1, transfer->slot);
    }
    return YK_OK;
}

static yk_status check_transfers(const struct yk_plan *plan, const struct yk_model *model)
{
    if (plan->transfer_count < 0) {
        return yk_fail(YK_ERROR_INPUT, "a plan cannot have %d transfers", plan->transfer_count);
    }
    if (plan->transfer_count == 0) {
        return YK_OK;
    }
    if (plan->group_count > 1 || plan->micro_batches > 1) {
        return yk_fail(YK_ERROR_INPUT,
                       "an order of transfers is for plans with one group and one micro-batch, not "
                       "%d and %d",
                       plan->group_count, plan->micro_batches);
    }
    if (plan->groups[0].member_count == 1) {
        return yk_fail(YK_ERROR_INPUT, "with one rank nothing travels; leave the transfers out");
    }
    for (int32_t i = 0; i < plan->transfer_count; i++) {
        const struct yk_plan_transfer *transfer = &plan->transfers[i];
        YK_TRY(check_transfer(plan, model, transfer));
        if (i > 0 && transfer->slot < plan->transfers[i - 1].slot) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s of \"%s\" stands after a transfer of a later slot; order them by "
                           "slot",
                           yk_plan_transfer_kind_name(transfer->kind),
                           model->layers[transfer->layer].name);
        }
    }
    return YK_OK;
}

yk_status yk_plan_check(const struct yk_plan *plan, const struct yk_model *model)
{
    YK_TRY(check_workload(plan, model));
    YK_TRY(check_scalars(plan));
    YK_TRY(check_ranks_and_groups(plan));
    for (int32_t i = 0; i < plan->layer_count; i++) {
        YK_TRY(check_layer(plan, model, i));
    }
    return check_transfers(plan, model);
}
