/*
 * Rank view: one rank's list, looked up: where each pass, update and message is, and what each op
 * knows to have ended when it starts.
 *
 * An op knows that an op before it on its lane has ended, and one that it waits for, and all that
 * these know. Lanes are run in order, so for each lane the latest op known says it all. Rounds
 * follow each other without end; positions are counted from the first op of the round that the
 * knowing op is in, ops of the rounds before have negative ones.
 *
 * In the arena given; the facts must outlive it. The list must be formed (program/check_rules.h).
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
    int32_t *known;    /* (ops, lanes) position of the latest op that has ended; or NULL */
    int32_t *forward;  /* (L, M) ops, or YK_OP_NONE */
    int32_t *recompute;
    int32_t *backward;
    int32_t *update; /* (L) */
    int32_t agree;
    /* Ops of one kind about one thing follow each other in the order of the list: gathers,
     * scatters, releases, sends and receives of a layer, reductions of a bucket, loads of a
     * micro-batch. */
    int32_t *first[YK_OP_KIND_COUNT]; /* by the thing's number */
    int32_t *next;                    /* (ops) */
};

/* Fails where a pass, an update or an agreement is there twice. */
yk_status yk_rank_view_make(const struct yk_facts *facts, int32_t rank, struct yk_arena *arena,
                            struct yk_rank_view **out) YK_MUST_USE;

/* The same without what ops know: for looking them up. */
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
