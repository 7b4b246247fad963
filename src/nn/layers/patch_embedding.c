/*
 * Patch embedding: the first layer of a model of images (Dosovitskiy et al. 2021). An image is cut
 * into patches, and a convolution whose stride is its size embeds each of them: a product with the
 * weights. A class token comes first, and every token gets a learned position. The backward pass
 * cuts the images again, which costs less than keeping the patches.
 */
#include "nn/bump_allocator.h"
#include "nn/layers/residual.h"
#include "nn/parameter_list.h"

enum {
    CLASS_TOKEN,
    POSITIONS,
    WEIGHT,
    BIAS,
};

enum {
    MAX_PIXEL = 255
};

static void list(struct yk_parameter_list *parameters)
{
    const struct yk_model_config *config = parameters->config;
    const struct yk_image_shape *image = &config->image;
    const int64_t C = config->width;
    const char *module = yk_parameter_list_module_name(parameters, YK_MODULE_PATCH_EMBEDDINGS);
    const char *patches = yk_parameter_list_module_name(parameters, YK_MODULE_PATCHES);
    yk_parameter_list_add_array(parameters, module, "cls_token", (const int64_t[5]){1, 1, C});
    yk_parameter_list_add_array(parameters, module, "position_embeddings",
                                (const int64_t[5]){1, config->positions, C});
    yk_parameter_list_add_array(
        parameters, patches, "weight",
        (const int64_t[5]){C, image->channels, image->patch_height, image->patch_width});
    yk_parameter_list_add_bias(parameters, patches, C);
}

struct workspace {
    void *patches; /* (B·T, K), a row of zeros for each class token */
    float *sums;   /* (T, C) the gradient, summed over all images; only in the backward pass */
};

static struct workspace allocate_workspace(const struct yk_net *net, int32_t layer,
                                           const struct yk_batch_shape *batch, bool backward,
                                           struct yk_bump_allocator *allocator)
{
    const int64_t rows = batch->samples * batch->sequence;
    const int64_t size = yk_precision_bytes(net->layers[layer].precision);
    struct workspace workspace = {
        .patches = yk_bump_allocate(allocator, rows * yk_model_config_patch_size(net->config),
                                    (size_t)size),
    };
    if (backward) {
        workspace.sums =
            yk_bump_allocate(allocator, batch->sequence * net->config->width, sizeof(float));
    }
    return workspace;
}

static void measure(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                    struct yk_layer_memory_sizes *out)
{
    struct yk_bump_allocator forward = {0};
    struct yk_bump_allocator backward = {0};
    (void)allocate_workspace(net, layer, batch, false, &forward);
    if (net->layers[layer].trained > 0) {
        (void)allocate_workspace(net, layer, batch, true, &backward);
    }
    *out = (struct yk_layer_memory_sizes){.forward_bytes = forward.used,
                                          .backward_bytes = backward.used};
}

static void cut(const struct yk_layer_pass *pass, void *patches)
{
    const struct yk_image_shape *image = &pass->net->config->image;
    const struct yk_net_options *options = &pass->net->options;
    const bool given = options->pixel_scale[0] != 0;
    struct yk_patchify_op op = {
        .batch = pass->batch.samples,
        .channels = image->channels,
        .height = image->height,
        .width = image->width,
        .patch_height = image->patch_height,
        .patch_width = image->patch_width,
        .pixels = pass->pixels,
        .out = patches,
        .type = yk_layer_pass_get_layer(pass)->precision,
    };
    for (int64_t c = 0; c < image->channels; c++) {
        op.scale[c] = given ? options->pixel_scale[c] : 2.0F / MAX_PIXEL;
        op.shift[c] = given ? options->pixel_shift[c] : -1;
    }
    pass->store->context.backend->patchify(pass->lane, &op);
}

