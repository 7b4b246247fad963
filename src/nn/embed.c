/* The first layer: a row of the table for each token, and of learned positions where there are. */
#include "nn/parameters.h"
#include "nn/site.h"

#include "model/architecture.h"

enum {
    TOKENS,
    POSITIONS,
};

static bool has_positions(const struct yk_model_config *config)
{
    return config->architecture->learned_positions;
}

static void list(struct yk_parameters *parameters)
{
    const struct yk_model_config *config = parameters->config;
    yk_parameters_add_table(parameters, parameters->modules[0], config->vocabulary, config->width);
    if (has_positions(config)) {
        yk_parameters_add_table(parameters, parameters->modules[1], config->positions,
                                config->width);
    }
}

static void measure(const struct yk_net *net, int32_t layer, const struct yk_extent *extent,
                    struct yk_layer_sizes *out)
{
    (void)net;
    (void)layer;
    (void)extent;
    *out = (struct yk_layer_sizes){0};
}

static void drop(const struct yk_pass *pass, void *numbers)
{
    const struct yk_dropout dropout = yk_pass_dropout(pass, 0);
    if (dropout.rate > 0) {
        pass->store->engine.backend->drop(pass->lane, &(struct yk_drop){
                                                          .rows = yk_pass_rows(pass),
                                                          .width = pass->net->config->width,
                                                          .sequence = pass->extent.sequence,
                                                          .from = numbers,
                                                          .to = numbers,
                                                          .dropout = dropout,
                                                          .type = pass->net->workload.precision,
                                                      });
    }
}

static void forward(const struct yk_pass *pass)
{
    const struct yk_model_config *config = pass->net->config;
    pass->store->engine.backend->embed(
        pass->lane,
        &(struct yk_embed){
            .rows = yk_pass_rows(pass),
            .width = config->width,
            .sequence = pass->extent.sequence,
            .vocabulary = config->vocabulary,
            .tokens = pass->tokens,
            .table = yk_pass_weights(pass, TOKENS),
            .positions = has_positions(config) ? yk_pass_weights(pass, POSITIONS) : NULL,
            .out = pass->output,
            .scale = 1,
            .table_type = yk_pass_type(pass, TOKENS),
            .out_type = pass->net->workload.precision,
        });
    drop(pass, pass->output);
}

static void backward(const struct yk_pass *pass)
{
    const struct yk_model_config *config = pass->net->config;
    if (!pass->net->layers[pass->layer].parameters[TOKENS].trained) {
        return;
    }
    drop(pass, pass->output_gradient);
    pass->store->engine.backend->embed_back(
        pass->lane,
        &(struct yk_embed_back){
            .rows = yk_pass_rows(pass),
            .width = config->width,
            .sequence = pass->extent.sequence,
            .vocabulary = config->vocabulary,
            .tokens = pass->tokens,
            .d_out = pass->output_gradient,
            .d_table = yk_pass_gradients(pass, TOKENS),
            .d_positions = has_positions(config) ? yk_pass_gradients(pass, POSITIONS) : NULL,
            .scale = 1,
            .table_type = pass->net->workload.precision,
            .out_type = pass->net->workload.precision,
        });
}

const struct yk_layer_kind yk_layer_embed = {
    .name = "embed",
    .reads_tokens = true,
    .list = list,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
