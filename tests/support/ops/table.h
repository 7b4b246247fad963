/*
 * Op table: every op of backend/ops.h with the sizes, types and settings that every backend is held
 * to, against op_reference.h. A row tries all cases of one op and notes in the bench what is wrong.
 *
 * Relative errors in norm that are allowed: 1e-5 where results are fp32, 1e-3 for fp16, 6e-3 for
 * bf16, 1e-12 for sums in double precision; a single number may be off by four times that of the
 * largest one. A bench may allow other errors. Inputs are rounded to their type before the
 * reference sees them.
 */
#ifndef YK_TESTS_OP_TABLE_H
#define YK_TESTS_OP_TABLE_H

#include "support/ops/bench.h"

struct op_row {
    const char *name; /* as in struct yk_backend */
    void (*run)(struct op_bench *bench);
};

enum {
    OP_TABLE_ROWS = 28,
    OP_TYPES = 3,
};

extern const struct op_row op_table[OP_TABLE_ROWS];

/* What numbers are stored as, by short names: most of the table is made of them. */
#define FP32 YK_PRECISION_FP32
#define FP16 YK_PRECISION_FP16
#define BF16 YK_PRECISION_BF16
extern const enum yk_precision op_types[OP_TYPES];

/* Cosines and sines (sequence, half, 2) of rotary positions. */
struct op_array *op_table_angles(struct op_bench *bench, int64_t sequence, int64_t half);

/* The rows, by the file that holds them. */
void op_table_matmul(struct op_bench *bench);
void op_table_attention(struct op_bench *bench);
void op_table_attention_backward(struct op_bench *bench);
void op_table_norm(struct op_bench *bench);
void op_table_norm_backward(struct op_bench *bench);
void op_table_embedding(struct op_bench *bench);
void op_table_embedding_backward(struct op_bench *bench);
void op_table_patchify(struct op_bench *bench);
void op_table_patch_tokens(struct op_bench *bench);
void op_table_accuracy(struct op_bench *bench);
void op_table_rotary(struct op_bench *bench);
void op_table_qk_norm(struct op_bench *bench);
void op_table_qk_norm_backward(struct op_bench *bench);
void op_table_glu(struct op_bench *bench);
void op_table_glu_backward(struct op_bench *bench);
void op_table_lora(struct op_bench *bench);
void op_table_lora_backward(struct op_bench *bench);
void op_table_dropout(struct op_bench *bench);
void op_table_sum_rows(struct op_bench *bench);
void op_table_cross_entropy(struct op_bench *bench);
void op_table_sum_squares(struct op_bench *bench);
void op_table_clip_norm(struct op_bench *bench);
void op_table_adamw(struct op_bench *bench);
void op_table_sgd(struct op_bench *bench);
void op_table_cast(struct op_bench *bench);
void op_table_add(struct op_bench *bench);
void op_table_quantise(struct op_bench *bench);
void op_table_dequantise(struct op_bench *bench);

#endif
