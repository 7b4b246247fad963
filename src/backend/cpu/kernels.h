/*
 * Kernels: the ops of backend/ops.h on the CPU. Each takes its own struct and shares the work among
 * `threads`. How the work is cut does not depend on their number, so the result does not either.
 */
#ifndef YK_BACKEND_CPU_KERNELS_H
#define YK_BACKEND_CPU_KERNELS_H

void yk_cpu_matmul(int threads, const void *op);
void yk_cpu_attend(int threads, const void *op);
void yk_cpu_attend_back(int threads, const void *op);
void yk_cpu_normalise(int threads, const void *op);
void yk_cpu_normalise_back(int threads, const void *op);
void yk_cpu_embed(int threads, const void *op);
void yk_cpu_embed_back(int threads, const void *op);
void yk_cpu_rotate(int threads, const void *op);
void yk_cpu_gate(int threads, const void *op);
void yk_cpu_gate_back(int threads, const void *op);
void yk_cpu_drop(int threads, const void *op);
void yk_cpu_sum_rows(int threads, const void *op);
void yk_cpu_lose(int threads, const void *op);
void yk_cpu_sum_squares(int threads, const void *op);
void yk_cpu_judge(int threads, const void *op);
void yk_cpu_adamw(int threads, const void *op);
void yk_cpu_sgd(int threads, const void *op);
void yk_cpu_cast(int threads, const void *op);
void yk_cpu_add(int threads, const void *op);
void yk_cpu_quantise(int threads, const void *op);
void yk_cpu_dequantise(int threads, const void *op);

#endif
