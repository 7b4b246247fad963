/*
 * BERT (Devlin et al. 2019): post-norm blocks with bidirectional attention, learned positions and
 * segments, then a pooler over the first token, a head for masked tokens, or both.
 */
#include "model/architecture.h"
#include "model/config_fields.h"

#include <string.h>

enum {
    DEFAULT_SEGMENTS = 2,
    SENTENCE_CLASSES = 2, /* next sentence prediction */
};

static const double DEFAULT_EPSILON = 1e-12;
static const double DEFAULT_SPREAD = 0.02;

static const struct yk_config_field fields[] = {
    YK_CONFIG_FIELD_ROW(vocabulary, YK_CONFIG_FIELD_REQUIRED, "the vocabulary", "vocab_size"),
    YK_CONFIG_FIELD_ROW(width, YK_CONFIG_FIELD_REQUIRED, "the width of the model", "hidden_size"),
    YK_CONFIG_FIELD_ROW(feed_forward_width, YK_CONFIG_FIELD_REQUIRED,
                        "the width inside the feed-forward", "intermediate_size"),
    YK_CONFIG_FIELD_ROW(layers, YK_CONFIG_FIELD_REQUIRED, "the number of blocks",
                        "num_hidden_layers"),
    YK_CONFIG_FIELD_ROW(heads, YK_CONFIG_FIELD_REQUIRED, "the number of heads",
                        "num_attention_heads"),
    YK_CONFIG_FIELD_ROW(positions, YK_CONFIG_FIELD_REQUIRED, "the number of positions",
                        "max_position_embeddings"),
    YK_CONFIG_FIELD_ROW(token_types, DEFAULT_SEGMENTS, "the number of segments", "type_vocab_size"),
};

static const struct yk_config_flag flags[] = {
    YK_CONFIG_FLAG_ROW(tied, "tie_word_embeddings", true),
};

static const char ENCODER_ONLY[] = "BERT is known only as an encoder";

static const struct yk_config_field_table table = YK_CONFIG_FIELD_TABLE(fields, flags);

/* Reads what does not change sizes. */
static yk_status read_arithmetic(const struct yk_json *json, struct yk_model_config *config)
{
    static const char key[] = "position_embedding_type";
    const struct yk_json *positions = yk_json_get_member(json, key);
    bool absolute = false;
    YK_TRY(yk_config_fields_read_activation(json, "hidden_act", "gelu", "its hidden_act", config));
    YK_TRY(yk_config_fields_string_equals(json, key, "absolute", &absolute));
    if (positions && !yk_json_is_null(positions) && !absolute) {
        config->not_trained = "its position_embedding_type";
    }
    YK_TRY(yk_config_fields_read_number(json, "layer_norm_eps", DEFAULT_EPSILON,
                                        &config->norm_epsilon));
    return yk_config_fields_read_number(json, "initializer_range", DEFAULT_SPREAD,
                                        &config->init_std);
}

static yk_status read_config(const struct yk_json *json, struct yk_model_config *config)
{
    YK_TRY(yk_config_fields_read(&table, json, config));
    YK_TRY(yk_config_fields_check_divisible(&table, json, config, YK_MODEL_CONFIG_OFFSETOF(heads),
                                            YK_MODEL_CONFIG_OFFSETOF(width)));
    YK_TRY(read_arithmetic(json, config));
    YK_TRY(yk_config_fields_read_token_ids(json, config));
    YK_TRY(yk_config_fields_check_flag_is_false(json, "is_decoder", ENCODER_ONLY));
    YK_TRY(yk_config_fields_check_flag_is_false(json, "add_cross_attention", ENCODER_ONLY));
    const char *class =
        yk_json_string_value(yk_json_array_at(yk_json_get_member(json, "architectures"), 0));
    const bool masked = class && strcmp(class, "BertForMaskedLM") == 0;
    config->masked_head = masked || (class && strcmp(class, "BertForPreTraining") == 0);
    config->pooler = !masked;
    config->kv_heads = config->heads;
    config->head_size = config->width / config->heads;
    config->linear_bias = true;
    config->inner_bias = true;
    config->post_norm = true;
    config->residual_dropout = true;
    return YK_OK;
}

