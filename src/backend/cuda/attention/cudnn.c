#include "backend/cuda/attention/cudnn.h"

#include "backend/cuda/kernels.h"

#ifdef YK_NO_CUDNN

bool yk_cuda_attention_cudnn(struct yk_backend_lane *lane, const struct yk_attention_op *op)
{
    (void)lane;
    (void)op;
    return false;
}

bool yk_cuda_attention_cudnn_backward(struct yk_backend_lane *lane,
                                      const struct yk_attention_backward_op *op, bool repeatable)
{
    (void)lane;
    (void)op;
    (void)repeatable;
    return false;
}

void yk_cudnn_cache_destroy(struct yk_cudnn_cache *attention)
{
    (void)attention;
}

const char *yk_cudnn_cache_reason(void)
{
    return "built without cuDNN";
}

#else

#include "backend/cuda/attention/cudnn_cache.h"
#include "backend/cuda/attention/cudnn_graph.h"

#include <math.h>

enum {
    MAX_HEAD_SIZE = 128,
    HEAD_SIZE_STEP = 8, /* numbers in 16 bytes; strides are multiples of it, too */
    MIN_CAPABILITY = 80,
    VERSION_OF_ANY_LENGTH = 91600,
    LENGTH_STEP = 64,
    PART = 256, /* bytes that parts of the scratch memory are rounded up to */
    TILE = 128, /* rows and columns that the workspace for dS is rounded up to */
};

/* What a part of the batch may use; a larger batch goes backward in several. */
static const int64_t workspace_wanted = 512LL << 20;

static int64_t round_up(int64_t number, int64_t step)
{
    return (number + step - 1) / step * step;
}

/* ---- what can be served ---- */

static bool is_aligned(const void *pointer, int64_t stride)
{
    return (uintptr_t)pointer % YK_CUDNN_ALIGNMENT == 0 && stride % HEAD_SIZE_STEP == 0;
}

/* Before 9.16, graphs for lengths that are not round are others. */
static bool is_long_known(const struct yk_attention_op *op)
{
    return cudnnGetVersion() >= VERSION_OF_ANY_LENGTH ||
           (op->queries % LENGTH_STEP == 0 && op->keys % LENGTH_STEP == 0);
}

static bool is_served(const struct yk_attention_op *op)
{
    return is_long_known(op) && (op->type == YK_PRECISION_FP16 || op->type == YK_PRECISION_BF16) &&
           op->dropout.rate == 0 && op->batch > 0 && op->queries > 0 && op->keys > 0 &&
           op->kv_heads > 0 && op->heads > 0 && op->heads % op->kv_heads == 0 &&
           op->head_size > 0 && op->head_size <= MAX_HEAD_SIZE &&
           op->head_size % HEAD_SIZE_STEP == 0 && (!op->causal || op->queries == op->keys) &&
           op->queries + op->keys > 2 && is_aligned(op->q, op->q_stride) &&
           is_aligned(op->k, op->k_stride) && is_aligned(op->v, op->v_stride) &&
           is_aligned(op->out, op->out_stride);
}

static bool is_backward_served(const struct yk_attention_backward_op *op)
{
    return is_served(&op->forward) && op->forward.sums &&
           is_aligned(op->d_out, op->forward.out_stride) && is_aligned(op->dq, op->dq_stride) &&
           is_aligned(op->dk, op->dk_stride) && is_aligned(op->dv, op->dv_stride);
}

static struct yk_cudnn_shape shape_of(const struct yk_attention_op *op)
{
    return (struct yk_cudnn_shape){
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
        .type = (int32_t)op->type,
        .causal = op->causal,
        .lengths = op->lengths != NULL,
        .sums = op->sums != NULL,
        .repeatable = 1,
    };
}

/* Gradients that are the same bits every time need 2 · B · heads · T · S bytes, written and read
 * once, in place of 4 · B · heads · T · D. */
static struct yk_cudnn_shape backward_shape_of(const struct yk_attention_backward_op *op,
                                               bool repeatable)
{
    struct yk_cudnn_shape shape = shape_of(&op->forward);
    shape.backward = 1;
    shape.repeatable = repeatable;
    shape.dq_stride = op->dq_stride;
    shape.dk_stride = op->dk_stride;
    shape.dv_stride = op->dv_stride;
    return shape;
}

/* ---- scratch memory of the backward pass: delta, sums of dq, and what the plan asks for ---- */

static int64_t delta_bytes(const struct yk_attention_op *op, int64_t batch)
{
    return round_up(batch * op->heads * op->queries * 4, PART);
}

static int64_t dq_sums_bytes(const struct yk_attention_op *op, int64_t batch, bool repeatable)
{
    return repeatable ? 0 : round_up(batch * op->heads * op->queries * op->head_size * 4, PART);
}

/* Of a plan: dS, and dk and dv of every head of queries where they are summed afterwards. */
static int64_t plan_bytes(const struct yk_attention_op *op, int64_t batch, bool repeatable)
{
    int64_t bytes = 0;
    if (repeatable) {
        bytes += batch * op->heads * round_up(op->queries, TILE) * round_up(op->keys, TILE) * 2;
    }
    if (op->heads != op->kv_heads) {
        bytes += 2 * round_up(batch * op->heads * op->keys * op->head_size * 2, PART);
    }
    return bytes;
}

/* How many samples go backward at once: all, or the largest part of them that leaves no rest and
 * keeps within the workspace; one at least. */
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

/* The memory of sample `first` of rows that are stride numbers of 2 bytes apart. */
static void *sample(const void *rows, int64_t first, int64_t count, int64_t stride)
{
    return rows ? (char *)unconst(rows) + first * count * stride * 2 : NULL;
}

