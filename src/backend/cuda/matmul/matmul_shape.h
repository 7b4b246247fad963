/*
 * Matmul shape: every property of a matmul on which the choice of an algorithm depends, and the
 * cuBLASLt descriptors that are made from a shape. Shapes are keys of hash tables and are compared
 * with memcmp().
 */
#ifndef YK_BACKEND_CUDA_MATMUL_MATMUL_SHAPE_H
#define YK_BACKEND_CUDA_MATMUL_MATMUL_SHAPE_H

#include "backend/ops.h"

#include <cublasLt.h>

/* The epilogue that cuBLASLt fuses with the product. */
enum yk_cublas_epilogue {
    YK_CUBLAS_EPILOGUE_NONE, /* yoke's own kernel applies bias and epilogue */
    YK_CUBLAS_EPILOGUE_BIAS,
    YK_CUBLAS_EPILOGUE_GELU, /* bias, then GELU; stores the input of GELU in aux if aux exists */
    YK_CUBLAS_EPILOGUE_RELU,
    YK_CUBLAS_EPILOGUE_GELU_BACKWARD,
};

/* The parts of the op that cuBLASLt fuses with the product. yoke's own kernels compute the other
 * parts. */
enum yk_matmul_fusion {
    YK_MATMUL_FUSION_ALL,        /* all parts that the shape describes */
    YK_MATMUL_FUSION_NO_ROW_SUM, /* all parts except the row sums */
    YK_MATMUL_FUSION_NONE,       /* only the product, and its addition to c if `in_place` is set */
};

/* m, n, k, a, b and c have the same meaning as in struct yk_matmul_op. cuBLASLt is column-major:
 * its A is our b, and its B is our a. Strides are in elements. */
struct yk_matmul_shape {
    int64_t m;
    int64_t n;
    int64_t k;
    int64_t a_stride;
    int64_t b_stride;
    int64_t add_stride; /* 0 means: nothing is added */
    int64_t c_stride;
    int64_t aux_stride; /* 0 means: no aux */
    int32_t a_type;     /* enum yk_precision; also the type of b */
    int32_t c_type;
    int32_t a_transposed;
    int32_t b_transposed;
    int32_t work; /* enum yk_cublas_epilogue */
    int32_t has_bias;
    int32_t alignment; /* the largest power of two, at most 16, that divides all addresses and the
                          strides of a, b, c and add in bytes */
    int32_t in_place;  /* 1 means: the product is added to c */
    int32_t sums_of;   /* enum yk_matmul_row_sum_source */
    int32_t unused;    /* always 0; makes padding explicit */
};

/* These two functions return constants of cuBLASLt: for the type of elements (`type` is an enum
 * yk_precision), and for the type in which the product is computed. */
cudaDataType_t yk_matmul_shape_element_type(int32_t type);
cublasComputeType_t yk_matmul_shape_compute_type(const struct yk_matmul_shape *shape);

/* Removes from the shape all parts that the variant does not fuse. */
void yk_matmul_shape_remove_unfused_parts(struct yk_matmul_shape *shape,
                                          enum yk_matmul_fusion variant);

/* The cuBLASLt descriptors of one shape. The pointers in the descriptors are set before each
 * matmul. */
struct yk_matmul_descriptors {
    struct yk_matmul_shape shape;
    cublasLtMatmulDesc_t work;
    cublasLtMatrixLayout_t a;
    cublasLtMatrixLayout_t b;
    cublasLtMatrixLayout_t add;
    cublasLtMatrixLayout_t c;
};

/* Creates the descriptors. `processors` is the number of SMs that the matmul may use; 0 means: all.
 */
cublasStatus_t yk_matmul_shape_create_descriptors(const struct yk_matmul_shape *shape,
                                                  int32_t processors,
                                                  struct yk_matmul_descriptors *out);
void yk_matmul_shape_destroy_descriptors(struct yk_matmul_descriptors *descriptors);

#endif
