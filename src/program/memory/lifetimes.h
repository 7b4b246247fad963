/*
 * Lifetimes: from which op to which op every buffer of a step lives on a rank.
 *
 * Only this file derives them: program/memory sums the sizes of live buffers, and the trainer packs
 * the same buffers into one allocation. State that a rank always holds is not included.
 *
 * A buffer lives from the start of the earliest of its begin ops to the end of the latest of its
 * end ops; there may be one of each on either lane. Weights that are gathered in several messages,
 * and gradients that are reduce-scattered in several, are one buffer of consecutive parts: each
 * part lives from its own message on, or until it.
 *
 * Sizes are not decided here: program/memory computes them from the model's description, the
 * trainer asks its layers.
 */
#ifndef YK_PROGRAM_MEMORY_LIFETIMES_H
#define YK_PROGRAM_MEMORY_LIFETIMES_H

#include "plan/memory_kind.h"
#include "program/rank_view.h"

enum {
    YK_LIFETIME_LANES = 2 /* compute and comm: no buffer lives for a load alone */
};

enum yk_buffer_kind {
    YK_BUFFER_OUTPUT, /* of a layer, in a micro-batch; so are all up to the work buffers */
    YK_BUFFER_OUTPUT_GRADIENT,
    YK_BUFFER_SAVED,      /* by forward for backward, without the input; where forward is
                             recomputed: during forward only */
    YK_BUFFER_RECOMPUTED, /* the same, by the recomputation */
    YK_BUFFER_FORWARD_WORK,
    YK_BUFFER_RECOMPUTE_WORK,
    YK_BUFFER_BACKWARD_WORK,
    YK_BUFFER_INPUT, /* output of another group's layer, on a rank that receives it */
    YK_BUFFER_INPUT_GRADIENT,
    YK_BUFFER_RETURNED, /* gradient of an output from one of the groups that used it, on the rank
                           that made the output and sums several */
    YK_BUFFER_WEIGHTS,  /* gathered: a part for each gather */
    YK_BUFFER_GRADIENT, /* of weights, until it is scattered: a part for each scatter */
    YK_BUFFER_BUCKET,   /* gradients of a bucket in one of several micro-batches that each reduce */
    YK_BUFFER_KIND_COUNT,
};

struct yk_lifetime {
    enum yk_buffer_kind kind;
    enum yk_memory_kind memory;
    int32_t buffer;      /* its number on the rank; parts of a buffer have the same */
    int32_t layer;       /* of a bucket: the op's */
    int32_t micro_batch; /* weights: 0; of a gradient over all: the last */
    int32_t crossing;    /* input, input gradient, returned: in the facts; else −1 */
    int32_t op;          /* weights, gradient, bucket: the message; else YK_OP_NONE */
    int64_t samples;     /* of the pass, or of the rank's rows in the crossing; 0 of weights */
    double bytes;        /* as program/memory counts them, where it does; may be 0 */
    int32_t begin[YK_LIFETIME_LANES]; /* ops; YK_OP_NONE: none on that lane */
    int32_t end[YK_LIFETIME_LANES];
    int32_t lag; /* rounds from the begin to the end: 0 or 1 */
};

struct yk_lifetimes {
    struct yk_lifetime *items;
    int32_t count;
    int32_t buffer_count;
};

/* In the arena. The view may be one of yk_rank_view_index(). */
yk_status yk_lifetimes_find(const struct yk_rank_view *view, struct yk_arena *arena,
                            struct yk_lifetimes *out) YK_MUST_USE;

/* A new lifetime has no begin and end ops; these add one. YK_OP_NONE changes nothing. */
struct yk_lifetime yk_lifetime_new(void);
void yk_lifetime_begin(struct yk_lifetime *lifetime, const struct yk_program_rank *list,
                       int32_t op);
void yk_lifetime_end(struct yk_lifetime *lifetime, const struct yk_program_rank *list, int32_t op);

/* Whether the gradient of an output that other groups used is received directly into the buffer
 * that backward reads, because nothing else is added to it on this rank. */
bool yk_lifetimes_is_direct(const struct yk_rank_view *view, int32_t producer, int32_t micro_batch);

#endif
