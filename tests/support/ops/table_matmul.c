#include "support/ops/matmul_case.h"
#include "support/ops/table.h"

#include <stddef.h>

/* All four ways of storing a and b. */
static void try_transpositions(struct op_bench *bench, struct matmul_case one)
{
    for (int i = 0; i < 4; i++) {
        one.a_transposed = i & 1;
        one.b_transposed = i & 2;
        matmul_case_try(bench, &one);
    }
}

static void try_sizes(struct op_bench *bench)
{
    static const int64_t sizes[][4] = {{1, 1, 1, 0},      {3, 7, 17, 0},   {17, 1, 65, 3},
                                       {1, 130, 7, 1},    {7, 3, 1, 5},    {65, 17, 130, 0},
                                       {130, 65, 17, 16}, {64, 64, 64, 0}, {33, 129, 64, 8}};
    static const enum yk_precision types[][3] = {
        {FP32, FP32, FP32}, {BF16, BF16, BF16}, {FP16, FP16, FP16}, {BF16, FP32, FP32},
        {FP32, FP16, FP16}, {BF16, BF16, FP32}, {FP16, FP16, FP32}, {FP32, BF16, BF16}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t j = 0; j < sizeof types / sizeof *types; j++) {
            try_transpositions(bench, (struct matmul_case){
                                          .m = sizes[i][0],
                                          .n = sizes[i][1],
                                          .k = sizes[i][2],
                                          .gap = sizes[i][3],
                                          .types = {types[j][0], types[j][1], types[j][2]},
                                      });
        }
    }
}

/* Endings with all that comes before them, in every type; rows of odd size or not. */
static void try_endings(struct op_bench *bench, int64_t n, int64_t gap)
{
    for (int i = 0; i < OP_TYPES; i++) {
        for (int epilogue = YK_EPILOGUE_NONE; epilogue <= YK_EPILOGUE_SILU_BACKWARD; epilogue++) {
            struct matmul_case one = {
                .m = 17,
                .n = n,
                .k = 7,
                .gap = gap,
                .types = {op_types[i], op_types[i], op_types[i]},
                .b_transposed = true,
                .bias = true,
                .bias_type = op_types[i],
                .add = ADD,
                .aux = epilogue != YK_EPILOGUE_NONE,
                .epilogue = (enum yk_matmul_epilogue)epilogue,
                .scale = 0.5,
            };
            matmul_case_try(bench, &one);
            one.bias_type = FP32;
            one.add = ADD_C;
            one.size = 8; /* far into where the endings are flat */
            matmul_case_try(bench, &one);
            one.bias = false;
            one.add = NO_ADD;
            one.gap = 0;
            one.aux = matmul_case_goes_back((enum yk_matmul_epilogue)epilogue);
            one.size = 1;
            matmul_case_try(bench, &one);
        }
    }
}

/* Sizes of several tiles that no tile divides, with rows that are 16-byte aligned all the same. */
static void try_ragged(struct op_bench *bench)
{
    static const enum yk_precision types[][3] = {
        {BF16, BF16, BF16}, {FP16, FP16, FP16}, {BF16, BF16, FP32}};
    static const struct matmul_case variants[] = {
        {.bias = true, .add = ADD, .aux = true, .epilogue = YK_EPILOGUE_GELU},
        {.accumulate = true, .scale = 0.5},
        {.bias = true},
        {.add = ADD_C},
        {.bias = true, .add = ADD, .loose = true},
        {.add = ADD, .epilogue = YK_EPILOGUE_RELU, .scale = 2},
        {.aux = true, .epilogue = YK_EPILOGUE_GELU_BACKWARD},
        {.aux = true, .epilogue = YK_EPILOGUE_GELU_BACKWARD, .loose = true},
        {.aux = true, .add = ADD, .epilogue = YK_EPILOGUE_SILU_BACKWARD},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const size_t count = i == 0 ? sizeof variants / sizeof *variants : 2;
        for (size_t j = 0; j < count; j++) {
            struct matmul_case one = variants[j];
            one.m = 261;
            one.n = 269;
            one.k = 331;
            one.round = 8;
            one.bias_type = types[i][2];
            for (int t = 0; t < 3; t++) {
                one.types[t] = types[i][t];
            }
            if (i == 0 && j < 2) {
                try_transpositions(bench, one);
                continue;
            }
            one.a_transposed = j & 1;
            one.b_transposed = j & 2;
            matmul_case_try(bench, &one);
        }
    }
}

