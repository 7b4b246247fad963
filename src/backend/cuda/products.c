#include "backend/cuda/products.h"

#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/product_cache.h"
#include "backend/cuda/product_propose.h"
#include "backend/cuda/product_put.h"
#include "backend/cuda/product_race.h"
#include "backend/cuda/product_run.h"
#include "backend/cuda/product_shape.h"
#include "base/hash.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ORIGIN_SIZE = 400,
    PLANS = 2048, /* descriptors kept; when there are too many, all are made anew */
};

struct known {
    struct yk_product_shape shape;
    struct yk_product_plan plan;
    struct yk_product_choice choice;
    bool used;
};

struct yk_cuda_products {
    struct yk_backend_device *device;
    struct yk_product_means means;
    struct yk_product_trust trust;
    struct yk_product_cache *cache;
    pthread_mutex_t lock;
    struct known *known; /* (PLANS), open addressing */
    int32_t known_count;
};

/* ---- made and destroyed ---- */

/* Whether this process has some of the GPU's multiprocessors only, by MPS. */
static bool is_part(void)
{
    const char *percent = getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
    return percent && strtod(percent, NULL) < 100;
}

yk_status yk_cuda_products_create(struct yk_backend_device *device, const char *path,
                                  struct yk_cuda_products **out)
{
    char origin[ORIGIN_SIZE];
    struct yk_cuda_products *products = calloc(1, sizeof *products);
    if (!products) {
        return yk_fail_out_of_memory();
    }
    /* A part of a GPU (MPS) has other algorithms that are fastest than all of it. */
    (void)snprintf(origin, sizeof origin,
                   "yoke products 8, %s, %d SMs and %d, cuBLASLt %zu, shapes of %zu bytes",
                   device->name, (int)device->chip.processors, (int)device->chip.spare,
                   cublasLtGetVersion(), sizeof(struct yk_product_shape));
    products->device = device;
    products->means.trust = &products->trust;
    products->means.workspace_bytes = YK_PRODUCT_WORKSPACE;
    products->means.part_processors = is_part() ? device->chip.processors + device->chip.spare : 0;
    products->means.target_processors = device->chip.spare > 0 ? device->chip.processors : 0;
    (void)pthread_mutex_init(&products->lock, NULL);
    yk_status status = YK_OK;
    if (cublasLtCreate(&products->means.library) != CUBLAS_STATUS_SUCCESS) {
        status = yk_fail(YK_ERROR_SYSTEM, "GPU %d (%s): cuBLASLt cannot be started",
                         (int)device->number, device->name);
    }
    products->known = calloc(PLANS, sizeof *products->known);
    if (status == YK_OK && !products->known) {
        status = yk_fail_out_of_memory();
    }
    if (status == YK_OK) {
        status = yk_product_cache_open(path, origin, &products->cache);
    }
    if (status != YK_OK) {
        yk_cuda_products_destroy(products);
        return status;
    }
    *out = products;
    return YK_OK;
}

static void forget_all(struct yk_cuda_products *products)
{
    for (int32_t i = 0; products->known && i < PLANS; i++) {
        if (products->known[i].used) {
            yk_product_plan_free(&products->known[i].plan);
            products->known[i].used = false;
        }
    }
    products->known_count = 0;
}

void yk_cuda_products_destroy(struct yk_cuda_products *products)
{
    if (products) {
        forget_all(products);
        free(products->known);
        yk_product_cache_close(products->cache);
        if (products->means.library) {
            (void)cublasLtDestroy(products->means.library);
        }
        (void)pthread_mutex_destroy(&products->lock);
        free(products);
    }
}

/* ---- what is tried ---- */

float yk_product_try(struct yk_cuda_products *products, const struct yk_product_shape *shape,
                     const struct yk_product_call *call, struct yk_product_choice *out)
{
    cublasLtMatmulAlgo_t found[YK_PRODUCT_PROPOSALS];
    struct yk_product_plan plan;
    *out = (struct yk_product_choice){0};
    if (yk_product_plan_make(shape, products->means.target_processors, &plan) !=
        CUBLAS_STATUS_SUCCESS) {
        return YK_PRODUCT_NONE_RUNS;
    }
    int count = yk_product_point(&plan, call) == CUBLAS_STATUS_SUCCESS
                    ? yk_product_propose(&products->means, shape, &plan, found)
                    : 0;
    float best = yk_product_race(&products->means, shape, &plan, found, count, call, out);
    if (best == YK_PRODUCT_NONE_RIGHT) {
        count = yk_product_propose_last(&products->means, shape, &plan, found);
        best = yk_product_race(&products->means, shape, &plan, found, count, call, out);
        best = best == YK_PRODUCT_NONE_RUNS ? YK_PRODUCT_NONE_RIGHT : best;
    }
    yk_product_plan_free(&plan);
    return best;
}

/* ---- what is known ---- */

/* Lengths that differ little do with one algorithm: eight of them between a power of two and the
 * next. */
static int64_t round_length(int64_t length)
{
    int64_t step = 1;
    while (length / step > 16) {
        step *= 2;
    }
    return (length + step - 1) / step * step;
}

