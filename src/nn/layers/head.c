/*
 * The last layer: logits over the vocabulary, and the loss. Marian adds a bias that it never
 * trains.
 */
#include "nn/layers/logits.h"
#include "nn/parameter_list.h"

static bool has_bias(const struct yk_model_config *config)
{
    return config->encoder_layers > 0;
}

static void list(struct yk_parameter_list *parameters)
{
    const struct yk_model_config *config = parameters->config;
    const int64_t V = yk_model_config_target_vocabulary(config);
    if (!parameters->follows) {
        yk_parameter_list_add_embedding(parameters, parameters->modules[0], V, config->width);
    }
    if (has_bias(config)) {
        yk_parameter_list_add_buffer(parameters, "final_logits_bias", 1, V);
    }
}

static void measure(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                    struct yk_layer_sizes *out)
{
    const int64_t rows = batch->samples * batch->sequence;
    struct yk_carver saved = {0};
    struct yk_carver forward = {0};
    (void)yk_logits_carve(net, layer, rows, &saved);
    (void)yk_logits_carve_losses(rows, &forward);
    *out = (struct yk_layer_sizes){.saved_bytes = saved.used, .forward_bytes = forward.used};
}

static struct yk_logits logits_of(const struct yk_pass *pass)
{
    const struct yk_net_layer *layer = &pass->net->layers[pass->layer];
    return (struct yk_logits){
        .x = pass->input,
        .x_type = pass->net->workload.precision,
        .bias = has_bias(pass->net->config) ? layer->parameter_count - 1 : -1,
        .logits = pass->saved,
    };
}

static void forward(const struct yk_pass *pass)
{
    const struct yk_logits io = logits_of(pass);
    yk_logits_forward(pass, &io, pass->workspace);
}

static void backward(const struct yk_pass *pass)
{
    const struct yk_logits io = logits_of(pass);
    yk_logits_backward(pass, &io, pass->input_gradient);
}

const struct yk_layer_kind yk_layer_head = {
    .name = "head",
    .list = list,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