/* What may be multiplied apart gives what it gives together. */
static void try_cuts(struct op_bench *bench)
{
    static const int64_t sizes[][6] = {/* m, n, k, gap and the cuts */
                                       {65, 160, 48, 0, 96, 128},
                                       {33, 131, 17, 3, 65, 98},
                                       {130, 96, 64, 8, 48, 0},
                                       {7, 3, 5, 0, 1, 2},
                                       {30, 777, 264, 0, 259, 518}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int j = 0; j < OP_TYPES; j++) {
            struct matmul_case one = {
                .m = sizes[i][0],
                .n = sizes[i][1],
                .k = sizes[i][2],
                .gap = sizes[i][3],
                .types = {op_types[j], op_types[j], op_types[j]},
                .cuts = {sizes[i][4], sizes[i][5]},
            };
            try_transpositions(bench, one);
            one.accumulate = true;
            matmul_case_try(bench, &one);
            one.accumulate = false;
            one.b_transposed = true;
            one.bias = true;
            one.bias_type = op_types[j];
            one.add = ADD;
            one.aux = true;
            one.epilogue = YK_EPILOGUE_GELU;
            matmul_case_try(bench, &one);
            one.add = ADD_C;
            one.epilogue = YK_EPILOGUE_SILU_BACKWARD;
            matmul_case_try(bench, &one);
        }
    }
}

/* A product with sums of one kind; those of a and b ask for the way that lets them be summed. */
static void try_sums_of(struct op_bench *bench, struct matmul_case one,
                        enum yk_matmul_row_sum_source sums_of)
{
    one.sums_of = sums_of;
    one.a_transposed = sums_of != YK_MATMUL_ROW_SUM_C;
    one.b_transposed = false;
    matmul_case_try(bench, &one);
    one.b_transposed = sums_of != YK_MATMUL_ROW_SUM_B;
    one.a_transposed = sums_of == YK_MATMUL_ROW_SUM_A;
    one.accumulate = true;
    matmul_case_try(bench, &one);
    if (one.n > 2) { /* what is cut is summed once */
        one.cuts[0] = one.n / 3;
        one.cuts[1] = 2 * one.n / 3;
        matmul_case_try(bench, &one);
    }
}

static void try_sums(struct op_bench *bench)
{
    static const int64_t sizes[][4] = {
        {1, 1, 1, 0}, {7, 65, 130, 3}, {64, 128, 256, 0}, {48, 33, 513, 8}, {261, 269, 331, 0}};
    static const enum yk_precision types[][4] = {{BF16, BF16, BF16, BF16}, {FP32, FP32, FP32, FP32},
                                                 {FP16, FP16, FP16, FP16}, {BF16, BF16, BF16, FP32},
                                                 {BF16, BF16, FP32, FP32}, {FP32, BF16, BF16, BF16},
                                                 {BF16, FP32, FP32, BF16}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t count = sizes[i][0] > 256 ? 1 : sizeof types / sizeof *types;
        for (size_t j = 0; j < count; j++) {
            struct matmul_case one = {
                .m = sizes[i][0],
                .n = sizes[i][1],
                .k = sizes[i][2],
                .gap = sizes[i][3],
                .round = i % 2 == 0 ? 8 : 0,
                .types = {types[j][0], types[j][1], types[j][2]},
                .sums_type = types[j][3],
                .scale = 0.5, /* of the product, not of the sums */
            };
            try_sums_of(bench, one, YK_MATMUL_ROW_SUM_A);
            try_sums_of(bench, one, YK_MATMUL_ROW_SUM_B);
            try_sums_of(bench, one, YK_MATMUL_ROW_SUM_C);
            one.sums_of = YK_MATMUL_ROW_SUM_C; /* the gradient of what went into an activation */
            one.aux = true;
            one.epilogue = YK_EPILOGUE_GELU_BACKWARD;
            matmul_case_try(bench, &one);
            one.b_transposed = true;
            one.epilogue = YK_EPILOGUE_RELU_BACKWARD;
            one.add = ADD;
            matmul_case_try(bench, &one);
            one.epilogue = YK_EPILOGUE_SILU;
            one.bias = true;
            one.bias_type = types[j][2];
            matmul_case_try(bench, &one);
        }
    }
}

