/*
 * Under MPS a process may have only a part of the GPU's SMs. If their number is not a multiple of
 * the size of a thread block cluster, cuBLASLt 13.1 computes some tiles several times and others
 * never: for example with clusters of 4 on 18 of an H200's 132 SMs, or with clusters of 8 on 92.
 * Even a multiple of the cluster size can be wrong, which only a check shows
 * (block_cluster_checks.h). Under MPS this file therefore asks for more algorithms and changes
 * large clusters to clusters of 2, which always fit a pair of SMs. If nothing else is left,
 * algorithms with large clusters are proposed unchanged. The last resort are algorithms without
 * clusters.
 */
#include "backend/cuda/matmul/matmul_algorithm.h"

#include "backend/cuda/lane.h"

#include <stdbool.h>
#include <string.h>

enum {
    LARGEST_CLUSTER = 16,
};

int32_t yk_matmul_algorithm_attribute(const cublasLtMatmulAlgo_t *algorithm,
                                      cublasLtMatmulAlgoConfigAttributes_t attribute)
{
    size_t written = 0;
    int32_t wide = 0; /* attributes have two or four bytes */
    uint16_t narrow = 0;
    if (cublasLtMatmulAlgoConfigGetAttribute(algorithm, attribute, &wide, sizeof wide, &written) ==
        CUBLAS_STATUS_SUCCESS) {
        return wide;
    }
    return cublasLtMatmulAlgoConfigGetAttribute(algorithm, attribute, &narrow, sizeof narrow,
                                                &written) == CUBLAS_STATUS_SUCCESS
               ? narrow
               : 0;
}

int32_t yk_matmul_algorithm_cluster_size(const cublasLtMatmulAlgo_t *algorithm)
{
    switch (yk_matmul_algorithm_attribute(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID)) {
    case CUBLASLT_CLUSTER_SHAPE_AUTO: /* the algorithm does not support clusters */
    case CUBLASLT_CLUSTER_SHAPE_1x1x1:
        return 1;
    case CUBLASLT_CLUSTER_SHAPE_2x1x1:
    case CUBLASLT_CLUSTER_SHAPE_1x2x1:
        return YK_MATMUL_SAFE_CLUSTER_SIZE;
    case CUBLASLT_CLUSTER_SHAPE_4x1x1:
    case CUBLASLT_CLUSTER_SHAPE_2x2x1:
    case CUBLASLT_CLUSTER_SHAPE_1x4x1:
        return 2 * YK_MATMUL_SAFE_CLUSTER_SIZE;
    case CUBLASLT_CLUSTER_SHAPE_4x2x1:
    case CUBLASLT_CLUSTER_SHAPE_2x4x1:
    case CUBLASLT_CLUSTER_SHAPE_8x1x1:
    case CUBLASLT_CLUSTER_SHAPE_1x8x1:
        return 4 * YK_MATMUL_SAFE_CLUSTER_SIZE;
    default:
        return LARGEST_CLUSTER;
    }
}

