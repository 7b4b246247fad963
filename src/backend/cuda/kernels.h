/*
 * Kernels: enqueues the ops of backend/ops.h on a lane. A function does not wait until the op has
 * run. But the first matmul of a shape may wait for benchmarks, and an op that needs more scratch
 * memory than any op before it waits for the lane. A failure is stored in the lane and is returned
 * when the host synchronizes.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_H
#define YK_BACKEND_CUDA_KERNELS_H

#ifdef __cplusplus
extern "C" {
#endif

#include "backend/cuda/lane.h"
#include "backend/ops.h"

#define YK_CUDA_DECLARE_OP_FUNCTION(CAPITALS, name, function)                                      \
    void yk_cuda_##function(struct yk_backend_lane *lane, const struct yk_##name##_op *op);
YK_OPS_FOR_EACH(YK_CUDA_DECLARE_OP_FUNCTION)
#undef YK_CUDA_DECLARE_OP_FUNCTION

/* Sets `out` to the compute capability that the kernels were compiled for. The driver translates
 * code for older GPUs, but what is left out there stays left out. */
cudaError_t yk_cuda_code_capability_get(int32_t *out);

/* Dequantises on the lane itself and ignores op->order. */
void yk_cuda_nf4_dequantise_on_lane(struct yk_backend_lane *lane,
                                    const struct yk_dequantise_op *op);

/* Finishes a matmul. c must already hold scale · op(a) · op(b). Adds the bias and op->add to c and
 * applies the epilogue. */
void yk_cuda_matmul_apply_epilogue(struct yk_backend_lane *lane, const struct yk_matmul_op *op);

/* Enqueues c = scale · a · bᵀ with few columns of c. Returns false, and enqueues nothing, if the op
 * is not such a product of 16-bit matrices or computes more, if rows are not aligned or short, if
 * the GPU has no thread block clusters, or if the process has only a part of it. */
bool yk_cuda_narrow_matmul_try(struct yk_backend_lane *lane, const struct yk_matmul_op *op);

/* Enqueue a norm of rows with several short groups, such as heads. Groups and strides of the op
 * must not be 0. Return false, and enqueue nothing, if the groups are not short or not aligned. */
bool yk_cuda_grouped_norm_try_forward(struct yk_backend_lane *lane, const struct yk_norm_op *op);
bool yk_cuda_grouped_norm_try_backward(struct yk_backend_lane *lane,
                                       const struct yk_norm_backward_op *op);

/* Enqueue QK-norm as one kernel, apart from sums of gradients of weights. Return false, and enqueue
 * nothing, if the heads are not short or not aligned, if the norms differ, or if only a part of
 * each head is rotated. */
bool yk_cuda_grouped_norm_try_qk_forward(struct yk_backend_lane *lane,
                                         const struct yk_qk_norm_op *op);
bool yk_cuda_grouped_norm_try_qk_backward(struct yk_backend_lane *lane,
                                          const struct yk_qk_norm_backward_op *op);

/* Enqueue gated linear units that have terms of adapters. */
void yk_cuda_glu_lora(struct yk_backend_lane *lane, const struct yk_glu_op *op);
void yk_cuda_glu_backward_lora(struct yk_backend_lane *lane, const struct yk_glu_backward_op *op);

/* Enqueues cross entropy of capped logits, but not the sum of row losses. Returns false, and
 * enqueues nothing, if logits are not bf16, not capped or not aligned, or if labels are smoothed.
 */
bool yk_cuda_capped_cross_entropy_try(struct yk_backend_lane *lane,
                                      const struct yk_cross_entropy_op *op);

/* Result of yk_cuda_matmul_check(). An element is not counted if nothing can be concluded from it:
 * the expected value is too large for the type, or it is so small that a wrong result of 0 would be
 * within the tolerance too. */
struct yk_matmul_check_counts {
    int bad;     /* number of wrong elements */
    int correct; /* number of correct elements */
};

/* Recomputes some elements of c on the device and compares them with c. `sums` are the row sums
 * that the matmul computed; NULL means: do not check row sums. `from_zero` means: c was zero before
 * the product was added to it. Adds the results to `out`, which is device memory. */
void yk_cuda_matmul_check(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                          bool from_zero, const void *sums, struct yk_matmul_check_counts *out);

/* Fills an operand with pseudo-random numbers between -1 and 1. `salt` selects the sequence. */
void yk_cuda_matmul_check_fill_random(struct yk_backend_lane *lane, int64_t count, unsigned salt,
                                      enum yk_precision type, void *to);

/* Converts a (rows, columns) matrix to another type. If `adds` is true, adds the result to `to`
 * instead of overwriting `to`. */
void yk_cuda_elementwise_cast_matrix(struct yk_backend_lane *lane, int64_t rows, int64_t columns,
                                     const void *from, int64_t from_stride,
                                     enum yk_precision from_type, void *to, int64_t to_stride,
                                     enum yk_precision to_type, bool adds);

/* Enqueue attention with yoke's built-in kernels, for every type, head size, mask and dropout
 * rate. */
void yk_cuda_attention_builtin_forward(struct yk_backend_lane *lane,
                                       const struct yk_attention_op *op);
void yk_cuda_attention_builtin_backward(struct yk_backend_lane *lane,
                                        const struct yk_attention_backward_op *op);

/* Fills dk and dv with zeros, because keys to which no query attends have a gradient of 0. Returns
 * false if the lane has failed. */
bool yk_cuda_attention_builtin_clear_key_gradients(struct yk_backend_lane *lane,
                                                   const struct yk_attention_backward_op *op);

/* Enqueue attention with cuDNN. Return false, and enqueue nothing, if cuDNN does not support the op
 * or if there is no cuDNN execution plan yet for the shape of the op. If `repeatable` is true,
 * gradients have the same bits in every run, but the op is slower. */
bool yk_cuda_attention_cudnn_try_forward(struct yk_backend_lane *lane,
                                         const struct yk_attention_op *op);
bool yk_cuda_attention_cudnn_try_backward(struct yk_backend_lane *lane,
                                          const struct yk_attention_backward_op *op,
                                          bool repeatable);

#ifdef __cplusplus
}
#endif

#endif
