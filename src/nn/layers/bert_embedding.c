/*
 * The first layer of BERT (Devlin et al. 2019): the sum of a token's row, its position's and its
 * segment's, then a norm. Every token is of segment 0.
 */
#include "nn/layers/norm.h"
#include "nn/layers/residual.h"
#include "nn/parameter_list.h"

#include <stdio.h>

enum {
    TOKENS,
    POSITIONS,
    SEGMENTS,
    NORM,
};

static void list(struct yk_parameter_list *parameters)
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

static struct saved carve(const struct yk_net *net, int64_t rows, struct yk_carver *carver)
{
    const enum yk_precision type = net->workload.precision;
    return (struct saved){
        .sum = yk_carve(carver, rows * net->config->width, (size_t)yk_precision_bytes(type)),
        .norm = yk_norm_carve(net, NORM, type, rows, carver),
    };
}

static void measure(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                    struct yk_layer_sizes *out)
{
    struct yk_carver carver = {0};
    (void)layer;
    (void)carve(net, batch->samples * batch->sequence, &carver);
    *out = (struct yk_layer_sizes){.saved_bytes = carver.used};
}

static void forward(const struct yk_pass *pass)
{
    const struct yk_model_config *config = pass->net->config;
    struct yk_carver carver = {.base = pass->saved};
    const struct saved saved = carve(pass->net, yk_pass_rows(pass), &carver);
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

static void backward(const struct yk_pass *pass)
{
    const struct yk_model_config *config = pass->net->config;
    const struct yk_backend *backend = pass->store->engine.backend;
    const enum yk_precision type = pass->net->workload.precision;
    struct yk_carver carver = {.base = pass->saved};
    const struct saved saved = carve(pass->net, yk_pass_rows(pass), &carver);
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
    .list = list,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
