/*
 * Program facts: properties of a program's plan and model that the compiler, the rules and the
 * memory count look up often. They live in the caller's arena. The program must outlive them.
 */
#ifndef YK_PROGRAM_PROGRAM_FACTS_H
#define YK_PROGRAM_PROGRAM_FACTS_H

#include "program/program.h"

/* The output of a layer that layers of another group use. Forward sends it to that group, backward
 * sends its gradient back. */
struct yk_group_crossing {
    int32_t producer;
    int32_t consumer; /* the first layer that uses it */
    int32_t group;    /* the group of the layers that use it */
};

struct yk_program_facts {
    const struct yk_program *program;
    const struct yk_plan *plan;
    const struct yk_model *model;
    int32_t L;
    int32_t M;           /* micro-batches */
    bool *goes_backward; /* (L) */
    int32_t *bucket;     /* (L) the bucket that reduces the layer's gradient; −1: none */
    int32_t *next_user;  /* (L) see yk_program_facts_next_weight_user() */
    int32_t
        *first_edge_to; /* (L + 1) model edges [first_edge_to[l], first_edge_to[l + 1]) enter l */
    int32_t *first_edge_from; /* (L + 1) index in `edges_from` */
    int32_t *edges_from;      /* the model's edges, sorted by producer */
    struct yk_group_crossing *crossings;
    int32_t crossing_count;
};

/* A layer of a group that uses the output of a layer, see yk_program_facts_next_consumer(). */
struct yk_consumer_cursor {
    int32_t producer;
    int32_t group;
    int32_t layer; /* the consumer */
    int32_t next;
};

yk_status yk_program_facts_make(const struct yk_program *program, struct yk_arena *arena,
                                struct yk_program_facts **out) YK_MUST_USE;

/* The crossing of a layer's output to a group, or −1. */
int32_t yk_program_facts_find_crossing(const struct yk_program_facts *facts, int32_t producer,
                                       int32_t group);

/* Iterates over the layers of a group that use a layer's output: sets `layer` to the next one.
 * Returns false after the last. Start with {.producer, .group}. */
bool yk_program_facts_next_consumer(const struct yk_program_facts *facts,
                                    struct yk_consumer_cursor *at);

/* Iterates over the layers that use the weights of `layer`: returns the next one after `user`, or
 * −1. Start with `user` = `layer`. */
static inline int32_t yk_program_facts_next_weight_user(const struct yk_program_facts *facts,
                                                        int32_t layer, int32_t user)
{
    return facts->program->layers[layer].weights_owner == layer ? facts->next_user[user] : -1;
}

/* True if the layer's gradient is reduced, that is, its group has several members. */
static inline bool yk_program_facts_reduces_gradient(const struct yk_program_facts *facts,
                                                     int32_t layer)
{
    return facts->program->layers[layer].gradient_bytes > 0 &&
           facts->plan->groups[facts->plan->layers[layer].group].member_count > 1;
}

/* True if the layer's gradient is accumulated over all micro-batches, then reduced once or not at
 * all. Otherwise the gradient of each micro-batch is reduced separately and then accumulated. */
static inline bool yk_program_facts_accumulates_gradient(const struct yk_program_facts *facts,
                                                         int32_t layer)
{
    return facts->plan->no_sync || facts->M == 1 ||
           !yk_program_facts_reduces_gradient(facts, layer);
}

/* True if gradients are reduced after this micro-batch. */
static inline bool yk_program_facts_reduces_after_micro_batch(const struct yk_program_facts *facts,
                                                              int32_t micro_batch)
{
    return !facts->plan->no_sync || micro_batch == facts->M - 1;
}

/* True if the layer reads tokens or labels of the batch. */
bool yk_program_facts_reads_samples(const struct yk_program_facts *facts, int32_t layer);

/* The index of `rank` in the members of a group, or −1. */
int32_t yk_program_facts_member_index(const struct yk_plan *plan, int32_t group, int32_t rank);

#endif
