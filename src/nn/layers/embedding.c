/*
 * Embedding: the first layer of an encoder or decoder. The output is the token's row of the table
 * plus a learned or sinusoidal position. The table is the layer's own or that of another layer. The
 * embedding of BERT (Devlin et al. 2019) also adds the row of segment 0, and ends with a norm.
 */
#include "model/architecture.h"
#include "nn/layers/norm.h"
#include "nn/layers/residual.h"
#include "nn/parameter_list.h"

#include <math.h>
#include <stdio.h>

/* Parameter numbers. Only BERT has the last two. */
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
 * Marian with "share_encoder_decoder_embeddings" but untied weights: encoder, decoder and head have
 * a table each, and the shared table is kept but unused.
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
    yk_parameter_list_add_embedding(
        parameters, modules[0],
        parameters->decodes ? yk_model_config_target_vocabulary_size(config) : config->vocabulary,
        config->width);
    if (has_positions(config)) {
        yk_parameter_list_add_embedding(parameters, modules[1], config->positions, config->width);
    }
}

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

/* What forward saves for backward. Only BERT's embedding has a norm. */
struct saved {
    void *sum; /* (rows, C) the input of the norm; NULL means: there is no norm */
    struct yk_norm norm;
};

static struct saved allocate_saved(const struct yk_net *net, int32_t layer, int64_t rows,
                                   struct yk_bump_allocator *allocator)
{
    const enum yk_precision type = net->workload.precision;
    if (net->layers[layer].kind != &yk_layer_kind_bert_embedding) {
        return (struct saved){0};
    }
    return (struct saved){
        .sum = yk_bump_allocate(allocator, rows * net->config->width,
                                (size_t)yk_precision_bytes(type)),
        .norm = yk_norm_allocate_statistics(net, NORM, type, rows, allocator),
    };
}

static void measure(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                    struct yk_layer_memory_sizes *out)
{
    struct yk_bump_allocator allocator = {0};
    (void)allocate_saved(net, layer, batch->samples * batch->sequence, &allocator);
    *out = (struct yk_layer_memory_sizes){.saved_bytes = allocator.used};
}

static int64_t vocabulary_of(const struct yk_layer_pass *pass)
{
    const struct yk_model_config *config = pass->net->config;
    return pass->net->layers[pass->layer].decodes ? yk_model_config_target_vocabulary_size(config)
                                                  : config->vocabulary;
}

static float scale_of(const struct yk_model_config *config)
{
    return config->scaled_embedding ? sqrtf((float)config->width) : 1.0F;
}

/* out = the rows of the tables, plus `shift` (C) unless it is NULL. */
static void look_up(const struct yk_layer_pass *pass, const void *shift, void *out)
{
    const struct yk_model_config *config = pass->net->config;
    const struct yk_layer_pass owner = yk_layer_pass_of_weights_owner(pass);
    pass->store->context.backend->embedding(
        pass->lane,
        &(struct yk_embedding_op){
            .rows = yk_layer_pass_token_count(pass),
            .width = config->width,
            .sequence = pass->batch.sequence,
            .vocabulary = vocabulary_of(pass),
            .tokens = pass->tokens,
            .table = yk_layer_pass_parameter_weights(&owner, TOKENS),
            .positions = has_positions(config) ? yk_layer_pass_parameter_weights(&owner, POSITIONS)
                                               : pass->position_tables.sinusoidal,
            .shift = shift,
            .out = out,
            .scale = scale_of(config),
            .table_type = yk_layer_pass_parameter_precision(&owner, TOKENS),
            .out_type = pass->net->workload.precision,
        });
}

/* Adds the gradient of the output to the gradients of the tables. */
static void look_up_backward(const struct yk_layer_pass *pass)
{
    const struct yk_model_config *config = pass->net->config;
    const struct yk_layer_pass owner = yk_layer_pass_of_weights_owner(pass);
    pass->store->context.backend->embedding_backward(
        pass->lane,
        &(struct yk_embedding_backward_op){
            .rows = yk_layer_pass_token_count(pass),
            .width = config->width,
            .sequence = pass->batch.sequence,
            .vocabulary = vocabulary_of(pass),
            .tokens = pass->tokens,
            .d_out = pass->output_gradient,
            .d_table = yk_layer_pass_parameter_gradient(&owner, TOKENS),
            .d_positions =
                has_positions(config) ? yk_layer_pass_parameter_gradient(&owner, POSITIONS) : NULL,
            .scale = scale_of(config),
            .table_type = pass->net->workload.precision,
            .out_type = pass->net->workload.precision,
        });
}

static void forward(const struct yk_layer_pass *pass)
{
    struct yk_bump_allocator allocator = {.base = pass->saved};
    const struct saved saved =
        allocate_saved(pass->net, pass->layer, yk_layer_pass_token_count(pass), &allocator);
    if (saved.sum) {
        look_up(pass, yk_layer_pass_parameter_weights(pass, SEGMENTS), saved.sum); /* row 0 */
        yk_norm_forward(pass, &saved.norm, saved.sum, pass->output);
    } else {
        look_up(pass, NULL, pass->output);
    }
    yk_residual_apply_dropout_in_place(pass, YK_DROPOUT_EMBEDDING, pass->output);
}

static void segments_backward(const struct yk_layer_pass *pass)
{
    pass->store->context.backend->sum_rows(
        pass->lane, &(struct yk_sum_rows_op){
                        .rows = yk_layer_pass_token_count(pass),
                        .columns = pass->net->config->width,
                        .from = pass->output_gradient,
                        .stride = pass->net->config->width,
                        .to = yk_layer_pass_parameter_gradient(pass, SEGMENTS),
                        .from_type = pass->net->workload.precision,
                        .to_type = pass->net->workload.precision,
                    });
}

static void backward(const struct yk_layer_pass *pass)
{
    const struct yk_layer_pass owner = yk_layer_pass_of_weights_owner(pass);
    struct yk_bump_allocator allocator = {.base = pass->saved};
    const struct saved saved =
        allocate_saved(pass->net, pass->layer, yk_layer_pass_token_count(pass), &allocator);
    void *gradient = pass->output_gradient;
    if (!yk_layer_pass_parameter_gradient(&owner, TOKENS)) {
        return;
    }
    yk_residual_apply_dropout_in_place(pass, YK_DROPOUT_EMBEDDING, gradient);
    if (saved.sum) {
        yk_norm_backward(pass, &saved.norm, saved.sum, gradient, NULL, gradient);
    }
    look_up_backward(pass);
    if (saved.sum) {
        segments_backward(pass);
    }
}

#define EMBEDDING(name_, list_)                                                                    \
    {                                                                                              \
        .name = (name_), .reads_tokens = true, .list = (list_), .measure = measure,                \
        .forward = forward, .backward = backward,                                                  \
    }

const struct yk_layer_kind yk_layer_kind_embedding = EMBEDDING("embed", list);
const struct yk_layer_kind yk_layer_kind_bert_embedding = EMBEDDING("bert-embed", bert_list);
