/*
 * Kernels: the ops of backend/ops.h on the CPU. Each gets its own struct. How the work is cut does
 * not depend on `threads`, so the result does not either.
 */
#ifndef YK_BACKEND_CPU_KERNELS_KERNELS_H
#define YK_BACKEND_CPU_KERNELS_KERNELS_H

void yk_cpu_matmul(int threads, const void *op);
void yk_cpu_attention(int threads, const void *op);
void yk_cpu_attention_backward(int threads, const void *op);
void yk_cpu_norm(int threads, const void *op);
void yk_cpu_norm_backward(int threads, const void *op);
void yk_cpu_embedding(int threads, const void *op);
void yk_cpu_embedding_backward(int threads, const void *op);
void yk_cpu_rotary(int threads, const void *op);
void yk_cpu_swiglu(int threads, const void *op);
void yk_cpu_swiglu_backward(int threads, const void *op);
void yk_cpu_dropout(int threads, const void *op);
void yk_cpu_sum_rows(int threads, const void *op);
void yk_cpu_cross_entropy(int threads, const void *op);
void yk_cpu_sum_squares(int threads, const void *op);
void yk_cpu_optimizer_clip_norm(int threads, const void *op);
void yk_cpu_optimizer_adamw(int threads, const void *op);
void yk_cpu_optimizer_sgd(int threads, const void *op);
void yk_cpu_elementwise_cast(int threads, const void *op);
void yk_cpu_elementwise_add(int threads, const void *op);
void yk_cpu_nf4_quantise(int threads, const void *op);
void yk_cpu_nf4_dequantise(int threads, const void *op);

#endif
