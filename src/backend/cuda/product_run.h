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

/* The numbers of a product. */
struct yk_product_call {
    cudaStream_t stream;
    const void *a;
    const void *b;
    const void *add; /* NULL: nothing is added */
    void *c;
    const void *bias;
    void *aux;
    float scale;
    void *workspace;
    /* Puts what the library does not do on the stream, where that is timed with it; or NULL. */
    void (*rest)(const struct yk_product_call *call);
    void *user;
};

/* Of a shape for the library to do in one, that of the product alone: what is added to it in place
 * stays with the library. */
void yk_product_shape_alone(struct yk_product_shape *shape);

/* Times the algorithms that the library proposes; the best one's milliseconds, or −1. */
float yk_product_try(struct yk_cuda_products *products, const struct yk_product_shape *shape,
                     const struct yk_product_call *call, struct yk_product_choice *out);

/* Called once for a shape that nothing is known of. */
typedef void yk_product_chooser(struct yk_cuda_products *products,
                                const struct yk_product_shape *shape, void *user,
                                struct yk_product_choice *out);

/* False where the library cannot. `split` tells whether bias, aux, ending and what is not added in
 * place are left to do. */
bool yk_product_run(struct yk_cuda_products *products, const struct yk_product_shape *shape,
                    const struct yk_product_call *call, yk_product_chooser *chooser, void *user,
                    bool *split);

#endif
