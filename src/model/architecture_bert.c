/*
 * BERT (Devlin et al. 2019): post-norm blocks that attend in both directions, learned positions and
 * segments, then a pooler over the first token, a head for masked tokens, or both.
 */
#include "model/architecture.h"
#include "model/config_fields.h"

#include <string.h>

enum {
    USUAL_SEGMENTS = 2,
    SENTENCE_CLASSES = 2, /* does the second sentence follow the first */
};

static const double USUAL_EPSILON = 1e-12;
static const double USUAL_SPREAD = 0.02;

static const struct yk_config_field fields[] = {
    {{"vocab_size"}, "the vocabulary", YK_FIELD_REQUIRED, YK_CONFIG_OFFSET(vocabulary)},
    {{"hidden_size"}, "the width of the model", YK_FIELD_REQUIRED, YK_CONFIG_OFFSET(width)},
    {{"intermediate_size"},
     "the width inside the feed-forward",
     YK_FIELD_REQUIRED,
     YK_CONFIG_OFFSET(inner)},
    {{"num_hidden_layers"}, "the number of blocks", YK_FIELD_REQUIRED, YK_CONFIG_OFFSET(layers)},
    {{"num_attention_heads"}, "the number of heads", YK_FIELD_REQUIRED, YK_CONFIG_OFFSET(heads)},
    {{"max_position_embeddings"},
     "the number of positions",
     YK_FIELD_REQUIRED,
     YK_CONFIG_OFFSET(positions)},
    {{"type_vocab_size"}, "the number of segments", USUAL_SEGMENTS, YK_CONFIG_OFFSET(token_types)},
};

static const struct yk_config_flag flags[] = {
    {"tie_word_embeddings", true, YK_CONFIG_OFFSET(tied)},
};

static const char ENCODER_ONLY[] = "BERT is known only as an encoder";

static const struct yk_config_field_table table = YK_FIELD_TABLE(fields, flags);

/* Sizes do not depend on these. */
static yk_status read_arithmetic(const struct yk_json *json, struct yk_model_config *config)
{
    static const char key[] = "position_embedding_type";
    const struct yk_json *positions = yk_json_get(json, key);
    bool absolute = false;
    YK_TRY(yk_config_fields_read_activation(json, "hidden_act", "gelu", "its hidden_act", config));
    YK_TRY(yk_config_fields_read_match(json, key, "absolute", &absolute));
    if (positions && !yk_json_is_null(positions) && !absolute) {
        config->not_trained = "its position_embedding_type";
    }
    YK_TRY(
        yk_config_fields_read_number(json, "layer_norm_eps", USUAL_EPSILON, &config->norm_epsilon));
    return yk_config_fields_read_number(json, "initializer_range", USUAL_SPREAD, &config->spread);
}

static yk_status read_config(const struct yk_json *json, struct yk_model_config *config)
{
    YK_TRY(yk_config_fields_read(&table, json, config));
    YK_TRY(yk_config_fields_check_divides(&table, json, config, YK_CONFIG_OFFSET(heads),
                                          YK_CONFIG_OFFSET(width)));
    YK_TRY(read_arithmetic(json, config));
    YK_TRY(yk_config_fields_read_token_ids(json, config));
    YK_TRY(yk_config_fields_refuse(json, "is_decoder", ENCODER_ONLY));
    YK_TRY(yk_config_fields_refuse(json, "add_cross_attention", ENCODER_ONLY));
    const char *class = yk_json_string(yk_json_at(yk_json_get(json, "architectures"), 0));
    const bool masked = class && strcmp(class, "BertForMaskedLM") == 0;
    config->masked_head = masked || (class && strcmp(class, "BertForPreTraining") == 0);
    config->pooler = !masked;
    config->kv_heads = config->heads;
    config->head_size = config->width / config->heads;
    config->linear_bias = true;
    config->inner_bias = true;
    config->post_norm = true;
    config->drops_stream = true;
    return YK_OK;
}

/* The framework's names have this in front where the encoder is a part of a larger model. */
static bool is_inside(const struct yk_model_config *config)
{
    return config->masked_head;
}

static int32_t add_embed(struct yk_model_builder *layers)
{
    const struct yk_model_config *config = layers->config;
    const char *const modules[YK_MODEL_BUILDER_MODULES] = {is_inside(config) ? "bert.embeddings"
                                                                             : "embeddings"};
    const int64_t rows = layers->workload.batch * layers->workload.sequence;
    const int64_t C = config->width;
    struct yk_layer_builder draft;
    yk_model_builder_begin_layer(layers, YK_LAYER_EMBEDDING, "bert-embed", 0, &draft);
    yk_layer_add_shape(&draft, " V%lld C%lld P%lld S%lld", (long long)config->vocabulary,
                       (long long)C, (long long)config->positions, (long long)config->token_types);
    yk_layer_add_embedding(&draft, rows, C, 3,
                           (config->vocabulary + config->positions + config->token_types) * C);
    yk_layer_add_norm(&draft, YK_NORM_LAYER, rows, C);
    return yk_model_builder_add_layer(layers, &draft, "embed", modules, YK_LAYER_NONE);
}

