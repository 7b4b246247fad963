#include "program/op_index.h"

#include "base/number.h"
#include "program/check/rule.h"

enum {
    NEVER = INT32_MIN / 2, /* a position before all iterations */
    MAX_ROUNDS = 8,
};

static yk_status allocate_ops(struct yk_arena *arena, int64_t count, int32_t **out)
{
    YK_TRY_NEW(arena, *out, count);
    yk_number_fill_int32_array(*out, count, YK_OP_NONE);
    return YK_OK;
}

static yk_status allocate_arrays(struct yk_op_index *index, struct yk_arena *arena)
{
    const struct yk_program_facts *facts = index->facts;
    const int64_t cells = (int64_t)facts->L * facts->M;
    const int64_t largest =
        yk_number_max(yk_number_max(facts->L, facts->M), facts->program->bucket_count);
    const int32_t n = index->list->op_count;
    YK_TRY_NEW(arena, index->members, facts->plan->group_count);
    YK_TRY(yk_op_lane_lists_make(index->list, arena, &index->lanes));
    YK_TRY(allocate_ops(arena, cells, &index->forward));
    YK_TRY(allocate_ops(arena, cells, &index->recompute));
    YK_TRY(allocate_ops(arena, cells, &index->backward));
    YK_TRY(allocate_ops(arena, facts->L, &index->update));
    YK_TRY(allocate_ops(arena, n, &index->next));
    for (int32_t kind = 0; kind < YK_OP_KIND_COUNT; kind++) {
        YK_TRY(allocate_ops(arena, largest, &index->first[kind]));
    }
    index->agree = YK_OP_NONE;
    for (int32_t g = 0; g < facts->plan->group_count; g++) {
        index->members[g] = yk_program_facts_group_member_index(facts->plan, g, index->rank);
    }
    return YK_OK;
}

/* The index entry of an op that may occur only once; NULL for other ops. */
static int32_t *place_of(struct yk_op_index *index, const struct yk_op *op)
{
    switch (op->kind) {
    case YK_OP_FORWARD:
        return &index->forward[yk_op_index_layer_micro_batch_cell(index, op->layer,
                                                                  op->micro_batch)];
    case YK_OP_RECOMPUTE:
        return &index->recompute[yk_op_index_layer_micro_batch_cell(index, op->layer,
                                                                    op->micro_batch)];
    case YK_OP_BACKWARD:
        return &index->backward[yk_op_index_layer_micro_batch_cell(index, op->layer,
                                                                   op->micro_batch)];
    case YK_OP_UPDATE:
        return &index->update[op->layer];
    case YK_OP_AGREE:
        return &index->agree;
    default:
        return NULL;
    }
}

/* From the last op to the first, so that the linked lists are in the order of the op list. */
static yk_status find_ops(struct yk_op_index *index)
{
    for (int32_t i = index->list->op_count - 1; i >= 0; i--) {
        const struct yk_op *op = &index->list->ops[i];
        int32_t *place = place_of(index, op);
        if (place && *place != YK_OP_NONE) {
            return yk_rule_fail(index->facts->program, index->rank, "passes", op, "is there twice");
        }
        if (place) {
            *place = i;
            continue;
        }
        const int32_t subject = op->kind == YK_OP_ALL_REDUCE ? op->bucket
                                : op->kind == YK_OP_LOAD     ? op->micro_batch
                                                             : op->layer;
        index->next[i] = index->first[op->kind][subject];
        index->first[op->kind][subject] = i;
    }
    return YK_OK;
}

/* Adds all ops that have ended when `op` ends `lag` iterations before. True if `ended` changes. */
static bool merge(const struct yk_op_index *index, int32_t *ended, int32_t op, int32_t lag)
{
    const int32_t lane = (int32_t)index->list->ops[op].lane;
    bool changed = false;
    for (int32_t i = 0; i < YK_LANE_COUNT; i++) {
        const int32_t latest =
            i == lane ? index->lanes.position[op] : index->ended[(int64_t)op * YK_LANE_COUNT + i];
        const int32_t there = latest == NEVER ? NEVER : latest - lag * index->lanes.count[i];
        changed = changed || there > ended[i];
        ended[i] = there > ended[i] ? there : ended[i];
    }
    return changed;
}

