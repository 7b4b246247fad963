#include "program/check/precedence.h"
#include "program/check/rule.h"

/* A crossing in one micro-batch, on one rank. */
struct passage {
    const struct yk_op_index *index;
    struct yk_precedences *precedences;
    bool *used;        /* (ops) messages that belong to a crossing */
    int64_t *sent;     /* (members + 1) see yk_plan_group_sample_ranges() */
    int64_t *received; /* (members + 1) */
    int32_t crossing;
    int32_t producer;
    int32_t from_group;
    int32_t to_group;
    int32_t micro_batch;
};

static struct yk_consumer_cursor consumers_of(const struct passage *passage)
{
    return (struct yk_consumer_cursor){.producer = passage->producer, .group = passage->to_group};
}

/* True if a gradient is sent back. */
static bool returns(const struct passage *passage)
{
    const struct yk_program_facts *facts = passage->index->facts;
    struct yk_consumer_cursor at = consumers_of(passage);
    while (yk_program_facts_next_consumer(facts, &at)) {
        if (facts->goes_backward[at.layer]) {
            return facts->goes_backward[passage->producer];
        }
    }
    return false;
}

/* Finds the message of the crossing that this rank exchanges with a peer. */
static yk_status find_message(const struct passage *passage, enum yk_op_kind kind, bool backward,
                              int32_t peer, int64_t samples, int32_t *out)
{
    const struct yk_op_index *index = passage->index;
    const struct yk_program *program = index->facts->program;
    for (int32_t i = index->first[kind][passage->producer]; i != YK_OP_NONE; i = index->next[i]) {
        const struct yk_op *op = &index->list->ops[i];
        if (op->crossing == passage->crossing && op->micro_batch == passage->micro_batch &&
            op->backward == backward && op->peer == peer && op->samples == samples) {
            passage->used[i] = true;
            *out = i;
            return YK_OK;
        }
    }
    const struct yk_op missing = {.kind = kind,
                                  .layer = passage->producer,
                                  .micro_batch = passage->micro_batch,
                                  .backward = backward};
    return yk_rule_fail(program, index->rank, "passes", &missing,
                        "is missing for %lld samples %s %s", (long long)samples,
                        kind == YK_OP_SEND ? "to" : "from",
                        yk_rule_rank_device_name(program, peer));
}

/* Adds precedences between a message, or the producer's own pass, and the layers that use the
 * output.
 */
static yk_status order_consumers(const struct passage *passage, int32_t forward_after,
                                 int32_t backward_before)
{
    const struct yk_op_index *index = passage->index;
    struct yk_consumer_cursor at = consumers_of(passage);
    while (yk_program_facts_next_consumer(index->facts, &at)) {
        const int64_t cell =
            yk_op_index_layer_micro_batch_cell(index, at.layer, passage->micro_batch);
        if (forward_after != YK_OP_NONE) {
            YK_TRY(yk_precedences_add_across_steps(passage->precedences, forward_after,
                                                   index->forward[cell], 0,
                                                   YK_PRECEDENCE_FORWARD_AFTER_INPUT));
        }
        if (backward_before != YK_OP_NONE && index->facts->goes_backward[at.layer]) {
            YK_TRY(yk_precedences_add_across_steps(
                passage->precedences, index->backward[cell], backward_before, 0,
                index->list->ops[backward_before].kind == YK_OP_SEND
                    ? YK_PRECEDENCE_SEND_AFTER_COMPUTE
                    : YK_PRECEDENCE_BACKWARD_AFTER_OUTPUT_GRADIENT));
        }
    }
    return YK_OK;
}

