#include "program/check/precedence.h"
#include "program/check/rule.h"

/* Fails if a pass is missing, or is not part of the plan. */
static yk_status expect(const struct yk_op_index *index, int32_t op, bool wanted,
                        enum yk_op_kind kind, int32_t layer, int32_t micro_batch)
{
    const struct yk_program *program = index->facts->program;
    const struct yk_op pass = {.kind = kind, .layer = layer, .micro_batch = micro_batch};
    if (wanted && op == YK_OP_NONE) {
        return yk_rule_fail(program, index->rank, "passes", &pass, "is missing");
    }
    return wanted || op == YK_OP_NONE
               ? YK_OK
               : yk_rule_fail(program, index->rank, "passes", &pass, "is not asked for");
}

static yk_status order_passes(struct yk_precedences *precedences, int32_t layer,
                              int32_t micro_batch)
{
    const struct yk_op_index *index = precedences->index;
    const struct yk_program_facts *facts = index->facts;
    const int64_t cell = yk_op_index_layer_micro_batch_cell(index, layer, micro_batch);
    const int32_t forward = index->forward[cell];
    const int32_t recompute = index->recompute[cell];
    const int32_t backward = index->backward[cell];
    const bool returns = facts->goes_backward[layer];
    const bool again = returns && facts->plan->layers[layer].recompute;
    YK_TRY(expect(index, forward, true, YK_OP_FORWARD, layer, micro_batch));
    YK_TRY(expect(index, recompute, again, YK_OP_RECOMPUTE, layer, micro_batch));
    YK_TRY(expect(index, backward, returns, YK_OP_BACKWARD, layer, micro_batch));
    if (again) {
        YK_TRY(yk_precedences_add_across_steps(precedences, forward, recompute, 0,
                                               YK_PRECEDENCE_SAME_LAYER));
        YK_TRY(yk_precedences_add_across_steps(precedences, recompute, backward, 0,
                                               YK_PRECEDENCE_SAME_LAYER));
    }
    return returns ? yk_precedences_add_across_steps(precedences, forward, backward, 0,
                                                     YK_PRECEDENCE_SAME_LAYER)
                   : YK_OK;
}

/* Inputs from layers of the same group. Inputs from other groups arrive by messages. */
static yk_status order_neighbours(struct yk_precedences *precedences, int32_t layer,
                                  int32_t micro_batch)
{
    const struct yk_op_index *index = precedences->index;
    const struct yk_program_facts *facts = index->facts;
    const int64_t here = yk_op_index_layer_micro_batch_cell(index, layer, micro_batch);
    for (int32_t e = facts->first_edge_to[layer]; e < facts->first_edge_to[layer + 1]; e++) {
        const int32_t from = facts->model->edges[e].from;
        const int64_t there = yk_op_index_layer_micro_batch_cell(index, from, micro_batch);
        if (facts->plan->layers[from].group != facts->plan->layers[layer].group) {
            continue;
        }
        YK_TRY(yk_precedences_add_across_steps(precedences, index->forward[there],
                                               index->forward[here], 0,
                                               YK_PRECEDENCE_FORWARD_AFTER_INPUT));
        if (facts->goes_backward[from] && facts->goes_backward[layer]) {
            YK_TRY(yk_precedences_add_across_steps(precedences, index->backward[here],
                                                   index->backward[there], 0,
                                                   YK_PRECEDENCE_BACKWARD_AFTER_OUTPUT_GRADIENT));
        }
    }
    return YK_OK;
}

/* A rank of several groups may load different samples for each group. Of equal loads, the first one
 * that precedes the pass is chosen. */
static int32_t choose_load(const struct yk_op_index *index, int32_t forward, int32_t micro_batch)
{
    const struct yk_op *ops = index->list->ops;
    int32_t chosen = YK_OP_NONE;
    for (int32_t i = index->first[YK_OP_LOAD][micro_batch]; i != YK_OP_NONE; i = index->next[i]) {
        if (ops[i].samples == ops[forward].samples) {
            chosen = i;
            if (yk_op_index_happens_before(index, i, forward, ops[i].step)) {
                break;
            }
        }
    }
    return chosen;
}

static yk_status order_load(struct yk_precedences *precedences, int32_t layer, int32_t micro_batch)
{
    const struct yk_op_index *index = precedences->index;
    const int32_t forward =
        index->forward[yk_op_index_layer_micro_batch_cell(index, layer, micro_batch)];
    const int64_t samples = index->list->ops[forward].samples;
    const int32_t load = choose_load(index, forward, micro_batch);
    if (samples == 0) {
        return YK_OK;
    }
    if (load == YK_OP_NONE) {
        return yk_rule_fail(index->facts->program, index->rank, "passes",
                            &index->list->ops[forward], "takes %lld samples that no load brings",
                            (long long)samples);
    }
    return yk_precedences_add_across_steps(precedences, load, forward, 0,
                                           YK_PRECEDENCE_FORWARD_AFTER_INPUT);
}

/* Adds: passes run once, after their inputs: samples, outputs, gradients of outputs. */
static yk_status find_passes(struct yk_precedences *precedences)
{
    const struct yk_op_index *index = precedences->index;
    const struct yk_program_facts *facts = index->facts;
    for (int32_t l = 0; l < facts->L; l++) {
        for (int32_t m = 0; yk_op_index_rank_has_layer(index, l) && m < facts->M; m++) {
            YK_TRY(order_passes(precedences, l, m));
        }
    }
    for (int32_t l = 0; l < facts->L; l++) {
        for (int32_t m = 0; yk_op_index_rank_has_layer(index, l) && m < facts->M; m++) {
            YK_TRY(order_neighbours(precedences, l, m));
            if (yk_program_facts_layer_reads_batch(facts, l)) {
                YK_TRY(order_load(precedences, l, m));
            }
        }
    }
    return YK_OK;
}

yk_status yk_precedences_find_all(const struct yk_op_index *index, struct yk_arena *arena,
                                  struct yk_precedences *out)
{
    out->index = index;
    YK_TRY(find_passes(out));
    YK_TRY(yk_precedences_add_for_messages(out, arena));
    YK_TRY(yk_precedences_add_for_gradients(out, arena));
    return yk_precedences_add_for_weights(out, arena);
}
