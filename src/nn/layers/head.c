/*
 * Head: the last layer. It computes logits over the vocabulary, with a table of its own or with
 * that of the embedding, and the loss, which overwrites the logits with their gradient. The table
 * is the first parameter of the layer that owns it. The head of BERT (Devlin et al. 2019) first
 * transforms its input: norm(activation(transform x)). Its logits have a bias; so have those of
 * Marian, whose bias is never trained. The head of a classifier reads one token of each sample; its
 * logits have a bias, too.
 */
#include "model/architecture.h"
#include "nn/layers/mlp.h"
#include "nn/layers/norm.h"
#include "nn/parameter_list.h"

enum {
    TRANSFORM, /* the only projection of BERT's head; other heads have none */
};

static int64_t vocabulary_of(const struct yk_net *net)
{
    return yk_model_config_target_vocabulary_size(net->config);
}

static int64_t stride_of(const struct yk_net *net)
{
    return yk_model_config_logit_row_stride(vocabulary_of(net));
}

/* What forward saves for backward. */
struct saved {
    void *logits; /* (rows, V) with rows yk_model_config_logit_row_stride() apart, before their cap;
                     first, because callers read logits from the start of `saved` */
    void *transformed; /* (rows, C) before the activation; NULL for ReLU, which needs only its
                          output */
    void *active;      /* (rows, C) */
    void *normed;      /* (rows, C); NULL means: the head does not transform its input */
    struct yk_norm norm;
};

/* The number of the logits' bias, or −1. It follows the table if the layer owns the table. */
static int32_t bias_of(const struct yk_net *net, int32_t layer)
{
    const int32_t number = net->layers[layer].weights_owner == layer ? 1 : 0;
    return number < net->layers[layer].parameter_count ? number : -1;
}

static struct saved allocate_saved(const struct yk_net *net, int32_t layer, int64_t rows,
                                   struct yk_bump_allocator *allocator)
{
    const enum yk_precision type = net->layers[layer].precision;
    const size_t size = (size_t)yk_precision_bytes(type);
    const int64_t numbers = rows * net->config->width;
    struct saved saved = {.logits = yk_bump_allocate(allocator, rows * stride_of(net), size)};
    if (net->config->masked_head) {
        saved.transformed = net->config->head_activation == YK_ACTIVATION_RELU
                                ? NULL
                                : yk_bump_allocate(allocator, numbers, size);
        saved.active = yk_bump_allocate(allocator, numbers, size);
        saved.normed = yk_bump_allocate(allocator, numbers, size);
        saved.norm =
            yk_norm_allocate_statistics(net, bias_of(net, layer) + 1, type, rows, allocator);
    }
    return saved;
}

/* (rows, C) for the gradient of the logits' input. */
static void *allocate_gradient(const struct yk_net *net, int32_t layer, int64_t rows,
                               struct yk_bump_allocator *allocator)
{
    return net->config->masked_head
               ? yk_bump_allocate(allocator, rows * net->config->width,
                                  (size_t)yk_precision_bytes(net->layers[layer].precision))
               : NULL;
}

static void measure(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                    struct yk_layer_memory_sizes *out)
{
    const int64_t rows = batch->samples * batch->sequence;
    struct yk_bump_allocator saved = {0};
    struct yk_bump_allocator forward = {0};
    struct yk_bump_allocator backward = {0};
    (void)allocate_saved(net, layer, rows, &saved);
    (void)yk_bump_allocate(&forward, rows, sizeof(float)); /* losses */
    (void)allocate_gradient(net, layer, rows, &backward);
    *out = (struct yk_layer_memory_sizes){saved.used, forward.used, backward.used};
}

static float logit_scale(const struct yk_net *net)
{
    return net->config->logit_scale > 0 ? (float)net->config->logit_scale : 1;
}

/* The input of the logits, and its type. */
static const void *logits_input(const struct yk_layer_pass *pass, const struct saved *saved,
                                enum yk_precision *type)
{
    *type = saved->normed ? saved->norm.type : pass->net->workload.precision;
    return saved->normed ? saved->normed : pass->input;
}

