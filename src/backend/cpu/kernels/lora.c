#include "backend/cpu/kernels/kernels.h"

void yk_cpu_lora(int threads, const void *op)
{
    const struct yk_lora_op *lora = op;
    for (int32_t i = 0; i < lora->parts; i++) {
        const struct yk_matmul_op matmul = yk_ops_make_matmul_op_of_lora(lora, i);
        yk_cpu_matmul(threads, &matmul);
    }
}

void yk_cpu_lora_backward(int threads, const void *op)
{
    const struct yk_lora_backward_op *lora = op;
    for (int32_t i = 0; i < lora->parts; i++) {
        struct yk_matmul_op matmuls[2];
        yk_ops_make_matmul_ops_of_lora_backward(lora, i, matmuls);
        yk_cpu_matmul(threads, &matmuls[0]);
        yk_cpu_matmul(threads, &matmuls[1]);
    }
}
