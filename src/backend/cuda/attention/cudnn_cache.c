#ifndef YK_NO_CUDNN
#include "backend/cuda/attention/cudnn_cache.h"

#include "backend/cuda/device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHAPES = 256,            /* that are remembered */
    MIN_VERSION = 91000,     /* of cuDNN: from which on graphs were tried */
    ENOUGH_TOKENS = 8192,    /* a shape of so many gets its plan at once, */
    ENOUGH_TIMES = 3,        /* others when asked for so often, */
    PLANS_AT_ONCE = 16,      /* until there are so many plans; */
    ENOUGH_TIMES_LATE = 1000 /* then a shape must come this often */
};

/* More than any part of a batch should need; a single sample may. */
static const int64_t max_workspace = 4LL << 30;

struct yk_cudnn_cached_plan {
    struct yk_cudnn_builder builder;
    struct yk_cudnn_slots slots;
    int32_t *query_counts; /* (B) on the device, T each; NULL without lengths */
};

struct entries {
    struct yk_cudnn_shape shape;
    int64_t asked; /* how often; 0: a free place */
    bool refused;
    struct yk_cudnn_cached_plan *plan;
};

struct yk_cudnn_cache {
    pthread_mutex_t lock;
    cudnnHandle_t handle; /* NULL: cuDNN does not start */
    bool immediately;     /* every shape gets a plan */
    int plan_count;
    int oldest; /* of known, where the search for a place to use again begins */
    struct entries entries[SHAPES];
};

static pthread_mutex_t reason_lock = PTHREAD_MUTEX_INITIALIZER;
static char reason[512];

static void set_reason(const char *text)
{
    pthread_mutex_lock(&reason_lock);
    (void)snprintf(reason, sizeof reason, "%s", text);
    pthread_mutex_unlock(&reason_lock);
}

const char *yk_cudnn_cache_reason(void)
{
    return reason;
}

/* ---- from the first use to the end ---- */

static struct yk_cudnn_cache *create(const struct yk_backend_device *device)
{
    struct yk_cudnn_cache *cache = calloc(1, sizeof *cache);
    if (!cache) {
        return NULL;
    }
    if (pthread_mutex_init(&cache->lock, NULL) != 0) {
        free(cache);
        return NULL;
    }
    cache->immediately = device->attention_choice == YK_CUDA_ATTENTION_CUDNN;
    if (cudnnGetVersion() < MIN_VERSION) {
        set_reason("cuDNN is older than 9.10");
        return cache;
    }
    const cudnnStatus_t status = cudnnCreate(&cache->handle);
    if (status != CUDNN_STATUS_SUCCESS) {
        set_reason(cudnnGetErrorString(status));
        cache->handle = NULL;
        (void)cudaGetLastError();
    }
    return cache;
}

struct yk_cudnn_cache *yk_cudnn_cache_lock(struct yk_backend_lane *lane)
{
    static pthread_mutex_t creation = PTHREAD_MUTEX_INITIALIZER;
    struct yk_backend_device *device = yk_cuda_lane_device(lane);
    yk_cuda_device_set(device);
    pthread_mutex_lock(&creation);
    if (!device->cudnn_cache) {
        device->cudnn_cache = create(device);
    }
    struct yk_cudnn_cache *cache = device->cudnn_cache;
    pthread_mutex_unlock(&creation);
    if (!cache || !cache->handle) {
        return NULL;
    }
    pthread_mutex_lock(&cache->lock);
    const cudnnStatus_t status = cudnnSetStream(cache->handle, yk_cuda_lane_stream(lane));
    if (status != CUDNN_STATUS_SUCCESS) {
        set_reason(cudnnGetErrorString(status));
        pthread_mutex_unlock(&cache->lock);
        return NULL;
    }
    return cache;
}

void yk_cudnn_cache_unlock(struct yk_cudnn_cache *cache)
{
    if (cache) {
        pthread_mutex_unlock(&cache->lock);
    }
}

static void destroy_plan(struct yk_cudnn_cached_plan *plan)
{
    if (plan) {
        yk_cudnn_builder_clear(&plan->builder);
        (void)cudaFree(plan->query_counts);
        free(plan);
    }
}

