#include "support/ops/table.h"

const enum yk_precision op_types[OP_TYPES] = {FP32, BF16, FP16};

const struct op_row op_table[OP_TABLE_ROWS] = {
    {"matmul", op_table_matmul},
    {"attention", op_table_attention},
    {"attention_backward", op_table_attention_backward},
    {"norm", op_table_norm},
    {"norm_backward", op_table_norm_backward},
    {"embedding", op_table_embedding},
    {"embedding_backward", op_table_embedding_backward},
    {"patchify", op_table_patchify},
    {"patch_tokens", op_table_patch_tokens},
    {"rotary", op_table_rotary},
    {"qk_norm", op_table_qk_norm},
    {"qk_norm_backward", op_table_qk_norm_backward},
    {"glu", op_table_glu},
    {"glu_backward", op_table_glu_backward},
    {"lora", op_table_lora},
    {"lora_backward", op_table_lora_backward},
    {"dropout", op_table_dropout},
    {"sum_rows", op_table_sum_rows},
    {"cross_entropy", op_table_cross_entropy},
    {"accuracy", op_table_accuracy},
    {"sum_squares", op_table_sum_squares},
    {"clip_norm", op_table_clip_norm},
    {"adamw", op_table_adamw},
    {"sgd", op_table_sgd},
    {"cast", op_table_cast},
    {"add", op_table_add},
    {"quantise", op_table_quantise},
    {"dequantise", op_table_dequantise},
};
