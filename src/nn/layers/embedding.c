/*
 * The first layer, of an encoder and of a decoder: a row of the table for each token, and of
 * learned or sinusoidal positions where there are. The table is its own or that of another layer.
 */
#include "model/architecture.h"
#include "nn/layers/residual.h"
#include "nn/parameter_list.h"

#include <math.h>
#include <stdio.h>

enum {
    TOKENS,
    POSITIONS,
};

static bool has_positions(const struct yk_model_config *config)
{
    return config->architecture->learned_positions;
}

/*
 * Marian with "share_encoder_decoder_embeddings" but untied: encoder, decoder and head have a table
 * each, and the one that they do not share is kept besides, unused.
 */
static void list_unshared(struct yk_parameter_list *parameters)
{
    const struct yk_model_config *config = parameters->config;
    char name[64];
    (void)snprintf(name, sizeof name, "%s.weight", parameters->modules[0]);
    yk_parameter_list_add_embedding(parameters, parameters->modules[1], config->vocabulary,
                                    config->width);
    yk_parameter_list_add_buffer(parameters, name, config->vocabulary, config->width);
}

static void list(struct yk_parameter_list *parameters)
{
    const struct yk_model_config *config = parameters->config;
    const char *const *modules = parameters->modules;
    if (parameters->follows) {
        return;
    }
    if (config->shared && !config->tied && !parameters->decodes) {
        list_unshared(parameters);
        return;
    }
    yk_parameter_list_add_embedding(parameters, modules[0],
                                    parameters->decodes ? yk_model_config_target_vocabulary(config)
                                                        : config->vocabulary,
                                    config->width);
    if (has_positions(config)) {
        yk_parameter_list_add_embedding(parameters, modules[1], config->positions, config->width);
    }
}

static void measure(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                    struct yk_layer_sizes *out)
{
    (void)net;
    (void)layer;
    (void)batch;
    *out = (struct yk_layer_sizes){0};
}

static int64_t vocabulary_of(const struct yk_pass *pass)
{
    const struct yk_model_config *config = pass->net->config;
    return pass->net->layers[pass->layer].decodes ? yk_model_config_target_vocabulary(config)
                                                  : config->vocabulary;
}

static float scale_of(const struct yk_model_config *config)
{
    return config->scaled_embedding ? sqrtf((float)config->width) : 1.0F;
}

static void forward(const struct yk_pass *pass)
{
    const struct yk_model_config *config = pass->net->config;
    const struct yk_pass owner = yk_pass_leader(pass);
    pass->store->engine.backend->embedding(
        pass->lane, &(struct yk_embedding_op){
                        .rows = yk_pass_rows(pass),
                        .width = config->width,
                        .sequence = pass->batch.sequence,
                        .vocabulary = vocabulary_of(pass),
                        .tokens = pass->tokens,
                        .table = yk_pass_weights(&owner, TOKENS),
                        .positions = has_positions(config) ? yk_pass_weights(&owner, POSITIONS)
                                                           : pass->position_tables.sinusoidal,
                        .out = pass->output,
                        .scale = scale_of(config),
                        .table_type = yk_pass_type(&owner, TOKENS),
                        .out_type = pass->net->workload.precision,
                    });
    yk_residual_dropout(pass, YK_DROPOUT_EMBEDDING, pass->output);
}

static void backward(const struct yk_pass *pass)
{
    const struct yk_model_config *config = pass->net->config;
    const struct yk_pass owner = yk_pass_leader(pass);
    void *d_table = yk_pass_gradients(&owner, TOKENS);
    if (!d_table) {
        return;
    }
    yk_residual_dropout(pass, YK_DROPOUT_EMBEDDING, pass->output_gradient);
    pass->store->engine.backend->embedding_backward(
        pass->lane,
        &(struct yk_embedding_backward_op){
            .rows = yk_pass_rows(pass),
            .width = config->width,
            .sequence = pass->batch.sequence,
            .vocabulary = vocabulary_of(pass),
            .tokens = pass->tokens,
            .d_out = pass->output_gradient,
            .d_table = d_table,
            .d_positions = has_positions(config) ? yk_pass_gradients(&owner, POSITIONS) : NULL,
            .scale = scale_of(config),
            .table_type = pass->net->workload.precision,
            .out_type = pass->net->workload.precision,
        });
}

const struct yk_layer_kind yk_layer_embedding = {
    .name = "embed",
    .reads_tokens = true,
    .list = list,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
