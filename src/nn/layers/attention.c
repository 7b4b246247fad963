#include "nn/layers/attention.h"

#include <assert.h>
#include <math.h>

static int64_t query_width(const struct yk_attention_config *shape)
{
    return shape->heads * shape->head_size;
}

static int64_t key_width(const struct yk_attention_config *shape)
{
    return shape->kv_heads * shape->head_size;
}

static bool is_cross(const struct yk_attention_config *shape)
{
    return shape->memory >= 0;
}

/* The width of a row of `q`. */
static int64_t query_row_width(const struct yk_attention_config *shape)
{
    return query_width(shape) + (is_cross(shape) ? 0 : 2 * key_width(shape));
}

static bool has_norms(const struct yk_attention_config *shape)
{
    return shape->q_norm >= 0;
}

/* `rotated`, and the norms of queries and keys. */
static void allocate_norms(const struct yk_net *net, const struct yk_attention_config *shape,
                           int64_t rows, struct yk_bump_allocator *allocator,
                           struct yk_attention_saved_activations *out)
{
    const enum yk_precision type = net->workload.precision;
    const bool whole = net->config->qk_norm == YK_QK_NORM_WHOLE;
    out->rotated = yk_bump_allocate(allocator, rows * (query_width(shape) + key_width(shape)),
                                    (size_t)yk_precision_bytes(type));
    out->q_norm = yk_norm_allocate_grouped_statistics(
        net, shape->q_norm, type, rows, whole ? 1 : shape->heads,
        whole ? query_width(shape) : shape->head_size, allocator);
    out->k_norm = yk_norm_allocate_grouped_statistics(
        net, shape->k_norm, type, rows, whole ? 1 : shape->kv_heads,
        whole ? key_width(shape) : shape->head_size, allocator);
}

void yk_attention_allocate_saved(const struct yk_net *net, int32_t layer,
                                 const struct yk_attention_config *shape,
                                 const struct yk_batch_shape *batch,
                                 struct yk_bump_allocator *allocator,
                                 struct yk_attention_saved_activations *out)
{
    const size_t size = (size_t)yk_precision_bytes(net->workload.precision);
    const int64_t rows = batch->samples * batch->sequence;
    const int64_t memory = batch->samples * batch->memory;
    *out = (struct yk_attention_saved_activations){0};
    out->q = yk_bump_allocate(allocator, rows * query_row_width(shape), size);
    out->attended = yk_bump_allocate(allocator, rows * query_width(shape), size);
    out->inner_q = yk_projection_allocate_lora_inner(net, layer, shape->queries, rows, allocator);
    out->inner_out = yk_projection_allocate_lora_inner(net, layer, shape->out, rows, allocator);
    out->sums = yk_bump_allocate(allocator, rows * shape->heads, sizeof(float));
    if (is_cross(shape)) {
        out->kv = yk_bump_allocate(allocator, memory * 2 * key_width(shape), size);
        out->inner_kv =
            yk_projection_allocate_lora_inner(net, layer, shape->memory, memory, allocator);
    }
    if (has_norms(shape)) {
        allocate_norms(net, shape, rows, allocator, out);
    }
}

/* The address of the heads that begin `at` numbers into a row. */
static void *head(const void *base, int64_t at, const struct yk_layer_pass *pass)
{
    return yk_precision_element_address(pass->net->workload.precision, base, at);
}

/* Queries, keys and values, or their gradients. */
struct heads {
    void *q;
    void *k;
    void *v;
    int64_t q_stride;
    int64_t k_stride;
    int64_t v_stride;
    int64_t head_stride; /* 0 means: the heads of a row are adjacent */
};

/* Keys and values are in the rows of the queries, or in rows of their own. */
static struct heads find_heads(const struct yk_layer_pass *pass,
                               const struct yk_attention_config *shape, void *q, void *kv)
{
    const int64_t stride = query_row_width(shape);
    if (is_cross(shape)) {
        const int64_t kv_stride = 2 * key_width(shape);
        return (struct heads){q,         kv, head(kv, key_width(shape), pass), stride, kv_stride,
                              kv_stride, 0};
    }
    const int64_t k = shape->interleaved ? shape->head_size : query_width(shape);
    const int64_t v = k + (shape->interleaved ? shape->head_size : key_width(shape));
    return (struct heads){
        .q = q,
        .k = head(q, k, pass),
        .v = head(q, v, pass),
        .q_stride = stride,
        .k_stride = stride,
        .v_stride = stride,
        .head_stride = shape->interleaved ? 3 * shape->head_size : 0,
    };
}

