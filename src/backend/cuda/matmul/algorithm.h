/*
 * Matmul algorithm: the algorithms that cuBLASLt has for a product, what it says of one, and a
 * product enqueued on a stream by one. Plain functions; nothing is kept here.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_ALGORITHM_H
#define YK_BACKEND_CUDA_MATMUL_ALGORITHM_H

#include "backend/cuda/matmul/cluster_trust.h"
#include "backend/cuda/matmul/shape.h"

#include <cublasLt.h>

enum {
    YK_MATMUL_CLUSTER_PAIR = 2, /* clusters of so many blocks always lie within a pair of SMs */
};

struct yk_matmul_context {
    cublasLtHandle_t library;
    size_t workspace_bytes;
    /* Of the part of a GPU that this process has; 0: it has all of it. */
    int32_t part_processors;
    /* That a product is to take at most; 0: all. */
    int32_t target_processors;
    struct yk_cluster_trust *trust;
};

/* How many blocks work together in a cluster. */
int32_t yk_matmul_algorithm_cluster(const cublasLtMatmulAlgo_t *algorithm);

/* Whether its blocks are as independent as in all algorithms that were ever right: such a one may
 * be used untried. */
bool yk_matmul_algorithm_is_plain(const struct yk_matmul_context *context,
                                  const cublasLtMatmulAlgo_t *algorithm);

/* Whether an algorithm can do the product, with the workspace there is. */
bool yk_matmul_algorithm_fits(const struct yk_matmul_context *context,
                              const struct yk_matmul_layout *layout,
                              const cublasLtMatmulAlgo_t *algorithm);

/* ---- proposals ---- */

enum {
    YK_MATMUL_ALGORITHMS_MAX = 64,
};

/* How many there are. */
int yk_matmul_algorithm_propose(const struct yk_matmul_context *context,
                                const struct yk_matmul_shape *shape,
                                const struct yk_matmul_layout *layout,
                                cublasLtMatmulAlgo_t out[YK_MATMUL_ALGORITHMS_MAX]);

/* Those that are slow and know no clusters: where none of the others is right. */
int yk_matmul_algorithm_propose_last(const struct yk_matmul_context *context,
                                     const struct yk_matmul_shape *shape,
                                     const struct yk_matmul_layout *layout,
                                     cublasLtMatmulAlgo_t out[YK_MATMUL_ALGORITHMS_MAX]);

/* ---- run ---- */

enum {
    YK_CUBLAS_WORKSPACE_BYTES = 32 << 20, /* what NVIDIA advises for large GPUs */
};

enum yk_matmul_result {
    YK_MATMUL_CORRECT,
    YK_MATMUL_WRONG,
    YK_MATMUL_UNKNOWN, /* all numbers are zero */
};

/* The numbers of a product. */
struct yk_cublas_call {
    cudaStream_t stream;
    const void *a;
    const void *b;
    const void *add; /* NULL: nothing is added */
    void *c;
    const void *bias;
    void *aux;
    void *sums; /* overwritten, in c's type; NULL: none */
    float scale;
    void *workspace;
    /* Puts what the library does not do on the stream, where that is timed with it; or NULL. */
    void (*rest)(const struct yk_cublas_call *call);
    /* Before one is tried that is to be checked, and how it came out; with rest. Or NULL. */
    void (*begin)(const struct yk_cublas_call *call);
    enum yk_matmul_result (*end)(const struct yk_cublas_call *call);
    void *user;
};

/* Sets the call's vectors in the layout; call it before yk_matmul_algorithm_enqueue(). */
cublasStatus_t yk_matmul_algorithm_set_pointers(const struct yk_matmul_layout *layout,
                                                const struct yk_cublas_call *call);

cublasStatus_t yk_matmul_algorithm_enqueue(const struct yk_matmul_context *context,
                                           const struct yk_matmul_layout *layout,
                                           const cublasLtMatmulAlgo_t *algorithm,
                                           const struct yk_cublas_call *call);

#endif
