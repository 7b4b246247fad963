/*
 * Product run: one product put on a stream by the fastest algorithm that is known, or that is found
 * first.
 */
#ifndef YK_BACKEND_CUDA_PRODUCT_RUN_H
#define YK_BACKEND_CUDA_PRODUCT_RUN_H

#include "backend/cuda/product_cache.h"
#include "backend/cuda/products.h"

enum {
    YK_PRODUCT_WORKSPACE = 32 << 20, /* bytes, what the library's makers advise for large GPUs */
};

enum yk_product_word {
    YK_PRODUCT_RIGHT,
    YK_PRODUCT_WRONG,
    YK_PRODUCT_UNTOLD, /* all numbers are zero */
};

/* The numbers of a product. */
struct yk_product_call {
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
    void (*rest)(const struct yk_product_call *call);
    /* Before one is tried that is to be checked, and how it came out; with rest. Or NULL. */
    void (*begin)(const struct yk_product_call *call);
    enum yk_product_word (*end)(const struct yk_product_call *call);
    void *user;
};

/* Negative where there is no time to tell. */
#define YK_PRODUCT_NONE_RUNS (-1.0F)
#define YK_PRODUCT_NONE_RIGHT (-2.0F)

/* Times the algorithms that the library proposes; the milliseconds of the best that is right. */
float yk_product_try(struct yk_cuda_products *products, const struct yk_product_shape *shape,
                     const struct yk_product_call *call, struct yk_product_choice *out);

/* Called once for a shape that nothing is known of; false where nothing is right for it. */
typedef bool yk_product_chooser(struct yk_cuda_products *products,
                                const struct yk_product_shape *shape, void *user,
                                struct yk_product_choice *out);

/* False where the library cannot. What the variant leaves out is left to do. */
bool yk_product_run(struct yk_cuda_products *products, const struct yk_product_shape *shape,
                    const struct yk_product_call *call, yk_product_chooser *chooser, void *user,
                    enum yk_product_variant *out);

/* Of a call, what a shape in some variant asks for. */
struct yk_product_call yk_product_call_reduce(const struct yk_product_call *call,
                                              const struct yk_product_shape *reduced);

#endif
