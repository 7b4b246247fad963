#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"

#ifdef YK_NO_CUDNN

bool yk_cuda_attention_cudnn_try_forward(struct yk_backend_lane *lane,
                                         const struct yk_attention_op *op)
{
    (void)lane;
    (void)op;
    return false;
}

bool yk_cuda_attention_cudnn_try_backward(struct yk_backend_lane *lane,
                                          const struct yk_attention_backward_op *op,
                                          bool repeatable)
{
    (void)lane;
    (void)op;
    (void)repeatable;
    return false;
}

void yk_cudnn_plan_cache_destroy(struct yk_cudnn_plan_cache *cache)
{
    (void)cache;
}

#else

#include "backend/cuda/attention/cudnn_attention_graph.h"
#include "base/number.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * Plans by shape, owned by the device. lock_cache() locks the cache and sets the stream of its
 * handle to that of the lane. All other functions are called before unlock_cache() and accept NULL.
 */

enum {
    SHAPES = 256,            /* entries of the cache */
    MIN_VERSION = 91000,     /* of cuDNN; the oldest tested version */
    ENOUGH_TOKENS = 8192,    /* a shape with this many tokens gets a plan at once */
    ENOUGH_TIMES = 3,        /* other shapes get a plan at this request */
    PLANS_AT_ONCE = 16,      /* with this many plans, only frequent shapes get one */
    ENOUGH_TIMES_LATE = 1000 /* requests of such a frequent shape */
};

struct plan {
    struct yk_cudnn_builder builder;
    int ids[YK_CUDNN_ATTENTION_TENSOR_COUNT]; /* by enum yk_cudnn_attention_tensor */
    int32_t *query_counts; /* (B) in device memory, T each; NULL without lengths */
};

struct entry {
    struct yk_cudnn_attention_shape shape;
    int64_t asked; /* number of requests; 0 means: unused */
    bool refused;
    struct plan *plan;
};

struct yk_cudnn_plan_cache {
    pthread_mutex_t lock;
    cudnnHandle_t handle; /* NULL means: cuDNN is not available */
    bool immediately;     /* every shape gets a plan at the first request */
    int plan_count;
    int oldest; /* index where the search for an entry to replace starts */
    struct entry entries[SHAPES];
};

/* ---- create and destroy ---- */

static struct yk_cudnn_plan_cache *create(const struct yk_backend_device *device)
{
    struct yk_cudnn_plan_cache *cache = calloc(1, sizeof *cache);
    if (!cache) {
        return NULL;
    }
    if (pthread_mutex_init(&cache->lock, NULL) != 0) {
        free(cache);
        return NULL;
    }
    cache->immediately = device->attention_choice == YK_CUDA_ATTENTION_CUDNN;
    if (cudnnGetVersion() >= MIN_VERSION && cudnnCreate(&cache->handle) != CUDNN_STATUS_SUCCESS) {
        cache->handle = NULL;
        (void)cudaGetLastError();
    }
    return cache;
}

static struct yk_cudnn_plan_cache *lock_cache(struct yk_backend_lane *lane)
{
    static pthread_mutex_t creation = PTHREAD_MUTEX_INITIALIZER;
    struct yk_backend_device *device = lane->device;
    yk_cuda_device_make_current(device);
    pthread_mutex_lock(&creation);
    if (!device->cudnn_cache) {
        device->cudnn_cache = create(device);
    }
    struct yk_cudnn_plan_cache *cache = device->cudnn_cache;
    pthread_mutex_unlock(&creation);
    if (!cache || !cache->handle) {
        return NULL;
    }
    pthread_mutex_lock(&cache->lock);
    if (cudnnSetStream(cache->handle, yk_cuda_lane_stream(lane)) != CUDNN_STATUS_SUCCESS) {
        pthread_mutex_unlock(&cache->lock);
        return NULL;
    }
    return cache;
}

static void unlock_cache(struct yk_cudnn_plan_cache *cache)
{
    if (cache) {
        pthread_mutex_unlock(&cache->lock);
    }
}

static void destroy_plan(struct plan *plan)
{
    if (plan) {
        yk_cudnn_builder_clear(&plan->builder);
        (void)cudaFree(plan->query_counts);
        free(plan);
    }
}