static void forward_logits(const struct yk_layer_pass *pass, const struct saved *saved)
{
    const int32_t bias = bias_of(pass->net, pass->layer);
    const struct yk_backend *backend = pass->store->context.backend;
    const struct yk_layer_pass owner = yk_layer_pass_of_weights_owner(pass);
    const int64_t C = pass->net->config->width;
    const int64_t V = vocabulary_of(pass->net);
    const enum yk_precision type = pass->net->layers[pass->layer].precision;
    struct yk_matmul_op op = {
        .m = yk_layer_pass_token_count(pass),
        .n = V,
        .k = C,
        .a_stride = C,
        .b = yk_layer_pass_parameter_weights(&owner, 0),
        .b_stride = C,
        .b_transposed = true,
        .c = saved->logits,
        .c_stride = stride_of(pass->net),
        .scale = logit_scale(pass->net),
        .b_type = yk_layer_pass_parameter_precision(&owner, 0),
        .c_type = type,
    };
    op.a = logits_input(pass, saved, &op.a_type);
    if (bias >= 0) {
        op.bias = yk_layer_pass_parameter_weights(pass, bias);
        op.bias_type = yk_layer_pass_parameter_precision(pass, bias);
    }
    backend->matmul(pass->lane, &op);
    if (pass->hits) {
        backend->accuracy(pass->lane, &(struct yk_accuracy_op){
                                          .rows = yk_layer_pass_token_count(pass),
                                          .classes = V,
                                          .stride = stride_of(pass->net),
                                          .logits = saved->logits,
                                          .targets = pass->targets,
                                          .hits = pass->hits,
                                          .type = type,
                                      });
    }
    if (pass->targets) {
        backend->cross_entropy(
            pass->lane,
            &(struct yk_cross_entropy_op){
                .rows = yk_layer_pass_token_count(pass),
                .classes = V,
                .stride = stride_of(pass->net),
                .logits = saved->logits,
                .targets = pass->targets,
                .row_losses = pass->workspace,
                .loss = pass->loss,
                .smoothing = pass->training ? (float)pass->net->options.label_smoothing : 0,
                .softcap = (float)pass->net->config->logit_softcap,
                .factor = pass->loss_factor,
                .type = type,
            });
    }
}

static void bias_backward(const struct yk_layer_pass *pass, const struct saved *saved)
{
    const int32_t bias = bias_of(pass->net, pass->layer);
    void *to = bias >= 0 ? yk_layer_pass_parameter_gradient(pass, bias) : NULL;
    if (to) {
        pass->store->context.backend->sum_rows(
            pass->lane, &(struct yk_sum_rows_op){
                            .rows = yk_layer_pass_token_count(pass),
                            .columns = vocabulary_of(pass->net),
                            .from = saved->logits,
                            .stride = stride_of(pass->net),
                            .to = to,
                            .from_type = pass->net->layers[pass->layer].precision,
                            .to_type = pass->net->workload.precision,
                        });
    }
}

static void backward_logits(const struct yk_layer_pass *pass, const struct saved *saved, void *dx)
{
    enum yk_precision x_type = YK_PRECISION_FP32;
    const void *x = logits_input(pass, saved, &x_type);
    const struct yk_backend *backend = pass->store->context.backend;
    const struct yk_layer_pass owner = yk_layer_pass_of_weights_owner(pass);
    const int64_t C = pass->net->config->width;
    const int64_t V = vocabulary_of(pass->net);
    struct yk_matmul_op op = {
        .m = yk_layer_pass_token_count(pass),
        .n = C,
        .k = V,
        .a = saved->logits,
        .a_stride = stride_of(pass->net),
        .b = yk_layer_pass_parameter_weights(&owner, 0),
        .b_stride = C,
        .c = dx,
        .c_stride = C,
        .scale = logit_scale(pass->net),
        .a_type = pass->net->layers[pass->layer].precision,
        .b_type = yk_layer_pass_parameter_precision(&owner, 0),
        .c_type = x_type,
    };
    backend->matmul(pass->lane, &op);
    op.c = yk_layer_pass_parameter_gradient(&owner, 0);
    if (op.c) {
        op.k = op.m;
        op.m = V;
        op.a_transposed = true;
        op.b = x;
        op.b_type = x_type;
        op.c_type = pass->net->workload.precision;
        op.accumulate = true;
        backend->matmul(pass->lane, &op);
    }
    bias_backward(pass, saved);
}

/* BERT's head, with names as in Hugging Face transformers. If the head is untied, the product has
 * its own bias, and that of the module around it is unused. */