/* This rank produces the output; `peer`, which may be the same rank, uses some of it. */
static yk_status order_producer(const struct passage *passage, int32_t peer, int64_t samples)
{
    const struct yk_op_index *index = passage->index;
    const int64_t cell =
        yk_op_index_layer_micro_batch_cell(index, passage->producer, passage->micro_batch);
    int32_t message = YK_OP_NONE;
    if (peer == index->rank) {
        return order_consumers(passage, index->forward[cell],
                               returns(passage) ? index->backward[cell] : YK_OP_NONE);
    }
    YK_TRY(find_message(passage, YK_OP_SEND, false, peer, samples, &message));
    YK_TRY(yk_precedences_add_across_steps(passage->precedences, index->forward[cell], message, 0,
                                           YK_PRECEDENCE_SEND_AFTER_COMPUTE));
    if (!returns(passage)) {
        return YK_OK;
    }
    YK_TRY(find_message(passage, YK_OP_RECV, true, peer, samples, &message));
    return yk_precedences_add_across_steps(passage->precedences, message, index->backward[cell], 0,
                                           YK_PRECEDENCE_BACKWARD_AFTER_OUTPUT_GRADIENT);
}

static yk_status order_consumer(const struct passage *passage, int32_t peer, int64_t samples)
{
    int32_t received = YK_OP_NONE;
    int32_t sent = YK_OP_NONE;
    YK_TRY(find_message(passage, YK_OP_RECV, false, peer, samples, &received));
    if (returns(passage)) {
        YK_TRY(find_message(passage, YK_OP_SEND, true, peer, samples, &sent));
    }
    return order_consumers(passage, received, sent);
}

/* The number of samples that one member sends to the other. */
static int64_t overlap(const struct passage *passage, int32_t from, int32_t to)
{
    const int64_t *sent = &passage->sent[from];
    const int64_t *received = &passage->received[to];
    const int64_t begin = sent[0] > received[0] ? sent[0] : received[0];
    const int64_t end = sent[1] < received[1] ? sent[1] : received[1];
    return end > begin ? end - begin : 0;
}

static yk_status order_passage(const struct passage *passage)
{
    const struct yk_op_index *index = passage->index;
    const struct yk_plan *plan = index->facts->plan;
    const struct yk_plan_group *from = &plan->groups[passage->from_group];
    const struct yk_plan_group *to = &plan->groups[passage->to_group];
    const int32_t producer = index->members[passage->from_group];
    const int32_t consumer = index->members[passage->to_group];
    if (producer < 0 && consumer < 0) {
        return YK_OK;
    }
    yk_plan_group_sample_ranges(plan, passage->from_group, passage->micro_batch, passage->sent);
    yk_plan_group_sample_ranges(plan, passage->to_group, passage->micro_batch, passage->received);
    for (int32_t j = 0; producer >= 0 && j < to->member_count; j++) {
        const int64_t samples = overlap(passage, producer, j);
        if (samples > 0) {
            YK_TRY(order_producer(passage, to->members[j].rank, samples));
        }
    }
    for (int32_t i = 0; consumer >= 0 && i < from->member_count; i++) {
        const int64_t samples = overlap(passage, i, consumer);
        if (samples > 0 && from->members[i].rank != index->rank) {
            YK_TRY(order_consumer(passage, from->members[i].rank, samples));
        }
    }
    return YK_OK;
}

yk_status yk_precedences_add_for_messages(struct yk_precedences *precedences,
                                          struct yk_arena *arena)
{
    const struct yk_op_index *index = precedences->index;
    const struct yk_program_facts *facts = index->facts;
    struct passage passage = {.index = index, .precedences = precedences};
    YK_TRY_NEW(arena, passage.used, index->list->op_count);
    YK_TRY_NEW(arena, passage.sent, facts->plan->rank_count + 1);
    YK_TRY_NEW(arena, passage.received, facts->plan->rank_count + 1);
    for (int32_t c = 0; c < facts->crossing_count; c++) {
        passage.crossing = c;
        passage.producer = facts->crossings[c].producer;
        passage.from_group = facts->plan->layers[passage.producer].group;
        passage.to_group = facts->crossings[c].group;
        for (int32_t m = 0; m < facts->M; m++) {
            passage.micro_batch = m;
            YK_TRY(order_passage(&passage));
        }
    }
    for (int32_t i = 0; i < index->list->op_count; i++) {
        const struct yk_op *op = &index->list->ops[i];
        if ((op->kind == YK_OP_SEND || op->kind == YK_OP_RECV) && !passage.used[i]) {
            return yk_rule_fail(facts->program, index->rank, "passes", op,
                                "carries %lld samples that nothing asks for",
                                (long long)op->samples);
        }
    }
    return YK_OK;
}
