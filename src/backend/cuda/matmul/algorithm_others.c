#include "backend/cuda/matmul/algorithm_others.h"

#include <stdbool.h>

enum {
    MAX_IDS = 64,
    MAX_CHOICES = CUBLASLT_MATMUL_TILE_END, /* of tiles, or of stages, that an algorithm has */
    STAGES_TRIED = 2,                       /* those with the most: they hide the memory best */
};

/* What the numbers of a product are. */
struct types {
    cublasComputeType_t computed;
    cudaDataType_t scale;
    cudaDataType_t a;
    cudaDataType_t b;
    cudaDataType_t add;
    cudaDataType_t c;
};

static bool read_type(cublasLtMatrixLayout_t layout, cudaDataType_t *out)
{
    uint32_t type = 0;
    size_t written = 0;
    const bool is_read =
        cublasLtMatrixLayoutGetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_TYPE, &type, sizeof type,
                                         &written) == CUBLAS_STATUS_SUCCESS;
    *out = (cudaDataType_t)type;
    return is_read;
}

static bool read_types(const struct yk_matmul_descriptors *descriptors, struct types *out)
{
    int32_t computed = 0;
    size_t written = 0;
    const bool is_read = cublasLtMatmulDescGetAttribute(
                             descriptors->work, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, &computed,
                             sizeof computed, &written) == CUBLAS_STATUS_SUCCESS;
    out->computed = (cublasComputeType_t)computed;
    out->scale = CUDA_R_32F;
    return is_read && read_type(descriptors->a, &out->a) && read_type(descriptors->b, &out->b) &&
           read_type(descriptors->add, &out->add) && read_type(descriptors->c, &out->c);
}

/* The tiles, or the stages, that an algorithm has. */
static int list_choices(const cublasLtMatmulAlgo_t *algorithm, cublasLtMatmulAlgoCapAttributes_t of,
                        uint32_t out[MAX_CHOICES])
{
    size_t written = 0;
    if (cublasLtMatmulAlgoCapGetAttribute(algorithm, of, out, MAX_CHOICES * sizeof *out,
                                          &written) != CUBLAS_STATUS_SUCCESS) {
        return 0;
    }
    return (int)(written / sizeof *out);
}

static bool set_number(cublasLtMatmulAlgo_t *algorithm, cublasLtMatmulAlgoConfigAttributes_t which,
                       uint32_t number)
{
    return cublasLtMatmulAlgoConfigSetAttribute(algorithm, which, &number, sizeof number) ==
           CUBLAS_STATUS_SUCCESS;
}

/* Whether operands and output are aligned as it asks for. */
static bool is_aligned(const cublasLtMatmulAlgo_t *algorithm, uint32_t alignment)
{
    static const cublasLtMatmulAlgoCapAttributes_t sides[] = {
        CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES, CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES, CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        uint32_t proposed = 0;
        size_t written = 0;
        if (cublasLtMatmulAlgoCapGetAttribute(algorithm, sides[i], &proposed, sizeof proposed,
                                              &written) != CUBLAS_STATUS_SUCCESS ||
            proposed > alignment) {
            return false;
        }
    }
    return true;
}

/* In none, where it knows clusters at all. */
static void leave_clusters(cublasLtMatmulAlgo_t *algorithm)
{
    const uint16_t shape = CUBLASLT_CLUSTER_SHAPE_1x1x1;
    (void)cublasLtMatmulAlgoConfigSetAttribute(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID,
                                               &shape, sizeof shape);
}

/* With one tile, and each of the stages that may do. */
static int add_stages(const struct yk_matmul_algorithm_context *context,
                      const struct yk_matmul_descriptors *descriptors,
                      const cublasLtMatmulAlgo_t *algorithm, int max, cublasLtMatmulAlgo_t *out)
{
    uint32_t stages[MAX_CHOICES];
    const int stage_count = list_choices(algorithm, CUBLASLT_ALGO_CAP_STAGES_IDS, stages);
    int count = 0;
    for (int i = stage_count - 1; i >= 0 && count < max && count < STAGES_TRIED; i--) {
        cublasLtMatmulAlgo_t made = *algorithm;
        if (set_number(&made, CUBLASLT_ALGO_CONFIG_STAGES_ID, stages[i]) &&
            yk_matmul_algorithm_fits(context, descriptors, &made)) {
            out[count++] = made;
        }
    }
    if (stage_count == 0 && count < max &&
        yk_matmul_algorithm_fits(context, descriptors, algorithm)) {
        out[count++] = *algorithm;
    }
    return count;
}

static bool is_listed(uint32_t number, const uint32_t *list, int count)
{
    for (int i = 0; i < count; i++) {
        if (list[i] == number) {
            return true;
        }
    }
    return false;
}

int yk_matmul_algorithm_others(const struct yk_matmul_algorithm_context *context,
                               const struct yk_matmul_shape *shape,
                               const struct yk_matmul_descriptors *descriptors, int max,
                               cublasLtMatmulAlgo_t *out)
{
    static const uint32_t tiles[] = {CUBLASLT_MATMUL_TILE_128x128, CUBLASLT_MATMUL_TILE_128x64,
                                     CUBLASLT_MATMUL_TILE_64x64};
    struct types types;
    int ids[MAX_IDS];
    int id_count = 0;
    int count = 0;
    if (!read_types(descriptors, &types) ||
        cublasLtMatmulAlgoGetIds(context->library, types.computed, types.scale, types.b, types.a,
                                 types.add, types.c, MAX_IDS, ids,
                                 &id_count) != CUBLAS_STATUS_SUCCESS) {
        return 0;
    }
    for (size_t t = 0; t < sizeof tiles / sizeof tiles[0]; t++) {
        for (int i = 0; i < id_count; i++) {
            uint32_t entry[MAX_CHOICES];
            cublasLtMatmulAlgo_t made;
            if (cublasLtMatmulAlgoInit(context->library, types.computed, types.scale, types.b,
                                       types.a, types.add, types.c, ids[i],
                                       &made) == CUBLAS_STATUS_SUCCESS &&
                is_aligned(&made, (uint32_t)shape->alignment) &&
                is_listed(tiles[t], entry,
                          list_choices(&made, CUBLASLT_ALGO_CAP_TILE_IDS, entry)) &&
                set_number(&made, CUBLASLT_ALGO_CONFIG_TILE_ID, tiles[t])) {
                leave_clusters(&made);
                count += add_stages(context, descriptors, &made, max - count, out + count);
            }
        }
    }
    return count;
}