/* Whether the algorithm splits k among SMs. */
static bool splits(const cublasLtMatmulAlgo_t *algorithm)
{
    const int32_t parts = yk_matmul_algorithm_attribute(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
    return parts != 1 && parts != 0;
}

bool yk_matmul_algorithm_needs_no_check(const struct yk_cublas_context *context,
                                        const cublasLtMatmulAlgo_t *algorithm)
{
    return !splits(algorithm) &&
           (context->part_processors == 0 ||
            yk_matmul_algorithm_cluster_size(algorithm) <= YK_MATMUL_SAFE_CLUSTER_SIZE);
}

/* Whether cuBLASLt supports the matmul with this algorithm and the available workspace. */
static bool is_supported(const struct yk_cublas_context *context,
                         const struct yk_matmul_descriptors *descriptors,
                         const cublasLtMatmulAlgo_t *algorithm)
{
    cublasLtMatmulHeuristicResult_t result;
    return cublasLtMatmulAlgoCheck(context->library, descriptors->work, descriptors->b,
                                   descriptors->a, descriptors->add, descriptors->c, algorithm,
                                   &result) == CUBLAS_STATUS_SUCCESS &&
           result.workspaceSize <= context->workspace_bytes;
}

/* ---- algorithms that the library does not propose ---- */

enum {
    MAX_IDS = 64,
    MAX_CHOICES = CUBLASLT_MATMUL_TILE_END, /* tile or stage ids of an algorithm */
    STAGES_TRIED = 2,                       /* the largest: they hide memory latency best */
};

/* Lists the tile ids or stage ids of an algorithm. Returns their number. */
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

/* Whether the operands have the alignment that the algorithm needs. */
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

static bool set_cluster(cublasLtMatmulAlgo_t *algorithm, uint16_t shape)
{
    return cublasLtMatmulAlgoConfigSetAttribute(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID,
                                                &shape, sizeof shape) == CUBLAS_STATUS_SUCCESS;
}

/* Adds the algorithm with each supported number of stages. Returns how many were added. */
static int add_stages(const struct yk_cublas_context *context,
                      const struct yk_matmul_descriptors *descriptors,
                      const cublasLtMatmulAlgo_t *algorithm, int max, cublasLtMatmulAlgo_t *out)
{
    uint32_t stages[MAX_CHOICES];
    const int stage_count = list_choices(algorithm, CUBLASLT_ALGO_CAP_STAGES_IDS, stages);
    int count = 0;
    for (int i = stage_count - 1; i >= 0 && count < max && count < STAGES_TRIED; i--) {
        cublasLtMatmulAlgo_t made = *algorithm;
        if (set_number(&made, CUBLASLT_ALGO_CONFIG_STAGES_ID, stages[i]) &&
            is_supported(context, descriptors, &made)) {
            out[count++] = made;
        }
    }
    if (stage_count == 0 && count < max && is_supported(context, descriptors, algorithm)) {
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

/* Older algorithms with independent blocks. Under MPS sometimes none of the algorithms that the
 * heuristic proposes is correct. */
static int find_others(const struct yk_cublas_context *context,
                       const struct yk_matmul_descriptors *descriptors, int max,
                       cublasLtMatmulAlgo_t *out)
{
    static const uint32_t tiles[] = {CUBLASLT_MATMUL_TILE_128x128, CUBLASLT_MATMUL_TILE_128x64,
                                     CUBLASLT_MATMUL_TILE_64x64};
    const cublasComputeType_t computed = yk_matmul_shape_compute_type(&descriptors->shape);
    const cudaDataType_t type = yk_matmul_shape_element_type(descriptors->shape.a_type);
    const cudaDataType_t c_type = yk_matmul_shape_element_type(descriptors->shape.c_type);
    int ids[MAX_IDS];
    int id_count = 0;
    int count = 0;
    if (cublasLtMatmulAlgoGetIds(context->library, computed, CUDA_R_32F, type, type, c_type, c_type,
                                 MAX_IDS, ids, &id_count) != CUBLAS_STATUS_SUCCESS) {
        return 0;
    }
    for (size_t t = 0; t < sizeof tiles / sizeof tiles[0]; t++) {
        for (int i = 0; i < id_count; i++) {
            uint32_t entry[MAX_CHOICES];
            cublasLtMatmulAlgo_t made;
            if (cublasLtMatmulAlgoInit(context->library, computed, CUDA_R_32F, type, type, c_type,
                                       c_type, ids[i], &made) == CUBLAS_STATUS_SUCCESS &&
                is_aligned(&made, (uint32_t)descriptors->shape.alignment) &&
                is_listed(tiles[t], entry,
                          list_choices(&made, CUBLASLT_ALGO_CAP_TILE_IDS, entry)) &&
                set_number(&made, CUBLASLT_ALGO_CONFIG_TILE_ID, tiles[t])) {
                /* Fails if the algorithm does not support clusters. */
                (void)set_cluster(&made, CUBLASLT_CLUSTER_SHAPE_1x1x1);
                count += add_stages(context, descriptors, &made, max - count, out + count);
            }
        }
    }
    return count;
}

/* ---- proposals ---- */

enum {
    MAX_PROPOSED = 16,
    MAX_PROPOSED_FOR_PART = 48,
    ENOUGH = 12, /* with this many proposals, no clusters are changed */
};

static int ask_heuristic(const struct yk_cublas_context *context,
                         const struct yk_matmul_descriptors *descriptors, int max,
                         cublasLtMatmulHeuristicResult_t *out)
{
    cublasLtMatmulPreference_t preference = NULL;
    const uint32_t alignment = (uint32_t)descriptors->shape.alignment;
    int count = 0;
    if (cublasLtMatmulPreferenceCreate(&preference) != CUBLAS_STATUS_SUCCESS) {
        return 0;
    }
    (void)cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &context->workspace_bytes,
                                               sizeof context->workspace_bytes);
    static const cublasLtMatmulPreferenceAttributes_t sides[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        (void)cublasLtMatmulPreferenceSetAttribute(preference, sides[i], &alignment,
                                                   sizeof alignment);
    }
    if (cublasLtMatmulAlgoGetHeuristic(context->library, descriptors->work, descriptors->b,
                                       descriptors->a, descriptors->add, descriptors->c, preference,
                                       max, out, &count) != CUBLAS_STATUS_SUCCESS) {
        count = 0;
    }
    (void)cublasLtMatmulPreferenceDestroy(preference);
    return count;
}

static int add_new(const cublasLtMatmulAlgo_t *algorithm, int count, cublasLtMatmulAlgo_t *out)
{
    if (count == YK_MATMUL_MAX_ALGORITHMS) {
        return count;
    }
    for (int i = 0; i < count; i++) {
        if (memcmp(&out[i], algorithm, sizeof *algorithm) == 0) {
            return count;
        }
    }
    out[count] = *algorithm;
    return count + 1;
}

static int add_changed(const struct yk_cublas_context *context,
                       const struct yk_matmul_descriptors *descriptors,
                       const cublasLtMatmulAlgo_t *algorithm, uint16_t shape, int count,
                       cublasLtMatmulAlgo_t *out)
{
    cublasLtMatmulAlgo_t changed = *algorithm;
    return set_cluster(&changed, shape) && is_supported(context, descriptors, &changed)
               ? add_new(&changed, count, out)
               : count;
}

/* Whether the cluster size is usable. On the whole GPU every size is. */
static bool suits(const struct yk_cublas_context *context, const cublasLtMatmulAlgo_t *algorithm)
{
    const int32_t cluster = yk_matmul_algorithm_cluster_size(algorithm);
    return context->part_processors == 0 || cluster <= YK_MATMUL_SAFE_CLUSTER_SIZE ||
           (context->part_processors % cluster == 0 &&
            yk_block_cluster_checks_allow_size(context->checks, cluster));
}

int yk_matmul_algorithm_list_candidates(const struct yk_cublas_context *context,
                                        const struct yk_matmul_descriptors *descriptors,
                                        cublasLtMatmulAlgo_t out[YK_MATMUL_MAX_ALGORITHMS])
{
    cublasLtMatmulHeuristicResult_t found[MAX_PROPOSED_FOR_PART];
    const bool is_part = context->part_processors > 0;
    const int proposed =
        ask_heuristic(context, descriptors, is_part ? MAX_PROPOSED_FOR_PART : MAX_PROPOSED, found);
    int count = 0;
    for (int i = 0; i < proposed; i++) {
        if (suits(context, &found[i].algo)) {
            count = add_new(&found[i].algo, count, out);
        }
    }
    for (int i = 0; i < proposed && count < ENOUGH; i++) {
        const cublasLtMatmulAlgo_t *algorithm = &found[i].algo;
        if (!suits(context, algorithm)) { /* clusters of two blocks, in both directions */
            count = add_changed(context, descriptors, algorithm, CUBLASLT_CLUSTER_SHAPE_2x1x1,
                                count, out);
            count = add_changed(context, descriptors, algorithm, CUBLASLT_CLUSTER_SHAPE_1x2x1,
                                count, out);
        }
    }
    const bool none = count == 0;
    for (int i = 0; none && i < proposed; i++) {
        count = add_new(&found[i].algo, count, out);
    }
    return count;
}

int yk_matmul_algorithm_list_fallbacks(const struct yk_cublas_context *context,
                                       const struct yk_matmul_descriptors *descriptors,
                                       cublasLtMatmulAlgo_t out[YK_MATMUL_MAX_ALGORITHMS])
{
    cublasLtMatmulHeuristicResult_t found[MAX_PROPOSED_FOR_PART];
    const int proposed = ask_heuristic(context, descriptors, MAX_PROPOSED_FOR_PART, found);
    int count = 0;
    for (int i = 0; i < proposed; i++) {
        if (yk_matmul_algorithm_cluster_size(&found[i].algo) > 1) {
            count = add_changed(context, descriptors, &found[i].algo, CUBLASLT_CLUSTER_SHAPE_1x1x1,
                                count, out);
        }
    }
    return count + find_others(context, descriptors, YK_MATMUL_MAX_ALGORITHMS - count, out + count);
}

/* ---- run ---- */

cublasStatus_t
yk_matmul_algorithm_set_epilogue_pointers(const struct yk_matmul_descriptors *descriptors,
                                          const struct yk_cublas_matmul_arguments *arguments)
{
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    const void *vector = arguments->sums ? arguments->sums : arguments->bias; /* never both */
    if (vector) {
        status = cublasLtMatmulDescSetAttribute(
            descriptors->work, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &vector, sizeof vector);
    }
    if (arguments->aux) {
        YK_CUDA_CALL_UNLESS_FAILED(
            status, cublasLtMatmulDescSetAttribute(descriptors->work,
                                                   CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
                                                   &arguments->aux, sizeof arguments->aux));
    }
    return status;
}

cublasStatus_t yk_matmul_algorithm_enqueue_matmul(
    const struct yk_cublas_context *context, const struct yk_matmul_descriptors *descriptors,
    const cublasLtMatmulAlgo_t *algorithm, const struct yk_cublas_matmul_arguments *arguments)
{
    const float beta = arguments->add ? 1.0F : 0.0F;
    const void *add = arguments->add ? arguments->add : arguments->c;
    return cublasLtMatmul(context->library, descriptors->work, &arguments->scale, arguments->b,
                          descriptors->b, arguments->a, descriptors->a, &beta, add,
                          descriptors->add, arguments->c, descriptors->c, algorithm,
                          arguments->workspace, context->workspace_bytes, arguments->stream);
}
