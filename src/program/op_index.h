/*
 * Op index: finds the ops of one rank by their kind (pass, update, message), layer and micro-batch.
 * Also answers whether an op has always ended when another op starts.
 *
 * For each op X and each lane, the index stores the last op of this lane that has always ended when
 * X starts. This follows from the order of the ops in each lane and from the waits, directly and
 * through other ops. The index stores the position of that op in its lane, counted from the first
 * op of the iteration of X. Ops of earlier iterations have negative positions.
 *
 * The memory of the index belongs to the caller's arena. The facts must outlive the index. The op
 * list must satisfy the rule "formed" (yk_rule_check_op_form()). In the comments below, L is the
 * number of layers and M the number of micro-batches.
 */
#ifndef YK_PROGRAM_OP_INDEX_H
#define YK_PROGRAM_OP_INDEX_H

#include "program/program_facts.h"

enum {
    YK_OP_NONE = -1
};

struct yk_op_index {
    const struct yk_program_facts *facts;
    int32_t rank;
    const struct yk_op_list *list;
    int32_t *members; /* (groups) member index of the rank in each group; −1 means: not a member */
    struct yk_op_lane_lists lanes; /* the ops of each lane */
    int32_t *ended;   /* (ops, lanes) the stored positions, see above; NULL in an index of
                         yk_op_index_make_lookup_only() */
    int32_t *forward; /* (L, M) forward ops; YK_OP_NONE means: no op. See
                         yk_op_index_layer_micro_batch_cell() */
    int32_t *recompute;
    int32_t *backward;
    int32_t *update; /* (L) */
    int32_t agree;
    /* Linked lists of ops, in the order of the op list: the all_gathers, reduce_scatters, releases,
     * sends and recvs of a layer; the all_reduces of a bucket; the loads of a micro-batch. */
    int32_t *first[YK_OP_KIND_COUNT]; /* first op of each list: first[kind][layer, bucket or
                                         micro-batch], or YK_OP_NONE */
    int32_t *next;                    /* (ops) the next op of the same list, or YK_OP_NONE */
};

/* Creates an index. Fails if the op list contains the same pass, the same update or the agree op
 * twice. */
yk_status yk_op_index_make_with_order(const struct yk_program_facts *facts, int32_t rank,
                                      struct yk_arena *arena, struct yk_op_index **out) YK_MUST_USE;

/* Creates an index without `ended`. It cannot be used with yk_op_index_happens_before(). */
yk_status yk_op_index_make_lookup_only(const struct yk_program_facts *facts, int32_t rank,
                                       struct yk_arena *arena,
                                       struct yk_op_index **out) YK_MUST_USE;

/* Returns true if the op `before` has always ended when the op `after` starts `lag` iterations
 * later. */
bool yk_op_index_happens_before(const struct yk_op_index *index, int32_t before, int32_t after,
                                int32_t lag);

/* Returns the first backward op in the op list that adds to the gradient of a layer's weights in
 * the micro-batches `from` to `until`, inclusive. Returns YK_OP_NONE if there is none. The op may
 * belong to another layer that shares the weights. */
int32_t yk_op_index_find_first_backward_op(const struct yk_op_index *index, int32_t layer,
                                           int32_t from, int32_t until);

/* Returns true if the rank is a member of the layer's group. */
static inline bool yk_op_index_rank_has_layer(const struct yk_op_index *index, int32_t layer)
{
    return index->members[index->facts->plan->layers[layer].group] >= 0;
}

/* Returns the index of a layer and a micro-batch in the (L, M) arrays. */
static inline int64_t yk_op_index_layer_micro_batch_cell(const struct yk_op_index *index,
                                                         int32_t layer, int32_t micro_batch)
{
    return (int64_t)layer * index->facts->M + micro_batch;
}

#endif
