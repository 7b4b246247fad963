#include "nn/layers/projection.h"

#include <assert.h>

static int64_t inner_width(const struct yk_net *net, const struct yk_projection *projection)
{
    return projection->a >= 0 ? projection->parts * net->workload.lora_rank : 0;
}

void *yk_projection_allocate_lora_inner(const struct yk_net *net, int32_t layer, int32_t projection,
                                        int64_t rows, struct yk_bump_allocator *allocator)
{
    const int64_t width = inner_width(net, &net->layers[layer].projections[projection]);
    return width > 0 ? yk_bump_allocate(allocator, rows * width,
                                        (size_t)yk_precision_bytes(net->workload.precision))
                     : NULL;
}

void *yk_projection_allocate_lora_inner_gradient(const struct yk_net *net, int32_t layer,
                                                 int64_t rows, struct yk_bump_allocator *allocator)
{
    int64_t max = 0;
    for (int32_t s = 0; s < net->layers[layer].projection_count; s++) {
        const int64_t width = inner_width(net, &net->layers[layer].projections[s]);
        max = width > max ? width : max;
    }
    return max > 0 ? yk_bump_allocate(allocator, rows * max,
                                      (size_t)yk_precision_bytes(net->workload.precision))
                   : NULL;
}

/* Dequantised weights have two buffers, for even and for odd projections, so that the next weights
 * are dequantised while a product uses the previous ones. Returns the numbers of the first buffer,
 * or of both. */
static int64_t dequantised_size(const struct yk_net_layer *layer, bool both)
{
    int64_t max[2] = {0, 0};
    for (int32_t s = 0; s < layer->projection_count; s++) {
        const int64_t size = layer->projections[s].in * layer->projections[s].out;
        max[s % 2] = size > max[s % 2] ? size : max[s % 2];
    }
    const int64_t first =
        (max[0] + YK_BACKEND_ALIGNMENT - 1) / YK_BACKEND_ALIGNMENT * YK_BACKEND_ALIGNMENT;
    return both ? first + max[1] : first;
}

void *yk_projection_allocate_dequantised_weights(const struct yk_net *net, int32_t layer,
                                                 struct yk_bump_allocator *allocator)
{
    return net->workload.nf4 && net->layers[layer].kind->block
               ? yk_bump_allocate(allocator, dequantised_size(&net->layers[layer], true),
                                  (size_t)yk_precision_bytes(net->workload.precision))
               : NULL;
}

/* The weights of all parts, dequantised into `scratch` if they are NF4. `begins`: it is the first
 * projection of the layer in this pass. */
static const void *weights_of(const struct yk_layer_pass *pass, int32_t number, bool begins,
                              void *scratch, enum yk_precision *type)
{
    const struct yk_net_layer *layer = yk_layer_pass_get_layer(pass);
    const struct yk_projection *projection = &layer->projections[number];
    const struct yk_parameter *first =
        &yk_layer_pass_get_layer(pass)->parameters[projection->weight];
    *type = yk_layer_pass_parameter_precision(pass, projection->weight);
    if (first->format != YK_PARAMETER_NF4) {
        return yk_layer_pass_parameter_weights(pass, projection->weight);
    }
    char *place = (char *)scratch +
                  (number % 2 ? dequantised_size(layer, false) : 0) * yk_precision_bytes(*type);
    int64_t done = 0;
    for (int32_t i = 0; i < projection->parts; i++) {
        struct yk_dequantise_op op = {
            .count = first[i].count,
            .to = place + done * yk_precision_bytes(*type),
            .type = *type,
            .order = i > 0    ? YK_DEQUANTISE_WITH_PREVIOUS
                     : begins ? YK_DEQUANTISE_IN_ORDER
                              : YK_DEQUANTISE_PREFETCH,
        };
        (void)yk_ops_lay_out_nf4_tensor(
            yk_layer_pass_parameter_weights(pass, projection->weight + i), op.count, &op.from);
        pass->store->context.backend->dequantise(pass->lane, &op);
        done += op.count;
    }
    return place;
}

