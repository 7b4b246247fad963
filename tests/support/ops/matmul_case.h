/*
 * Matmul case: one product of the op table, with all that it may come with. Trying it notes in the
 * bench what is wrong.
 */
#ifndef YK_TESTS_MATMUL_CASE_H
#define YK_TESTS_MATMUL_CASE_H

#include "support/ops/bench.h"

enum matmul_addend {
    NO_ADD,
    ADD,
    ADD_C, /* c itself */
};

struct matmul_case {
    int64_t m;
    int64_t n;
    int64_t k;
    int64_t gap;   /* by how much strides are larger than rows */
    int64_t round; /* strides are multiples of it; 0: as they come */
    int64_t cuts[2];
    double size;  /* of the numbers in a and b; 0: 1 */
    double scale; /* 0: 1 */
    enum yk_precision types[3];
    enum yk_precision bias_type;
    enum matmul_addend add;
    enum yk_matmul_epilogue epilogue;
    enum yk_matmul_row_sum_source sums_of;
    enum yk_precision sums_type;
    bool loose; /* strides of what is added and of aux are not rounded */
    bool a_transposed;
    bool b_transposed;
    bool accumulate;
    bool bias;
    bool aux;
    bool own; /* a kernel of the project has it on some GPUs: tried whatever op_bench.every is */
};

void matmul_case_try(struct op_bench *bench, const struct matmul_case *one);

/* Whether an ending reads aux. */
bool matmul_case_goes_back(enum yk_matmul_epilogue epilogue);

#endif
