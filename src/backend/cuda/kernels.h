/*
 * Kernels: the ops of backend/ops.h as this backend puts them on a lane. Each returns at once; what
 * goes wrong is noted with the lane.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_H
#define YK_BACKEND_CUDA_KERNELS_H

#ifdef __cplusplus
extern "C" {
#endif

#include "backend/cuda/lane.h"
#include "backend/ops.h"

void yk_cuda_matmul(struct yk_backend_lane *lane, const struct yk_matmul *op);
void yk_cuda_attend(struct yk_backend_lane *lane, const struct yk_attend *op);
void yk_cuda_attend_back(struct yk_backend_lane *lane, const struct yk_attend_back *op);
void yk_cuda_normalise(struct yk_backend_lane *lane, const struct yk_normalise *op);
void yk_cuda_normalise_back(struct yk_backend_lane *lane, const struct yk_normalise_back *op);
void yk_cuda_embed(struct yk_backend_lane *lane, const struct yk_embed *op);
void yk_cuda_embed_back(struct yk_backend_lane *lane, const struct yk_embed_back *op);
void yk_cuda_rotate(struct yk_backend_lane *lane, const struct yk_rotate *op);
void yk_cuda_gate(struct yk_backend_lane *lane, const struct yk_gate *op);
void yk_cuda_gate_back(struct yk_backend_lane *lane, const struct yk_gate_back *op);
void yk_cuda_drop(struct yk_backend_lane *lane, const struct yk_drop *op);
void yk_cuda_sum_rows(struct yk_backend_lane *lane, const struct yk_sum_rows *op);
void yk_cuda_lose(struct yk_backend_lane *lane, const struct yk_lose *op);
void yk_cuda_sum_squares(struct yk_backend_lane *lane, const struct yk_sum_squares *op);
void yk_cuda_judge(struct yk_backend_lane *lane, const struct yk_judge *op);
void yk_cuda_adamw(struct yk_backend_lane *lane, const struct yk_adamw *op);
void yk_cuda_sgd(struct yk_backend_lane *lane, const struct yk_sgd *op);
void yk_cuda_cast(struct yk_backend_lane *lane, const struct yk_cast *op);
void yk_cuda_add(struct yk_backend_lane *lane, const struct yk_add *op);
void yk_cuda_quantise(struct yk_backend_lane *lane, const struct yk_quantise *op);
void yk_cuda_dequantise(struct yk_backend_lane *lane, const struct yk_dequantise *op);

/* What a product leaves to do where the library did not do it: c holds scale · op(a) · op(b), and
 * gets bias, add and ending. */
void yk_cuda_end_product(struct yk_backend_lane *lane, const struct yk_matmul *op);

/* Some numbers of c, and of the sums that came with it where there are any, on the device: how many
 * are not what the op makes of its operands, and how many are and would not be if they were zero.
 * `from_zero`: c was zero before it was added to, by `accumulate` or in place. */
struct yk_product_checked {
    int bad;
    int told;
};
void yk_cuda_check_product(struct yk_backend_lane *lane, const struct yk_matmul *op, bool from_zero,
                           const void *sums, struct yk_product_checked *out);

/* Numbers between -1 and 1, one as likely as another, for operands of a trial; `salt` makes others.
 */
void yk_cuda_scatter_numbers(struct yk_backend_lane *lane, int64_t count, unsigned salt,
                             enum yk_precision type, void *to);

/* to (rows, columns) = from, in another type; `adds` it to what is there. */
void yk_cuda_cast_matrix(struct yk_backend_lane *lane, int64_t rows, int64_t columns,
                         const void *from, int64_t from_stride, enum yk_precision from_type,
                         void *to, int64_t to_stride, enum yk_precision to_type, bool adds);

/* Attention by kernels of our own: any type, size, mask and dropout. */
void yk_cuda_attend_own(struct yk_backend_lane *lane, const struct yk_attend *op);
void yk_cuda_attend_back_own(struct yk_backend_lane *lane, const struct yk_attend_back *op);

/* Attention by cuDNN; false where it cannot, and then nothing was done. Gradients that need not be
 * `repeatable`, the same bits every time, are made faster. */
bool yk_cuda_attend_cudnn(struct yk_backend_lane *lane, const struct yk_attend *op);
bool yk_cuda_attend_back_cudnn(struct yk_backend_lane *lane, const struct yk_attend_back *op,
                               bool repeatable);

#ifdef __cplusplus
}
#endif

#endif
