/*
 * Cluster trust: whether algorithms with large clusters are worth trying on this part of a GPU, by
 * what came of earlier ones. On 52 of an H200's 132 SMs clusters of 4 are wrong, though 52 is a
 * multiple of 4: how a part lies among the groups of SMs is not known. So a size that has only ever
 * been wrong is not proposed any more, unless nothing else is left. For host code without CUDA,
 * too.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_CLUSTER_TRUST_H
#define YK_BACKEND_CUDA_MATMUL_CLUSTER_TRUST_H

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_CLUSTER_TRUST_SIZES = 5,   /* of clusters: 1, 2, 4, 8, and more */
    YK_CLUSTER_TRUST_CHANCES = 3, /* that a size has */
};

struct yk_cluster_trust {
    int32_t correct[YK_CLUSTER_TRUST_SIZES];
    int32_t wrong[YK_CLUSTER_TRUST_SIZES];
};

static inline int32_t yk_cluster_trust_index(int32_t cluster)
{
    int32_t place = 0;
    while (cluster > 1 && place < YK_CLUSTER_TRUST_SIZES - 1) {
        cluster /= 2;
        place++;
    }
    return place;
}

static inline void yk_cluster_trust_record(struct yk_cluster_trust *trust, int32_t cluster,
                                           bool is_correct)
{
    const int32_t place = yk_cluster_trust_index(cluster);
    trust->correct[place] += is_correct ? 1 : 0;
    trust->wrong[place] += is_correct ? 0 : 1;
}

static inline bool yk_cluster_trust_allows(const struct yk_cluster_trust *trust, int32_t cluster)
{
    const int32_t place = yk_cluster_trust_index(cluster);
    return trust->correct[place] > 0 || trust->wrong[place] < YK_CLUSTER_TRUST_CHANCES;
}

#endif
