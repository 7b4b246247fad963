/*
 * Pre-attention: the first half of a block whose norms come first, whatever follows: x +
 * out(attention(norm x)), with x the layer's input. The block's parameters begin with the norm's.
 */
#ifndef YK_NN_LAYERS_PRENORM_ATTENTION_H
#define YK_NN_LAYERS_PRENORM_ATTENTION_H

#include "nn/layers/attention.h"
#include "nn/layers/norm.h"

/* What is kept from forward to backward, besides the input. */
struct yk_prenorm_attention_saved {
    struct yk_norm norm;
    void *normed; /* (rows, C) */
    struct yk_attention_saved attention;
};

void yk_prenorm_attention_carve(const struct yk_net *net, int32_t layer,
                                const struct yk_batch_shape *batch, struct yk_carver *carver,
                                struct yk_prenorm_attention_saved *out);

/* `out` (rows, C) = the input + what attention adds to it. */
void yk_prenorm_attention_forward(const struct yk_pass *pass,
                                  const struct yk_prenorm_attention_saved *saved, void *weights,
                                  void *out);

/* Turns the gradient of `out`, which is where the input's belongs, into that of the input. */
void yk_prenorm_attention_backward(const struct yk_pass *pass,
                                   const struct yk_prenorm_attention_saved *saved,
                                   const struct yk_residual_workspace *room);

#endif