/* What attention reads: after norms and rotary positions. */
static struct heads find_rotated_heads(const struct yk_layer_pass *pass,
                                       const struct yk_attention_config *shape,
                                       const struct yk_attention_saved_activations *saved)
{
    struct heads heads = find_heads(pass, shape, saved->q, saved->kv);
    if (has_norms(shape)) {
        heads.q = saved->rotated;
        heads.k = head(saved->rotated, query_width(shape), pass);
        heads.q_stride = query_width(shape) + key_width(shape);
        heads.k_stride = heads.q_stride;
    }
    return heads;
}

static struct yk_attention_op attend_op(const struct yk_layer_pass *pass,
                                        const struct yk_attention_config *shape,
                                        const struct yk_attention_saved_activations *saved)
{
    const struct yk_model_config *config = pass->net->config;
    const struct heads heads = find_rotated_heads(pass, shape, saved);
    const int64_t keys = is_cross(shape) ? pass->batch.memory : pass->batch.sequence;
    return (struct yk_attention_op){
        .batch = pass->batch.samples,
        .queries = pass->batch.sequence,
        .keys = keys,
        .heads = shape->heads,
        .kv_heads = shape->kv_heads,
        .head_size = shape->head_size,
        .q = heads.q,
        .k = heads.k,
        .v = heads.v,
        .out = saved->attended,
        .log_sum_exp = saved->sums,
        .q_stride = heads.q_stride,
        .k_stride = heads.k_stride,
        .v_stride = heads.v_stride,
        .out_stride = query_width(shape),
        .head_stride = heads.head_stride,
        .type = pass->net->workload.precision,
        .scale = config->attention_scale > 0 ? (float)config->attention_scale
                                             : (float)(1 / sqrt((double)shape->head_size)),
        .softcap = (float)config->attention_softcap,
        .causal = shape->causal,
        .window = shape->window < keys ? shape->window : 0, /* a longer one hides nothing */
        .lengths = shape->measured ? pass->lengths : NULL,
        .dropout = yk_layer_pass_dropout_options(pass, shape->drop_attention),
    };
}

/* The op that rotates queries and keys, or their gradients back. If they are interleaved, it has
 * only the queries. `cos_sin` is NULL if they are not rotated. */
static struct yk_rotary_op rotary_op(const struct yk_layer_pass *pass,
                                     const struct yk_attention_config *shape,
                                     const struct heads *heads, bool back)
{
    return (struct yk_rotary_op){
        .rows = yk_layer_pass_token_count(pass),
        .sequence = pass->batch.sequence,
        .heads = shape->interleaved ? shape->heads : shape->heads + shape->kv_heads,
        .head_size = shape->head_size,
        .head_stride = heads->head_stride,
        .rotary_size = pass->net->config->rotary_size,
        .stride = heads->q_stride,
        .data = heads->q,
        .cos_sin = is_cross(shape)
                       ? NULL
                       : yk_position_tables_find_rotary(&pass->position_tables, pass->net->config,
                                                        shape->flags, pass->batch.sequence),
        .inverse = back,
        .type = pass->net->workload.precision,
    };
}

static void rotate(const struct yk_layer_pass *pass, const struct yk_attention_config *shape,
                   const struct heads *heads, bool back)
{
    struct yk_rotary_op op = rotary_op(pass, shape, heads, back);
    if (!op.cos_sin) {
        return;
    }
    pass->store->context.backend->rotary(pass->lane, &op);
    if (shape->interleaved) {
        op.data = heads->k;
        pass->store->context.backend->rotary(pass->lane, &op);
    }
}

/* Computes what attention reads of queries and keys. */
static void normalise_and_rotate(const struct yk_layer_pass *pass,
                                 const struct yk_attention_config *shape,
                                 const struct yk_attention_saved_activations *saved)
{
    const struct heads raw = find_heads(pass, shape, saved->q, NULL);
    const struct heads rotated = find_rotated_heads(pass, shape, saved);
    if (!has_norms(shape)) {
        rotate(pass, shape, &rotated, false);
        return;
    }
    assert(!shape->interleaved); /* heads of queries and of keys are adjacent */
    const struct yk_qk_norm_op op = {
        .q = yk_norm_make_forward_op(pass, &saved->q_norm, raw.q, raw.q_stride, rotated.q,
                                     rotated.q_stride),
        .k = yk_norm_make_forward_op(pass, &saved->k_norm, raw.k, raw.k_stride, rotated.k,
                                     rotated.k_stride),
        .rotary = rotary_op(pass, shape, &rotated, false),
    };
    pass->store->context.backend->qk_norm(pass->lane, &op);
}

