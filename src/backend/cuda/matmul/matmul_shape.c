#include "backend/cuda/matmul/matmul_shape.h"

#include "backend/cuda/lane.h"

cudaDataType_t yk_matmul_shape_element_type(int32_t type)
{
    switch (type) {
    case YK_PRECISION_FP16:
        return CUDA_R_16F;
    case YK_PRECISION_BF16:
        return CUDA_R_16BF;
    default:
        return CUDA_R_32F;
    }
}

cublasComputeType_t yk_matmul_shape_compute_type(const struct yk_matmul_shape *shape)
{
    return shape->a_type == YK_PRECISION_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

static cublasLtEpilogue_t epilogue_of(const struct yk_matmul_shape *shape)
{
    switch ((enum yk_cublas_epilogue)shape->work) {
    case YK_CUBLAS_EPILOGUE_BIAS:
        return CUBLASLT_EPILOGUE_BIAS;
    case YK_CUBLAS_EPILOGUE_GELU:
        if (shape->aux_stride > 0) {
            return shape->has_bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
        }
        return shape->has_bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    case YK_CUBLAS_EPILOGUE_RELU:
        return shape->has_bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case YK_CUBLAS_EPILOGUE_GELU_BACKWARD:
        return shape->sums_of == YK_MATMUL_ROW_SUM_C ? CUBLASLT_EPILOGUE_DGELU_BGRAD
                                                     : CUBLASLT_EPILOGUE_DGELU;
    default:
        /* The library's A is our b. */
        return shape->sums_of == YK_MATMUL_ROW_SUM_B   ? CUBLASLT_EPILOGUE_BGRADA
               : shape->sums_of == YK_MATMUL_ROW_SUM_A ? CUBLASLT_EPILOGUE_BGRADB
                                                       : CUBLASLT_EPILOGUE_DEFAULT;
    }
}

void yk_matmul_shape_remove_unfused_parts(struct yk_matmul_shape *shape,
                                          enum yk_matmul_fusion variant)
{
    if (variant != YK_MATMUL_FUSION_ALL) {
        shape->sums_of = YK_MATMUL_ROW_SUM_NONE;
    }
    if (variant == YK_MATMUL_FUSION_NONE) {
        shape->work = YK_CUBLAS_EPILOGUE_NONE;
        shape->has_bias = 0;
        shape->aux_stride = 0;
        shape->add_stride = shape->in_place ? shape->c_stride : 0;
    }
}

/* A row-major matrix is, in column-major order, its transpose: cᵀ = op(b)ᵀ · op(a)ᵀ. */
static cublasStatus_t describe_work(const struct yk_matmul_shape *shape, cublasLtMatmulDesc_t work)
{
    const cublasOperation_t first = shape->b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t second = shape->a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasLtEpilogue_t epilogue = epilogue_of(shape);
    cublasStatus_t status =
        cublasLtMatmulDescSetAttribute(work, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first);
    YK_CUDA_CALL_UNLESS_FAILED(
        status,
        cublasLtMatmulDescSetAttribute(work, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second));
    YK_CUDA_CALL_UNLESS_FAILED(status,
                               cublasLtMatmulDescSetAttribute(work, CUBLASLT_MATMUL_DESC_EPILOGUE,
                                                              &epilogue, sizeof epilogue));
    if (shape->aux_stride > 0) {
        YK_CUDA_CALL_UNLESS_FAILED(
            status, cublasLtMatmulDescSetAttribute(work, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD,
                                                   &shape->aux_stride, sizeof shape->aux_stride));
    }
    return status;
}

static cublasStatus_t describe_matrices(const struct yk_matmul_shape *shape,
                                        struct yk_matmul_descriptors *descriptors)
{
    const cudaDataType_t type = yk_matmul_shape_element_type(shape->a_type);
    const cudaDataType_t c_type = yk_matmul_shape_element_type(shape->c_type);
    const uint64_t m = (uint64_t)shape->m;
    const uint64_t n = (uint64_t)shape->n;
    const uint64_t k = (uint64_t)shape->k;
    cublasStatus_t status =
        cublasLtMatrixLayoutCreate(&descriptors->b, type, shape->b_transposed ? k : n,
                                   shape->b_transposed ? n : k, shape->b_stride);
    YK_CUDA_CALL_UNLESS_FAILED(
        status, cublasLtMatrixLayoutCreate(&descriptors->a, type, shape->a_transposed ? m : k,
                                           shape->a_transposed ? k : m, shape->a_stride));
    YK_CUDA_CALL_UNLESS_FAILED(
        status, cublasLtMatrixLayoutCreate(&descriptors->c, c_type, n, m, shape->c_stride));
    YK_CUDA_CALL_UNLESS_FAILED(
        status,
        cublasLtMatrixLayoutCreate(&descriptors->add, c_type, n, m,
                                   shape->add_stride > 0 ? shape->add_stride : shape->c_stride));
    return status;
}

cublasStatus_t yk_matmul_shape_create_descriptors(const struct yk_matmul_shape *shape,
                                                  int32_t processors,
                                                  struct yk_matmul_descriptors *out)
{
    *out = (struct yk_matmul_descriptors){.shape = *shape};
    cublasStatus_t status =
        cublasLtMatmulDescCreate(&out->work, yk_matmul_shape_compute_type(shape), CUDA_R_32F);
    YK_CUDA_CALL_UNLESS_FAILED(status, describe_work(shape, out->work));
    if (processors > 0) {
        YK_CUDA_CALL_UNLESS_FAILED(
            status, cublasLtMatmulDescSetAttribute(out->work, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET,
                                                   &processors, sizeof processors));
    }
    YK_CUDA_CALL_UNLESS_FAILED(status, describe_matrices(shape, out));
    if (status != CUBLAS_STATUS_SUCCESS) {
        yk_matmul_shape_destroy_descriptors(out);
    }
    return status;
}

void yk_matmul_shape_destroy_descriptors(struct yk_matmul_descriptors *descriptors)
{
    (void)cublasLtMatmulDescDestroy(descriptors->work);
    (void)cublasLtMatrixLayoutDestroy(descriptors->a);
    (void)cublasLtMatrixLayoutDestroy(descriptors->b);
    (void)cublasLtMatrixLayoutDestroy(descriptors->add);
    (void)cublasLtMatrixLayoutDestroy(descriptors->c);
    *descriptors = (struct yk_matmul_descriptors){0};
}