static const struct matmul_case cases[] = {
    {.m = 130, .n = 257, .k = 65, .types = {FP32, FP32, FP32}, .accumulate = true},
    {.m = 65, .n = 17, .k = 130, .gap = 3, .types = {BF16, BF16, FP32}, .accumulate = true},
    {.m = 65, .n = 17, .k = 3, .types = {BF16, BF16, BF16}, .accumulate = true, .scale = 2},
    {.m = 65, .n = 17, .k = 3, .types = {FP16, FP16, FP16}, .accumulate = true, .scale = -1},
    /* A weight's gradient: dyᵀ x. */
    {.m = 48,
     .n = 65,
     .k = 257,
     .types = {FP32, FP32, FP32},
     .a_transposed = true,
     .accumulate = true},
    {.m = 48,
     .n = 65,
     .k = 257,
     .types = {BF16, BF16, FP32},
     .a_transposed = true,
     .accumulate = true},
    {.m = 130, .n = 257, .k = 17, .types = {FP32, FP32, FP32}, .add = ADD_C, .bias = true},
    {.m = 1, .n = 1000, .k = 65, .types = {FP32, FP32, FP32}, .b_transposed = true},
    {.m = 1000, .n = 1, .k = 65, .types = {FP32, FP32, FP32}, .bias = true},
    {.m = 3, .n = 5, .k = 2000, .types = {FP32, FP32, FP32}},
    {.m = 65, .n = 17, .k = 1500, .gap = 3, .types = {FP32, FP32, FP32}, .add = ADD_C},
    {.m = 300,
     .n = 17,
     .k = 1100,
     .gap = 1,
     .types = {BF16, FP32, FP32},
     .a_transposed = true,
     .accumulate = true,
     .scale = 0.5},
    {.m = 3, .n = 5, .k = 2000, .types = {BF16, BF16, FP32}, .b_transposed = true},
    {.m = 257, .n = 385, .k = 300, .types = {FP32, FP32, FP32}},
    {.m = 257,
     .n = 385,
     .k = 300,
     .types = {BF16, BF16, BF16},
     .b_transposed = true,
     .bias = true,
     .bias_type = BF16},
    {.m = 257,
     .n = 384,
     .k = 17,
     .types = {BF16, BF16, BF16},
     .b_transposed = true,
     .bias = true,
     .bias_type = FP32,
     .add = ADD,
     .aux = true,
     .epilogue = YK_EPILOGUE_GELU},
    /* Nothing to do, or nothing to sum up. */
    {.m = 0, .n = 7, .k = 3, .types = {FP32, FP32, FP32}, .bias = true},
    {.m = 7, .n = 0, .k = 3, .gap = 2, .types = {FP32, FP32, FP32}},
    {.m = 7, .n = 3, .k = 0, .gap = 2, .types = {FP32, FP32, FP32}, .accumulate = true},
    {.m = 7, .n = 3, .k = 0, .gap = 2, .types = {BF16, BF16, FP32}, .bias = true, .add = ADD},
    {.m = 0, .n = 7, .k = 3, .types = {FP32, FP32, FP32}, .sums_of = YK_MATMUL_ROW_SUM_C},
    {.m = 7, .n = 3, .k = 0, .types = {FP32, FP32, FP32}, .sums_of = YK_MATMUL_ROW_SUM_B},
    {.m = 7,
     .n = 3,
     .k = 0,
     .types = {FP32, FP32, FP32},
     .bias = true,
     .sums_of = YK_MATMUL_ROW_SUM_C},
    /* A head: forward, and its weight's gradient. */
    {.m = 257,
     .n = 1001,
     .k = 303,
     .round = 8,
     .types = {BF16, BF16, BF16},
     .b_transposed = true,
     .bias = true,
     .bias_type = BF16},
    {.m = 513,
     .n = 777,
     .k = 263,
     .round = 8,
     .types = {BF16, BF16, BF16},
     .a_transposed = true,
     .accumulate = true,
     .sums_of = YK_MATMUL_ROW_SUM_A,
     .sums_type = BF16},
};

/* Products as those of adapters: few columns, and sums long enough to be divided among blocks. Many
 * and few rows, beside those of a tile; the last three are not for the kernel that has these. */
static void try_narrow(struct op_bench *bench)
{
    enum {
        OWN_SIZES = 11,
    };
    static const int64_t sizes[][4] = {
        {1, 16, 1024, 0},    {65, 8, 1088, 8},    {130, 48, 2048, 0}, {300, 24, 1600, 0},
        {64, 96, 1024, 0},   {1000, 32, 1024, 0}, {90, 64, 1024, 0},  {1100, 56, 1088, 0},
        {2048, 16, 1152, 8}, {2200, 64, 1024, 0}, {4500, 8, 1024, 0}, {40, 104, 1024, 0},
        {40, 20, 1024, 0},   {40, 16, 1000, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int j = 0; j < OP_TYPES; j++) {
            const struct matmul_case one = {
                .m = sizes[i][0],
                .n = sizes[i][1],
                .k = sizes[i][2],
                .gap = sizes[i][3],
                .types = {op_types[j], op_types[j], op_types[j]},
                .b_transposed = true,
                .scale = i % 2 == 0 ? 0 : 0.5,
                .own = op_types[j] != FP32 && i < OWN_SIZES,
            };
            if (one.m <= 1000 || op_types[j] == BF16) {
                matmul_case_try(bench, &one);
            }
        }
    }
}

void op_table_matmul(struct op_bench *bench)
{
    try_sizes(bench);
    try_endings(bench, 65, 3);
    try_endings(bench, 64, 8);
    try_ragged(bench);
    try_cuts(bench);
    try_sums(bench);
    try_narrow(bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        matmul_case_try(bench, &cases[i]);
    }
    const struct matmul_case large = {.m = 257, .n = 300, .k = 65, .types = {FP32, FP32, FP32}};
    try_transpositions(bench, large);
}