void yk_cudnn_plan_cache_destroy(struct yk_cudnn_plan_cache *cache)
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

/* Copies T for every sample to device memory and waits, so that every lane may read it. */
static bool count_queries(struct plan *plan, const struct yk_cudnn_attention_shape *shape)
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
    YK_CUDA_CALL_UNLESS_FAILED(
        error, cudaMemcpy(plan->query_counts, counts, bytes, cudaMemcpyHostToDevice));
    YK_CUDA_CALL_UNLESS_FAILED(error, cudaStreamSynchronize(NULL));
    free(counts);
    return error == cudaSuccess;
}

static struct plan *make_plan(cudnnHandle_t handle, const struct yk_cudnn_attention_shape *shape)
{
    struct plan *plan = calloc(1, sizeof *plan);
    if (!plan) {
        return NULL;
    }
    yk_cudnn_attention_graph_build(&plan->builder, shape, plan->ids);
    if (!yk_cudnn_builder_make_plan(&plan->builder, handle, shape->repeatable != 0) ||
        (shape->lengths && !count_queries(plan, shape))) {
        destroy_plan(plan);
        /* Clears CUDA errors of failed attempts, which later ops would report. */
        (void)cudaGetLastError();
        return NULL;
    }
    return plan;
}

/* Finds or adds the entry of a shape. Returns NULL if every entry has a plan. Plans are never
 * replaced, because their kernels may be on a lane. */
static struct entry *place_of(struct yk_cudnn_plan_cache *cache,
                              const struct yk_cudnn_attention_shape *shape)
{
    struct entry *unused = NULL;
    for (int i = 0; i < SHAPES; i++) {
        struct entry *entry = &cache->entries[i];
        if (entry->asked == 0) {
            unused = unused ? unused : entry;
        } else if (memcmp(&entry->shape, shape, sizeof *shape) == 0) {
            return entry;
        }
    }
    for (int i = 0; i < SHAPES && !unused; i++) {
        struct entry *entry = &cache->entries[cache->oldest];
        cache->oldest = (cache->oldest + 1) % SHAPES;
        unused = entry->plan ? NULL : entry;
    }
    if (unused) {
        *unused = (struct entry){.shape = *shape};
    }
    return unused;
}

static bool is_worth_a_plan(const struct yk_cudnn_plan_cache *cache, int64_t asked, int64_t tokens)
{
    if (cache->immediately) {
        return true;
    }
    if (cache->plan_count < PLANS_AT_ONCE) {
        return asked >= ENOUGH_TIMES || tokens >= ENOUGH_TOKENS;
    }
    return asked >= ENOUGH_TIMES_LATE;
}

static struct plan *find_plan(struct yk_cudnn_plan_cache *cache,
                              const struct yk_cudnn_attention_shape *shape, int64_t tokens)
{
    struct entry *entry = cache ? place_of(cache, shape) : NULL;
    if (!entry || entry->refused) {
        return NULL;
    }
    entry->asked++;
    if (!entry->plan && is_worth_a_plan(cache, entry->asked, tokens)) {
        entry->plan = make_plan(cache->handle, shape);
        entry->refused = !entry->plan;
        cache->plan_count += entry->plan ? 1 : 0;
    }
    return entry->plan && !entry->plan->builder.failed ? entry->plan : NULL;
}

static bool run_plan(struct yk_cudnn_plan_cache *cache, struct plan *plan,
                     void *const pointers[YK_CUDNN_ATTENTION_TENSOR_COUNT], void *workspace)
{
    int64_t ids[YK_CUDNN_ATTENTION_TENSOR_COUNT];
    void *used[YK_CUDNN_ATTENTION_TENSOR_COUNT];
    int64_t count = 0;
    for (int i = 0; i < YK_CUDNN_ATTENTION_TENSOR_COUNT; i++) {
        const int id = plan->ids[i];
        if (id != YK_CUDNN_NO_TENSOR && plan->builder.tensors[id].place != YK_CUDNN_VIRTUAL) {
            ids[count] = id;
            used[count] = i == YK_CUDNN_QUERY_COUNTS ? plan->query_counts : pointers[i];
            count++;
        }
    }
    return yk_cudnn_builder_run_plan(&plan->builder, cache->handle, count, ids, used, workspace);
}

