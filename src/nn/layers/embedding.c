/*
 * The first layer, of an encoder and of a decoder: a row of the table for each token, and of
 * learned or sinusoidal positions where there are. The table is its own or that of another layer.
 */
#include "model/architecture.h"
#include "nn/layers/norm.h"
#include "nn/layers/residual.h"
#include "nn/parameter_list.h"

#include <math.h>
#include <stdio.h>

/* Parameters; the last two of BERT alone. */
enum {
    TOKENS,
    POSITIONS,
    SEGMENTS,
    NORM,
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

/*
 * That of BERT (Devlin et al. 2019): the sum of a token's row, its position's and its segment's,
 * then a norm. Every token is of segment 0.
 */

static void bert_list(struct yk_parameter_list *parameters)
{
    const struct yk_model_config *config = parameters->config;
    const struct {
        const char *name;
        int64_t rows;
    } tables[] = {
        [TOKENS] = {"word_embeddings", config->vocabulary},
        [POSITIONS] = {"position_embeddings", config->positions},
        [SEGMENTS] = {"token_type_embeddings", config->token_types},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char module[96];
        (void)snprintf(module, sizeof module, "%s.%s", parameters->modules[0], tables[i].name);
        yk_parameter_list_add_embedding(parameters, module, tables[i].rows, config->width);
    }
    yk_parameter_list_add_norm(parameters, parameters->modules[0], "LayerNorm");
}

struct saved {
    void *sum; /* (rows, C) */
    struct yk_norm norm;
};

static struct saved carve_saved(const struct yk_net *net, int64_t rows, struct yk_carver *carver)
{
    const enum yk_precision type = net->workload.precision;
    return (struct saved){
        .sum = yk_carve(carver, rows * net->config->width, (size_t)yk_precision_bytes(type)),
        .norm = yk_norm_carve(net, NORM, type, rows, carver),
    };
}

static void bert_measure(const struct yk_net *net, int32_t layer,
                         const struct yk_batch_shape *batch, struct yk_layer_sizes *out)
{
    struct yk_carver carver = {0};
    (void)layer;
    (void)carve_saved(net, batch->samples * batch->sequence, &carver);
    *out = (struct yk_layer_sizes){.saved_bytes = carver.used};
}

static void bert_forward(const struct yk_pass *pass)
{
    const struct yk_model_config *config = pass->net->config;
    struct yk_carver carver = {.base = pass->saved};
    const struct saved saved = carve_saved(pass->net, yk_pass_rows(pass), &carver);
    pass->store->engine.backend->embedding(pass->lane,
                                           &(struct yk_embedding_op){
                                               .rows = yk_pass_rows(pass),
                                               .width = config->width,
                                               .sequence = pass->batch.sequence,
                                               .vocabulary = config->vocabulary,
                                               .tokens = pass->tokens,
                                               .table = yk_pass_weights(pass, TOKENS),
                                               .positions = yk_pass_weights(pass, POSITIONS),
                                               .shift = yk_pass_weights(pass, SEGMENTS), /* row 0 */
                                               .out = saved.sum,
                                               .scale = 1,
                                               .table_type = yk_pass_type(pass, TOKENS),
                                               .out_type = pass->net->workload.precision,
                                           });
    yk_norm_forward(pass, &saved.norm, saved.sum, pass->output);
    yk_residual_dropout(pass, YK_DROPOUT_EMBEDDING, pass->output);
}

static void bert_backward(const struct yk_pass *pass)
{
    const struct yk_model_config *config = pass->net->config;
    const struct yk_backend *backend = pass->store->engine.backend;
    const enum yk_precision type = pass->net->workload.precision;
    struct yk_carver carver = {.base = pass->saved};
    const struct saved saved = carve_saved(pass->net, yk_pass_rows(pass), &carver);
    void *gradient = pass->output_gradient;
    if (!yk_pass_gradients(pass, TOKENS)) {
        return;
    }
    yk_residual_dropout(pass, YK_DROPOUT_EMBEDDING, gradient);
    yk_norm_backward(pass, &saved.norm, saved.sum, gradient, NULL, gradient);
    backend->embedding_backward(pass->lane, &(struct yk_embedding_backward_op){
                                                .rows = yk_pass_rows(pass),
                                                .width = config->width,
                                                .sequence = pass->batch.sequence,
                                                .vocabulary = config->vocabulary,
                                                .tokens = pass->tokens,
                                                .d_out = gradient,
                                                .d_table = yk_pass_gradients(pass, TOKENS),
                                                .d_positions = yk_pass_gradients(pass, POSITIONS),
                                                .scale = 1,
                                                .table_type = type,
                                                .out_type = type,
                                            });
    backend->sum_rows(pass->lane, &(struct yk_sum_rows_op){
                                      .rows = yk_pass_rows(pass),
                                      .columns = config->width,
                                      .from = gradient,
                                      .stride = config->width,
                                      .to = yk_pass_gradients(pass, SEGMENTS),
                                      .from_type = type,
                                      .to_type = type,
                                  });
}

const struct yk_layer_kind yk_layer_bert_embedding = {
    .name = "bert-embed",
    .reads_tokens = true,
    .list = bert_list,
    .measure = bert_measure,
    .forward = bert_forward,
    .backward = bert_backward,
};