/* Whether module names have the prefix "bert.": the encoder is a part of a larger model. */
static bool is_inside(const struct yk_model_config *config)
{
    return config->masked_head;
}

static int32_t add_embed(struct yk_model_builder *model)
{
    const struct yk_model_config *config = model->config;
    const char *const modules[YK_MODEL_BUILDER_MAX_MODULES] = {is_inside(config) ? "bert.embeddings"
                                                                                 : "embeddings"};
    const int64_t rows = model->workload.batch * model->workload.sequence;
    const int64_t C = config->width;
    struct yk_layer_builder layer;
    yk_model_builder_begin_layer(model, YK_LAYER_ROLE_EMBEDDING, "bert-embed", 0, &layer);
    yk_layer_builder_append_shape_text(
        &layer, " V%lld C%lld P%lld S%lld", (long long)config->vocabulary, (long long)C,
        (long long)config->positions, (long long)config->token_types);
    yk_layer_builder_add_embedding(
        &layer, rows, C, 3, (config->vocabulary + config->positions + config->token_types) * C);
    yk_layer_builder_add_norm(&layer, YK_NORM_LAYER, rows, C);
    return yk_model_builder_add_layer(model, &layer, "embed", modules, YK_LAYER_NONE);
}

static void build_block(const struct yk_model_builder *model, struct yk_layer_builder *layer)
{
    const struct yk_model_config *config = model->config;
    const int64_t rows = model->workload.batch * model->workload.sequence; /* B·T */
    const int64_t C = config->width;
    const struct yk_attention_spec attention =
        yk_model_builder_make_self_attention_spec(model, model->workload.sequence, false);
    yk_model_builder_begin_block(model, "bert-block", rows, config->feed_forward_width,
                                 config->heads, layer);
    yk_layer_builder_add_self_attention(layer, &attention, 3);
    yk_layer_builder_add_norm(layer, YK_NORM_LAYER, rows, C);
    yk_model_builder_add_feed_forward(model, layer, rows, config->feed_forward_width);
    yk_layer_builder_add_norm(layer, YK_NORM_LAYER, rows, C);
}

static int32_t add_pooler(struct yk_model_builder *model, int32_t last)
{
    const struct yk_model_config *config = model->config;
    const char *const modules[YK_MODEL_BUILDER_MAX_MODULES] = {is_inside(config) ? "bert.pooler"
                                                                                 : "pooler"};
    const int64_t B = model->workload.batch; /* one token of each sample */
    const int64_t C = config->width;
    struct yk_layer_builder layer;
    yk_model_builder_begin_layer(model, YK_LAYER_ROLE_HEAD, "pooler",
                                 model->workload.sequence * B, &layer);
    yk_layer_builder_append_shape_text(&layer, " C%lld", (long long)C);
    yk_layer_builder_add_linear(&layer, &(struct yk_linear_spec){"pool", B, C, C, 1, .bias = true});
    yk_layer_builder_add_activation(&layer, YK_ACTIVATION_TANH, false, B, C);
    layer.layer.keeps_input = false; /* it saves a copy of one token of each sample */
    const int32_t pooler =
        yk_model_builder_add_layer(model, &layer, "pooler", modules, YK_LAYER_NONE);
    yk_model_builder_add_edge(model, last, pooler, B * model->workload.sequence);
    return pooler;
}