enum {
    MAX_HEAD_SIZE = 128,
    MAX_HEAD_SIZE_HOPPER = 256,
    HEAD_SIZE_STEP = 8, /* elements in 16 bytes; strides must be multiples too */
    MIN_CAPABILITY = 80,
    HOPPER = 90,
    VERSION_OF_LARGE_HEADS = 91300, /* earlier backward passes of large heads have a bug */
    VERSION_OF_ANY_LENGTH = 91600,
    LENGTH_STEP = 64,
    PART = 256, /* bytes; alignment within scratch memory */
    TILE = 128, /* cuDNN rounds rows and columns of dS up to multiples of this */
};

/* A batch whose workspace would be larger, in bytes, goes backward in several parts. */
static const int64_t workspace_wanted = 512LL << 20;

/* ---- supported ops ---- */

static bool is_aligned(const void *pointer, int64_t stride)
{
    return (uintptr_t)pointer % YK_CUDNN_HALF_ALIGNMENT == 0 && stride % HEAD_SIZE_STEP == 0;
}

/* Before 9.16, cuDNN needs another graph for lengths that are not multiples of LENGTH_STEP. */
static bool is_long_known(const struct yk_attention_op *op)
{
    return cudnnGetVersion() >= VERSION_OF_ANY_LENGTH ||
           (op->queries % LENGTH_STEP == 0 && op->keys % LENGTH_STEP == 0);
}

/* The graphs have no mask for windows. A window that contains all keys needs none. */
static bool is_unmasked(const struct yk_attention_op *op)
{
    return op->window <= 0 || (op->window >= op->queries && op->window >= op->keys);
}

/* Of heads and scores. Large heads and softcaps have engines on Hopper only. */
static bool is_kind_served(const struct yk_backend_lane *lane, const struct yk_attention_op *op)
{
    const int32_t capability = yk_cuda_lane_device_properties(lane)->capability;
    const bool has_large_heads =
        capability == HOPPER && cudnnGetVersion() >= VERSION_OF_LARGE_HEADS;
    return op->head_size > 0 && op->head_size % HEAD_SIZE_STEP == 0 &&
           op->head_stride % HEAD_SIZE_STEP == 0 && capability >= MIN_CAPABILITY &&
           op->head_size <= (has_large_heads ? MAX_HEAD_SIZE_HOPPER : MAX_HEAD_SIZE) &&
           (op->softcap <= 0 || capability == HOPPER);
}

static bool is_served(const struct yk_backend_lane *lane, const struct yk_attention_op *op)
{
    return is_kind_served(lane, op) && is_unmasked(op) && is_long_known(op) &&
           (op->type == YK_PRECISION_FP16 || op->type == YK_PRECISION_BF16) &&
           op->dropout.rate == 0 && op->batch > 0 && op->queries > 0 && op->keys > 0 &&
           op->kv_heads > 0 && op->heads > 0 && op->heads % op->kv_heads == 0 &&
           (!op->causal || op->queries == op->keys) && op->queries + op->keys > 2 &&
           is_aligned(op->q, op->q_stride) && is_aligned(op->k, op->k_stride) &&
           is_aligned(op->v, op->v_stride) && is_aligned(op->out, op->out_stride);
}

static bool is_backward_served(const struct yk_backend_lane *lane,
                               const struct yk_attention_backward_op *op)
{
    return is_served(lane, &op->forward) && op->forward.log_sum_exp &&
           is_aligned(op->d_out, op->forward.out_stride) && is_aligned(op->dq, op->dq_stride) &&
           is_aligned(op->dk, op->dk_stride) && is_aligned(op->dv, op->dv_stride);
}

