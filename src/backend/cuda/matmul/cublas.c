#include "backend/cuda/matmul/cublas.h"

#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/matmul/algorithm_enqueue.h"
#include "backend/cuda/matmul/algorithm_propose.h"
#include "backend/cuda/matmul/benchmark.h"
#include "backend/cuda/matmul/cache.h"
#include "backend/cuda/matmul/cublas_call.h"
#include "backend/cuda/matmul/shape.h"
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
    struct yk_matmul_shape shape;
    struct yk_matmul_descriptors plan;
    struct yk_matmul_choice choice;
    bool used;
};

struct yk_cublas {
    struct yk_backend_device *device;
    struct yk_matmul_algorithm_context means;
    struct yk_cluster_trust trust;
    struct yk_matmul_cache *cache;
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

yk_status yk_cublas_create(struct yk_backend_device *device, const char *path,
                           struct yk_cublas **out)
{
    char origin[ORIGIN_SIZE];
    struct yk_cublas *products = calloc(1, sizeof *products);
    if (!products) {
        return yk_fail_out_of_memory();
    }
    /* A part of a GPU (MPS) has other algorithms that are fastest than all of it. */
    (void)snprintf(origin, sizeof origin,
                   "yoke products 8, %s, %d SMs and %d, cuBLASLt %zu, shapes of %zu bytes",
                   device->name, (int)device->chip.processors, (int)device->chip.spare,
                   cublasLtGetVersion(), sizeof(struct yk_matmul_shape));
    products->device = device;
    products->means.trust = &products->trust;
    products->means.workspace_bytes = YK_CUBLAS_WORKSPACE_BYTES;
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
        status = yk_matmul_cache_open(path, origin, &products->cache);
    }
    if (status != YK_OK) {
        yk_cublas_destroy(products);
        return status;
    }
    *out = products;
    return YK_OK;
}

static void forget_all(struct yk_cublas *products)
{
    for (int32_t i = 0; products->known && i < PLANS; i++) {
        if (products->known[i].used) {
            yk_matmul_shape_free(&products->known[i].plan);
            products->known[i].used = false;
        }
    }
    products->known_count = 0;
}

void yk_cublas_destroy(struct yk_cublas *products)
{
    if (products) {
        forget_all(products);
        free(products->known);
        yk_matmul_cache_close(products->cache);
        if (products->means.library) {
            (void)cublasLtDestroy(products->means.library);
        }
        (void)pthread_mutex_destroy(&products->lock);
        free(products);
    }
}

/* ---- what is tried ---- */

