/*
 * Kernels: the ops of backend/ops.h on the CPU. A kernel runs on the thread of a lane and divides
 * its work among `threads` threads. `op` points to the struct of the op. The division of the work
 * does not depend on `threads`, and neither does the result.
 */
#ifndef YK_BACKEND_CPU_KERNELS_KERNELS_H
#define YK_BACKEND_CPU_KERNELS_KERNELS_H

/* Calls the macro OP(name, kernel) for every op. */
#define YK_CPU_FOR_EACH_OP(OP)                                                                     \
    OP(matmul, yk_cpu_matmul)                                                                      \
    OP(attention, yk_cpu_attention)                                                                \
    OP(attention_backward, yk_cpu_attention_backward)                                              \
    OP(norm, yk_cpu_norm)                                                                          \
    OP(norm_backward, yk_cpu_norm_backward)                                                        \
    OP(embedding, yk_cpu_embedding)                                                                \
    OP(embedding_backward, yk_cpu_embedding_backward)                                              \
    OP(rotary, yk_cpu_rotary)                                                                      \
    OP(swiglu, yk_cpu_swiglu)                                                                      \
    OP(swiglu_backward, yk_cpu_swiglu_backward)                                                    \
    OP(dropout, yk_cpu_dropout)                                                                    \
    OP(sum_rows, yk_cpu_sum_rows)                                                                  \
    OP(cross_entropy, yk_cpu_cross_entropy)                                                        \
    OP(sum_squares, yk_cpu_sum_squares)                                                            \
    OP(clip_norm, yk_cpu_optimizer_clip_norm)                                                      \
    OP(adamw, yk_cpu_optimizer_adamw)                                                              \
    OP(sgd, yk_cpu_optimizer_sgd)                                                                  \
    OP(cast, yk_cpu_elementwise_cast)                                                              \
    OP(add, yk_cpu_elementwise_add)                                                                \
    OP(quantise, yk_cpu_nf4_quantise)                                                              \
    OP(dequantise, yk_cpu_nf4_dequantise)

#define YK_CPU_DECLARE(name, kernel) void kernel(int threads, const void *op);
YK_CPU_FOR_EACH_OP(YK_CPU_DECLARE)
#undef YK_CPU_DECLARE

#endif