static struct yk_cudnn_attention_shape shape_of(const struct yk_attention_op *op)
{
    return (struct yk_cudnn_attention_shape){
        .batch = op->batch,
        .queries = op->queries,
        .keys = op->keys,
        .heads = op->heads,
        .kv_heads = op->kv_heads,
        .head_size = op->head_size,
        .q_stride = op->q_stride,
        .k_stride = op->k_stride,
        .v_stride = op->v_stride,
        .out_stride = op->out_stride,
        .head_stride = op->head_stride ? op->head_stride : op->head_size,
        .capped = op->softcap > 0,
        .type = (int32_t)op->type,
        .causal = op->causal,
        .lengths = op->lengths != NULL,
        .sums = op->log_sum_exp != NULL,
        .repeatable = 1,
    };
}

/* Repeatable gradients need 2 · B · heads · T · S bytes of workspace, written and read once. Others
 * need 4 · B · heads · T · D bytes. */
static struct yk_cudnn_attention_shape backward_shape_of(const struct yk_attention_backward_op *op,
                                                         bool repeatable)
{
    struct yk_cudnn_attention_shape shape = shape_of(&op->forward);
    shape.backward = 1;
    shape.repeatable = repeatable;
    shape.dq_stride = op->dq_stride;
    shape.dk_stride = op->dk_stride;
    shape.dv_stride = op->dv_stride;
    return shape;
}

/* ---- scratch memory of the backward pass: delta, sums of dq, and the workspace of the plan ----
 */

static int64_t delta_bytes(const struct yk_attention_op *op, int64_t batch)
{
    return yk_number_round_up(batch * op->heads * op->queries * 4, PART);
}

static int64_t dq_sums_bytes(const struct yk_attention_op *op, int64_t batch, bool repeatable)
{
    return repeatable
               ? 0
               : yk_number_round_up(batch * op->heads * op->queries * op->head_size * 4, PART);
}

/* Estimated workspace of a plan: dS, and dk and dv of every query head if they are summed later. */
static int64_t plan_bytes(const struct yk_attention_op *op, int64_t batch, bool repeatable)
{
    int64_t bytes = 0;
    if (repeatable) {
        bytes += batch * op->heads * yk_number_round_up(op->queries, TILE) *
                 yk_number_round_up(op->keys, TILE) * 2;
    }
    if (op->heads != op->kv_heads) {
        bytes += 2 * yk_number_round_up(batch * op->heads * op->keys * op->head_size * 2, PART);
    }
    return bytes;
}

/* Number of samples per part of the batch: the largest divisor of the batch whose workspace is
 * within the limit, at least 1. */
static int64_t samples_at_once(const struct yk_attention_op *op, bool repeatable)
{
    for (int64_t parts = 1; parts < op->batch; parts++) {
        if (op->batch % parts == 0 &&
            plan_bytes(op, op->batch / parts, repeatable) <= workspace_wanted) {
            return op->batch / parts;
        }
    }
    return 1;
}

/* ---- the ops ---- */

static void *unconst(const void *pointer)
{
    return (void *)(uintptr_t)pointer;
}

/* The address of sample `first` in a matrix of 16-bit elements with `count` rows per sample. */
static void *sample(const void *rows, int64_t first, int64_t count, int64_t stride)
{
    return rows ? (char *)unconst(rows) + first * count * stride * 2 : NULL;
}

/* Sets the pointers that both passes use. `scale` must stay valid until the plan is enqueued. */
static void point_at(const struct yk_attention_op *op, int64_t first, const float *scale,
                     void *pointers[YK_CUDNN_ATTENTION_TENSOR_COUNT])
{
    static const float one = 1;
    static const float beyond = -INFINITY;
    memset((void *)pointers, 0, YK_CUDNN_ATTENTION_TENSOR_COUNT * sizeof *pointers);
    pointers[YK_CUDNN_Q] = sample(op->q, first, op->queries, op->q_stride);
    pointers[YK_CUDNN_K] = sample(op->k, first, op->keys, op->k_stride);
    pointers[YK_CUDNN_V] = sample(op->v, first, op->keys, op->v_stride);
    pointers[YK_CUDNN_OUT] = sample(op->out, first, op->queries, op->out_stride);
    pointers[YK_CUDNN_LOG_SUM_EXP] =
        op->log_sum_exp ? op->log_sum_exp + first * op->heads * op->queries : NULL;
    pointers[YK_CUDNN_KEY_COUNTS] = op->lengths ? unconst(op->lengths + first) : NULL;
    pointers[YK_CUDNN_SCALE] = unconst(scale);
    pointers[YK_CUDNN_SOFTCAP] = unconst(&op->softcap);
    pointers[YK_CUDNN_ONE] = unconst(&one);
    pointers[YK_CUDNN_MASK_LENGTHS] = unconst(&beyond);
    pointers[YK_CUDNN_MASK_CAUSAL] = unconst(&beyond);
}

