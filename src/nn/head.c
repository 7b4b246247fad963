/*
 * The last layer: logits over the vocabulary, by weights of its own or by those of the embedding,
 * and the loss, which turns logits into their gradient where they are.
 */
#include "nn/carve.h"
#include "nn/parameters.h"
#include "nn/site.h"

static void list(struct yk_parameters *parameters)
{
    const struct yk_model_config *config = parameters->config;
    if (!config->tied) {
        yk_parameters_add_table(parameters, parameters->modules[0],
                                yk_model_config_target_vocabulary(config), config->width);
    }
}

static void measure(const struct yk_net *net, int32_t layer, const struct yk_extent *extent,
                    struct yk_layer_sizes *out)
{
    const int64_t rows = extent->samples * extent->sequence;
    const size_t size = (size_t)yk_precision_bytes(yk_net_precision(net, layer));
    struct yk_carver saved = {0};
    struct yk_carver forward = {0};
    (void)yk_carve(&saved, rows * yk_model_config_target_vocabulary(net->config), size);
    (void)yk_carve(&forward, rows, sizeof(float));
    *out = (struct yk_layer_sizes){.saved_bytes = saved.used, .forward_bytes = forward.used};
}

/* The pass as seen by the layer that has the weights. */
static struct yk_pass owner(const struct yk_pass *pass)
{
    struct yk_pass other = *pass;
    other.layer = pass->net->layers[pass->layer].leader;
    return other;
}

static void forward(const struct yk_pass *pass)
{
    const struct yk_backend *backend = pass->store->engine.backend;
    const struct yk_pass weights = owner(pass);
    const int64_t rows = yk_pass_rows(pass);
    const int64_t C = pass->net->config->width;
    const int64_t V = yk_model_config_target_vocabulary(pass->net->config);
    const enum yk_precision type = yk_net_precision(pass->net, pass->layer);
    backend->matmul(pass->lane, &(struct yk_matmul){
                                    .m = rows,
                                    .n = V,
                                    .k = C,
                                    .a = pass->input,
                                    .a_stride = C,
                                    .b = yk_pass_weights(&weights, 0),
                                    .b_stride = C,
                                    .b_transposed = true,
                                    .c = pass->saved,
                                    .c_stride = V,
                                    .scale = 1,
                                    .a_type = pass->net->workload.precision,
                                    .b_type = yk_pass_type(&weights, 0),
                                    .c_type = type,
                                });
    if (pass->targets) {
        backend->lose(
            pass->lane,
            &(struct yk_lose){
                .rows = rows,
                .classes = V,
                .logits = pass->saved,
                .targets = pass->targets,
                .row_losses = pass->workspace,
                .loss = pass->loss,
                .smoothing = pass->training ? (float)pass->net->settings.label_smoothing : 0,
                .factor = pass->loss_factor,
                .type = type,
            });
    }
}

static void backward(const struct yk_pass *pass)
{
    const struct yk_backend *backend = pass->store->engine.backend;
    const struct yk_pass weights = owner(pass);
    const int64_t C = pass->net->config->width;
    const int64_t V = yk_model_config_target_vocabulary(pass->net->config);
    struct yk_matmul op = {
        .m = yk_pass_rows(pass),
        .n = C,
        .k = V,
        .a = pass->saved,
        .a_stride = V,
        .b = yk_pass_weights(&weights, 0),
        .b_stride = C,
        .c = pass->input_gradient,
        .c_stride = C,
        .scale = 1,
        .a_type = yk_net_precision(pass->net, pass->layer),
        .b_type = yk_pass_type(&weights, 0),
        .c_type = pass->net->workload.precision,
    };
    backend->matmul(pass->lane, &op);
    op.c = yk_pass_gradients(&weights, 0);
    if (op.c) {
        op.k = op.m;
        op.m = V;
        op.a_transposed = true;
        op.b = pass->input;
        op.b_type = pass->net->workload.precision;
        op.accumulate = true;
        backend->matmul(pass->lane, &op);
    }
}

const struct yk_layer_kind yk_layer_head = {
    .name = "head",
    .list = list,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