/* Replaces the gradients of what attention reads with those of queries and keys. */
static void normalise_and_rotate_backward(const struct yk_layer_pass *pass,
                                          const struct yk_attention_config *shape,
                                          const struct yk_attention_saved_activations *saved,
                                          const struct heads *gradients)
{
    const struct heads raw = find_heads(pass, shape, saved->q, NULL);
    if (!has_norms(shape)) {
        rotate(pass, shape, gradients, true);
        return;
    }
    const struct yk_qk_norm_backward_op op = {
        .q = yk_norm_make_backward_op(pass, &saved->q_norm, raw.q, raw.q_stride, gradients->q,
                                      gradients->q_stride),
        .k = yk_norm_make_backward_op(pass, &saved->k_norm, raw.k, raw.k_stride, gradients->k,
                                      gradients->k_stride),
        .rotary = rotary_op(pass, shape, gradients, true),
    };
    pass->store->context.backend->qk_norm_backward(pass->lane, &op);
}

void yk_attention_forward(const struct yk_layer_pass *pass, const struct yk_attention_config *shape,
                          const struct yk_attention_saved_activations *saved, const void *x,
                          const void *stream, void *weights, void *to)
{
    const struct yk_attention_op attend = attend_op(pass, shape, saved);
    const bool cut = !is_cross(shape) && !shape->interleaved;
    yk_projection_forward(
        pass, shape->queries,
        &(struct yk_projection_forward_arguments){
            .x = x,
            .y = saved->q,
            .inner = saved->inner_q,
            .weights = weights,
            .cuts = {cut ? query_width(shape) : 0, cut ? query_width(shape) + key_width(shape) : 0},
        });
    if (is_cross(shape)) {
        yk_projection_forward(pass, shape->memory,
                              &(struct yk_projection_forward_arguments){
                                  .rows = pass->batch.samples * pass->batch.memory,
                                  .x = pass->memory,
                                  .y = saved->kv,
                                  .inner = saved->inner_kv,
                                  .weights = weights,
                              });
    }
    normalise_and_rotate(pass, shape, saved);
    pass->store->context.backend->attention(pass->lane, &attend);
    yk_residual_add_projection_output(pass, shape->out, shape->drop_out, saved->attended, stream,
                                      saved->inner_out, weights, to);
}

/* Computes the gradient of the memory from those of keys and values. */
static void memory_backward(const struct yk_layer_pass *pass,
                            const struct yk_attention_config *shape,
                            const struct yk_attention_saved_activations *saved,
                            const struct yk_backward_workspace *workspace)
{
    yk_projection_backward(pass, shape->memory,
                           &(struct yk_projection_backward_arguments){
                               .rows = pass->batch.samples * pass->batch.memory,
                               .x = pass->memory,
                               .dy = workspace->memory,
                               .dx = pass->memory_gradient,
                               .add = pass->memory_added ? pass->memory_gradient : NULL,
                               .inner = saved->inner_kv,
                               .d_inner = workspace->d_inner,
                               .weights = workspace->weights,
                           });
}

void yk_attention_backward(const struct yk_layer_pass *pass,
                           const struct yk_attention_config *shape,
                           const struct yk_attention_saved_activations *saved,
                           const struct yk_backward_workspace *workspace, const void *x,
                           const void *gradient, const void *add, void *dx)
{
    const struct heads gradients = find_heads(pass, shape, workspace->wide, workspace->memory);
    yk_projection_backward(
        pass, shape->out,
        &(struct yk_projection_backward_arguments){
            .x = saved->attended,
            .dy = yk_residual_backward(pass, shape->drop_out, gradient, workspace->branch),
            .dx = workspace->narrow,
            .inner = saved->inner_out,
            .d_inner = workspace->d_inner,
            .weights = workspace->weights,
        });
    pass->store->context.backend->attention_backward(pass->lane,
                                                     &(struct yk_attention_backward_op){
                                                         .forward = attend_op(pass, shape, saved),
                                                         .d_out = workspace->narrow,
                                                         .dq = gradients.q,
                                                         .dk = gradients.k,
                                                         .dv = gradients.v,
                                                         .dq_stride = gradients.q_stride,
                                                         .dk_stride = gradients.k_stride,
                                                         .dv_stride = gradients.v_stride,
                                                     });
    normalise_and_rotate_backward(pass, shape, saved, &gradients);
    if (is_cross(shape)) {
        memory_backward(pass, shape, saved, workspace);
    }
    yk_projection_backward(pass, shape->queries,
                           &(struct yk_projection_backward_arguments){
                               .x = x,
                               .dy = workspace->wide,
                               .dx = dx,
                               .add = add,
                               .inner = saved->inner_q,
                               .d_inner = workspace->d_inner,
                               .weights = workspace->weights,
                           });
}
