#ifndef YK_NO_CUDNN
#include "backend/cuda/attention/cudnn_cache.h"

#include "backend/cuda/device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHAPES = 256,            /* that are remembered */
    VERSION_LEAST = 91000,   /* of cuDNN: from which on graphs were tried */
    ENOUGH_TOKENS = 8192,    /* a shape of so many gets its plan at once, */
    ENOUGH_TIMES = 3,        /* others when asked for so often, */
    PLANS_AT_ONCE = 16,      /* until there are so many plans; */
    ENOUGH_TIMES_LATE = 1000 /* then a shape must come this often */
};

/* More than any part of a batch should need; a single sample may. */
static const int64_t workspace_most = 4LL << 30;

struct yk_cudnn_cached_plan {
    struct yk_cudnn_builder builder;
    struct yk_cudnn_slots slots;
    int32_t *query_counts; /* (B) on the device, T each; NULL without lengths */
};

struct known {
    struct yk_cudnn_shape shape;
    int64_t asked; /* how often; 0: a free place */
    bool refused;
    struct yk_cudnn_cached_plan *plan;
};

struct yk_cudnn_cache {
    pthread_mutex_t lock;
    cudnnHandle_t handle; /* NULL: cuDNN does not start */
    bool at_once;         /* every shape gets a plan */
    int plan_count;
    int oldest; /* of known, where the search for a place to use again begins */
    struct known known[SHAPES];
};

static pthread_mutex_t reason_lock = PTHREAD_MUTEX_INITIALIZER;
static char reason[512];

static void give_reason(const char *text)
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
    struct yk_cudnn_cache *attention = calloc(1, sizeof *attention);
    if (!attention) {
        return NULL;
    }
    if (pthread_mutex_init(&attention->lock, NULL) != 0) {
        free(attention);
        return NULL;
    }
    attention->at_once = device->attention_choice == YK_CUDA_ATTENTION_CUDNN;
    if (cudnnGetVersion() < VERSION_LEAST) {
        give_reason("cuDNN is older than 9.10");
        return attention;
    }
    const cudnnStatus_t status = cudnnCreate(&attention->handle);
    if (status != CUDNN_STATUS_SUCCESS) {
        give_reason(cudnnGetErrorString(status));
        attention->handle = NULL;
        (void)cudaGetLastError();
    }
    return attention;
}

struct yk_cudnn_cache *yk_cudnn_cache_lock(struct yk_backend_lane *lane)
{
    static pthread_mutex_t creation = PTHREAD_MUTEX_INITIALIZER;
    struct yk_backend_device *device = yk_cuda_lane_device(lane);
    yk_cuda_device_set(device);
    pthread_mutex_lock(&creation);
    if (!device->attention) {
        device->attention = create(device);
    }
    struct yk_cudnn_cache *attention = device->attention;
    pthread_mutex_unlock(&creation);
    if (!attention || !attention->handle) {
        return NULL;
    }
    pthread_mutex_lock(&attention->lock);
    const cudnnStatus_t status = cudnnSetStream(attention->handle, yk_cuda_lane_stream(lane));
    if (status != CUDNN_STATUS_SUCCESS) {
        give_reason(cudnnGetErrorString(status));
        pthread_mutex_unlock(&attention->lock);
        return NULL;
    }
    return attention;
}

void yk_cudnn_cache_unlock(struct yk_cudnn_cache *attention)
{
    if (attention) {
        pthread_mutex_unlock(&attention->lock);
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

void yk_cudnn_cache_destroy(struct yk_cudnn_cache *attention)
{
    if (!attention) {
        return;
    }
    for (int i = 0; i < SHAPES; i++) {
        destroy_plan(attention->known[i].plan);
    }
    if (attention->handle) {
        (void)cudnnDestroy(attention->handle);
    }
    pthread_mutex_destroy(&attention->lock);
    free(attention);
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
        give_reason(cudaGetErrorString(error));
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
    if (shape->back) {
        yk_cudnn_graph_backward(&plan->builder, shape, &plan->slots);
    } else {
        yk_cudnn_graph_forward(&plan->builder, shape, &plan->slots);
    }
    const struct yk_cudnn_plan_options wish = {workspace_most, shape->repeatable != 0};
    bool made = yk_cudnn_plan_make(&plan->builder, handle, NULL, wish);
    if (!made) {
        give_reason(plan->builder.reason);
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
static struct known *place_of(struct yk_cudnn_cache *attention, const struct yk_cudnn_shape *shape)
{
    struct known *unused = NULL;
    for (int i = 0; i < SHAPES; i++) {
        struct known *known = &attention->known[i];
        if (known->asked == 0) {
            unused = unused ? unused : known;
        } else if (memcmp(&known->shape, shape, sizeof *shape) == 0) {
            return known;
        }
    }
    for (int i = 0; i < SHAPES && !unused; i++) {
        struct known *known = &attention->known[attention->oldest];
        attention->oldest = (attention->oldest + 1) % SHAPES;
        unused = known->plan ? NULL : known;
    }
    if (unused) {
        *unused = (struct known){.shape = *shape};
    }
    return unused;
}

static bool is_worth_a_plan(const struct yk_cudnn_cache *attention, int64_t asked, int64_t tokens)
{
    if (attention->at_once) {
        return true;
    }
    if (attention->plan_count < PLANS_AT_ONCE) {
        return asked >= ENOUGH_TIMES || tokens >= ENOUGH_TOKENS;
    }
    return asked >= ENOUGH_TIMES_LATE;
}

struct yk_cudnn_cached_plan *yk_cudnn_cache_find(struct yk_cudnn_cache *attention,
                                                 const struct yk_cudnn_shape *shape, int64_t tokens)
{
    struct known *known = attention ? place_of(attention, shape) : NULL;
    if (!known || known->refused) {
        return NULL;
    }
    known->asked++;
    if (!known->plan && is_worth_a_plan(attention, known->asked, tokens)) {
        known->plan = make_plan(attention->handle, shape);
        known->refused = !known->plan;
        attention->plan_count += known->plan ? 1 : 0;
    }
    return known->plan && !known->plan->builder.failed ? known->plan : NULL;
}

int64_t yk_cudnn_cache_workspace(const struct yk_cudnn_cached_plan *plan)
{
    return plan->builder.workspace_bytes;
}

bool yk_cudnn_cache_run(struct yk_cudnn_cache *attention, struct yk_cudnn_cached_plan *plan,
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
    if (!yk_cudnn_plan_run(&plan->builder, attention->handle, count, ids, used, workspace)) {
        give_reason(plan->builder.reason);
        return false;
    }
    return true;
}

#endif
