/*
 * Facts: what the rules of program/check need to know about a program's plan and model, looked up
 * once. In the arena given; the program must outlive them.
 */
#ifndef YK_PROGRAM_FACTS_H
#define YK_PROGRAM_FACTS_H

#include "program/program.h"

/* Output of a layer that another group takes; its gradient comes back. */
struct yk_crossing {
    int32_t producer;
    int32_t group; /* of the layers that take it */
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
    int32_t *first_edge_to; /* (L + 1) of the model's edges, which stand by consumer */
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

/* The layer after `user` that uses the weights of `layer`, which comes first itself; −1 after the
 * last one. */
static inline int32_t yk_facts_next_user(const struct yk_facts *facts, int32_t layer, int32_t user)
{
    return facts->program->layers[layer].leader == layer ? facts->next_user[user] : -1;
}

/* True when the layer's gradients travel at all. */
static inline bool yk_facts_is_reduced(const struct yk_facts *facts, int32_t layer)
{
    return facts->program->layers[layer].gradient_bytes > 0 &&
           yk_facts_group(facts, layer)->member_count > 1;
}

/* True when the layer's gradient is one sum over all micro-batches: where the plan has it travel
 * once, and where it does not travel. Otherwise every micro-batch has a gradient of its own, which
 * is added to what the ranks keep when it has been reduced. */
static inline bool yk_facts_is_summed(const struct yk_facts *facts, int32_t layer)
{
    return facts->plan->no_sync || facts->M == 1 || !yk_facts_is_reduced(facts, layer);
}

/* True when gradients travel in that micro-batch. */
static inline bool yk_facts_reduces(const struct yk_facts *facts, int32_t micro_batch)
{
    return !facts->plan->no_sync || micro_batch == facts->M - 1;
}

/* True when the layer takes samples themselves: its tokens, or the labels. */
bool yk_facts_reads_samples(const struct yk_facts *facts, int32_t layer);

/* The number of `rank` among the members of a group, or −1. */
int32_t yk_facts_member(const struct yk_plan *plan, int32_t group, int32_t rank);

#endif
