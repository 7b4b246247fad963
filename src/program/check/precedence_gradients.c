#include "program/check/precedence.h"
#include "program/check/rule.h"

struct summing {
    const struct yk_op_index *index;
    struct yk_precedences *precedences;
    struct yk_rule_block_range *blocks; /* (ops) */
};

/* Adds: `after` follows the backward passes of all layers that use the weights of `layer`: those of
 * `micro_batch`, or of all micro-batches up to it if the gradient is accumulated. */
static yk_status after_gradient(const struct summing *summing, int32_t layer, int32_t micro_batch,
                                int32_t after, enum yk_precedence_reason reason)
{
    const struct yk_op_index *index = summing->index;
    const bool accumulated = yk_program_facts_accumulates_gradient(index->facts, layer);
    for (int32_t m = accumulated ? 0 : micro_batch; m <= micro_batch; m++) {
        for (int32_t u = layer; u >= 0;
             u = yk_program_facts_next_weight_user(index->facts, layer, u)) {
            const int32_t backward =
                index->backward[yk_op_index_layer_micro_batch_cell(index, u, m)];
            if (backward != YK_OP_NONE) {
                YK_TRY(yk_precedences_add_across_steps(summing->precedences, backward, after, 0,
                                                       reason));
            }
        }
    }
    return YK_OK;
}

/* Checks that each micro-batch that reduces has every block exactly once. `missing` is the op of an
 * error message about a missing block. */
static yk_status check_messages(const struct summing *summing, int32_t count, int32_t block_count,
                                struct yk_op missing)
{
    const struct yk_op_index *index = summing->index;
    const struct yk_program *program = index->facts->program;
    int32_t next = 0;
    yk_rule_block_ranges_sort(summing->blocks, count);
    for (int32_t m = 0; m < index->facts->M; m++) {
        struct yk_rule_block_error fault;
        char other[YK_RULE_TEXT_SIZE];
        if (!yk_program_facts_reduces_after_micro_batch(index->facts, m) ||
            yk_rule_block_ranges_cover_once(summing->blocks, count, m, block_count, &next,
                                            &fault)) {
            continue;
        }
        if (fault.op < 0) {
            missing.micro_batch = m;
            missing.first_block = fault.block;
            return yk_rule_fail(program, index->rank, "reduced", &missing, "is missing");
        }
        const struct yk_op *again = &index->list->ops[fault.again];
        if (again->kind == YK_OP_ALL_REDUCE) {
            return yk_rule_fail(program, index->rank, "reduced", again,
                                "reduces the bucket for the second time");
        }
        yk_rule_describe_op(program, &index->list->ops[fault.op], other);
        return yk_rule_fail(program, index->rank, "reduced", again,
                            "reduces block %d again after %s", fault.block, other);
    }
    return YK_OK;
}

/* Orders the reductions of a kind, from `first` on, that sum the gradients of `layers`. Fails if
 * one of them is not wanted: `unwanted` says why; NULL: all are wanted. */
static yk_status order_reductions(const struct summing *summing, int32_t first,
                                  const int32_t *layers, int32_t layer_count, const char *unwanted,
                                  int32_t *out_count)
{
    const struct yk_op_index *index = summing->index;
    const struct yk_program_facts *facts = index->facts;
    *out_count = 0;
    for (int32_t i = first; i != YK_OP_NONE; i = index->next[i]) {
        const struct yk_op *op = &index->list->ops[i];
        if (unwanted || !yk_program_facts_reduces_after_micro_batch(facts, op->micro_batch)) {
            return yk_rule_fail(facts->program, index->rank, "reduced", op, "%s",
                                unwanted ? unwanted
                                         : "is not in the last micro-batch, under no_sync");
        }
        summing->blocks[(*out_count)++] =
            (struct yk_rule_block_range){op->micro_batch, op->first_block,
                                         op->kind == YK_OP_ALL_REDUCE ? 1 : op->block_count, i};
        for (int32_t l = 0; l < layer_count; l++) {
            YK_TRY(after_gradient(summing, layers[l], op->micro_batch, i,
                                  YK_PRECEDENCE_REDUCE_AFTER_BACKWARD));
            YK_TRY(yk_precedences_add_across_steps(summing->precedences, i,
                                                   index->update[layers[l]], 0,
                                                   YK_PRECEDENCE_UPDATE_AFTER_REDUCE));
        }
    }
    return YK_OK;
}

static yk_status find_scatters(const struct summing *summing, int32_t layer)
{
    const struct yk_program_facts *facts = summing->index->facts;
    const bool scattered = yk_program_facts_reduces_layer_gradient(facts, layer) &&
                           yk_plan_effective_strategy(facts->plan, layer) != YK_SHARDING_REPLICATED;
    const struct yk_op missing = {.kind = YK_OP_REDUCE_SCATTER, .layer = layer, .block_count = 1};
    int32_t count = 0;
    YK_TRY(order_reductions(summing, summing->index->first[YK_OP_REDUCE_SCATTER][layer], &layer, 1,
                            scattered ? NULL : "has nothing to scatter", &count));
    return scattered
               ? check_messages(summing, count, facts->program->layers[layer].block_count, missing)
               : YK_OK;
}

