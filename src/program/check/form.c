#include "program/check/rule.h"

#include <math.h>

struct forming {
    const struct yk_program_facts *facts;
    const struct yk_op_list *list;
    int32_t rank;
    const struct yk_op *op;
};

/* Checks the fields that the description of an op needs. */
static yk_status check_numbers(const struct forming *forming, int32_t number)
{
    const struct yk_op *op = forming->op;
    const struct yk_program *program = forming->facts->program;
    const bool kind = (unsigned)op->kind < YK_OP_KIND_COUNT;
    const bool nowhere = kind && (op->kind == YK_OP_LOAD || op->kind == YK_OP_AGREE);
    const char *wrong = NULL;
    if (!kind) {
        wrong = "kind";
    } else if (nowhere ? op->layer != YK_LAYER_NONE
                       : op->layer < 0 || op->layer >= forming->facts->L) {
        wrong = "layer";
    } else if (op->micro_batch < 0 || op->micro_batch >= forming->facts->M) {
        wrong = "micro-batch";
    } else if (op->kind == YK_OP_ALL_REDUCE &&
               (op->bucket < 0 || op->bucket >= program->bucket_count)) {
        wrong = "bucket";
    } else if (op->first_wait < 0 || op->wait_count < 0 ||
               op->wait_count > forming->list->wait_count - op->first_wait) {
        wrong = "waits";
    }
    return wrong ? yk_fail(YK_ERROR_INPUT, "formed: op %d on %s has no valid %s", number,
                           yk_rule_rank_device_name(program, forming->rank), wrong)
                 : YK_OK;
}

static yk_status refuse(const struct forming *forming, const char *reason)
{
    return yk_rule_fail(forming->facts->program, forming->rank, "formed", forming->op, "%s",
                        reason);
}

/* Messages between groups belong to a layer of either. */
static yk_status check_place(const struct forming *forming)
{
    const struct yk_plan *plan = forming->facts->plan;
    const struct yk_op *op = forming->op;
    const bool message = op->kind == YK_OP_SEND || op->kind == YK_OP_RECV;
    if (op->lane != yk_op_kind_lane(op->kind)) {
        return refuse(forming, "is on another lane than ops of its kind");
    }
    if (op->step < -1 || op->step > 1 || (yk_op_kind_is_pass(op->kind) && op->step != 0)) {
        return refuse(forming, "is for a step that it cannot be for");
    }
    if (message && (op->peer < 0 || op->peer >= plan->rank_count || op->peer == forming->rank)) {
        return refuse(forming, "has a peer that does not exist");
    }
    if (message && (op->crossing < 0 || op->crossing >= forming->facts->crossing_count)) {
        return refuse(forming, "is of a crossing that does not exist");
    }
    if (message || op->layer == YK_LAYER_NONE) {
        return YK_OK;
    }
    return yk_program_facts_group_member_index(plan, plan->layers[op->layer].group,
                                               forming->rank) >= 0
               ? YK_OK
               : refuse(forming, "belongs to a layer that the rank does not hold");
}

static yk_status check_message(const struct forming *forming)
{
    const struct yk_program *program = forming->facts->program;
    const struct yk_op *op = forming->op;
    const bool communicates = op->lane == YK_LANE_COMM;
    if (communicates ? op->match < 0 || op->match >= program->match_count
                     : op->match != YK_OP_NO_MATCH) {
        return refuse(forming, "has a match that does not exist");
    }
    if (!isfinite(op->bytes) || op->bytes < 0 || (!communicates && op->bytes > 0)) {
        return refuse(forming, "carries a number of bytes that cannot be");
    }
    if (op->kind == YK_OP_ALL_GATHER || op->kind == YK_OP_REDUCE_SCATTER) {
        const int32_t blocks = program->layers[op->layer].block_count;
        if (op->first_block < 0 || op->block_count < 1 || op->block_count > blocks ||
            op->first_block > blocks - op->block_count) {
            return refuse(forming, "has blocks that do not exist");
        }
    }
    if (op->kind == YK_OP_ALL_GATHER || op->kind == YK_OP_REDUCE_SCATTER ||
        op->kind == YK_OP_ALL_REDUCE) {
        if (op->group != forming->facts->plan->layers[op->layer].group) {
            return refuse(forming, "is of another group than its layer");
        }
    }
    if (op->kind == YK_OP_ALL_REDUCE && forming->facts->bucket[op->layer] != op->bucket) {
        return refuse(forming, "is of a bucket that its layer is not in");
    }
    return YK_OK;
}

static yk_status check_samples(const struct forming *forming)
{
    const struct yk_plan *plan = forming->facts->plan;
    const struct yk_op *op = forming->op;
    int64_t first = 0;
    if (op->samples < 0) {
        return refuse(forming, "has fewer than no samples");
    }
    if (!yk_op_kind_is_pass(op->kind)) {
        return YK_OK;
    }
    const int32_t group = plan->layers[op->layer].group;
    const int64_t planned = yk_plan_member_sample_range(
        plan, group, yk_program_facts_group_member_index(plan, group, forming->rank),
        op->micro_batch, &first);
    return op->samples == planned
               ? YK_OK
               : yk_rule_fail(forming->facts->program, forming->rank, "formed", op,
                              "has %lld samples, not the %lld that are planned",
                              (long long)op->samples, (long long)planned);
}

/* A list is in an order in which it could be done. */
static yk_status check_waits(const struct forming *forming, int32_t number)
{
    const struct yk_program *program = forming->facts->program;
    for (int32_t w = 0; w < forming->op->wait_count; w++) {
        const struct yk_op_wait *wait = &forming->list->waits[forming->op->first_wait + w];
        if (wait->op < 0 || wait->op >= forming->list->op_count || wait->lag < 0 || wait->lag > 1) {
            return refuse(forming, "waits for an op that does not exist");
        }
        if (wait->lag == 0 && wait->op == number) {
            return yk_rule_fail(program, forming->rank, "acyclic", forming->op, "waits for itself");
        }
        if (wait->lag == 0 && wait->op > number) {
            char other[YK_RULE_TEXT_SIZE];
            yk_rule_describe_op(program, &forming->list->ops[wait->op], other);
            return yk_rule_fail(program, forming->rank, "acyclic", forming->op,
                                "waits for %s, which comes after it in the list", other);
        }
    }
    return YK_OK;
}

yk_status yk_rule_check_op_form(const struct yk_program_facts *facts, int32_t rank)
{
    struct forming forming = {.facts = facts, .list = &facts->program->ranks[rank], .rank = rank};
    for (int32_t i = 0; i < forming.list->op_count; i++) {
        forming.op = &forming.list->ops[i];
        YK_TRY(check_numbers(&forming, i));
        YK_TRY(check_place(&forming));
        YK_TRY(check_message(&forming));
        YK_TRY(check_samples(&forming));
    }
    for (int32_t i = 0; i < forming.list->op_count; i++) {
        forming.op = &forming.list->ops[i];
        YK_TRY(check_waits(&forming, i));
    }
    return YK_OK;
}