float yk_cublas_try(struct yk_cublas *products, const struct yk_matmul_shape *shape,
                    const struct yk_cublas_call *call, struct yk_matmul_choice *out)
{
    cublasLtMatmulAlgo_t found[YK_MATMUL_ALGORITHMS_MAX];
    struct yk_matmul_descriptors plan;
    *out = (struct yk_matmul_choice){0};
    if (yk_matmul_shape_describe(shape, products->means.target_processors, &plan) !=
        CUBLAS_STATUS_SUCCESS) {
        return YK_CUBLAS_NONE_RUNS;
    }
    int count = yk_matmul_algorithm_set_pointers(&plan, call) == CUBLAS_STATUS_SUCCESS
                    ? yk_matmul_algorithm_propose(&products->means, shape, &plan, found)
                    : 0;
    float best = yk_matmul_benchmark(&products->means, shape, &plan, found, count, call, out);
    if (best == YK_CUBLAS_NONE_CORRECT) {
        count = yk_matmul_algorithm_propose_last(&products->means, shape, &plan, found);
        best = yk_matmul_benchmark(&products->means, shape, &plan, found, count, call, out);
        best = best == YK_CUBLAS_NONE_RUNS ? YK_CUBLAS_NONE_CORRECT : best;
    }
    yk_matmul_shape_free(&plan);
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

static struct yk_matmul_shape round_shape(const struct yk_matmul_shape *shape)
{
    struct yk_matmul_shape rounded = *shape;
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

static struct known *find_known(struct yk_cublas *products, const struct yk_matmul_shape *shape)
{
    size_t at = (size_t)yk_hash_bytes(shape, sizeof *shape) % PLANS;
    while (products->known[at].used &&
           memcmp(&products->known[at].shape, shape, sizeof *shape) != 0) {
        at = (at + 1) % PLANS;
    }
    return &products->known[at];
}

static const struct yk_matmul_choice *choose(struct yk_cublas *products,
                                             const struct yk_matmul_shape *shape,
                                             yk_cublas_chooser *chooser, void *user)
{
    const struct yk_matmul_shape rounded = round_shape(shape);
    const struct yk_matmul_choice *choice = yk_matmul_cache_find(products->cache, &rounded);
    if (!choice) {
        struct yk_matmul_choice made = {0};
        if (!chooser(products, shape, user, &made) ||
            yk_matmul_cache_add(products->cache, &rounded, &made) != YK_OK) {
            return NULL;
        }
        choice = yk_matmul_cache_find(products->cache, &rounded);
    }
    return choice;
}

static struct known *know(struct yk_cublas *products, const struct yk_matmul_shape *shape,
                          yk_cublas_chooser *chooser, void *user)
{
    struct known *known = find_known(products, shape);
    if (known->used) {
        return known;
    }
    const struct yk_matmul_choice *choice = choose(products, shape, chooser, user);
    if (!choice) {
        return NULL;
    }
    if (products->known_count >= PLANS / 2) {
        forget_all(products);
        known = find_known(products, shape);
    }
    struct yk_matmul_shape made = *shape;
    yk_matmul_shape_reduce(&made, (enum yk_matmul_variant)choice->variant);
    if (yk_matmul_shape_describe(&made, products->means.target_processors, &known->plan) !=
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
static bool run_proposed(struct yk_cublas *products, struct known *known,
                         const struct yk_cublas_call *call)
{
    cublasLtMatmulAlgo_t found[YK_MATMUL_ALGORITHMS_MAX];
    struct yk_matmul_shape made = known->shape;
    yk_matmul_shape_reduce(&made, (enum yk_matmul_variant)known->choice.variant);
    const int count = yk_matmul_algorithm_propose(&products->means, &made, &known->plan, found);
    for (int i = 0; i < count; i++) {
        const bool trusted = products->means.part_processors == 0 ||
                             yk_matmul_algorithm_is_plain(&products->means, &found[i]);
        if (trusted && yk_matmul_algorithm_enqueue(&products->means, &known->plan, &found[i],
                                                   call) == CUBLAS_STATUS_SUCCESS) {
            known->choice.algorithm = found[i];
            known->choice.exists = 1;
            return true;
        }
    }
    return false;
}

struct yk_cublas_call yk_cublas_call_reduce(const struct yk_cublas_call *call,
                                            const struct yk_matmul_shape *reduced)
{
    struct yk_cublas_call used = *call;
    used.add = reduced->add_stride > 0 ? call->add : NULL;
    used.bias = reduced->has_bias ? call->bias : NULL;
    used.aux = reduced->aux_stride > 0 ? call->aux : NULL;
    used.sums = reduced->sums_of != YK_SUMS_OF_NONE ? call->sums : NULL;
    return used;
}

bool yk_cublas_run(struct yk_cublas *products, const struct yk_matmul_shape *shape,
                   const struct yk_cublas_call *call, yk_cublas_chooser *chooser, void *user,
                   enum yk_matmul_variant *out)
{
    (void)pthread_mutex_lock(&products->lock);
    struct known *known = know(products, shape, chooser, user);
    bool done = false;
    if (known) {
        struct yk_matmul_shape reduced = *shape;
        *out = (enum yk_matmul_variant)known->choice.variant;
        yk_matmul_shape_reduce(&reduced, *out);
        const struct yk_cublas_call used = yk_cublas_call_reduce(call, &reduced);
        done =
            yk_matmul_algorithm_set_pointers(&known->plan, &used) == CUBLAS_STATUS_SUCCESS &&
            ((known->choice.exists &&
              yk_matmul_algorithm_enqueue(&products->means, &known->plan, &known->choice.algorithm,
                                          &used) == CUBLAS_STATUS_SUCCESS) ||
             run_proposed(products, known, &used));
    }
    (void)pthread_mutex_unlock(&products->lock);
    return done;
}