bool yk_cuda_attention_cudnn_try_forward(struct yk_backend_lane *lane,
                                         const struct yk_attention_op *op)
{
    if (!is_served(lane, op)) {
        return false;
    }
    const struct yk_cudnn_attention_shape shape = shape_of(op);
    struct yk_cudnn_plan_cache *cache = lock_cache(lane);
    struct plan *plan = find_plan(cache, &shape, op->batch * op->queries);
    bool done = false;
    if (plan) {
        const int64_t bytes = plan->builder.workspace_bytes;
        void *workspace = bytes > 0 ? yk_cuda_lane_get_scratch(lane, (size_t)bytes) : NULL;
        void *pointers[YK_CUDNN_ATTENTION_TENSOR_COUNT];
        point_at(op, 0, &op->scale, pointers);
        done = (workspace || bytes == 0) && run_plan(cache, plan, pointers, workspace);
    }
    unlock_cache(cache);
    return done;
}

/* Runs the plan for shape->batch samples, from sample `first` on. */
static bool run_backward(struct yk_cudnn_plan_cache *cache, struct plan *plan,
                         const struct yk_attention_backward_op *op,
                         const struct yk_cudnn_attention_shape *shape, int64_t first, char *scratch)
{
    const int64_t samples = shape->batch;
    const struct yk_attention_op *forward = &op->forward;
    char *dq_sums = scratch + delta_bytes(forward, samples);
    char *workspace = dq_sums + dq_sums_bytes(forward, samples, shape->repeatable);
    void *pointers[YK_CUDNN_ATTENTION_TENSOR_COUNT];
    point_at(forward, first, &forward->scale, pointers);
    pointers[YK_CUDNN_D_OUT] = sample(op->d_out, first, forward->queries, forward->out_stride);
    pointers[YK_CUDNN_DQ] = sample(op->dq, first, forward->queries, op->dq_stride);
    pointers[YK_CUDNN_DK] = sample(op->dk, first, forward->keys, op->dk_stride);
    pointers[YK_CUDNN_DV] = sample(op->dv, first, forward->keys, op->dv_stride);
    pointers[YK_CUDNN_DELTA] = scratch;
    pointers[YK_CUDNN_DQ_SUMS] = dq_sums;
    return run_plan(cache, plan, pointers, workspace);
}

bool yk_cuda_attention_cudnn_try_backward(struct yk_backend_lane *lane,
                                          const struct yk_attention_backward_op *op,
                                          bool repeatable)
{
    const struct yk_attention_op *forward = &op->forward;
    if (!is_backward_served(lane, op)) {
        return false;
    }
    struct yk_cudnn_attention_shape shape = backward_shape_of(op, repeatable);
    shape.batch = samples_at_once(forward, repeatable);
    struct yk_cudnn_plan_cache *cache = lock_cache(lane);
    struct plan *plan = find_plan(cache, &shape, forward->batch * forward->queries);
    bool done = plan != NULL;
    if (done) {
        const int64_t bytes = delta_bytes(forward, shape.batch) +
                              dq_sums_bytes(forward, shape.batch, repeatable) +
                              plan->builder.workspace_bytes;
        char *scratch = yk_cuda_lane_get_scratch(lane, (size_t)bytes);
        /* The plan does not write the gradients of keys beyond the lengths. */
        done = scratch &&
               (!forward->lengths || yk_cuda_attention_builtin_clear_key_gradients(lane, op));
        for (int64_t i = 0; done && i < forward->batch; i += shape.batch) {
            done = run_backward(cache, plan, op, &shape, i, scratch);
        }
    }
    unlock_cache(cache);
    return done;
}

#endif