static struct yk_product_shape round_shape(const struct yk_product_shape *shape)
{
    struct yk_product_shape rounded = *shape;
    rounded.m = round_length(shape->m);
    rounded.k = round_length(shape->k);
    /* A stride is as long as its row, or some fixed width: only whether it is aligned counts. */
    rounded.a_stride = shape->a_stride % 8;
    rounded.b_stride = shape->b_stride % 8;
    rounded.c_stride = shape->c_stride % 8;
    rounded.add_stride = shape->add_stride > 0 ? 1 + shape->add_stride % 8 : 0;
    rounded.aux_stride = shape->aux_stride > 0 ? 1 + shape->aux_stride % 8 : 0;
    return rounded;
}

static struct known *find_known(struct yk_cuda_products *products,
                                const struct yk_product_shape *shape)
{
    size_t at = (size_t)yk_hash_bytes(shape, sizeof *shape) % PLANS;
    while (products->known[at].used &&
           memcmp(&products->known[at].shape, shape, sizeof *shape) != 0) {
        at = (at + 1) % PLANS;
    }
    return &products->known[at];
}

static const struct yk_product_choice *choose(struct yk_cuda_products *products,
                                              const struct yk_product_shape *shape,
                                              yk_product_chooser *chooser, void *user)
{
    const struct yk_product_shape rounded = round_shape(shape);
    const struct yk_product_choice *choice = yk_product_cache_find(products->cache, &rounded);
    if (!choice) {
        struct yk_product_choice made = {0};
        if (!chooser(products, shape, user, &made) ||
            yk_product_cache_add(products->cache, &rounded, &made) != YK_OK) {
            return NULL;
        }
        choice = yk_product_cache_find(products->cache, &rounded);
    }
    return choice;
}

static struct known *know(struct yk_cuda_products *products, const struct yk_product_shape *shape,
                          yk_product_chooser *chooser, void *user)
{
    struct known *known = find_known(products, shape);
    if (known->used) {
        return known;
    }
    const struct yk_product_choice *choice = choose(products, shape, chooser, user);
    if (!choice) {
        return NULL;
    }
    if (products->known_count >= PLANS / 2) {
        forget_all(products);
        known = find_known(products, shape);
    }
    struct yk_product_shape made = *shape;
    yk_product_shape_reduce(&made, (enum yk_product_variant)choice->variant);
    if (yk_product_plan_make(&made, products->means.target_processors, &known->plan) !=
        CUBLAS_STATUS_SUCCESS) {
        return NULL;
    }
    known->shape = *shape;
    known->choice = *choice;
    known->used = true;
    products->known_count++;
    return known;
}

/* An algorithm that was found with other lengths may not do with these; and where nothing could be
 * tried, none was found. On a part of a GPU the fastest may be wrong, so that not all are taken. */
static bool run_proposed(struct yk_cuda_products *products, struct known *known,
                         const struct yk_product_call *call)
{
    cublasLtMatmulAlgo_t found[YK_PRODUCT_PROPOSALS];
    struct yk_product_shape made = known->shape;
    yk_product_shape_reduce(&made, (enum yk_product_variant)known->choice.variant);
    const int count = yk_product_propose(&products->means, &made, &known->plan, found);
    for (int i = 0; i < count; i++) {
        const bool trusted = products->means.part_processors == 0 ||
                             yk_product_algorithm_is_plain(&products->means, &found[i]);
        if (trusted && yk_product_put(&products->means, &known->plan, &found[i], call) ==
                           CUBLAS_STATUS_SUCCESS) {
            known->choice.algorithm = found[i];
            known->choice.exists = 1;
            return true;
        }
    }
    return false;
}

struct yk_product_call yk_product_call_reduce(const struct yk_product_call *call,
                                              const struct yk_product_shape *reduced)
{
    struct yk_product_call used = *call;
    used.add = reduced->add_stride > 0 ? call->add : NULL;
    used.bias = reduced->has_bias ? call->bias : NULL;
    used.aux = reduced->aux_stride > 0 ? call->aux : NULL;
    used.sums = reduced->sums_of != YK_SUMS_OF_NOTHING ? call->sums : NULL;
    return used;
}

bool yk_product_run(struct yk_cuda_products *products, const struct yk_product_shape *shape,
                    const struct yk_product_call *call, yk_product_chooser *chooser, void *user,
                    enum yk_product_variant *out)
{
    (void)pthread_mutex_lock(&products->lock);
    struct known *known = know(products, shape, chooser, user);
    bool done = false;
    if (known) {
        struct yk_product_shape reduced = *shape;
        *out = (enum yk_product_variant)known->choice.variant;
        yk_product_shape_reduce(&reduced, *out);
        const struct yk_product_call used = yk_product_call_reduce(call, &reduced);
        done = yk_product_point(&known->plan, &used) == CUBLAS_STATUS_SUCCESS &&
               ((known->choice.exists &&
                 yk_product_put(&products->means, &known->plan, &known->choice.algorithm, &used) ==
                     CUBLAS_STATUS_SUCCESS) ||
                run_proposed(products, known, &used));
    }
    (void)pthread_mutex_unlock(&products->lock);
    return done;
}
