#include "backend/cuda/product_tell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t number_of(const cublasLtMatmulAlgo_t *algorithm,
                         cublasLtMatmulAlgoConfigAttributes_t attribute)
{
    int64_t number = 0; /* attributes have two or four bytes */
    size_t written = 0;
    int32_t wide = 0;
    uint16_t narrow = 0;
    if (cublasLtMatmulAlgoConfigGetAttribute(algorithm, attribute, &wide, sizeof wide, &written) ==
        CUBLAS_STATUS_SUCCESS) {
        number = wide;
    } else if (cublasLtMatmulAlgoConfigGetAttribute(algorithm, attribute, &narrow, sizeof narrow,
                                                    &written) == CUBLAS_STATUS_SUCCESS) {
        number = narrow;
    }
    return number;
}

void yk_product_tell(const struct yk_product_shape *shape, const cublasLtMatmulAlgo_t *algorithm,
                     float milliseconds, const char *word)
{
    const char *asked = getenv("YOKE_TELL_PRODUCTS");
    if (!asked || strcmp(asked, "1") != 0) {
        return;
    }
    (void)fprintf(
        stderr,
        "product %" PRId64 " x %" PRId64 " x %" PRId64 "%s%s: algorithm %" PRId64 ", tile %" PRId64
        ", stages %" PRId64 ", cluster %" PRId64 ", splits %" PRId64 ", %g ms: %s\n",
        (int64_t)shape->m, (int64_t)shape->n, (int64_t)shape->k,
        shape->a_transposed ? ", a transposed" : "", shape->b_transposed ? ", b transposed" : "",
        number_of(algorithm, CUBLASLT_ALGO_CONFIG_ID),
        number_of(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID),
        number_of(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID),
        number_of(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID),
        number_of(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM), (double)milliseconds, word);
}