/* What both passes read; `scale` must live until the plan is put on the lane. */
static void point_at(const struct yk_attention_op *op, int64_t first, const float *scale,
                     void *pointers[YK_CUDNN_SLOTS])
{
    static const float one = 1;
    static const float beyond = -INFINITY;
    for (int i = 0; i < YK_CUDNN_SLOTS; i++) {
        pointers[i] = NULL;
    }
    pointers[YK_CUDNN_Q] = sample(op->q, first, op->queries, op->q_stride);
    pointers[YK_CUDNN_K] = sample(op->k, first, op->keys, op->k_stride);
    pointers[YK_CUDNN_V] = sample(op->v, first, op->keys, op->v_stride);
    pointers[YK_CUDNN_OUT] = sample(op->out, first, op->queries, op->out_stride);
    pointers[YK_CUDNN_SUMS] = op->sums ? op->sums + first * op->heads * op->queries : NULL;
    pointers[YK_CUDNN_KEY_COUNTS] = op->lengths ? unconst(op->lengths + first) : NULL;
    pointers[YK_CUDNN_SCALE] = unconst(scale);
    pointers[YK_CUDNN_ONE] = unconst(&one);
    pointers[YK_CUDNN_MASK_LENGTHS] = unconst(&beyond);
    pointers[YK_CUDNN_MASK_CAUSAL] = unconst(&beyond);
}

bool yk_cuda_attention_cudnn(struct yk_backend_lane *lane, const struct yk_attention_op *op)
{
    if (!is_served(op) || yk_cuda_lane_properties(lane)->capability < MIN_CAPABILITY) {
        return false;
    }
    const struct yk_cudnn_shape shape = shape_of(op);
    struct yk_cudnn_cache *attention = yk_cudnn_cache_lock(lane);
    struct yk_cudnn_cached_plan *plan =
        yk_cudnn_cache_find(attention, &shape, op->batch * op->queries);
    bool done = false;
    if (plan) {
        const int64_t bytes = yk_cudnn_cache_workspace(plan);
        void *workspace = bytes > 0 ? yk_cuda_lane_scratch(lane, (size_t)bytes) : NULL;
        void *pointers[YK_CUDNN_SLOTS];
        point_at(op, 0, &op->scale, pointers);
        done =
            (workspace || bytes == 0) && yk_cudnn_cache_run(attention, plan, pointers, workspace);
    }
    yk_cudnn_cache_unlock(attention);
    return done;
}

/* Keys beyond the lengths have gradients of 0, which the plan need not write. */
static bool clear_rows(struct yk_backend_lane *lane, const struct yk_attention_op *op, void *rows,
                       int64_t stride)
{
    const cudaError_t error =
        cudaMemset2DAsync(rows, (size_t)stride * 2, 0, (size_t)(op->kv_heads * op->head_size) * 2,
                          (size_t)(op->batch * op->keys), yk_cuda_lane_stream(lane));
    return yk_cuda_lane_check(lane, error, "attention_backward");
}

/* The samples from `first` on, as many as the plan is for. */
static bool run_backward(struct yk_cudnn_cache *attention, struct yk_cudnn_cached_plan *plan,
                         const struct yk_attention_backward_op *op,
                         const struct yk_cudnn_shape *shape, int64_t first, char *scratch)
{
    const int64_t samples = shape->batch;
    const struct yk_attention_op *forward = &op->forward;
    char *dq_sums = scratch + delta_bytes(forward, samples);
    char *workspace = dq_sums + dq_sums_bytes(forward, samples, shape->repeatable);
    void *pointers[YK_CUDNN_SLOTS];
    point_at(forward, first, &forward->scale, pointers);
    pointers[YK_CUDNN_D_OUT] = sample(op->d_out, first, forward->queries, forward->out_stride);
    pointers[YK_CUDNN_DQ] = sample(op->dq, first, forward->queries, op->dq_stride);
    pointers[YK_CUDNN_DK] = sample(op->dk, first, forward->keys, op->dk_stride);
    pointers[YK_CUDNN_DV] = sample(op->dv, first, forward->keys, op->dv_stride);
    pointers[YK_CUDNN_DELTA] = scratch;
    pointers[YK_CUDNN_DQ_SUMS] = dq_sums;
    return yk_cudnn_cache_run(attention, plan, pointers, workspace);
}

bool yk_cuda_attention_cudnn_backward(struct yk_backend_lane *lane,
                                      const struct yk_attention_backward_op *op, bool repeatable)
{
    const struct yk_attention_op *forward = &op->forward;
    if (!is_backward_served(op) || yk_cuda_lane_properties(lane)->capability < MIN_CAPABILITY) {
        return false;
    }
    struct yk_cudnn_shape shape = backward_shape_of(op, repeatable);
    shape.batch = samples_at_once(forward, repeatable);
    struct yk_cudnn_cache *attention = yk_cudnn_cache_lock(lane);
    struct yk_cudnn_cached_plan *plan =
        yk_cudnn_cache_find(attention, &shape, forward->batch * forward->queries);
    bool done = plan != NULL;
    if (done) {
        const int64_t bytes = delta_bytes(forward, shape.batch) +
                              dq_sums_bytes(forward, shape.batch, repeatable) +
                              yk_cudnn_cache_workspace(plan);
        char *scratch = yk_cuda_lane_scratch(lane, (size_t)bytes);
        done = scratch != NULL;
        if (done && forward->lengths) {
            done = clear_rows(lane, forward, op->dk, op->dk_stride) &&
                   clear_rows(lane, forward, op->dv, op->dv_stride);
        }
        for (int64_t i = 0; done && i < forward->batch; i += shape.batch) {
            done = run_backward(attention, plan, op, &shape, i, scratch);
        }
    }
    yk_cudnn_cache_unlock(attention);
    return done;
}

#endif