static int64_t rows_of(const struct yk_layer_pass *pass, int64_t rows)
{
    return rows > 0 ? rows : yk_layer_pass_token_count(pass);
}

/* inner = x · Aᵀ, for all parts at once. */
static void make_inner(const struct yk_layer_pass *pass, const struct yk_projection *projection,
                       int64_t rows, const void *x, void *inner)
{
    const enum yk_precision type = pass->net->workload.precision;
    pass->store->context.backend->matmul(
        pass->lane, &(struct yk_matmul_op){
                        .m = rows,
                        .n = inner_width(pass->net, projection),
                        .k = projection->in,
                        .a = x,
                        .a_stride = projection->in,
                        .b = yk_layer_pass_parameter_weights(pass, projection->a),
                        .b_stride = projection->in,
                        .b_transposed = true,
                        .c = inner,
                        .c_stride = inner_width(pass->net, projection),
                        .scale = 1,
                        .a_type = type,
                        .b_type = type,
                        .c_type = type,
                    });
}

void yk_projection_recompute_lora_inner(const struct yk_layer_pass *pass, int32_t projection,
                                        const void *x, void *inner)
{
    make_inner(pass, &yk_layer_pass_get_layer(pass)->projections[projection],
               yk_layer_pass_token_count(pass), x, inner);
}

struct yk_lora_term yk_projection_get_output_term(const struct yk_layer_pass *pass, int32_t number,
                                                  int64_t first, const void *inner)
{
    const struct yk_projection *projection = &yk_layer_pass_get_layer(pass)->projections[number];
    const enum yk_precision type = pass->net->workload.precision;
    const int64_t rank = pass->net->workload.lora_rank;
    int32_t part = 0;
    while (first >= projection->part_out[part]) {
        first -= projection->part_out[part++];
        assert(part < projection->parts);
    }
    return (struct yk_lora_term){
        .inner = yk_precision_element_address(type, inner, part * rank),
        .inner_stride = projection->parts * rank,
        .rank = rank,
        .factor = yk_precision_element_address(
            type, yk_layer_pass_parameter_weights(pass, projection->b + part), first * rank),
        .scale = yk_net_adapter_scale(pass->net),
    };
}

struct yk_lora_term yk_projection_get_input_gradient_term(const struct yk_layer_pass *pass,
                                                          int32_t number, const void *d_inner)
{
    const struct yk_projection *projection = &yk_layer_pass_get_layer(pass)->projections[number];
    const int64_t width = inner_width(pass->net, projection);
    return (struct yk_lora_term){
        .inner = d_inner,
        .inner_stride = width,
        .rank = width,
        .factor = yk_layer_pass_parameter_weights(pass, projection->a),
        .factor_transposed = true,
        .scale = 1,
    };
}

_Static_assert((int)YK_PROJECTION_MAX_PARTS <= (int)YK_LORA_MAX_PARTS,
               "the ops have room for all parts");

/* y = scale · inner · Bᵀ + add, for each part. */
static void adapt(const struct yk_layer_pass *pass, const struct yk_projection *projection,
                  const struct yk_projection_forward_arguments *io)
{
    struct yk_lora_op op = {
        .rows = rows_of(pass, io->rows),
        .rank = pass->net->workload.lora_rank,
        .inner = io->inner,
        .y = io->y,
        .add = io->add,
        .y_stride = projection->out,
        .parts = projection->parts,
        .scale = yk_net_adapter_scale(pass->net),
        .type = pass->net->workload.precision,
    };
    for (int32_t i = 0; i < projection->parts; i++) {
        op.part[i].columns = projection->part_out[i];
        op.part[i].factor = yk_layer_pass_parameter_weights(pass, projection->b + i);
    }
    pass->store->context.backend->lora(pass->lane, &op);
}