static void add_head(struct yk_model_builder *model, int32_t last, int32_t pooler, int32_t embed)
{
    static const char *const modules[YK_MODEL_BUILDER_MAX_MODULES] = {"cls"};
    const struct yk_model_config *config = model->config;
    const int64_t B = model->workload.batch;
    const int64_t rows = B * model->workload.sequence;
    const int64_t C = config->width;
    const int64_t V = config->vocabulary;
    struct yk_layer_builder layer;
    yk_model_builder_begin_layer(model, YK_LAYER_ROLE_HEAD, "bert-head", rows, &layer);
    yk_layer_builder_append_shape_text(&layer, " C%lld V%lld%s%s%s", (long long)C, (long long)V,
                                       config->relu ? " relu" : "", config->tied ? " tied" : "",
                                       pooler != YK_LAYER_NONE ? " pairs" : "");
    yk_layer_builder_add_linear(&layer,
                                &(struct yk_linear_spec){"transform", rows, C, C, 1, .bias = true});
    yk_layer_builder_add_activation(&layer, yk_model_builder_activation_kind(model), false, rows,
                                    C);
    yk_layer_builder_add_norm(&layer, YK_NORM_LAYER, rows, C);
    yk_layer_builder_add_linear(&layer,
                                &(struct yk_linear_spec){"logits", rows, C, V, 1, .bias = true,
                                                         .tied = config->tied, .in_place = true});
    yk_layer_builder_add_loss(&layer, rows, V);
    if (!config->tied) { /* predictions.bias: the untied product has decoder.bias */
        yk_layer_builder_add_unused_parameters(&layer, V);
    }
    if (pooler != YK_LAYER_NONE) {
        yk_layer_builder_add_linear(&layer,
                                    &(struct yk_linear_spec){"sentence", B, C, SENTENCE_CLASSES, 1,
                                                             .bias = true, .in_place = true});
        yk_layer_builder_add_loss(&layer, B, SENTENCE_CLASSES);
    }
    const int32_t head = yk_model_builder_add_layer(model, &layer, "head", modules,
                                                    config->tied ? embed : YK_LAYER_NONE);
    yk_model_builder_add_edge(model, last, head, rows);
    if (pooler != YK_LAYER_NONE) {
        yk_model_builder_add_edge(model, pooler, head, B);
    }
}

static void add_layers(struct yk_model_builder *model)
{
    const struct yk_model_config *config = model->config;
    const int64_t rows = model->workload.batch * model->workload.sequence;
    struct yk_layer_builder layer;
    const int32_t embed = add_embed(model);
    build_block(model, &layer);
    const int32_t last = yk_model_builder_add_blocks(
        model, &layer, config->layers, "layer",
        is_inside(config) ? "bert.encoder.layer" : "encoder.layer", embed, rows);
    const int32_t pooler = config->pooler ? add_pooler(model, last) : YK_LAYER_NONE;
    if (config->masked_head) {
        add_head(model, last, pooler, embed);
    }
}

/* Returns the number of the token embedding. */
static int32_t list_embeddings(const struct yk_model_config *config, struct yk_module_tree *modules)
{
    yk_module_tree_open_module(modules, "embeddings");
    yk_module_tree_set_unsplittable(modules);
    yk_module_tree_add_buffer(modules, "position_ids", YK_MODULE_TENSOR_INT64, config->positions);
    yk_module_tree_add_buffer(modules, "token_type_ids", YK_MODULE_TENSOR_INT64, config->positions);
    const int32_t tokens =
        yk_module_tree_add_embedding(modules, "word_embeddings", config->vocabulary, config->width);
    (void)yk_module_tree_add_embedding(modules, "position_embeddings", config->positions,
                                       config->width);
    (void)yk_module_tree_add_embedding(modules, "token_type_embeddings", config->token_types,
                                       config->width);
    yk_module_tree_add_norm(modules, "LayerNorm", config->width, true);
    yk_module_tree_add_empty_module(modules, "dropout");
    yk_module_tree_close_module(modules);
    return tokens;
}

/* A linear to the model's width, and the norm after the residual sum. */
static void list_output(const struct yk_model_config *config, struct yk_module_tree *modules,
                        int64_t in)
{
    yk_module_tree_open_module(modules, "output");
    (void)yk_module_tree_add_linear(modules, "dense", in, config->width, true);
    yk_module_tree_add_norm(modules, "LayerNorm", config->width, true);
    yk_module_tree_add_empty_module(modules, "dropout");
    yk_module_tree_close_module(modules);
}

