/* Projection: a product with weights, forward and backward, with its LoRA adapter and its
 * weights dequantised where there are such. */
#ifndef YK_NN_LAYERS_PROJECTION_H
#define YK_NN_LAYERS_PROJECTION_H

#include "nn/carve.h"
#include "nn/layers/layer.h"

/* y (rows, out) = epilogue(x (rows, in) · weights + bias + add). */
struct yk_projection_forward {
    int64_t rows; /* 0: the tokens of the pass */
    const void *x;
    void *y;
    const void *add; /* NULL: none */
    enum yk_epilogue epilogue;
    void *aux;
    void *inner;     /* (rows, parts · rank): x · Aᵀ of the adapter; NULL: none */
    void *weights;   /* for dequantised ones; NULL unless NF4 */
    int64_t cuts[2]; /* of the output, as in struct yk_matmul_op */
};

/* dx (rows, in) = epilogue(dy (rows, out) · weights + add), and the gradients of whatever is
 * trained. */
struct yk_projection_backward {
    int64_t rows; /* 0: the tokens of the pass */
    const void *x;
    const void *dy;
    void *dx;        /* NULL: not wanted */
    const void *add; /* NULL: none; may be dx itself */
    enum yk_epilogue epilogue;
    void *aux;
    const void *inner;
    void *d_inner; /* as large as inner */
    void *weights;
    void *dx_sums; /* (in) sums of dx's columns are added, which are the gradient of a bias before
                      it; or NULL */
    bool bias_summed; /* this projection's own bias gradient was made so */
};

void yk_projection_forward(const struct yk_pass *pass, int32_t number,
                           const struct yk_projection_forward *io);
void yk_projection_backward(const struct yk_pass *pass, int32_t number,
                            const struct yk_projection_backward *io);

/* Where backward adds the sums of the columns of dy. NULL where the bias is not trained, or
 * there is an adapter. */
void *yk_projection_bias_gradient(const struct yk_pass *pass, int32_t number);

/* `inner` of the adapter alone: for recomputation, where the product is not needed again. */
void yk_projection_recompute_inner(const struct yk_pass *pass, int32_t projection, const void *x,
                                   void *inner);

/* NULL where it has no adapter. */
void *yk_projection_carve_inner(const struct yk_net *net, int32_t layer, int32_t projection,
                                int64_t rows, struct yk_carver *carver);

/* For the largest projection's `d_inner`, and for its dequantised weights. */
void *yk_projection_carve_d_inner(const struct yk_net *net, int32_t layer, int64_t rows,
                                  struct yk_carver *carver);
void *yk_projection_carve_weights(const struct yk_net *net, int32_t layer,
                                  struct yk_carver *carver);

#endif
