/*
 * Kernels: the ops of backend/ops.h on a lane. Each returns at once; a failure stays with the lane.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_H
#define YK_BACKEND_CUDA_KERNELS_H

#ifdef __cplusplus
extern "C" {
#endif

#include "backend/cuda/lane.h"
#include "backend/ops.h"

void yk_cuda_matmul(struct yk_backend_lane *lane, const struct yk_matmul_op *op);
void yk_cuda_attention(struct yk_backend_lane *lane, const struct yk_attention_op *op);
void yk_cuda_attention_backward(struct yk_backend_lane *lane,
                                const struct yk_attention_backward_op *op);
void yk_cuda_norm(struct yk_backend_lane *lane, const struct yk_norm_op *op);
void yk_cuda_norm_backward(struct yk_backend_lane *lane, const struct yk_norm_backward_op *op);
void yk_cuda_embedding(struct yk_backend_lane *lane, const struct yk_embedding_op *op);
void yk_cuda_embedding_backward(struct yk_backend_lane *lane,
                                const struct yk_embedding_backward_op *op);
void yk_cuda_rotary(struct yk_backend_lane *lane, const struct yk_rotary_op *op);
void yk_cuda_swiglu(struct yk_backend_lane *lane, const struct yk_swiglu_op *op);
void yk_cuda_swiglu_backward(struct yk_backend_lane *lane, const struct yk_swiglu_backward_op *op);
void yk_cuda_dropout(struct yk_backend_lane *lane, const struct yk_dropout_op *op);
void yk_cuda_sum_rows(struct yk_backend_lane *lane, const struct yk_sum_rows_op *op);
void yk_cuda_cross_entropy(struct yk_backend_lane *lane, const struct yk_cross_entropy_op *op);
void yk_cuda_sum_squares(struct yk_backend_lane *lane, const struct yk_sum_squares_op *op);
void yk_cuda_optimizer_clip_norm(struct yk_backend_lane *lane, const struct yk_clip_norm_op *op);
void yk_cuda_optimizer_adamw(struct yk_backend_lane *lane, const struct yk_adamw_op *op);
void yk_cuda_optimizer_sgd(struct yk_backend_lane *lane, const struct yk_sgd_op *op);
void yk_cuda_elementwise_cast(struct yk_backend_lane *lane, const struct yk_cast_op *op);
void yk_cuda_elementwise_add(struct yk_backend_lane *lane, const struct yk_add_op *op);
void yk_cuda_nf4_quantise(struct yk_backend_lane *lane, const struct yk_quantise_op *op);
void yk_cuda_nf4_dequantise(struct yk_backend_lane *lane, const struct yk_dequantise_op *op);

/* What the library left of a product: c holds scale · op(a) · op(b), and gets bias, add and
 * epilogue. */
void yk_cuda_matmul_epilogue(struct yk_backend_lane *lane, const struct yk_matmul_op *op);

/* Checks some numbers of c, and of the sums that came with it, on the device: how many differ from
 * what the op makes of its operands, and how many agree and would not if they were zero.
 * `from_zero`: c was zero before it was added to, by `accumulate` or in place. */
struct yk_matmul_check_counts {
    int bad;
    int decided;
};
void yk_cuda_matmul_check(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                          bool from_zero, const void *sums, struct yk_matmul_check_counts *out);

/* Uniform numbers between -1 and 1, for operands of a trial; `salt` gives others. */
void yk_cuda_matmul_check_fill(struct yk_backend_lane *lane, int64_t count, unsigned salt,
                               enum yk_precision type, void *to);

/* to (rows, columns) = from, in another type; `adds` it to what is there. */
void yk_cuda_elementwise_cast_matrix(struct yk_backend_lane *lane, int64_t rows, int64_t columns,
                                     const void *from, int64_t from_stride,
                                     enum yk_precision from_type, void *to, int64_t to_stride,
                                     enum yk_precision to_type, bool adds);

/* Attention by yoke's own kernels: any type, size, mask and dropout. */
void yk_cuda_attention_own(struct yk_backend_lane *lane, const struct yk_attention_op *op);
void yk_cuda_attention_own_backward(struct yk_backend_lane *lane,
                                    const struct yk_attention_backward_op *op);

/* Attention by cuDNN; false where it cannot, and then nothing was done. Gradients that need not be
 * `repeatable`, the same bits every time, are faster. */
bool yk_cuda_attention_cudnn(struct yk_backend_lane *lane, const struct yk_attention_op *op);
bool yk_cuda_attention_cudnn_backward(struct yk_backend_lane *lane,
                                      const struct yk_attention_backward_op *op, bool repeatable);

#ifdef __cplusplus
}
#endif

#endif
