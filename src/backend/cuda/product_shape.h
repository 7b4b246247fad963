/*
 * Product shape: all that the choice of an algorithm depends on, as a key that can be compared byte
 * by byte, hashed and written down.
 */
#ifndef YK_BACKEND_CUDA_PRODUCT_SHAPE_H
#define YK_BACKEND_CUDA_PRODUCT_SHAPE_H

#include "backend/ops.h"

#include <cublasLt.h>

/* What the library does besides the product itself. */
enum yk_product_work {
    YK_PRODUCT_ALONE, /* the rest, if any, is done by a kernel of ours */
    YK_PRODUCT_BIAS,  /* adds the bias */
    YK_PRODUCT_GELU,  /* and goes through GELU; aux is stored where there is one */
    YK_PRODUCT_RELU,
    YK_PRODUCT_GELU_BACK,
};

/* What of a shape's work is done otherwise, where that is faster. */
enum yk_product_variant {
    YK_PRODUCT_WHOLE,
    YK_PRODUCT_WITHOUT_SUMS,
    YK_PRODUCT_BARE, /* the product, and what is added to it in place, alone */
};

/* In the words of the library, whose matrices are column by column: its A is our b, its B our a. */
struct yk_product_shape {
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
    int32_t work; /* enum yk_product_work */
    int32_t has_bias;
    int32_t alignment; /* of all addresses: the largest power of two up to 16 */
    int32_t in_place;  /* what is added is c itself */
    int32_t sums_of;   /* enum yk_sums_of */
    int32_t unused;    /* 0: keys are compared byte by byte */
};

/* What is left of a shape in a variant. */
void yk_product_shape_reduce(struct yk_product_shape *shape, enum yk_product_variant variant);

/* The descriptors of one shape, ready for use; pointers are put in before each. */
struct yk_product_plan {
    cublasLtMatmulDesc_t work;
    cublasLtMatrixLayout_t a;
    cublasLtMatrixLayout_t b;
    cublasLtMatrixLayout_t add;
    cublasLtMatrixLayout_t c;
};

/* For so many multiprocessors at most; 0: for all. */
cublasStatus_t yk_product_plan_make(const struct yk_product_shape *shape, int32_t processors,
                                    struct yk_product_plan *out);
void yk_product_plan_free(struct yk_product_plan *plan);

#endif
