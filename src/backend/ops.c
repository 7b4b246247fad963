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

struct yk_matmul_op yk_ops_make_matmul_op_of_glu_backward(const struct yk_glu_backward_op *op)
{
    return (struct yk_matmul_op){
        .m = op->d_out_term.rank,
        .n = op->width,
        .k = op->rows,
        .a = op->d_out_term.inner,
        .a_stride = op->d_out_term.inner_stride,
        .a_transposed = true,
        .b = op->out,
        .b_stride = op->width,
        .c = op->d_factor,
        .c_stride = op->width,
        .accumulate = true,
        .scale = op->d_out_term.scale,
        .a_type = op->type,
        .b_type = op->type,
        .c_type = op->type,
    };
}

struct yk_matmul_op yk_ops_make_matmul_op_of_lora(const struct yk_lora_op *op, int32_t part)
{
    int64_t first = 0;
    for (int32_t i = 0; i < part; i++) {
        first += op->part[i].columns;
    }
    return (struct yk_matmul_op){
        .m = op->rows,
        .n = op->part[part].columns,
        .k = op->rank,
        .a = yk_precision_element_address(op->type, op->inner, part * op->rank),
        .a_stride = op->parts * op->rank,
        .b = op->part[part].factor,
        .b_stride = op->rank,
        .b_transposed = true,
        .c = yk_precision_element_address(op->type, op->y, first),
        .c_stride = op->y_stride,
        .add = op->add ? yk_precision_element_address(op->type, op->add, first) : NULL,
        .add_stride = op->y_stride,
        .scale = op->scale,
        .a_type = op->type,
        .b_type = op->type,
        .c_type = op->type,
    };
}

void yk_ops_make_matmul_ops_of_lora_backward(const struct yk_lora_backward_op *op, int32_t part,
                                             struct yk_matmul_op out[2])
{
    int64_t first = 0;
    for (int32_t i = 0; i < part; i++) {
        first += op->part[i].columns;
    }
    const int64_t columns = op->part[part].columns;
    out[0] = (struct yk_matmul_op){
        .m = columns,
        .n = op->rank,
        .k = op->rows,
        .a = yk_precision_element_address(op->type, op->dy, first),
        .a_stride = op->dy_stride,
        .a_transposed = true,
        .b = yk_precision_element_address(op->type, op->inner, part * op->rank),
        .b_stride = op->parts * op->rank,
        .c = op->part[part].d_factor,
        .c_stride = op->rank,
        .accumulate = true,
        .scale = op->scale,
        .a_type = op->type,
        .b_type = op->type,
        .c_type = op->type,
    };
    out[1] = out[0];
    out[1].m = op->rows;
    out[1].k = columns;
    out[1].a_transposed = false;
    out[1].b = op->part[part].factor;
    out[1].b_stride = op->rank;
    out[1].c = yk_precision_element_address(op->type, op->d_inner, part * op->rank);
    out[1].c_stride = op->parts * op->rank;
    out[1].accumulate = false;
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
