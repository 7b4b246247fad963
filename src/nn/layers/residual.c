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
    out->dropped =
        may_drop(net) ? yk_bump_allocate(allocator, rows * net->config->width, size) : NULL;
    out->d_inner = yk_projection_allocate_lora_inner_gradient(
        net, layer, memory > rows ? memory : rows, allocator);
    out->weights = yk_projection_allocate_dequantised_weights(net, layer, allocator);
}

static void drop(const struct yk_layer_pass *pass, enum yk_dropout_site place, const void *from,
                 const void *add, void *to)
{
    pass->store->context.backend->dropout(pass->lane,
                                          &(struct yk_dropout_op){
                                              .rows = yk_layer_pass_token_count(pass),
                                              .width = pass->net->config->width,
                                              .sequence = pass->batch.sequence,
                                              .from = from,
                                              .to = to,
                                              .add = add,
                                              .dropout = yk_layer_pass_dropout_options(pass, place),
                                              .type = pass->net->workload.precision,
                                          });
}

void yk_residual_add_projection_output(const struct yk_layer_pass *pass, int32_t projection,
                                       enum yk_dropout_site place, const void *x,
                                       const void *stream, void *inner, void *weights, void *to)
{
    const bool dropped = drops(pass);
    yk_projection_forward(
        pass, projection,
        &(struct yk_projection_forward_arguments){
            .x = x, .y = to, .add = dropped ? NULL : stream, .inner = inner, .weights = weights});
    if (dropped) {
        drop(pass, place, to, stream, to);
    }
}

const void *yk_residual_dropout_backward(const struct yk_layer_pass *pass,
                                         enum yk_dropout_site place, const void *gradient,
                                         void *dropped)
{
    if (!drops(pass)) {
        return gradient;
    }
    drop(pass, place, gradient, NULL, dropped);
    return dropped;
}

void yk_residual_apply_dropout_in_place(const struct yk_layer_pass *pass,
                                        enum yk_dropout_site place, void *numbers)
{
    if (drops(pass)) {
        drop(pass, place, numbers, NULL, numbers);
    }
}
