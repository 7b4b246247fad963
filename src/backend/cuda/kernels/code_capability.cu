#include "backend/cuda/kernels.h"

/* Is never launched. */
static __global__ void nothing(void)
{
}

cudaError_t yk_cuda_code_capability_get(int32_t *out)
{
    cudaFuncAttributes attributes = {};
    const cudaError_t error = cudaFuncGetAttributes(&attributes, nothing);
    *out = attributes.ptxVersion;
    return error;
}
