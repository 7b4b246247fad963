#include "backend/cuda/matmul/algorithm_enqueue.h"

cublasStatus_t yk_matmul_algorithm_set_pointers(const struct yk_matmul_descriptors *descriptors,
                                                const struct yk_cublas_call *call)
{
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    const void *vector = call->sums ? call->sums : call->bias; /* never both */
    if (vector) {
        status = cublasLtMatmulDescSetAttribute(
            descriptors->work, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &vector, sizeof vector);
    }
    if (status == CUBLAS_STATUS_SUCCESS && call->aux) {
        status = cublasLtMatmulDescSetAttribute(descriptors->work,
                                                CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
                                                &call->aux, sizeof call->aux);
    }
    return status;
}

cublasStatus_t yk_matmul_algorithm_enqueue(const struct yk_matmul_algorithm_context *context,
                                           const struct yk_matmul_descriptors *descriptors,
                                           const cublasLtMatmulAlgo_t *algorithm,
                                           const struct yk_cublas_call *call)
{
    const float beta = call->add ? 1.0F : 0.0F;
    const void *add = call->add ? call->add : call->c;
    return cublasLtMatmul(context->library, descriptors->work, &call->scale, call->b,
                          descriptors->b, call->a, descriptors->a, &beta, add, descriptors->add,
                          call->c, descriptors->c, algorithm, call->workspace,
                          context->workspace_bytes, call->stream);
}