void yk_projection_forward(const struct yk_layer_pass *pass, int32_t number,
                           const struct yk_projection_forward_arguments *io)
{
    const struct yk_projection *projection = &yk_layer_pass_get_layer(pass)->projections[number];
    const enum yk_precision type = pass->net->workload.precision;
    struct yk_matmul_op op = {
        .m = rows_of(pass, io->rows),
        .n = projection->out,
        .k = projection->in,
        .a = io->x,
        .a_stride = projection->in,
        .b_stride = projection->transposed ? projection->out : projection->in,
        .b_transposed = !projection->transposed,
        .c = io->y,
        .c_stride = projection->out,
        .add = io->add,
        .add_stride = projection->out,
        .epilogue = io->epilogue,
        .aux = io->aux,
        .aux_stride = projection->out,
        .scale = 1,
        .a_type = type,
        .c_type = pass->net->layers[pass->layer].precision,
        .split_columns = {io->cuts[0], io->cuts[1]},
    };
    op.b = weights_of(pass, number, number == 0, io->weights, &op.b_type);
    if (projection->bias >= 0) {
        op.bias = yk_layer_pass_parameter_weights(pass, projection->bias);
        op.bias_type = yk_layer_pass_parameter_precision(pass, projection->bias);
    }
    if (projection->a >= 0) {
        make_inner(pass, projection, op.m, io->x, io->inner);
    }
    if (projection->a >= 0 && !io->skip_adapter) {
        adapt(pass, projection, io);
        op.add = io->y;
    }
    pass->store->context.backend->matmul(pass->lane, &op);
}

/* dB += scale · dyᵀ · inner, d_inner = scale · dy · B, for each part. */
static void adapt_parts_back(const struct yk_layer_pass *pass,
                             const struct yk_projection *projection,
                             const struct yk_projection_backward_arguments *io)
{
    struct yk_lora_backward_op op = {
        .rows = rows_of(pass, io->rows),
        .rank = pass->net->workload.lora_rank,
        .dy = io->dy,
        .dy_stride = projection->out,
        .inner = io->inner,
        .d_inner = io->d_inner,
        .parts = projection->parts,
        .scale = yk_net_adapter_scale(pass->net),
        .type = pass->net->workload.precision,
    };
    for (int32_t i = 0; i < projection->parts; i++) {
        op.part[i].columns = projection->part_out[i];
        op.part[i].factor = yk_layer_pass_parameter_weights(pass, projection->b + i);
        op.part[i].d_factor = yk_layer_pass_parameter_gradient(pass, projection->b + i);
    }
    pass->store->context.backend->lora_backward(pass->lane, &op);
}

/* dA += d_innerᵀ · x and dx = d_inner · A + add, for all parts at once. */
static void adapt_back(const struct yk_layer_pass *pass, const struct yk_projection *projection,
                       const struct yk_projection_backward_arguments *io)
{
    const struct yk_backend *backend = pass->store->context.backend;
    const enum yk_precision type = pass->net->workload.precision;
    const int64_t width = projection->parts * pass->net->workload.lora_rank;
    struct yk_matmul_op op = {
        .m = width,
        .n = projection->in,
        .k = rows_of(pass, io->rows),
        .a = io->d_inner,
        .a_stride = width,
        .a_transposed = true,
        .b = io->x,
        .b_stride = projection->in,
        .c = yk_layer_pass_parameter_gradient(pass, projection->a),
        .c_stride = projection->in,
        .accumulate = true,
        .scale = 1,
        .a_type = type,
        .b_type = type,
        .c_type = type,
    };
    backend->matmul(pass->lane, &op);
    if (io->dx) {
        op.m = op.k;
        op.k = width;
        op.a_transposed = false;
        op.b = yk_layer_pass_parameter_weights(pass, projection->a);
        op.c = io->dx;
        op.accumulate = false;
        op.add = io->add;
        op.add_stride = projection->in;
        backend->matmul(pass->lane, &op);
    }
}

