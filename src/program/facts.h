/*
 * Facts: what the rules of program/check need to know about a program's plan and model, looked up
 * once. They live in the caller's arena; the program must outlive them.
 */
#ifndef YK_PROGRAM_FACTS_H
#define YK_PROGRAM_FACTS_H

#include "program/program.h"

/* The output of a layer that is input of layers in another group. It is sent there in forward, and
 * its gradient is sent back in backward. */
struct yk_crossing {
    int32_t producer;
    int32_t group; /* of the layers that use it */
};

struct yk_facts {
    const struct yk_program *program;
    const struct yk_plan *plan;
    const struct yk_model *model;
    int32_t L;
    int32_t M;              /* micro-batches */
    bool *goes_backward;    /* (L) */
    int32_t *bucket;        /* (L) that reduces the layer's gradient; −1: none */
    int32_t *next_user;     /* (L) see yk_facts_next_user() */
    int32_t *first_edge_to; /* (L + 1) index into the model's edges, sorted by consumer */
    struct yk_crossing *crossings;
    int32_t crossing_count;
};

yk_status yk_facts_make(const struct yk_program *program, struct yk_arena *arena,
                        struct yk_facts **out) YK_MUST_USE;

/* The group that has the layer. */
static inline const struct yk_plan_group *yk_facts_group(const struct yk_facts *facts,
                                                         int32_t layer)
{
    return &facts->plan->groups[facts->plan->layers[layer].group];
}

/* Layers that share the weights of `layer`, one after the other: the next one after `user`; −1
 * after the last. The first `user` is `layer` itself. */
static inline int32_t yk_facts_next_user(const struct yk_facts *facts, int32_t layer, int32_t user)
{
    return facts->program->layers[layer].leader == layer ? facts->next_user[user] : -1;
}

/* True when the layer's gradients are communicated at all. */
static inline bool yk_facts_is_reduced(const struct yk_facts *facts, int32_t layer)
{
    return facts->program->layers[layer].gradient_bytes > 0 &&
           yk_facts_group(facts, layer)->member_count > 1;
}

/* True when the layer's gradient is accumulated over all micro-batches before it is reduced, or is
 * never communicated. Otherwise the gradient of every micro-batch is reduced by itself and then
 * added to what the ranks keep. */
static inline bool yk_facts_is_summed(const struct yk_facts *facts, int32_t layer)
{
    return facts->plan->no_sync || facts->M == 1 || !yk_facts_is_reduced(facts, layer);
}

/* True when gradients are reduced after that micro-batch. */
static inline bool yk_facts_reduces(const struct yk_facts *facts, int32_t micro_batch)
{
    return !facts->plan->no_sync || micro_batch == facts->M - 1;
}

/* True when the layer reads the batch itself: tokens or labels. */
bool yk_facts_reads_samples(const struct yk_facts *facts, int32_t layer);

/* The number of `rank` among the members of a group, or −1. */
int32_t yk_facts_member(const struct yk_plan *plan, int32_t group, int32_t rank);

#endif
