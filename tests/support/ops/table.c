#include "support/ops/table.h"

const enum yk_precision op_types[OP_TYPES] = {FP32, BF16, FP16};

const struct op_row op_table[OP_TABLE_ROWS] = {
    {"matmul", op_table_matmul},
    {"attend", op_table_attend},
    {"attend_back", op_table_attend_back},
    {"normalise", op_table_normalise},
    {"normalise_back", op_table_normalise_back},
    {"embed", op_table_embed},
    {"embed_back", op_table_embed_back},
    {"rotate", op_table_rotate},
    {"gate", op_table_gate},
    {"gate_back", op_table_gate_back},
    {"drop", op_table_drop},
    {"sum_rows", op_table_sum_rows},
    {"lose", op_table_lose},
    {"sum_squares", op_table_sum_squares},
    {"judge", op_table_judge},
    {"adamw", op_table_adamw},
    {"sgd", op_table_sgd},
    {"cast", op_table_cast},
    {"add", op_table_add},
    {"quantise", op_table_quantise},
    {"dequantise", op_table_dequantise},
};
