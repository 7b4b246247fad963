#include "backend/ops.h"

struct yk_sum_rows_op yk_ops_make_sum_rows_op_of_matmul(const struct yk_matmul_op *op)
{
    const bool of_a = op->sums_of == YK_MATMUL_ROW_SUM_A;
    const bool of_c = op->sums_of == YK_MATMUL_ROW_SUM_C;
    return (struct yk_sum_rows_op){
        .rows = of_c ? op->m : op->k,
        .columns = of_a ? op->m : op->n,
        .from = of_c   ? op->c
                : of_a ? op->a
                       : op->b,
        .stride = of_c   ? op->c_stride
                  : of_a ? op->a_stride
                         : op->b_stride,
        .to = op->row_sums,
        .from_type = of_c   ? op->c_type
                     : of_a ? op->a_type
                            : op->b_type,
        .to_type = op->sums_type,
    };
}

size_t yk_ops_lay_out_nf4_tensor(void *base, int64_t count, struct yk_nf4_tensor *out)
{
    const size_t blocks = (size_t)((count + YK_NF4_BLOCK_SIZE - 1) / YK_NF4_BLOCK_SIZE);
    const size_t floats = (blocks + YK_NF4_SCALE_BLOCK_SIZE - 1) / YK_NF4_SCALE_BLOCK_SIZE + 1;
    const size_t code_bytes = ((size_t)count + 1) / 2;
    const size_t total = floats * sizeof(float) + code_bytes + blocks;
    if (out) { /* floats first, so that they are aligned */
        float *numbers = base;
        uint8_t *bytes = (uint8_t *)base + floats * sizeof(float);
        *out = (struct yk_nf4_tensor){
            .mean = numbers,
            .scale_scales = numbers + 1,
            .codes = bytes,
            .scales = bytes + code_bytes,
        };
    }
    /* Whatever comes next begins at a multiple of four bytes. */
    return (total + sizeof(float) - 1) / sizeof(float) * sizeof(float);
}
