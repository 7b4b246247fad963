#include "model/modules_tree.h"

enum {
    SENTENCE_CLASSES = 2 /* does the second sentence follow the first */
};

/* Returns the tokens' embedding. */
static int32_t add_embeddings(const struct yk_model_config *config, struct yk_modules *modules)
{
    yk_modules_open(modules, "embeddings");
    yk_modules_set_unsplittable(modules);
    yk_modules_add_buffer(modules, "position_ids", YK_MODULE_TENSOR_INT64, config->positions);
    yk_modules_add_buffer(modules, "token_type_ids", YK_MODULE_TENSOR_INT64, config->positions);
    const int32_t tokens =
        yk_modules_add_embedding(modules, "word_embeddings", config->vocabulary, config->width);
    (void)yk_modules_add_embedding(modules, "position_embeddings", config->positions,
                                   config->width);
    (void)yk_modules_add_embedding(modules, "token_type_embeddings", config->token_types,
                                   config->width);
    yk_modules_add_norm(modules, "LayerNorm", config->width, true);
    yk_modules_add_empty(modules, "dropout");
    yk_modules_close(modules);
    return tokens;
}

/* A linear back to the model's width, with the norm over the sum that follows it. */
static void add_output(const struct yk_model_config *config, struct yk_modules *modules, int64_t in)
{
    yk_modules_open(modules, "output");
    (void)yk_modules_add_linear(modules, "dense", in, config->width, true);
    yk_modules_add_norm(modules, "LayerNorm", config->width, true);
    yk_modules_add_empty(modules, "dropout");
    yk_modules_close(modules);
}

static void add_block(const struct yk_model_config *config, struct yk_modules *modules)
{
    const int64_t width = config->width;
    yk_modules_set_unsplittable(modules);
    yk_modules_open(modules, "attention");
    yk_modules_open(modules, "self");
    (void)yk_modules_add_linear(modules, "query", width, width, true);
    (void)yk_modules_add_linear(modules, "key", width, width, true);
    (void)yk_modules_add_linear(modules, "value", width, width, true);
    yk_modules_add_empty(modules, "dropout");
    yk_modules_close(modules);
    add_output(config, modules, width);
    yk_modules_close(modules);
    yk_modules_open(modules, "intermediate");
    (void)yk_modules_add_linear(modules, "dense", width, config->inner, true);
    yk_modules_add_empty(modules, "intermediate_act_fn");
    yk_modules_close(modules);
    add_output(config, modules, config->inner);
}

/* The encoder with its embeddings, and its pooler; returns the tokens' embedding. */
static int32_t add_encoder(const struct yk_model_config *config, struct yk_modules *modules)
{
    const int32_t tokens = add_embeddings(config, modules);
    yk_modules_open(modules, "encoder");
    yk_modules_open(modules, "layer");
    for (int64_t i = 0; i < config->layers; i++) {
        yk_modules_open_numbered(modules, i);
        add_block(config, modules);
        yk_modules_close(modules);
    }
    yk_modules_close(modules);
    yk_modules_close(modules);
    if (config->pooler) {
        yk_modules_open(modules, "pooler");
        (void)yk_modules_add_linear(modules, "dense", config->width, config->width, true);
        yk_modules_add_empty(modules, "activation");
        yk_modules_close(modules);
    }
    return tokens;
}

/* The head for masked tokens; with a pooler, also the one for pairs of sentences. */
static void add_heads(const struct yk_model_config *config, struct yk_modules *modules,
                      int32_t tokens)
{
    const int64_t width = config->width;
    yk_modules_open(modules, "cls");
    yk_modules_open(modules, "predictions");
    const int32_t bias = yk_modules_add_parameter(modules, "bias", config->vocabulary);
    yk_modules_open(modules, "transform");
    (void)yk_modules_add_linear(modules, "dense", width, width, true);
    yk_modules_add_empty(modules, "transform_act_fn");
    yk_modules_add_norm(modules, "LayerNorm", width, true);
    yk_modules_close(modules);
    const int32_t decoder =
        yk_modules_add_linear(modules, "decoder", width, config->vocabulary, true);
    if (config->tied) {
        yk_modules_tie(modules, decoder, tokens);
        yk_modules_tie(modules, decoder + 1, bias);
    }
    yk_modules_close(modules);
    if (config->pooler) {
        (void)yk_modules_add_linear(modules, "seq_relationship", width, SENTENCE_CLASSES, true);
    }
    yk_modules_close(modules);
}

void yk_modules_bert(const struct yk_model_config *config, struct yk_modules *modules)
{
    if (!config->masked_head) {
        (void)add_encoder(config, modules);
        return;
    }
    yk_modules_open(modules, "bert");
    const int32_t tokens = add_encoder(config, modules);
    yk_modules_close(modules);
    add_heads(config, modules, tokens);
}
