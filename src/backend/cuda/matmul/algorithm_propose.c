/*
 * On a part of a GPU (MPS), algorithms whose blocks work in clusters that its multiprocessors are
 * no multiple of leave tiles out and make others several times: cuBLASLt 13.1 does with clusters of
 * 4 on 18 of an H200's 132, and with clusters of 8 on 92. So do some whose clusters they are a
 * multiple of, which is found out by trying (product_trust.h). Others are proposed there: more of
 * them are asked for, and those with large clusters are changed to clusters of 2, which always lie
 * within one pair of multiprocessors. Where nothing else is left, they are proposed as they are:
 * whether they are right is seen when they are tried. Last come the same ones without clusters, and
 * older ones (product_others.h).
 */
#include "backend/cuda/matmul/algorithm_propose.h"

#include "backend/cuda/matmul/algorithm_others.h"

#include <string.h>

enum {
    MAX_PROPOSED = 16,
    MAX_PROPOSED_FOR_PART = 48,
    ENOUGH = 12, /* of those that may be taken as they are */
};

static int ask_heuristic(const struct yk_matmul_algorithm_context *context,
                         const struct yk_matmul_shape *shape,
                         const struct yk_matmul_descriptors *descriptors, int max,
                         cublasLtMatmulHeuristicResult_t *out)
{
    cublasLtMatmulPreference_t preference = NULL;
    const uint32_t alignment = (uint32_t)shape->alignment;
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

static bool set_cluster(const struct yk_matmul_algorithm_context *context,
                        const struct yk_matmul_descriptors *descriptors, uint16_t shape,
                        cublasLtMatmulAlgo_t *algorithm)
{
    return cublasLtMatmulAlgoConfigSetAttribute(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID,
                                                &shape, sizeof shape) == CUBLAS_STATUS_SUCCESS &&
           yk_matmul_algorithm_fits(context, descriptors, algorithm);
}

static int add_new(const cublasLtMatmulAlgo_t *algorithm, int count, cublasLtMatmulAlgo_t *out)
{
    if (count == YK_MATMUL_ALGORITHMS_MAX) {
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

static int add_changed(const struct yk_matmul_algorithm_context *context,
                       const struct yk_matmul_descriptors *descriptors,
                       const cublasLtMatmulAlgo_t *algorithm, uint16_t shape, int count,
                       cublasLtMatmulAlgo_t *out)
{
    cublasLtMatmulAlgo_t changed = *algorithm;
    return set_cluster(context, descriptors, shape, &changed) ? add_new(&changed, count, out)
                                                              : count;
}

/* In clusters of two blocks, one beside or below the other. */
static int add_paired(const struct yk_matmul_algorithm_context *context,
                      const struct yk_matmul_descriptors *descriptors,
                      const cublasLtMatmulAlgo_t *algorithm, int count, cublasLtMatmulAlgo_t *out)
{
    count = add_changed(context, descriptors, algorithm, CUBLASLT_CLUSTER_SHAPE_2x1x1, count, out);
    return add_changed(context, descriptors, algorithm, CUBLASLT_CLUSTER_SHAPE_1x2x1, count, out);
}

/* On all of a GPU every algorithm does. */
static bool suits(const struct yk_matmul_algorithm_context *context,
                  const cublasLtMatmulAlgo_t *algorithm)
{
    const int32_t cluster = yk_matmul_algorithm_cluster(algorithm);
    return context->part_processors == 0 || cluster <= YK_MATMUL_CLUSTER_PAIR ||
           (context->part_processors % cluster == 0 &&
            yk_cluster_trust_allows(context->trust, cluster));
}

int yk_matmul_algorithm_propose(const struct yk_matmul_algorithm_context *context,
                                const struct yk_matmul_shape *shape,
                                const struct yk_matmul_descriptors *descriptors,
                                cublasLtMatmulAlgo_t out[YK_MATMUL_ALGORITHMS_MAX])
{
    cublasLtMatmulHeuristicResult_t found[MAX_PROPOSED_FOR_PART];
    const bool is_part = context->part_processors > 0;
    const int proposed = ask_heuristic(context, shape, descriptors,
                                       is_part ? MAX_PROPOSED_FOR_PART : MAX_PROPOSED, found);
    int count = 0;
    for (int i = 0; i < proposed; i++) {
        if (suits(context, &found[i].algo)) {
            count = add_new(&found[i].algo, count, out);
        }
    }
    for (int i = 0; i < proposed && count < ENOUGH; i++) {
        if (!suits(context, &found[i].algo)) {
            count = add_paired(context, descriptors, &found[i].algo, count, out);
        }
    }
    const bool none = count == 0;
    for (int i = 0; none && i < proposed; i++) {
        count = add_new(&found[i].algo, count, out);
    }
    return count;
}

int yk_matmul_algorithm_propose_last(const struct yk_matmul_algorithm_context *context,
                                     const struct yk_matmul_shape *shape,
                                     const struct yk_matmul_descriptors *descriptors,
                                     cublasLtMatmulAlgo_t out[YK_MATMUL_ALGORITHMS_MAX])
{
    cublasLtMatmulHeuristicResult_t found[MAX_PROPOSED_FOR_PART];
    const int proposed = ask_heuristic(context, shape, descriptors, MAX_PROPOSED_FOR_PART, found);
    int count = 0;
    for (int i = 0; i < proposed; i++) {
        if (yk_matmul_algorithm_cluster(&found[i].algo) > 1) {
            count = add_changed(context, descriptors, &found[i].algo, CUBLASLT_CLUSTER_SHAPE_1x1x1,
                                count, out);
        }
    }
    return count + yk_matmul_algorithm_others(context, shape, descriptors,
                                              YK_MATMUL_ALGORITHMS_MAX - count, out + count);
}
