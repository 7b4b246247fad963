/*
 * Attention: the first half of a block with its norm before it, whatever follows: x +
 * out(attention( norm x)), forward and backward. Queries, keys and values lie side by side in one
 * row, heads in each. The sites of a block that uses it begin with those two, YK_ATTENTION_QKV and
 * YK_ATTENTION_OUT, and its parameters with the norm's.
 */
#ifndef YK_NN_ATTENTION_H
#define YK_NN_ATTENTION_H

#include "nn/site.h"

enum {
    YK_ATTENTION_QKV,
    YK_ATTENTION_OUT,
};

/* Places of dropout, see yk_pass_dropout(). */
enum {
    YK_DROP_ATTENTION,
    YK_DROP_OUT,
    YK_DROP_DOWN,
};

/* What is kept from forward to backward, besides the input. */
struct yk_attention_saved {
    void *norm;     /* (rows, C) */
    void *qkv;      /* (rows, Q + 2K), turned where positions are rotary */
    void *attended; /* (rows, Q) */
    void *inner_qkv;
    void *inner_out;
    float *sums; /* (B, H, T) */
    float *mean; /* (rows); NULL: the root-mean-square norm */
    float *rstd;
};

/* Gradients on their way, and room. */
struct yk_attention_room {
    void *wide;    /* (rows, Q + 2K) */
    void *narrow;  /* (rows, C or Q) */
    void *dropped; /* (rows, C) where anything is dropped */
    void *d_inner;
    void *weights;
};

void yk_attention_carve(const struct yk_net *net, int32_t layer, int64_t rows, bool with_mean,
                        struct yk_carver *carver, struct yk_attention_saved *out);

/* `out` (rows, C) = the input + what attention adds to it. */
void yk_attention_forward(const struct yk_pass *pass, const struct yk_attention_saved *saved,
                          void *weights, void *out);

/* Turns the gradient of `out`, which is where the input's belongs, into that of the input. */
void yk_attention_backward(const struct yk_pass *pass, const struct yk_attention_saved *saved,
                           const struct yk_attention_room *room);

/* A product whose output is dropped from and added to the residual stream: to = stream + … */
void yk_stream_add(const struct yk_pass *pass, int32_t site, uint64_t place, const void *x,
                   const void *stream, void *inner, void *weights, void *to);

/* The gradient of what such a product made, before some of it was dropped: `gradient` itself, or
 * made in `room`. */
const void *yk_stream_back(const struct yk_pass *pass, uint64_t place, const void *gradient,
                           void *room);

#endif