static void list_block(const struct yk_model_config *config, struct yk_module_tree *modules)
{
    const int64_t width = config->width;
    yk_module_tree_set_unsplittable(modules);
    yk_module_tree_open_module(modules, "attention");
    yk_module_tree_open_module(modules, "self");
    (void)yk_module_tree_add_linear(modules, "query", width, width, true);
    (void)yk_module_tree_add_linear(modules, "key", width, width, true);
    (void)yk_module_tree_add_linear(modules, "value", width, width, true);
    yk_module_tree_add_empty_module(modules, "dropout");
    yk_module_tree_close_module(modules);
    list_output(config, modules, width);
    yk_module_tree_close_module(modules);
    yk_module_tree_open_module(modules, "intermediate");
    (void)yk_module_tree_add_linear(modules, "dense", width, config->feed_forward_width, true);
    yk_module_tree_add_empty_module(modules, "intermediate_act_fn");
    yk_module_tree_close_module(modules);
    list_output(config, modules, config->feed_forward_width);
}

/* The encoder with its embeddings and its pooler. Returns the number of the token embedding. */
static int32_t list_encoder(const struct yk_model_config *config, struct yk_module_tree *modules)
{
    const int32_t tokens = list_embeddings(config, modules);
    yk_module_tree_open_module(modules, "encoder");
    yk_module_tree_add_numbered_blocks(modules, "layer", config->layers, list_block, config);
    yk_module_tree_close_module(modules);
    if (config->pooler) {
        yk_module_tree_open_module(modules, "pooler");
        (void)yk_module_tree_add_linear(modules, "dense", config->width, config->width, true);
        yk_module_tree_add_empty_module(modules, "activation");
        yk_module_tree_close_module(modules);
    }
    return tokens;
}

/* The head for masked tokens; with a pooler, also the one for pairs of sentences. */
static void list_heads(const struct yk_model_config *config, struct yk_module_tree *modules,
                       int32_t tokens)
{
    const int64_t width = config->width;
    yk_module_tree_open_module(modules, "cls");
    yk_module_tree_open_module(modules, "predictions");
    const int32_t bias = yk_module_tree_add_parameter(modules, "bias", config->vocabulary);
    yk_module_tree_open_module(modules, "transform");
    (void)yk_module_tree_add_linear(modules, "dense", width, width, true);
    yk_module_tree_add_empty_module(modules, "transform_act_fn");
    yk_module_tree_add_norm(modules, "LayerNorm", width, true);
    yk_module_tree_close_module(modules);
    const int32_t decoder =
        yk_module_tree_add_linear(modules, "decoder", width, config->vocabulary, true);
    if (config->tied) {
        yk_module_tree_tie_parameters(modules, decoder, tokens);
        yk_module_tree_tie_parameters(modules, decoder + 1, bias);
    }
    yk_module_tree_close_module(modules);
    if (config->pooler) {
        (void)yk_module_tree_add_linear(modules, "seq_relationship", width, SENTENCE_CLASSES, true);
    }
    yk_module_tree_close_module(modules);
}

static void list_modules(const struct yk_model_config *config, struct yk_module_tree *modules)
{
    if (!config->masked_head) {
        (void)list_encoder(config, modules);
        return;
    }
    yk_module_tree_open_module(modules, "bert");
    const int32_t tokens = list_encoder(config, modules);
    yk_module_tree_close_module(modules);
    list_heads(config, modules, tokens);
}

static const char *const model_types[] = {"bert", NULL};
static const char *const classes[] = {"BertModel", "BertForMaskedLM", "BertForPreTraining", NULL};

const struct yk_architecture yk_architecture_bert = {
    .name = "bert",
    .model_types = model_types,
    .classes = classes,
    .learned_positions = true,
    .position_table = true,
    .read_config = read_config,
    .add_layers = add_layers,
    .list_modules = list_modules,
};
