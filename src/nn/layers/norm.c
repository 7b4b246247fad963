#include "nn/layers/norm.h"

#include "nn/parameter_list.h"

struct yk_norm yk_norm_allocate_grouped_statistics(const struct yk_net *net, int32_t weight,
                                                   enum yk_precision type, int64_t rows,
                                                   int64_t groups, int64_t width,
                                                   struct yk_bump_allocator *allocator)
{
    const bool has_mean = net->config->norm == YK_NORM_LAYER;
    const int64_t count = rows * groups;
    return (struct yk_norm){
        .weight = weight,
        .type = type,
        .groups = groups,
        .width = width,
        .mean = has_mean ? yk_bump_allocate(allocator, count, sizeof(float)) : NULL,
        .rstd = yk_bump_allocate(allocator, count, sizeof(float)),
    };
}

struct yk_norm yk_norm_allocate_statistics(const struct yk_net *net, int32_t weight,
                                           enum yk_precision type, int64_t rows,
                                           struct yk_bump_allocator *allocator)
{
    return yk_norm_allocate_grouped_statistics(net, weight, type, rows, 1, net->config->width,
                                               allocator);
}

static float weight_offset(const struct yk_layer_pass *pass)
{
    return pass->net->config->norm_plus_one ? 1 : 0;
}

static struct yk_norm_op forward_op(const struct yk_layer_pass *pass, const struct yk_norm *norm,
                                    const void *x, void *y)
{
    return (struct yk_norm_op){
        .rows = yk_layer_pass_token_count(pass),
        .groups = norm->groups,
        .width = norm->width,
        .x = x,
        .y = y,
        .weight = yk_layer_pass_parameter_weights(pass, norm->weight),
        .bias = norm->mean ? yk_layer_pass_parameter_weights(pass, norm->weight + 1) : NULL,
        .mean = norm->mean,
        .rstd = norm->rstd,
        .epsilon = (float)pass->net->config->norm_epsilon,
        .weight_offset = weight_offset(pass),
        .x_type = norm->type,
        .y_type = norm->type,
        .weight_type = yk_layer_pass_parameter_precision(pass, norm->weight),
    };
}

static struct yk_norm_backward_op backward_op(const struct yk_layer_pass *pass,
                                              const struct yk_norm *norm, const void *x,
                                              const void *dy, void *dx)
{
    return (struct yk_norm_backward_op){
        .rows = yk_layer_pass_token_count(pass),
        .groups = norm->groups,
        .width = norm->width,
        .x = x,
        .dy = dy,
        .dx = dx,
        .weight = yk_layer_pass_parameter_weights(pass, norm->weight),
        .d_weight = yk_layer_pass_parameter_gradient(pass, norm->weight),
        .d_bias = norm->mean ? yk_layer_pass_parameter_gradient(pass, norm->weight + 1) : NULL,
        .mean = norm->mean,
        .rstd = norm->rstd,
        .weight_offset = weight_offset(pass),
        .x_type = norm->type,
        .y_type = norm->type,
        .weight_type = yk_layer_pass_parameter_precision(pass, norm->weight),
    };
}

void yk_norm_forward(const struct yk_layer_pass *pass, const struct yk_norm *norm, const void *x,
                     const void *add, void *y)
{
    struct yk_norm_op op = forward_op(pass, norm, x, y);
    op.add = add;
    pass->store->context.backend->norm(pass->lane, &op);
}

void yk_norm_backward(const struct yk_layer_pass *pass, const struct yk_norm *norm, const void *x,
                      const void *dy, const void *add, void *dx)
{
    struct yk_norm_backward_op op = backward_op(pass, norm, x, dy, dx);
    op.add = add;
    pass->store->context.backend->norm_backward(pass->lane, &op);
}

struct yk_norm_op yk_norm_make_forward_op(const struct yk_layer_pass *pass,
                                          const struct yk_norm *norm, const void *x,
                                          int64_t x_stride, void *y, int64_t y_stride)
{
    struct yk_norm_op op = forward_op(pass, norm, x, y);
    op.x_stride = x_stride;
    op.y_stride = y_stride;
    return op;
}

struct yk_norm_backward_op yk_norm_make_backward_op(const struct yk_layer_pass *pass,
                                                    const struct yk_norm *norm, const void *x,
                                                    int64_t x_stride, void *gradient,
                                                    int64_t gradient_stride)
{
    struct yk_norm_backward_op op = backward_op(pass, norm, x, gradient, gradient);
    op.x_stride = x_stride;
    op.dy_stride = gradient_stride;
    op.dx_stride = gradient_stride;
    return op;
}

static void list(struct yk_parameter_list *parameters)
{
    yk_parameter_list_add_norm(parameters, NULL, parameters->modules[0], parameters->config->width);
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
    const int64_t rows = yk_net_layer_output_rows(&net->layers[layer], batch->sequence);
    (void)carve(net, batch->samples * rows, &allocator);
    *out = (struct yk_layer_memory_sizes){.saved_bytes = allocator.used};
}

/* The norm of a classifier computes only the first token of each sample: a pass over rows that are
 * a whole sample apart. */
static struct yk_layer_pass pass_of_rows(const struct yk_layer_pass *pass)
{
    struct yk_layer_pass rows = *pass;
    rows.batch.sequence =
        yk_net_layer_output_rows(yk_layer_pass_get_layer(pass), pass->batch.sequence);
    return rows;
}

static int64_t input_stride(const struct yk_layer_pass *pass, const struct yk_layer_pass *rows)
{
    return pass->batch.sequence / rows->batch.sequence * pass->net->config->width;
}

static void forward(const struct yk_layer_pass *pass)
{
    struct yk_bump_allocator allocator = {.base = pass->saved};
    const struct yk_layer_pass rows = pass_of_rows(pass);
    const struct yk_norm norm = carve(pass->net, yk_layer_pass_token_count(&rows), &allocator);
    const struct yk_norm_op op =
        yk_norm_make_forward_op(&rows, &norm, pass->input, input_stride(pass, &rows), pass->output,
                                pass->net->config->width);
    pass->store->context.backend->norm(pass->lane, &op);
}

static void backward(const struct yk_layer_pass *pass)
{
    struct yk_bump_allocator allocator = {.base = pass->saved};
    const struct yk_layer_pass rows = pass_of_rows(pass);
    const struct yk_norm norm = carve(pass->net, yk_layer_pass_token_count(&rows), &allocator);
    const struct yk_backend *backend = pass->store->context.backend;
    struct yk_norm_backward_op op =
        backward_op(&rows, &norm, pass->input, pass->output_gradient, pass->input_gradient);
    op.x_stride = input_stride(pass, &rows);
    op.dx_stride = op.x_stride;
    if (rows.batch.sequence < pass->batch.sequence) { /* the other tokens have no gradient */
        backend->clear(pass->lane, pass->input_gradient,
                       (size_t)(yk_layer_pass_token_count(pass) * pass->net->config->width *
                                yk_precision_bytes(pass->net->workload.precision)));
    }
    backend->norm_backward(pass->lane, &op);
}

const struct yk_layer_kind yk_layer_kind_norm = {
    .list = list,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
