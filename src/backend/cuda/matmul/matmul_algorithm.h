/*
 * Matmul algorithm: lists the algorithms that cuBLASLt offers for a matmul, reads their attributes,
 * and enqueues a matmul with one of them. The functions have no state of their own.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_MATMUL_ALGORITHM_H
#define YK_BACKEND_CUDA_MATMUL_MATMUL_ALGORITHM_H

#include "backend/cuda/matmul/block_cluster_checks.h"
#include "backend/cuda/matmul/matmul_shape.h"

#include <cublasLt.h>

enum {
    YK_MATMUL_SAFE_CLUSTER_SIZE =
        2, /* a cluster of this many thread blocks always fits on a pair of SMs */
};

struct yk_cublas_context {
    cublasLtHandle_t library;
    size_t workspace_bytes;
    int32_t part_processors;   /* SMs that MPS gives to this process; 0 means: the whole GPU */
    int32_t target_processors; /* SMs that a matmul may use; 0 means: all */
    struct yk_block_cluster_checks *checks;
};

/* Returns an attribute of the algorithm, or 0 if the algorithm does not have it. */
int32_t yk_matmul_algorithm_attribute(const cublasLtMatmulAlgo_t *algorithm,
                                      cublasLtMatmulAlgoConfigAttributes_t attribute);

/* Returns the number of thread blocks in a cluster; 1 means: no clusters. */
int32_t yk_matmul_algorithm_cluster_size(const cublasLtMatmulAlgo_t *algorithm);

/* Returns whether the algorithm may be used without a check of its result. This is true if it does
 * not split k and, under MPS, its clusters have at most YK_MATMUL_SAFE_CLUSTER_SIZE blocks. No
 * algorithm of this kind has computed a wrong result so far. */
bool yk_matmul_algorithm_needs_no_check(const struct yk_cublas_context *context,
                                        const cublasLtMatmulAlgo_t *algorithm);

/* ---- proposals ---- */

enum {
    YK_MATMUL_MAX_ALGORITHMS = 64,
};

/* Writes the algorithms that should be benchmarked, sorted by their expected speed, fastest first.
 * Under MPS, algorithms whose cluster size was changed come last. Returns their number. */
int yk_matmul_algorithm_list_candidates(const struct yk_cublas_context *context,
                                        const struct yk_matmul_descriptors *descriptors,
                                        cublasLtMatmulAlgo_t out[YK_MATMUL_MAX_ALGORITHMS]);

/* Writes slow algorithms without clusters, for the case that all other algorithms compute wrong
 * results. Returns their number. */
int yk_matmul_algorithm_list_fallbacks(const struct yk_cublas_context *context,
                                       const struct yk_matmul_descriptors *descriptors,
                                       cublasLtMatmulAlgo_t out[YK_MATMUL_MAX_ALGORITHMS]);

/* ---- run ---- */

enum {
    YK_CUBLAS_WORKSPACE_BYTES = 32 << 20, /* NVIDIA's recommendation for large GPUs */
};

enum yk_matmul_check_result {
    YK_MATMUL_CHECK_CORRECT,
    YK_MATMUL_CHECK_WRONG,
    YK_MATMUL_CHECK_UNDECIDED, /* no checked element shows whether the result is correct, for
                                  example because all elements are zero */
};

/* The arguments of one matmul that are not part of its shape. Pointers are to device memory. */
struct yk_cublas_matmul_arguments {
    cudaStream_t stream;
    const void *a;
    const void *b;
    const void *add; /* NULL means: nothing is added */
    void *c;
    const void *bias;
    void *aux;
    void *sums; /* output: row sums in the type of c; NULL means: none */
    float scale;
    void *workspace;
    /* Callbacks for a benchmark of the algorithm. Each may be NULL. */
    void (*rest)(const struct yk_cublas_matmul_arguments
                     *arguments); /* enqueues the parts of the op that are not fused */
    void (*begin)(
        const struct yk_cublas_matmul_arguments *call); /* prepares the output for a check */
    enum yk_matmul_check_result (*end)(
        const struct yk_cublas_matmul_arguments *call); /* checks the output */
    void *user;                                         /* data for the callbacks */
};

/* Sets the pointers of bias, sums and aux in the descriptors. Must be called before
 * yk_matmul_algorithm_enqueue_matmul(). */
cublasStatus_t
yk_matmul_algorithm_set_epilogue_pointers(const struct yk_matmul_descriptors *descriptors,
                                          const struct yk_cublas_matmul_arguments *arguments);

cublasStatus_t yk_matmul_algorithm_enqueue_matmul(
    const struct yk_cublas_context *context, const struct yk_matmul_descriptors *descriptors,
    const cublasLtMatmulAlgo_t *algorithm, const struct yk_cublas_matmul_arguments *arguments);

#endif
