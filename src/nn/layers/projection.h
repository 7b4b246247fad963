/*
 * Projection: a matrix product with weights, forward and backward. It applies the projection's LoRA
 * adapter, and dequantises NF4 weights.
 */
#ifndef YK_NN_LAYERS_PROJECTION_H
#define YK_NN_LAYERS_PROJECTION_H

#include "nn/bump_allocator.h"
#include "nn/layers/layer.h"

/* y (rows, out) = epilogue(x (rows, in) · weights + bias + add). */
struct yk_projection_forward {
    int64_t rows; /* 0: the tokens of the pass */
    const void *x;
    void *y;
    const void *add; /* NULL: none */
    enum yk_epilogue epilogue;
    void *aux;     /* of the epilogue, see struct yk_matmul_op */
    void *inner;   /* (rows, parts · rank): receives x · Aᵀ of the adapter; NULL: no adapter */
    void *weights; /* memory for dequantised weights; NULL unless NF4 */
    int64_t cuts[2]; /* of the output, see struct yk_matmul_op */
};

/* dx (rows, in) = epilogue(dy (rows, out) · weights + add), and the gradients of the trained
 * parameters. */
struct yk_projection_backward {
    int64_t rows; /* 0: the tokens of the pass */
    const void *x;
    const void *dy;
    void *dx;        /* NULL: not needed */
    const void *add; /* NULL: none; may be dx itself */
    enum yk_epilogue epilogue;
    void *aux;         /* of the epilogue */
    const void *inner; /* from forward */
    void *d_inner;     /* memory of the size of `inner` */
    void *weights;     /* memory for dequantised weights; NULL unless NF4 */
    void *dx_sums;     /* (in) the column sums of dx are added here: the gradient of the bias of the
                          preceding projection. NULL: not needed */
    bool bias_summed;  /* the following projection has computed this one's bias gradient in its
                          dx_sums */
};

void yk_projection_forward(const struct yk_layer_pass *pass, int32_t number,
                           const struct yk_projection_forward *io);
void yk_projection_backward(const struct yk_layer_pass *pass, int32_t number,
                            const struct yk_projection_backward *io);

/* The address of the bias gradient. NULL: there is no trained bias, or there is an adapter. */
void *yk_projection_bias_gradient(const struct yk_layer_pass *pass, int32_t number);

/* Computes only `inner`: for recomputation, which does not need the product again. */
void yk_projection_recompute_lora_inner(const struct yk_layer_pass *pass, int32_t projection,
                                        const void *x, void *inner);

/* Allocates `inner`; NULL: no adapter. */
void *yk_projection_allocate_lora_inner(const struct yk_net *net, int32_t layer, int32_t projection,
                                        int64_t rows, struct yk_bump_allocator *allocator);

/* Allocates `d_inner` and `weights` for all projections of a layer. */
void *yk_projection_allocate_lora_gradient(const struct yk_net *net, int32_t layer, int64_t rows,
                                           struct yk_bump_allocator *allocator);
void *yk_projection_allocate_dequantised(const struct yk_net *net, int32_t layer,
                                         struct yk_bump_allocator *allocator);

#endif
