/*
 * Rank view: one rank's list, indexed: where each pass, update and message is, and what has always
 * ended when an op starts: the ops before it on its lane, those that it waits for, and what has
 * ended when these start. For each lane the latest of them says it all. Positions are counted from
 * the first op of the op's own round; ops of the rounds before have negative ones.
 *
 * In the arena given; the facts must outlive it. The list must be formed (program/check/rule.h).
 */
#ifndef YK_PROGRAM_RANK_VIEW_H
#define YK_PROGRAM_RANK_VIEW_H

#include "program/facts.h"

enum {
    YK_OP_NONE = -1
};

struct yk_rank_view {
    const struct yk_facts *facts;
    int32_t rank;
    const struct yk_program_rank *list;
    int32_t *members; /* (groups) which member the rank is, or −1 */
    int32_t lane_count[YK_LANE_COUNT];
    int32_t *position; /* (ops) in the op's lane */
    int32_t *ended;    /* (ops, lanes) position of the latest op that has ended; or NULL */
    int32_t *forward;  /* (L, M) ops, or YK_OP_NONE */
    int32_t *recompute;
    int32_t *backward;
    int32_t *update; /* (L) */
    int32_t agree;
    /* Ops of one kind and subject, linked in the order of the list: all_gathers, reduce_scatters,
     * releases, sends and receives of a layer, all_reduces of a bucket, loads of a micro-batch. */
    int32_t *first[YK_OP_KIND_COUNT]; /* by the subject's number */
    int32_t *next;                    /* (ops) */
};

/* Fails where a pass, an update or an agreement is there twice. */
yk_status yk_rank_view_make(const struct yk_facts *facts, int32_t rank, struct yk_arena *arena,
                            struct yk_rank_view **out) YK_MUST_USE;

/* The same without `ended`. */
yk_status yk_rank_view_index(const struct yk_facts *facts, int32_t rank, struct yk_arena *arena,
                             struct yk_rank_view **out) YK_MUST_USE;

/* True when `before` has always ended when `after`, `lag` rounds later, starts. */
bool yk_rank_view_happens_before(const struct yk_rank_view *view, int32_t before, int32_t after,
                                 int32_t lag);

/* True when the rank holds the layer. */
static inline bool yk_rank_view_holds(const struct yk_rank_view *view, int32_t layer)
{
    return view->members[view->facts->plan->layers[layer].group] >= 0;
}

static inline int64_t yk_rank_view_cell(const struct yk_rank_view *view, int32_t layer,
                                        int32_t micro_batch)
{
    return (int64_t)layer * view->facts->M + micro_batch;
}

#endif