/* dW += xᵀ · dy, or dyᵀ · x where weights are (out, in); the bias's is the sum over the rows. */
static void train_weights(const struct yk_layer_pass *pass, const struct yk_projection *projection,
                          const struct yk_projection_backward_arguments *io)
{
    const struct yk_backend *backend = pass->store->context.backend;
    const enum yk_precision type = pass->net->workload.precision;
    const enum yk_precision dy_type = pass->net->layers[pass->layer].precision;
    struct yk_matmul_op op = {
        .m = projection->transposed ? projection->in : projection->out,
        .n = projection->transposed ? projection->out : projection->in,
        .k = rows_of(pass, io->rows),
        .a = projection->transposed ? io->x : io->dy,
        .a_stride = projection->transposed ? projection->in : projection->out,
        .a_transposed = true,
        .b = projection->transposed ? io->dy : io->x,
        .b_stride = projection->transposed ? projection->out : projection->in,
        .c = yk_layer_pass_parameter_gradient(pass, projection->weight),
        .c_stride = projection->transposed ? projection->out : projection->in,
        .accumulate = true,
        .scale = 1,
        .a_type = projection->transposed ? type : dy_type,
        .b_type = projection->transposed ? dy_type : type,
        .c_type = type,
    };
    if (projection->bias >= 0 && !io->bias_summed) {
        op.sums_of = projection->transposed ? YK_MATMUL_ROW_SUM_B : YK_MATMUL_ROW_SUM_A;
        op.row_sums = yk_layer_pass_parameter_gradient(pass, projection->bias);
        op.sums_type = type;
    }
    backend->matmul(pass->lane, &op);
}

void *yk_projection_get_lora_a_gradient(const struct yk_layer_pass *pass, int32_t number)
{
    return yk_layer_pass_parameter_gradient(pass,
                                            yk_layer_pass_get_layer(pass)->projections[number].a);
}

void *yk_projection_get_bias_gradient(const struct yk_layer_pass *pass, int32_t number)
{
    const struct yk_projection *projection = &yk_layer_pass_get_layer(pass)->projections[number];
    return projection->bias >= 0 && projection->a < 0
               ? yk_layer_pass_parameter_gradient(pass, projection->bias)
               : NULL;
}

void yk_projection_backward(const struct yk_layer_pass *pass, int32_t number,
                            const struct yk_projection_backward_arguments *io)
{
    const struct yk_projection *projection = &yk_layer_pass_get_layer(pass)->projections[number];
    struct yk_matmul_op op = {
        .m = rows_of(pass, io->rows),
        .n = projection->in,
        .k = projection->out,
        .a = io->dy,
        .a_stride = projection->out,
        .b_stride = projection->transposed ? projection->out : projection->in,
        .b_transposed = projection->transposed,
        .c = io->dx,
        .c_stride = projection->in,
        .add = io->add,
        .add_stride = projection->in,
        .epilogue = io->epilogue,
        .aux = io->aux,
        .aux_stride = projection->in,
        .scale = 1,
        .a_type = pass->net->layers[pass->layer].precision,
        .c_type = pass->net->workload.precision,
    };
    if (projection->a >= 0) {
        adapt_parts_back(pass, projection, io);
        if (!io->skip_adapter) {
            adapt_back(pass, projection, io);
            op.add = io->dx;
        }
    } else if (yk_layer_pass_get_layer(pass)->parameters[projection->weight].trained) {
        train_weights(pass, projection, io);
    }
    if (io->dx_sums) {
        op.sums_of = YK_MATMUL_ROW_SUM_C;
        op.row_sums = io->dx_sums;
        op.sums_type = pass->net->workload.precision;
    }
    if (io->dx) {
        const bool begins = number + 1 == yk_layer_pass_get_layer(pass)->projection_count;
        op.b = weights_of(pass, number, begins, io->weights, &op.b_type);
        pass->store->context.backend->matmul(pass->lane, &op);
    }
}
