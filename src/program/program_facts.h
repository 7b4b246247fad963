/*
 * Program facts: properties of a program's plan and model that the compiler, the rules and the
 * memory count look up often. Their memory belongs to the caller's arena. The program must outlive
 * the facts.
 */
#ifndef YK_PROGRAM_PROGRAM_FACTS_H
#define YK_PROGRAM_PROGRAM_FACTS_H

#include "program/program.h"

/* A crossing: the output of a layer that layers of another group use. The forward pass sends the
 * output to that group, and the backward pass sends its gradient back. */
struct yk_rank_group_crossing {
    int32_t producer;
    int32_t consumer; /* the first layer of `group` that uses the output */
    int32_t group;    /* the group of the layers that use the output */
};

struct yk_program_facts {
    const struct yk_program *program;
    const struct yk_plan *plan;
    const struct yk_model *model;
    int32_t L;
    int32_t M;           /* micro-batches */
    bool *goes_backward; /* (L) whether the layer has a backward pass */
    int32_t *bucket;     /* (L) the bucket that contains the layer's gradient; −1 means: none */
    int32_t *next_user;  /* (L) see yk_program_facts_next_weight_user() */
    int32_t *first_edge_to;   /* (L + 1) the edges that enter layer l have the indices
                                 first_edge_to[l] to first_edge_to[l + 1] − 1 */
    int32_t *first_edge_from; /* (L + 1) edges_from[first_edge_from[l]] is the first edge that
                                 leaves layer l */
    int32_t *edges_from;      /* indices of the model's edges, sorted by producer */
    struct yk_rank_group_crossing *crossings;
    int32_t crossing_count;
};

/* The position of an iteration over the layers of a group that use the output of a layer, see
 * yk_program_facts_next_consumer(). */
struct yk_consumer_cursor {
    int32_t producer;
    int32_t group;
    int32_t layer; /* the current consumer */
    int32_t next;
};

yk_status yk_program_facts_make(const struct yk_program *program, struct yk_arena *arena,
                                struct yk_program_facts **out) YK_MUST_USE;

/* Returns the index of the crossing from the layer `producer` to a group, or −1 if there is none.
 */
int32_t yk_program_facts_find_crossing(const struct yk_program_facts *facts, int32_t producer,
                                       int32_t group);

/* Iterates over the layers of a group that use a layer's output: sets `at->layer` to the next of
 * these layers. Returns false after the last one. Before the first call, set `producer` and `group`
 * of the cursor, and set the other members to 0. */
bool yk_program_facts_next_consumer(const struct yk_program_facts *facts,
                                    struct yk_consumer_cursor *at);

/* Returns the size of a layer's output, which is the size of its largest outgoing edge in `model`.
 * The model must be made for the number of samples that the output contains. */
double yk_program_facts_layer_output_bytes(const struct yk_program_facts *facts,
                                           const struct yk_model *model, int32_t layer);

/* Iterates over the layers that use the weights of `layer`: returns the next of these layers after
 * `user`, or −1 after the last one. In the first call, `user` is `layer`. */
static inline int32_t yk_program_facts_next_weight_user(const struct yk_program_facts *facts,
                                                        int32_t layer, int32_t user)
{
    return facts->program->layers[layer].weights_owner == layer ? facts->next_user[user] : -1;
}

/* Returns true if the layer's gradient is reduced: the layer is trained and its group has several
 * members. */
static inline bool yk_program_facts_reduces_layer_gradient(const struct yk_program_facts *facts,
                                                           int32_t layer)
{
    return facts->program->layers[layer].gradient_bytes > 0 &&
           facts->plan->groups[facts->plan->layers[layer].group].member_count > 1;
}

/* Returns true if the layer's gradient is accumulated over all micro-batches and then reduced once
 * or not at all. Otherwise the gradient of each micro-batch is reduced separately and then
 * accumulated. */
static inline bool yk_program_facts_accumulates_gradient(const struct yk_program_facts *facts,
                                                         int32_t layer)
{
    return facts->plan->no_sync || facts->M == 1 ||
           !yk_program_facts_reduces_layer_gradient(facts, layer);
}

/* Returns true if gradients are reduced after this micro-batch. */
static inline bool yk_program_facts_reduces_after_micro_batch(const struct yk_program_facts *facts,
                                                              int32_t micro_batch)
{
    return !facts->plan->no_sync || micro_batch == facts->M - 1;
}

/* Returns true if the layer reads tokens or labels of the batch. */
bool yk_program_facts_layer_reads_batch(const struct yk_program_facts *facts, int32_t layer);

/* Returns the index of `rank` among the members of a group, or −1 if it is not a member. */
int32_t yk_program_facts_group_member_index(const struct yk_plan *plan, int32_t group,
                                            int32_t rank);

#endif