static void forward(const struct yk_layer_pass *pass)
{
    const struct yk_net *net = pass->net;
    const struct yk_backend *backend = pass->store->context.backend;
    const int64_t rows = yk_layer_pass_token_count(pass);
    const int64_t C = net->config->width;
    const int64_t K = yk_model_config_patch_size(net->config);
    struct yk_bump_allocator allocator = {.base = pass->workspace};
    const struct workspace workspace =
        allocate_workspace(net, pass->layer, &pass->batch, false, &allocator);
    cut(pass, workspace.patches);
    backend->patch_tokens(pass->lane,
                          &(struct yk_patch_tokens_op){
                              .rows = rows,
                              .width = C,
                              .sequence = pass->batch.sequence,
                              .positions = yk_layer_pass_parameter_weights(pass, POSITIONS),
                              .class_token = yk_layer_pass_parameter_weights(pass, CLASS_TOKEN),
                              .bias = yk_layer_pass_parameter_weights(pass, BIAS),
                              .out = pass->output,
                              .weight_type = yk_layer_pass_parameter_precision(pass, POSITIONS),
                              .out_type = net->workload.precision,
                          });
    backend->matmul(pass->lane, &(struct yk_matmul_op){
                                    .m = rows,
                                    .n = C,
                                    .k = K,
                                    .a = workspace.patches,
                                    .a_stride = K,
                                    .b = yk_layer_pass_parameter_weights(pass, WEIGHT),
                                    .b_stride = K,
                                    .b_transposed = true,
                                    .c = pass->output,
                                    .c_stride = C,
                                    .add = pass->output,
                                    .add_stride = C,
                                    .scale = 1,
                                    .a_type = yk_layer_pass_get_layer(pass)->precision,
                                    .b_type = yk_layer_pass_parameter_precision(pass, WEIGHT),
                                    .c_type = net->workload.precision,
                                });
    yk_residual_apply_dropout_in_place(pass, YK_DROPOUT_EMBEDDING, pass->output);
}

/* Adds the sums of some rows of `sums` to the gradient of a parameter. */
static void add_sums(const struct yk_layer_pass *pass, const float *sums, int64_t rows,
                     int64_t columns, int32_t parameter)
{
    pass->store->context.backend->sum_rows(
        pass->lane, &(struct yk_sum_rows_op){
                        .rows = rows,
                        .columns = columns,
                        .from = sums,
                        .stride = columns,
                        .to = yk_layer_pass_parameter_gradient(pass, parameter),
                        .from_type = YK_PRECISION_FP32,
                        .to_type = pass->net->workload.precision,
                    });
}

/* The gradients of positions, class token and bias: sums over images, of which the positions have
 * all rows, the class token the first, and the bias the others, added up. */
static void backward_tokens(const struct yk_layer_pass *pass, float *sums)
{
    const struct yk_backend *backend = pass->store->context.backend;
    const int64_t C = pass->net->config->width;
    const int64_t T = pass->batch.sequence;
    backend->clear(pass->lane, sums, (size_t)(T * C) * sizeof *sums);
    backend->sum_rows(pass->lane, &(struct yk_sum_rows_op){
                                      .rows = pass->batch.samples,
                                      .columns = T * C,
                                      .from = pass->output_gradient,
                                      .stride = T * C,
                                      .to = sums,
                                      .from_type = pass->net->workload.precision,
                                      .to_type = YK_PRECISION_FP32,
                                  });
    add_sums(pass, sums, 1, T * C, POSITIONS);
    add_sums(pass, sums, 1, C, CLASS_TOKEN);
    add_sums(pass, sums + C, T - 1, C, BIAS);
}

static void backward(const struct yk_layer_pass *pass)
{
    const int64_t C = pass->net->config->width;
    const int64_t K = yk_model_config_patch_size(pass->net->config);
    struct yk_bump_allocator allocator = {.base = pass->workspace};
    const struct workspace workspace =
        allocate_workspace(pass->net, pass->layer, &pass->batch, true, &allocator);
    if (!yk_layer_pass_parameter_gradient(pass, WEIGHT)) {
        return;
    }
    yk_residual_apply_dropout_in_place(pass, YK_DROPOUT_EMBEDDING, pass->output_gradient);
    backward_tokens(pass, workspace.sums);
    cut(pass, workspace.patches);
    pass->store->context.backend->matmul(pass->lane,
                                         &(struct yk_matmul_op){
                                             .m = C,
                                             .n = K,
                                             .k = yk_layer_pass_token_count(pass),
                                             .a = pass->output_gradient,
                                             .a_stride = C,
                                             .a_transposed = true,
                                             .b = workspace.patches,
                                             .b_stride = K,
                                             .c = yk_layer_pass_parameter_gradient(pass, WEIGHT),
                                             .c_stride = K,
                                             .accumulate = true,
                                             .scale = 1,
                                             .a_type = pass->net->workload.precision,
                                             .b_type = yk_layer_pass_get_layer(pass)->precision,
                                             .c_type = pass->net->workload.precision,
                                         });
}

const struct yk_layer_kind yk_layer_kind_patch_embedding = {
    .reads_tokens = true,
    .list = list,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
