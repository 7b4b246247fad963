/*
 * Product run: one product put on a stream by the fastest algorithm that is known, or that is found
 * first.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_CUBLAS_CALL_H
#define YK_BACKEND_CUDA_MATMUL_CUBLAS_CALL_H

#include "backend/cuda/matmul/cache.h"
#include "backend/cuda/matmul/cublas.h"

enum {
    YK_CUBLAS_WORKSPACE_BYTES = 32
                                << 20, /* bytes, what the library's makers advise for large GPUs */
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

/* Negative where there is no time to tell. */
#define YK_CUBLAS_NONE_RUNS (-1.0F)
#define YK_CUBLAS_NONE_CORRECT (-2.0F)

/* Times the algorithms that the library proposes; the milliseconds of the best that is right. */
float yk_cublas_try(struct yk_cublas *cublas, const struct yk_matmul_shape *shape,
                    const struct yk_cublas_call *call, struct yk_matmul_choice *out);

/* Called once for a shape that nothing is known of; false where nothing is right for it. */
typedef bool yk_cublas_chooser(struct yk_cublas *cublas, const struct yk_matmul_shape *shape,
                               void *user, struct yk_matmul_choice *out);

/* False where the library cannot. What the variant leaves out is left to do. */
bool yk_cublas_run(struct yk_cublas *cublas, const struct yk_matmul_shape *shape,
                   const struct yk_cublas_call *call, yk_cublas_chooser *chooser, void *user,
                   enum yk_matmul_variant *out);

/* Of a call, what a shape in some variant asks for. */
struct yk_cublas_call yk_cublas_call_reduce(const struct yk_cublas_call *call,
                                            const struct yk_matmul_shape *reduced);

#endif