/* One iteration; the first op of a lane follows its last op of the previous iteration. */
static bool merge_round(struct yk_op_index *index, const int32_t *last_of_lane)
{
    const struct yk_op_list *list = index->list;
    int32_t previous[YK_LANE_COUNT] = {YK_OP_NONE, YK_OP_NONE, YK_OP_NONE};
    bool changed = false;
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        int32_t *ended = &index->ended[(int64_t)i * YK_LANE_COUNT];
        const bool first = previous[op->lane] == YK_OP_NONE;
        const int32_t before = first ? last_of_lane[op->lane] : previous[op->lane];
        changed = merge(index, ended, before, first ? 1 : 0) || changed;
        for (int32_t w = 0; w < op->wait_count; w++) {
            const struct yk_op_wait *wait = &list->waits[op->first_wait + w];
            changed = merge(index, ended, wait->op, wait->lag) || changed;
        }
        previous[op->lane] = i;
    }
    return changed;
}

/* Repeats until nothing changes. A few iterations suffice, since a chain of waits that visits a
 * lane twice adds nothing new. */
static yk_status find_ended(struct yk_op_index *index, struct yk_arena *arena)
{
    const int64_t count = (int64_t)index->list->op_count * YK_LANE_COUNT;
    int32_t last_of_lane[YK_LANE_COUNT] = {YK_OP_NONE, YK_OP_NONE, YK_OP_NONE};
    YK_TRY_NEW(arena, index->ended, count);
    yk_number_fill_int32_array(index->ended, count, NEVER);
    for (int32_t i = 0; i < index->list->op_count; i++) {
        last_of_lane[index->list->ops[i].lane] = i;
    }
    for (int32_t round = 0; round < MAX_ROUNDS && merge_round(index, last_of_lane); round++) {
    }
    return YK_OK;
}

yk_status yk_op_index_make_lookup_only(const struct yk_program_facts *facts, int32_t rank,
                                       struct yk_arena *arena, struct yk_op_index **out)
{
    struct yk_op_index *index = NULL;
    YK_TRY_NEW(arena, index, 1);
    index->facts = facts;
    index->rank = rank;
    index->list = &facts->program->ranks[rank];
    YK_TRY(allocate_arrays(index, arena));
    *out = index;
    return find_ops(index);
}

yk_status yk_op_index_make_with_order(const struct yk_program_facts *facts, int32_t rank,
                                      struct yk_arena *arena, struct yk_op_index **out)
{
    YK_TRY(yk_op_index_make_lookup_only(facts, rank, arena, out));
    return find_ended(*out, arena);
}

bool yk_op_index_happens_before(const struct yk_op_index *index, int32_t before, int32_t after,
                                int32_t lag)
{
    const int32_t lane = (int32_t)index->list->ops[before].lane;
    const int64_t position =
        index->lanes.position[before] - (int64_t)lag * index->lanes.count[lane];
    return position <= index->ended[(int64_t)after * YK_LANE_COUNT + lane];
}

int32_t yk_op_index_find_first_backward_op(const struct yk_op_index *index, int32_t layer,
                                           int32_t from, int32_t until)
{
    int32_t first = YK_OP_NONE;
    for (int32_t u = layer; u >= 0; u = yk_program_facts_next_weight_user(index->facts, layer, u)) {
        for (int32_t m = from; m <= until; m++) {
            const int32_t backward =
                index->backward[yk_op_index_layer_micro_batch_cell(index, u, m)];
            if (backward != YK_OP_NONE && (first == YK_OP_NONE || backward < first)) {
                first = backward;
            }
        }
    }
    return first;
}
