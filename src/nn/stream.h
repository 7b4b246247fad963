/*
 * Stream: what blocks do to the residual stream: the products that add to it, with dropout, and the
 * room that going backward through a block takes.
 */
#ifndef YK_NN_STREAM_H
#define YK_NN_STREAM_H

#include "nn/site.h"

/* Places of dropout, see yk_pass_dropout(). */
enum yk_place_of_drop {
    YK_DROP_EMBED = 0, /* the only one of its layer */
    YK_DROP_ATTENTION = 0,
    YK_DROP_OUT,
    YK_DROP_DOWN,
    YK_DROP_CROSS_ATTENTION,
    YK_DROP_CROSS_OUT,
};

/* Gradients on their way through a block, and room. */
struct yk_stream_room {
    void *wide;    /* (rows, the widest product's output that needs one) */
    void *narrow;  /* (rows, the widest product's input) */
    void *memory;  /* (B·S, 2K) of a decoder: that of keys and values; else NULL */
    void *dropped; /* (rows, C) where anything is dropped from the stream */
    void *d_inner;
    void *weights;
};

struct yk_stream_widths {
    int64_t wide;
    int64_t narrow;
    int64_t memory;
};

void yk_stream_carve_room(const struct yk_net *net, int32_t layer, const struct yk_extent *extent,
                          const struct yk_stream_widths *widths, struct yk_carver *carver,
                          struct yk_stream_room *out);

/* A product whose output is dropped from and added to the residual stream: to = stream + … */
void yk_stream_add(const struct yk_pass *pass, int32_t site, enum yk_place_of_drop place,
                   const void *x, const void *stream, void *inner, void *weights, void *to);

/* The gradient of what such a product made, before some of it was dropped: `gradient` itself, or
 * made in `room`. */
const void *yk_stream_back(const struct yk_pass *pass, enum yk_place_of_drop place,
                           const void *gradient, void *room);

/* Drops from (rows, C) numbers where they are; the same op on the gradient goes backward. */
void yk_stream_drop(const struct yk_pass *pass, enum yk_place_of_drop place, void *numbers);

#endif
