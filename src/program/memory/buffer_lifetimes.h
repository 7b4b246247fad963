/*
 * Buffer lifetimes: the ops that begin and end the lifetime of every buffer that a step uses on a
 * rank.
 *
 * yk_program_memory_count_for_rank() sums the sizes of live buffers, and the trainer puts the same
 * buffers into one allocation. State that a rank stores permanently is not included.
 *
 * A buffer lives from the start of its earliest begin op to the end of its latest end op. It may
 * have one begin op and one end op on each lane. If several messages gather the weights of a layer,
 * the weights are one buffer with one part for each message. Each part has its own lifetime, which
 * begins with its message. In the same way, if several messages reduce-scatter the gradients of a
 * layer, the lifetime of each part ends with its message.
 *
 * Sizes are not computed here: yk_program_memory_count_for_rank() computes them from the
 * description of the model, and the trainer gets them from its layers.
 */
#ifndef YK_PROGRAM_MEMORY_BUFFER_LIFETIMES_H
#define YK_PROGRAM_MEMORY_BUFFER_LIFETIMES_H

#include "plan/plan_result.h"
#include "program/op_index.h"

enum {
    YK_BUFFER_LIFETIME_LANES = 2 /* compute and comm; loads use no buffers of their own */
};

enum yk_buffer_kind {
    /* One per layer and micro-batch: */
    YK_BUFFER_OUTPUT,
    YK_BUFFER_OUTPUT_GRADIENT,
    YK_BUFFER_SAVED_ACTIVATIONS,      /* activations saved for backward, without the input of the
                                         layer. If the layer is recomputed, they live only during
                                         forward */
    YK_BUFFER_RECOMPUTED_ACTIVATIONS, /* activations that the recomputation saves */
    YK_BUFFER_FORWARD_WORKSPACE,      /* workspace of a forward pass */
    YK_BUFFER_RECOMPUTE_WORKSPACE,
    YK_BUFFER_BACKWARD_WORKSPACE,
    /* One per crossing (struct yk_rank_group_crossing) and micro-batch: */
    YK_BUFFER_INPUT, /* the output of a layer of another group, on the rank that receives it */
    YK_BUFFER_INPUT_GRADIENT,
    YK_BUFFER_PARTIAL_OUTPUT_GRADIENT, /* the gradient from another group, if the rank does not
                                          receive it in place */
    /* One lifetime per message: */
    YK_BUFFER_GATHERED_WEIGHTS, /* weights that an all_gather gathers */
    YK_BUFFER_WEIGHT_GRADIENT,  /* gradients of weights until they are reduce-scattered */
    YK_BUFFER_GRADIENT_BUCKET,  /* gradients of a bucket, if the gradients of every micro-batch are
                                   reduced separately */

    YK_BUFFER_KIND_COUNT,
};

struct yk_buffer_lifetime {
    enum yk_buffer_kind kind;
    enum yk_memory_kind memory;
    int32_t buffer;      /* number of the buffer on the rank; equal for all parts of a buffer */
    int32_t layer;       /* for a bucket: the layer of the all_reduce */
    int32_t micro_batch; /* for weights: 0; for accumulated gradients: the last micro-batch */
    int32_t crossing; /* index in the crossings of the program facts; −1 means: not a buffer of a
                         crossing */
    int32_t op;       /* for weights, their gradients and buckets: the op of the message; otherwise
                         YK_OP_NONE */
    int64_t samples;  /* number of samples in the buffer; 0 for weights and their gradients */
    double bytes;     /* set by yk_program_memory_count_for_rank(); may be 0 */
    int32_t begin[YK_BUFFER_LIFETIME_LANES]; /* begin op on each lane; YK_OP_NONE means: none on
                                                this lane */
    int32_t end[YK_BUFFER_LIFETIME_LANES];
    int32_t lag_iterations; /* number of iterations from begin to end: 0 or 1 */
};

struct yk_buffer_lifetimes {
    struct yk_buffer_lifetime *items;
    int32_t count;
    int32_t buffer_count;
};

/* Finds all lifetimes of a rank. The array is in `arena`. `index` may come from
 * yk_op_index_make_lookup_only(). */
yk_status yk_buffer_lifetimes_find(const struct yk_op_index *index, struct yk_arena *arena,
                                   struct yk_buffer_lifetimes *out) YK_MUST_USE;

/* Returns a lifetime without begin and end ops. */
struct yk_buffer_lifetime yk_buffer_lifetime_make_empty(void);

/* Add a begin op or an end op. YK_OP_NONE changes nothing. */
void yk_buffer_lifetime_add_begin_op(struct yk_buffer_lifetime *lifetime,
                                     const struct yk_op_list *list, int32_t op);
void yk_buffer_lifetime_add_end_op(struct yk_buffer_lifetime *lifetime,
                                   const struct yk_op_list *list, int32_t op);

/* Returns true if a rank receives the gradient of the output of layer `producer` directly in the
 * buffer that backward reads. This is possible if the gradient comes from one other group only, and
 * the rank has no samples of the micro-batch in that group. */
bool yk_buffer_lifetimes_receives_gradient_in_place(const struct yk_op_index *index,
                                                    int32_t producer, int32_t micro_batch);

#endif
