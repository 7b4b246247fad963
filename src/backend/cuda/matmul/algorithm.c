#include "backend/cuda/matmul/algorithm.h"

enum {
    LARGEST_CLUSTER = 16,
};

int32_t yk_matmul_algorithm_cluster(const cublasLtMatmulAlgo_t *algorithm)
{
    uint16_t shape = CUBLASLT_CLUSTER_SHAPE_AUTO;
    size_t written = 0;
    (void)cublasLtMatmulAlgoConfigGetAttribute(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID,
                                               &shape, sizeof shape, &written);
    switch (shape) {
    case CUBLASLT_CLUSTER_SHAPE_AUTO: /* of algorithms that know no clusters */
    case CUBLASLT_CLUSTER_SHAPE_1x1x1:
        return 1;
    case CUBLASLT_CLUSTER_SHAPE_2x1x1:
    case CUBLASLT_CLUSTER_SHAPE_1x2x1:
        return YK_MATMUL_CLUSTER_PAIR;
    case CUBLASLT_CLUSTER_SHAPE_4x1x1:
    case CUBLASLT_CLUSTER_SHAPE_2x2x1:
    case CUBLASLT_CLUSTER_SHAPE_1x4x1:
        return 2 * YK_MATMUL_CLUSTER_PAIR;
    case CUBLASLT_CLUSTER_SHAPE_4x2x1:
    case CUBLASLT_CLUSTER_SHAPE_2x4x1:
    case CUBLASLT_CLUSTER_SHAPE_8x1x1:
    case CUBLASLT_CLUSTER_SHAPE_1x8x1:
        return 4 * YK_MATMUL_CLUSTER_PAIR;
    default:
        return LARGEST_CLUSTER;
    }
}

/* Whether k is divided among processors. */
static bool splits(const cublasLtMatmulAlgo_t *algorithm)
{
    int32_t parts = 1;
    size_t written = 0;
    return cublasLtMatmulAlgoConfigGetAttribute(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts,
                                                sizeof parts, &written) == CUBLAS_STATUS_SUCCESS &&
           parts != 1 && parts != 0;
}

bool yk_matmul_algorithm_is_plain(const struct yk_matmul_algorithm_context *context,
                                  const cublasLtMatmulAlgo_t *algorithm)
{
    return !splits(algorithm) && (context->part_processors == 0 ||
                                  yk_matmul_algorithm_cluster(algorithm) <= YK_MATMUL_CLUSTER_PAIR);
}

bool yk_matmul_algorithm_fits(const struct yk_matmul_algorithm_context *context,
                              const struct yk_matmul_descriptors *descriptors,
                              const cublasLtMatmulAlgo_t *algorithm)
{
    cublasLtMatmulHeuristicResult_t result;
    return cublasLtMatmulAlgoCheck(context->library, descriptors->work, descriptors->b,
                                   descriptors->a, descriptors->add, descriptors->c, algorithm,
                                   &result) == CUBLAS_STATUS_SUCCESS &&
           result.workspaceSize <= context->workspace_bytes;
}
