#include "nn/layers/attention.h"

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
}

/* The address of the heads that begin `at` numbers into a row. */
static void *head(const void *base, int64_t at, const struct yk_layer_pass *pass)
{
    return (char *)(uintptr_t)base + at * yk_precision_bytes(pass->net->workload.precision);
}

/* Keys and values, or their gradients: in the rows of the queries, or in rows of their own. */
struct keys {
    void *k;
    void *v;
    int64_t stride;
};

static struct keys find_keys(const struct yk_layer_pass *pass,
                             const struct yk_attention_config *shape, void *q, void *kv)
{
    void *k = is_cross(shape) ? kv : head(q, query_width(shape), pass);
    return (struct keys){
        .k = k,
        .v = head(k, key_width(shape), pass),
        .stride = is_cross(shape) ? 2 * key_width(shape) : query_row_width(shape),
    };
}

static struct yk_attention_op attend_op(const struct yk_layer_pass *pass,
                                        const struct yk_attention_config *shape,
                                        const struct yk_attention_saved_activations *saved)
{
    const struct keys keys = find_keys(pass, shape, saved->q, saved->kv);
    return (struct yk_attention_op){
        .batch = pass->batch.samples,
        .queries = pass->batch.sequence,
        .keys = is_cross(shape) ? pass->batch.memory : pass->batch.sequence,
        .heads = shape->heads,
        .kv_heads = shape->kv_heads,
        .head_size = shape->head_size,
        .q = saved->q,
        .k = keys.k,
        .v = keys.v,
        .out = saved->attended,
        .log_sum_exp = saved->sums,
        .q_stride = query_row_width(shape),
        .k_stride = keys.stride,
        .v_stride = keys.stride,
        .out_stride = query_width(shape),
        .type = pass->net->workload.precision,
        .scale = (float)(1 / sqrt((double)shape->head_size)),
        .causal = shape->causal,
        .lengths = shape->measured ? pass->lengths : NULL,
        .dropout = yk_layer_pass_dropout_options(pass, shape->drop_attention),
    };
}

/* Queries and keys are adjacent, so one op rotates both. */
static void rotate(const struct yk_layer_pass *pass, const struct yk_attention_config *shape,
                   void *q, bool back)
{
    if (pass->net->config->rope_theta == 0) {
        return;
    }
    pass->store->context.backend->rotary(pass->lane, &(struct yk_rotary_op){
                                                         .rows = yk_layer_pass_token_count(pass),
                                                         .sequence = pass->batch.sequence,
                                                         .heads = shape->heads + shape->kv_heads,
                                                         .head_size = shape->head_size,
                                                         .stride = query_row_width(shape),
                                                         .data = q,
                                                         .cos_sin = pass->position_tables.rotary,
                                                         .inverse = back,
                                                         .type = pass->net->workload.precision,
                                                     });
}

void yk_attention_forward(const struct yk_layer_pass *pass, const struct yk_attention_config *shape,
                          const struct yk_attention_saved_activations *saved, const void *x,
                          const void *stream, void *weights, void *to)
{
    const struct yk_attention_op attend = attend_op(pass, shape, saved);
    yk_projection_forward(pass, shape->queries,
                          &(struct yk_projection_forward_arguments){
                              .x = x,
                              .y = saved->q,
                              .inner = saved->inner_q,
                              .weights = weights,
                              .cuts = {is_cross(shape) ? 0 : query_width(shape),
                                       is_cross(shape) ? 0 : query_width(shape) + key_width(shape)},
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
    rotate(pass, shape, saved->q, false);
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
    const struct keys keys = find_keys(pass, shape, workspace->wide, workspace->memory);
    yk_projection_backward(
        pass, shape->out,
        &(struct yk_projection_backward_arguments){
            .x = saved->attended,
            .dy = yk_residual_dropout_backward(pass, shape->drop_out, gradient, workspace->dropped),
            .dx = workspace->narrow,
            .inner = saved->inner_out,
            .d_inner = workspace->d_inner,
            .weights = workspace->weights,
        });
    pass->store->context.backend->attention_backward(pass->lane,
                                                     &(struct yk_attention_backward_op){
                                                         .forward = attend_op(pass, shape, saved),
                                                         .d_out = workspace->narrow,
                                                         .dq = workspace->wide,
                                                         .dk = keys.k,
                                                         .dv = keys.v,
                                                         .dq_stride = query_row_width(shape),
                                                         .dk_stride = keys.stride,
                                                         .dv_stride = keys.stride,
                                                     });
    rotate(pass, shape, workspace->wide, true);
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