static void draft_block(const struct yk_model_builder *layers, struct yk_layer_builder *draft)
{
    const struct yk_model_config *config = layers->config;
    const int64_t rows = layers->workload.batch * layers->workload.sequence; /* B·T */
    const int64_t C = config->width;
    const int64_t F = config->inner;
    const struct yk_layer_attention attention =
        yk_model_builder_self_attention(layers, layers->workload.sequence, false);
    yk_model_builder_begin_layer(layers, YK_LAYER_BLOCK, "bert-block", rows, draft);
    yk_layer_add_shape(draft, " C%lld F%lld H%lld%s", (long long)C, (long long)F,
                       (long long)config->heads, config->relu ? " relu" : "");
    yk_layer_add_linear(draft, &(struct yk_layer_linear){"qkv", rows, C, 3 * C, 3, .bias = true});
    yk_layer_add_attention(draft, &attention);
    yk_layer_add_linear(
        draft, &(struct yk_layer_linear){"out", rows, C, C, 1, .bias = true, .input_kept = true});
    yk_layer_add_residual(draft, rows, C);
    yk_layer_add_norm(draft, YK_NORM_LAYER, rows, C);
    yk_layer_add_linear(draft, &(struct yk_layer_linear){"up", rows, C, F, 1, .bias = true});
    yk_layer_add_activation(draft, yk_model_builder_activation(layers), rows, F);
    yk_layer_add_linear(draft, &(struct yk_layer_linear){"down", rows, F, C, 1, .bias = true});
    yk_layer_add_residual(draft, rows, C);
    yk_layer_add_norm(draft, YK_NORM_LAYER, rows, C);
}

static int32_t add_pooler(struct yk_model_builder *layers, int32_t last)
{
    const struct yk_model_config *config = layers->config;
    const char *const modules[YK_MODEL_BUILDER_MODULES] = {is_inside(config) ? "bert.pooler"
                                                                             : "pooler"};
    const int64_t B = layers->workload.batch; /* one token of each sample */
    const int64_t C = config->width;
    struct yk_layer_builder draft;
    yk_model_builder_begin_layer(layers, YK_LAYER_OUTER, "pooler", layers->workload.sequence * B,
                                 &draft);
    yk_layer_add_shape(&draft, " C%lld", (long long)C);
    yk_layer_add_linear(&draft, &(struct yk_layer_linear){"pool", B, C, C, 1, .bias = true});
    yk_layer_add_activation(&draft, YK_ACTIVATION_TANH, B, C);
    draft.keeps_input = false; /* but a copy of one token of each sample */
    const int32_t pooler =
        yk_model_builder_add_layer(layers, &draft, "pooler", modules, YK_LAYER_NONE);
    yk_model_builder_add_edge(layers, last, pooler, B * layers->workload.sequence);
    return pooler;
}

static void add_head(struct yk_model_builder *layers, int32_t last, int32_t pooler, int32_t embed)
{
    static const char *const modules[YK_MODEL_BUILDER_MODULES] = {"cls"};
    const struct yk_model_config *config = layers->config;
    const int64_t B = layers->workload.batch;
    const int64_t rows = B * layers->workload.sequence;
    const int64_t C = config->width;
    const int64_t V = config->vocabulary;
    struct yk_layer_builder draft;
    yk_model_builder_begin_layer(layers, YK_LAYER_OUTER, "bert-head", rows, &draft);
    yk_layer_add_shape(&draft, " C%lld V%lld%s%s%s", (long long)C, (long long)V,
                       config->relu ? " relu" : "", config->tied ? " tied" : "",
                       pooler != YK_LAYER_NONE ? " pairs" : "");
    yk_layer_add_linear(&draft,
                        &(struct yk_layer_linear){"transform", rows, C, C, 1, .bias = true});
    yk_layer_add_activation(&draft, yk_model_builder_activation(layers), rows, C);
    yk_layer_add_norm(&draft, YK_NORM_LAYER, rows, C);
    yk_layer_add_linear(&draft, &(struct yk_layer_linear){"logits", rows, C, V, 1, .bias = true,
                                                          .tied = config->tied, .in_place = true});
    yk_layer_add_loss(&draft, rows, V);
    if (!config->tied) { /* predictions.bias: the product then has its own, decoder.bias */
        yk_layer_add_unused(&draft, V);
    }
    if (pooler != YK_LAYER_NONE) {
        yk_layer_add_linear(&draft, &(struct yk_layer_linear){"sentence", B, C, SENTENCE_CLASSES, 1,
                                                              .bias = true, .in_place = true});
        yk_layer_add_loss(&draft, B, SENTENCE_CLASSES);
    }
    const int32_t head = yk_model_builder_add_layer(layers, &draft, "head", modules,
                                                    config->tied ? embed : YK_LAYER_NONE);
    yk_model_builder_add_edge(layers, last, head, rows);
    if (pooler != YK_LAYER_NONE) {
        yk_model_builder_add_edge(layers, pooler, head, B);
    }
}

static void describe(struct yk_model_builder *layers)
{
    const struct yk_model_config *config = layers->config;
    const int64_t rows = layers->workload.batch * layers->workload.sequence;
    struct yk_layer_builder draft;
    const int32_t embed = add_embed(layers);
    draft_block(layers, &draft);
    const int32_t last = yk_model_builder_add_blocks(
        layers, &draft, config->layers, "layer",
        is_inside(config) ? "bert.encoder.layer" : "encoder.layer", embed, rows);
    const int32_t pooler = config->pooler ? add_pooler(layers, last) : YK_LAYER_NONE;
    if (config->masked_head) {
        add_head(layers, last, pooler, embed);
    }
}

static const char *const model_types[] = {"bert", NULL};
static const char *const classes[] = {"BertModel", "BertForMaskedLM", "BertForPreTraining", NULL};

const struct yk_architecture yk_architecture_bert = {
    .name = "bert",
    .model_types = model_types,
    .classes = classes,
    .learned_positions = true,
    .position_table = true,
    .read = read_config,
    .describe = describe,
    .list_modules = yk_modules_bert,
};