/* A bucket has one all_reduce in each micro-batch that reduces. */
static yk_status find_reductions(const struct summing *summing, int32_t bucket)
{
    const struct yk_op_index *index = summing->index;
    const struct yk_gradient_bucket *reduced = &index->facts->program->buckets[bucket];
    const struct yk_op missing = {.kind = YK_OP_ALL_REDUCE,
                                  .layer = reduced->layers[reduced->layer_count - 1],
                                  .bucket = bucket};
    int32_t count = 0;
    YK_TRY(order_reductions(summing, index->first[YK_OP_ALL_REDUCE][bucket], reduced->layers,
                            reduced->layer_count, NULL, &count));
    return check_messages(summing, count, 1, missing);
}

static yk_status expect_update(const struct summing *summing, int32_t layer)
{
    const struct yk_op_index *index = summing->index;
    const struct yk_program_facts *facts = index->facts;
    const bool trained = facts->program->layers[layer].gradient_bytes > 0;
    const struct yk_op update = {.kind = YK_OP_UPDATE, .layer = layer};
    if (trained != (index->update[layer] != YK_OP_NONE)) {
        return yk_rule_fail(facts->program, index->rank, "ordered", &update,
                            trained ? "is missing" : "has nothing to train");
    }
    if (trained && yk_program_facts_reduces_layer_gradient(facts, layer) &&
        yk_plan_effective_strategy(facts->plan, layer) == YK_SHARDING_REPLICATED &&
        facts->bucket[layer] < 0) {
        return yk_rule_fail(facts->program, index->rank, "reduced", &update,
                            "has a gradient that is in no bucket");
    }
    return YK_OK;
}

/* All that is reduced, or complete by itself, before the ranks agree; and all updates after. */
static yk_status order_agreement(const struct summing *summing)
{
    const struct yk_op_index *index = summing->index;
    const struct yk_program_facts *facts = index->facts;
    if (!yk_plan_has_update_barrier(facts->plan)) {
        return YK_OK;
    }
    if (index->agree == YK_OP_NONE) {
        const struct yk_op missing = {.kind = YK_OP_AGREE, .layer = YK_LAYER_NONE};
        return yk_rule_fail(facts->program, index->rank, "ordered", &missing, "is missing");
    }
    for (int32_t i = 0; i < index->list->op_count; i++) {
        const enum yk_op_kind kind = index->list->ops[i].kind;
        if (kind == YK_OP_REDUCE_SCATTER || kind == YK_OP_ALL_REDUCE) {
            YK_TRY(yk_precedences_add_across_steps(summing->precedences, i, index->agree, 0,
                                                   YK_PRECEDENCE_AGREE_AFTER_REDUCE));
        } else if (kind == YK_OP_UPDATE) {
            YK_TRY(yk_precedences_add_across_steps(summing->precedences, index->agree, i, 0,
                                                   YK_PRECEDENCE_UPDATE_AFTER_AGREE));
        }
    }
    for (int32_t l = 0; l < facts->L; l++) {
        if (index->update[l] != YK_OP_NONE && !yk_program_facts_reduces_layer_gradient(facts, l)) {
            YK_TRY(after_gradient(summing, l, facts->M - 1, index->agree,
                                  YK_PRECEDENCE_AGREE_AFTER_REDUCE));
        }
    }
    return YK_OK;
}

yk_status yk_precedences_add_for_gradients(struct yk_precedences *precedences,
                                           struct yk_arena *arena)
{
    const struct yk_op_index *index = precedences->index;
    const struct yk_program_facts *facts = index->facts;
    struct summing summing = {.index = index, .precedences = precedences};
    YK_TRY_NEW(arena, summing.blocks, index->list->op_count);
    for (int32_t l = 0; l < facts->L; l++) {
        if (!yk_op_index_rank_has_layer(index, l)) {
            continue;
        }
        YK_TRY(expect_update(&summing, l));
        YK_TRY(find_scatters(&summing, l));
        if (index->update[l] != YK_OP_NONE && !yk_program_facts_reduces_layer_gradient(facts, l)) {
            YK_TRY(after_gradient(&summing, l, facts->M - 1, index->update[l],
                                  YK_PRECEDENCE_UPDATE_AFTER_REDUCE));
        }
    }
    for (int32_t b = 0; b < facts->program->bucket_count; b++) {
        if (index->members[facts->program->buckets[b].group] >= 0) {
            YK_TRY(find_reductions(&summing, b));
        }
    }
    return order_agreement(&summing);
}