void yk_cudnn_cache_destroy(struct yk_cudnn_cache *cache)
{
    if (!cache) {
        return;
    }
    for (int i = 0; i < SHAPES; i++) {
        destroy_plan(cache->entries[i].plan);
    }
    if (cache->handle) {
        (void)cudnnDestroy(cache->handle);
    }
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

/* ---- plans ---- */

/* Waits for the copy, so that every lane may read it. */
static bool count_queries(struct yk_cudnn_cached_plan *plan, const struct yk_cudnn_shape *shape)
{
    const size_t bytes = (size_t)shape->batch * sizeof(int32_t);
    int32_t *counts = malloc(bytes);
    if (!counts) {
        return false;
    }
    for (int64_t i = 0; i < shape->batch; i++) {
        counts[i] = (int32_t)shape->queries;
    }
    cudaError_t error = cudaMalloc((void **)&plan->query_counts, bytes);
    if (error == cudaSuccess) {
        error = cudaMemcpy(plan->query_counts, counts, bytes, cudaMemcpyHostToDevice);
    }
    if (error == cudaSuccess) {
        error = cudaStreamSynchronize(NULL);
    }
    free(counts);
    if (error != cudaSuccess) {
        set_reason(cudaGetErrorString(error));
    }
    return error == cudaSuccess;
}

static struct yk_cudnn_cached_plan *make_plan(cudnnHandle_t handle,
                                              const struct yk_cudnn_shape *shape)
{
    struct yk_cudnn_cached_plan *plan = calloc(1, sizeof *plan);
    if (!plan) {
        return NULL;
    }
    if (shape->backward) {
        yk_cudnn_graph_backward(&plan->builder, shape, &plan->slots);
    } else {
        yk_cudnn_graph_forward(&plan->builder, shape, &plan->slots);
    }
    const struct yk_cudnn_plan_options options = {max_workspace, shape->repeatable != 0};
    bool made = yk_cudnn_plan_make(&plan->builder, handle, NULL, options);
    if (!made) {
        set_reason(plan->builder.reason);
    }
    made = made && (!shape->lengths || count_queries(plan, shape));
    if (!made) {
        destroy_plan(plan);
        /* What the library tried and could not do is no trouble of the ops that follow. */
        (void)cudaGetLastError();
        return NULL;
    }
    return plan;
}

/* The shape's place; a new one where it was not known. NULL where all are taken by plans, which
 * stay: their kernels may be on a lane. */
static struct entries *place_of(struct yk_cudnn_cache *cache, const struct yk_cudnn_shape *shape)
{
    struct entries *unused = NULL;
    for (int i = 0; i < SHAPES; i++) {
        struct entries *entries = &cache->entries[i];
        if (entries->asked == 0) {
            unused = unused ? unused : entries;
        } else if (memcmp(&entries->shape, shape, sizeof *shape) == 0) {
            return entries;
        }
    }
    for (int i = 0; i < SHAPES && !unused; i++) {
        struct entries *entries = &cache->entries[cache->oldest];
        cache->oldest = (cache->oldest + 1) % SHAPES;
        unused = entries->plan ? NULL : entries;
    }
    if (unused) {
        *unused = (struct entries){.shape = *shape};
    }
    return unused;
}

static bool is_worth_a_plan(const struct yk_cudnn_cache *cache, int64_t asked, int64_t tokens)
{
    if (cache->immediately) {
        return true;
    }
    if (cache->plan_count < PLANS_AT_ONCE) {
        return asked >= ENOUGH_TIMES || tokens >= ENOUGH_TOKENS;
    }
    return asked >= ENOUGH_TIMES_LATE;
}

struct yk_cudnn_cached_plan *yk_cudnn_cache_find(struct yk_cudnn_cache *cache,
                                                 const struct yk_cudnn_shape *shape, int64_t tokens)
{
    struct entries *entries = cache ? place_of(cache, shape) : NULL;
    if (!entries || entries->refused) {
        return NULL;
    }
    entries->asked++;
    if (!entries->plan && is_worth_a_plan(cache, entries->asked, tokens)) {
        entries->plan = make_plan(cache->handle, shape);
        entries->refused = !entries->plan;
        cache->plan_count += entries->plan ? 1 : 0;
    }
    return entries->plan && !entries->plan->builder.failed ? entries->plan : NULL;
}

int64_t yk_cudnn_cache_workspace(const struct yk_cudnn_cached_plan *plan)
{
    return plan->builder.workspace_bytes;
}

bool yk_cudnn_cache_run(struct yk_cudnn_cache *cache, struct yk_cudnn_cached_plan *plan,
                        void *const pointers[YK_CUDNN_SLOTS], void *workspace)
{
    int64_t ids[YK_CUDNN_SLOTS];
    void *used[YK_CUDNN_SLOTS];
    int64_t count = 0;
    for (int i = 0; i < YK_CUDNN_SLOTS; i++) {
        const int id = plan->slots.ids[i];
        if (id != YK_CUDNN_NONE && plan->builder.tensors[id].place != YK_CUDNN_VIRTUAL) {
            ids[count] = id;
            used[count] = i == YK_CUDNN_QUERY_COUNTS ? plan->query_counts : pointers[i];
            count++;
        }
    }
    if (!yk_cudnn_plan_run(&plan->builder, cache->handle, count, ids, used, workspace)) {
        set_reason(plan->builder.reason);
        return false;
    }
    return true;
}

#endif
