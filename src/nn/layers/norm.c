#include "nn/layers/norm.h"

#include "nn/parameter_list.h"

struct yk_norm yk_norm_allocate_statistics(const struct yk_net *net, int32_t weight,
                                           enum yk_precision type, int64_t rows,
                                           struct yk_bump_allocator *allocator)
{
    return (struct yk_norm){
        .weight = weight,
        .type = type,
        .mean = net->config->rms_norm ? NULL : yk_bump_allocate(allocator, rows, sizeof(float)),
        .rstd = yk_bump_allocate(allocator, rows, sizeof(float)),
    };
}

void yk_norm_forward(const struct yk_layer_pass *pass, const struct yk_norm *norm, const void *x,
                     void *y)
{
    pass->store->context.backend->norm(
        pass->lane,
        &(struct yk_norm_op){
            .rows = yk_layer_pass_token_count(pass),
            .width = pass->net->config->width,
            .x = x,
            .y = y,
            .weight = yk_layer_pass_parameter_weights(pass, norm->weight),
            .bias = norm->mean ? yk_layer_pass_parameter_weights(pass, norm->weight + 1) : NULL,
            .mean = norm->mean,
            .rstd = norm->rstd,
            .epsilon = (float)pass->net->config->norm_epsilon,
            .x_type = norm->type,
            .y_type = norm->type,
            .weight_type = yk_layer_pass_parameter_precision(pass, norm->weight),
        });
}

void yk_norm_backward(const struct yk_layer_pass *pass, const struct yk_norm *norm, const void *x,
                      const void *dy, const void *add, void *dx)
{
    pass->store->context.backend->norm_backward(
        pass->lane,
        &(struct yk_norm_backward_op){
            .rows = yk_layer_pass_token_count(pass),
            .width = pass->net->config->width,
            .x = x,
            .dy = dy,
            .dx = dx,
            .add = add,
            .weight = yk_layer_pass_parameter_weights(pass, norm->weight),
            .d_weight = yk_layer_pass_parameter_gradient(pass, norm->weight),
            .d_bias = norm->mean ? yk_layer_pass_parameter_gradient(pass, norm->weight + 1) : NULL,
            .mean = norm->mean,
            .rstd = norm->rstd,
            .x_type = norm->type,
            .y_type = norm->type,
            .weight_type = yk_layer_pass_parameter_precision(pass, norm->weight),
        });
}

static void list(struct yk_parameter_list *parameters)
{
    yk_parameter_list_add_norm(parameters, parameters->modules[0], "");
}

static struct yk_norm carve(const struct yk_net *net, int64_t rows,
                            struct yk_bump_allocator *allocator)
{
    return yk_norm_allocate_statistics(net, 0, net->workload.precision, rows, allocator);
}

static void measure(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                    struct yk_layer_memory_sizes *out)
{
    struct yk_bump_allocator allocator = {0};
    (void)layer;
    (void)carve(net, batch->samples * batch->sequence, &allocator);
    *out = (struct yk_layer_memory_sizes){.saved_bytes = allocator.used};
}

static void forward(const struct yk_layer_pass *pass)
{
    struct yk_bump_allocator allocator = {.base = pass->saved};
    const struct yk_norm norm = carve(pass->net, yk_layer_pass_token_count(pass), &allocator);
    yk_norm_forward(pass, &norm, pass->input, pass->output);
}

static void backward(const struct yk_layer_pass *pass)
{
    struct yk_bump_allocator allocator = {.base = pass->saved};
    const struct yk_norm norm = carve(pass->net, yk_layer_pass_token_count(pass), &allocator);
    yk_norm_backward(pass, &norm, pass->input, pass->output_gradient, NULL, pass->input_gradient);
}

const struct yk_layer_kind yk_layer_kind_norm = {
    .name = "norm",
    .list = list,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
