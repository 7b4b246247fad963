/*
 * Matmul shape: all that the choice of an algorithm depends on, as a key that is compared byte by
 * byte.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_SHAPE_H
#define YK_BACKEND_CUDA_MATMUL_SHAPE_H

#include "backend/ops.h"

#include <cublasLt.h>

/* What the library does besides the product itself. */
enum yk_matmul_epilogue {
    YK_MATMUL_EPILOGUE_NONE, /* the rest, if any, is done by a kernel of ours */
    YK_MATMUL_EPILOGUE_BIAS, /* adds the bias */
    YK_MATMUL_EPILOGUE_GELU, /* and goes through GELU; aux is stored where there is one */
    YK_MATMUL_EPILOGUE_RELU,
    YK_MATMUL_EPILOGUE_GELU_BACKWARD,
};

/* What of a shape's work is done otherwise, where that is faster. */
enum yk_matmul_variant {
    YK_MATMUL_FUSED,
    YK_MATMUL_FUSED_NO_SUMS,
    YK_MATMUL_BARE, /* the product, and what is added to it in place, alone */
};

/* In the words of the library, whose matrices are column by column: its A is our b, its B our a. */
struct yk_matmul_shape {
    int64_t m;
    int64_t n;
    int64_t k;
    int64_t a_stride;
    int64_t b_stride;
    int64_t add_stride; /* of what is added, in c's type; 0: nothing is */
    int64_t c_stride;
    int64_t aux_stride; /* 0: none */
    int32_t a_type;     /* enum yk_precision; a and b are of one type */
    int32_t c_type;
    int32_t a_transposed;
    int32_t b_transposed;
    int32_t work; /* enum yk_matmul_epilogue */
    int32_t has_bias;
    int32_t alignment; /* of all addresses: the largest power of two up to 16 */
    int32_t in_place;  /* what is added is c itself */
    int32_t sums_of;   /* enum yk_sums_of */
    int32_t unused;    /* 0: keys are compared byte by byte */
};

/* What is left of a shape in a variant. */
void yk_matmul_shape_reduce(struct yk_matmul_shape *shape, enum yk_matmul_variant variant);

/* The descriptors of one shape; pointers are set before each use. */
struct yk_matmul_layout {
    cublasLtMatmulDesc_t work;
    cublasLtMatrixLayout_t a;
    cublasLtMatrixLayout_t b;
    cublasLtMatrixLayout_t add;
    cublasLtMatrixLayout_t c;
};

/* For so many multiprocessors at most; 0: for all. */
cublasStatus_t yk_matmul_shape_describe(const struct yk_matmul_shape *shape, int32_t processors,
                                        struct yk_matmul_layout *out);
void yk_matmul_shape_free(struct yk_matmul_layout *layout);

#endif
