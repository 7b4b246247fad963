#include "nn/layers/residual.h"

/* Some architectures apply dropout only to attention. */
static bool may_drop(const struct yk_net *net)
{
    return net->config->residual_dropout && net->options.dropout > 0;
}

static bool drops(const struct yk_layer_pass *pass)
{
    return pass->training && may_drop(pass->net);
}

/* The outputs of attention and feed-forward are multiplied by a factor. */
static bool is_scaled(const struct yk_model_config *config)
{
    return config->residual_scale != 0 && config->residual_scale != 1;
}

static bool has_branch_gradient(const struct yk_net *net)
{
    return may_drop(net) || is_scaled(net->config) ||
           net->config->norm_placement == YK_NORM_AFTER ||
           net->config->norm_placement == YK_NORM_BEFORE_AND_AFTER;
}

void yk_residual_allocate_backward_workspace(const struct yk_net *net, int32_t layer,
                                             const struct yk_batch_shape *batch,
                                             const struct yk_backward_workspace_widths *widths,
                                             struct yk_bump_allocator *allocator,
                                             struct yk_backward_workspace *out)
{
    const size_t size = (size_t)yk_precision_bytes(net->workload.precision);
    const int64_t rows = batch->samples * batch->sequence;
    const int64_t memory = batch->samples * batch->memory;
    out->wide = yk_bump_allocate(allocator, rows * widths->wide, size);
    out->narrow = yk_bump_allocate(allocator, rows * widths->narrow, size);
    out->memory =
        widths->memory > 0 ? yk_bump_allocate(allocator, memory * widths->memory, size) : NULL;
    out->branch = has_branch_gradient(net)
                      ? yk_bump_allocate(allocator, rows * net->config->width, size)
                      : NULL;
    out->d_inner = yk_projection_allocate_lora_inner_gradient(
        net, layer, memory > rows ? memory : rows, allocator);
    out->weights = yk_projection_allocate_dequantised_weights(net, layer, allocator);
}

/* to = scale · dropout(from) + add */
static void drop(const struct yk_layer_pass *pass, enum yk_dropout_site place, double scale,
                 const void *from, const void *add, void *to)
{
    struct yk_dropout_options options = yk_layer_pass_dropout_options(pass, place);
    options.rate = drops(pass) ? options.rate : 0;
    pass->store->context.backend->dropout(pass->lane, &(struct yk_dropout_op){
                                                          .rows = yk_layer_pass_token_count(pass),
                                                          .width = pass->net->config->width,
                                                          .sequence = pass->batch.sequence,
                                                          .from = from,
                                                          .to = to,
                                                          .add = add,
                                                          .scale = (float)scale,
                                                          .dropout = options,
                                                          .type = pass->net->workload.precision,
                                                      });
}

void yk_residual_add_projection_output(const struct yk_layer_pass *pass, int32_t projection,
                                       enum yk_dropout_site place, const void *x,
                                       const void *stream, void *inner, void *weights, void *to)
{
    const bool changed = drops(pass) || is_scaled(pass->net->config);
    yk_projection_forward(
        pass, projection,
        &(struct yk_projection_forward_arguments){
            .x = x, .y = to, .add = changed ? NULL : stream, .inner = inner, .weights = weights});
    if (changed) {
        drop(pass, place, pass->net->config->residual_scale, to, stream, to);
    }
}

const void *yk_residual_backward(const struct yk_layer_pass *pass, enum yk_dropout_site place,
                                 const void *gradient, void *branch)
{
    if (!drops(pass) && !is_scaled(pass->net->config)) {
        return gradient;
    }
    drop(pass, place, pass->net->config->residual_scale, gradient, NULL, branch);
    return branch;
}

void yk_residual_apply_dropout_in_place(const struct yk_layer_pass *pass,
                                        enum yk_dropout_site place, void *numbers)
{
    if (drops(pass)) {
        drop(pass, place, 0, numbers, NULL, numbers);
    }
}