static void list_masked_head(struct yk_parameter_list *parameters)
{
    const struct yk_model_config *config = parameters->config;
    const char *module = yk_parameter_list_module_name(parameters, YK_MODULE_HEAD);
    const char *around = yk_parameter_list_module_name(parameters, YK_MODULE_HEAD_BIAS);
    const int64_t C = config->width;
    const int64_t V = config->vocabulary;
    if (!parameters->follows) {
        yk_parameter_list_add_embedding(parameters, module, V, C);
    }
    yk_parameter_list_add_bias(parameters, parameters->follows ? around : module, V);
    yk_parameter_list_add_norm(
        parameters, NULL, yk_parameter_list_module_name(parameters, YK_MODULE_TRANSFORM_NORM), C);
    yk_parameter_list_add_projections(
        parameters, NULL,
        &(struct yk_projection_spec){
            .parts = {yk_parameter_list_module_name(parameters, YK_MODULE_TRANSFORM)},
            .out = {C},
            .in = C,
            .bias = true,
            .spread = config->init_std},
        1);
    if (!parameters->follows) {
        yk_parameter_list_add_buffer(parameters, around, "bias", 0, V);
    }
}

static void list(struct yk_parameter_list *parameters)
{
    const struct yk_model_config *config = parameters->config;
    const int64_t V = yk_model_config_target_vocabulary_size(config);
    if (config->masked_head) {
        list_masked_head(parameters);
        return;
    }
    if (!parameters->follows) {
        yk_parameter_list_add_embedding(parameters,
                                        yk_parameter_list_module_name(parameters, YK_MODULE_HEAD),
                                        V, config->width);
    }
    if (config->classifier) {
        yk_parameter_list_add_bias(parameters,
                                   yk_parameter_list_module_name(parameters, YK_MODULE_HEAD), V);
    }
    if (yk_architecture_module_name(config, YK_MODULE_LOGITS_BUFFER, parameters->arena)) {
        yk_parameter_list_add_buffer(parameters, NULL, "final_logits_bias", 1, V);
    }
}

/* Applies the derivative of the activation in place. It is only available as the epilogue of a
 * product, so this uses a product that is scaled by 0: a column of the norm's output with the
 * norm's weight. */
static void activation_backward(const struct yk_layer_pass *pass, const struct saved *saved,
                                void *gradient)
{
    const int64_t C = pass->net->config->width;
    pass->store->context.backend->matmul(
        pass->lane,
        &(struct yk_matmul_op){
            .m = yk_layer_pass_token_count(pass),
            .n = C,
            .k = 1,
            .a = saved->normed,
            .a_stride = C,
            .b = yk_layer_pass_parameter_weights(pass, saved->norm.weight),
            .b_stride = C,
            .c = gradient,
            .c_stride = C,
            .add = gradient,
            .add_stride = C,
            .epilogue = yk_mlp_activation_epilogue(pass->net->config->head_activation, true),
            .aux = saved->transformed ? saved->transformed : saved->active,
            .aux_stride = C,
            .scale = 0,
            .a_type = saved->norm.type,
            .b_type = yk_layer_pass_parameter_precision(pass, saved->norm.weight),
            .c_type = saved->norm.type,
        });
}

static void forward(const struct yk_layer_pass *pass)
{
    struct yk_bump_allocator allocator = {.base = pass->saved};
    const struct saved saved =
        allocate_saved(pass->net, pass->layer, yk_layer_pass_token_count(pass), &allocator);
    if (saved.normed) {
        yk_projection_forward(
            pass, TRANSFORM,
            &(struct yk_projection_forward_arguments){
                .x = pass->input,
                .y = saved.active,
                .epilogue = yk_mlp_activation_epilogue(pass->net->config->head_activation, false),
                .aux = saved.transformed,
            });
        yk_norm_forward(pass, &saved.norm, saved.active, NULL, saved.normed);
    }
    forward_logits(pass, &saved);
}

static void backward(const struct yk_layer_pass *pass)
{
    const int64_t rows = yk_layer_pass_token_count(pass);
    struct yk_bump_allocator allocator = {.base = pass->saved};
    struct yk_bump_allocator workspace = {.base = pass->workspace};
    const struct saved saved = allocate_saved(pass->net, pass->layer, rows, &allocator);
    void *gradient = allocate_gradient(pass->net, pass->layer, rows, &workspace);
    backward_logits(pass, &saved, saved.normed ? gradient : pass->input_gradient);
    if (saved.normed) {
        yk_norm_backward(pass, &saved.norm, saved.active, gradient, NULL, gradient);
        activation_backward(pass, &saved, gradient);
        yk_projection_backward(pass, TRANSFORM,
                               &(struct yk_projection_backward_arguments){
                                   .x = pass->input, .dy = gradient, .dx = pass->input_gradient});
    }
}

const struct yk_layer_kind yk_layer_kind_head = {
    .list = list,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
