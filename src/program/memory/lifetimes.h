/*
 * Lifetimes: from which op to which op every buffer of a step lives on a rank.
 *
 * This is the one place that derives it: program/memory sums lifetimes, and the trainer packs the
 * same ones into one allocation. State that a rank always has is no part of it.
 *
 * A buffer lives from the start of the first op that it begins with to the end of the last that it
 * ends with; there may be one of each on both lanes. Weights that are gathered in several messages,
 * and gradients that are scattered in several, are one buffer in parts that lie behind each other:
 * each part lives from its own message on, or until it.
 *
 * How many bytes a buffer has is not said here: program/memory counts them by the model's
 * description, the trainer asks its layers.
 */
#ifndef YK_PROGRAM_MEMORY_LIFETIMES_H
#define YK_PROGRAM_MEMORY_LIFETIMES_H

#include "plan/memory_kind.h"
#include "program/rank_view.h"

enum {
    YK_LIFETIME_LANES = 2 /* compute and comm: no buffer lives for a load alone */
};

enum yk_buffer_kind {
    YK_BUFFER_OUTPUT, /* of a layer, in a micro-batch; as all up to the works */
    YK_BUFFER_OUTPUT_GRADIENT,
    YK_BUFFER_SAVED,      /* by forward, besides the input; for backward, unless that is done
                             again: then for forward alone */
    YK_BUFFER_RECOMPUTED, /* the same, by the recomputation */
    YK_BUFFER_FORWARD_WORK,
    YK_BUFFER_RECOMPUTE_WORK,
    YK_BUFFER_BACKWARD_WORK,
    YK_BUFFER_INPUT, /* output of another group's layer, on a rank that takes it */
    YK_BUFFER_INPUT_GRADIENT,
    YK_BUFFER_RETURNED, /* gradient of an output from one of the groups that took it, on a rank that
                           made it and adds up several */
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

/* Makes it begin, or end, with this op, too; YK_OP_NONE changes nothing. One that is new begins and
 * ends with none. */
struct yk_lifetime yk_lifetime_new(void);
void yk_lifetime_begin(struct yk_lifetime *lifetime, const struct yk_program_rank *list,
                       int32_t op);
void yk_lifetime_end(struct yk_lifetime *lifetime, const struct yk_program_rank *list, int32_t op);

/* Whether the gradient of an output that other groups took comes in where backward wants it:
 * nothing else is added to it on this rank. */
bool yk_lifetimes_is_direct(const struct yk_rank_view *view, int32_t producer, int32_t micro_batch);

#endif
