/*
 * Block cluster checks: which sizes of thread block clusters compute correct results on the SMs of
 * this process. Under MPS a process may have only a part of the GPU's SMs, and cuBLASLt algorithms
 * with large clusters can then compute wrong results. For example, if a process has 52 of the 132
 * SMs of an H200, results with clusters of 4 blocks are wrong, although 52 is a multiple of 4. The
 * result of each check of an algorithm is counted here. If the results with a cluster size were
 * wrong several times and never correct, algorithms with this cluster size are no longer proposed.
 * This header does not include CUDA headers.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_BLOCK_CLUSTER_CHECKS_H
#define YK_BACKEND_CUDA_MATMUL_BLOCK_CLUSTER_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_BLOCK_CLUSTER_CHECKS_SIZE_COUNT = 5, /* cluster sizes 1, 2, 4, 8, and larger */
    YK_BLOCK_CLUSTER_CHECKS_MAX_WRONG = 3,  /* wrong results after which a size is not used */
};

/* Numbers of correct and wrong results for each cluster size. yk_block_cluster_checks_size_index()
 * returns the index of a cluster size. */
struct yk_block_cluster_checks {
    int32_t correct[YK_BLOCK_CLUSTER_CHECKS_SIZE_COUNT];
    int32_t wrong[YK_BLOCK_CLUSTER_CHECKS_SIZE_COUNT];
};

static inline int32_t yk_block_cluster_checks_size_index(int32_t cluster)
{
    int32_t index = 0;
    while (cluster > 1 && index < YK_BLOCK_CLUSTER_CHECKS_SIZE_COUNT - 1) {
        cluster /= 2;
        index++;
    }
    return index;
}

static inline void yk_block_cluster_checks_add_result(struct yk_block_cluster_checks *checks,
                                                      int32_t cluster, bool is_correct)
{
    const int32_t index = yk_block_cluster_checks_size_index(cluster);
    checks->correct[index] += is_correct ? 1 : 0;
    checks->wrong[index] += is_correct ? 0 : 1;
}

static inline bool yk_block_cluster_checks_allow_size(const struct yk_block_cluster_checks *checks,
                                                      int32_t cluster)
{
    const int32_t index = yk_block_cluster_checks_size_index(cluster);
    return checks->correct[index] > 0 || checks->wrong[index] < YK_BLOCK_CLUSTER_CHECKS_MAX_WRONG;
}

#endif
