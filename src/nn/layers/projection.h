/*
 * Projection: a matrix product with weights, forward and backward. The functions also apply the
 * LoRA adapter of the projection, and dequantise NF4 weights.
 */
#ifndef YK_NN_LAYERS_PROJECTION_H
#define YK_NN_LAYERS_PROJECTION_H

#include "nn/bump_allocator.h"
#include "nn/layers/layer.h"

/*
 * The arguments of yk_projection_forward(), which computes
 *
 *   y = epilogue(x · weights + bias + adapter(x) + add)
 *
 * x is (rows, in). y and add are (rows, out).
 */
struct yk_projection_forward_arguments {
    int64_t rows; /* 0 means: the number of tokens of the pass */
    const void *x;
    void *y;
    const void *add; /* may be NULL */
    enum yk_matmul_epilogue epilogue;
    void *aux;   /* input or output of the epilogue, see struct yk_matmul_op */
    void *inner; /* (rows, parts · rank) output: x · Aᵀ of the adapter; NULL means: no adapter */
    void *weights;   /* memory for dequantised weights; NULL unless NF4 */
    int64_t cuts[2]; /* columns of y at which the product may be split, see split_columns in struct
                        yk_matmul_op */
    /* y is without adapter(x). The op that reads y adds it: yk_projection_get_output_term(). */
    bool skip_adapter;
};

/*
 * The arguments of yk_projection_backward(). It adds to the gradients of the trained parameters,
 * and computes
 *
 *   dx = epilogue(dy · weights + gradient of x through the adapter + add)
 *
 * dy is (rows, out). dx and add are (rows, in).
 */
struct yk_projection_backward_arguments {
    int64_t rows; /* 0 means: the number of tokens of the pass */
    const void *x;
    const void *dy;
    void *dx;        /* NULL means: not needed */
    const void *add; /* may be NULL or equal to dx */
    enum yk_matmul_epilogue epilogue;
    void *aux;         /* input of the epilogue */
    const void *inner; /* `inner` from the forward pass */
    void *d_inner;     /* scratch memory with the size of `inner` */
    void *weights;     /* memory for dequantised weights; NULL unless NF4 */
    /* (in) the bias gradient of the projection that comes before this one in the forward pass. The
     * column sums of dx are added to it. NULL means: not needed. */
    void *dx_sums;
    /* The bias gradient of this projection has already been computed, by `dx_sums` of the
     * projection that comes after this one in the forward pass. */
    bool bias_summed;
    /* dx is without the gradient through the adapter, and the gradient of the adapter's A is left
     * as it is. The op that reads dx adds both, before `d_inner` is used again:
     * yk_projection_get_input_gradient_term(), yk_projection_get_lora_a_gradient(). */
    bool skip_adapter;
};

void yk_projection_forward(const struct yk_layer_pass *pass, int32_t number,
                           const struct yk_projection_forward_arguments *io);
void yk_projection_backward(const struct yk_layer_pass *pass, int32_t number,
                            const struct yk_projection_backward_arguments *io);

/* What the adapter adds to y from column `first` on, up to the end of the part of that column. */
struct yk_lora_term yk_projection_get_output_term(const struct yk_layer_pass *pass, int32_t number,
                                                  int64_t first, const void *inner);
/* What the adapter adds to dx. */
struct yk_lora_term yk_projection_get_input_gradient_term(const struct yk_layer_pass *pass,
                                                          int32_t number, const void *d_inner);

/* Returns the address of the gradient of the adapter's A, (parts · rank, in). */
void *yk_projection_get_lora_a_gradient(const struct yk_layer_pass *pass, int32_t number);

/* Returns the address of the bias gradient. Returns NULL if the projection has no trained bias, or
 * if it has an adapter. */
void *yk_projection_get_bias_gradient(const struct yk_layer_pass *pass, int32_t number);

/* Computes `inner`, but not the output of the projection. For recomputation that does not need this
 * output. */
void yk_projection_recompute_lora_inner(const struct yk_layer_pass *pass, int32_t projection,
                                        const void *x, void *inner);

/* Allocates `inner`. Returns NULL if there is no adapter. */
void *yk_projection_allocate_lora_inner(const struct yk_net *net, int32_t layer, int32_t projection,
                                        int64_t rows, struct yk_bump_allocator *allocator);

/* These two functions allocate `d_inner` and `weights` with space for any projection of the layer.
 * The first returns NULL if the layer has no adapters, the second if it has no NF4 weights. */
void *yk_projection_allocate_lora_inner_gradient(const struct yk_net *net, int32_t layer,
                                                 int64_t rows, struct yk_bump_allocator *allocator);
void *yk_projection_allocate_dequantised_weights(const struct yk_net *net, int32_t layer,
                                                 struct yk_bump_allocator *allocator);

#endif
