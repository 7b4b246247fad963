/*
 * The Transformer (Vaswani et al. 2017) with encoder and decoder, as Marian implements it:
 * post-norm blocks, sinusoidal positions, ReLU, GELU or SiLU. Every block of the decoder reads the
 * encoder's output, so the layers do not form a chain.
 */
#include "model/architecture.h"
#include "model/config_fields.h"

#include <inttypes.h>

enum {
    DEFAULT_POSITIONS = 1024 /* as in transformers; no size depends on it */
};

static const struct yk_config_field fields[] = {
    YK_CONFIG_FIELD_ROW(vocabulary, YK_CONFIG_FIELD_REQUIRED, "the vocabulary", "vocab_size"),
    YK_CONFIG_FIELD_ROW(target_vocabulary, YK_CONFIG_FIELD_DERIVED, "the target's vocabulary",
                        "decoder_vocab_size"),
    YK_CONFIG_FIELD_ROW(width, YK_CONFIG_FIELD_REQUIRED, "the width of the model", "d_model",
                        "hidden_size"),
    YK_CONFIG_FIELD_ROW(encoder_layers, YK_CONFIG_FIELD_REQUIRED,
                        "the number of the encoder's blocks", "encoder_layers",
                        "num_hidden_layers"),
    YK_CONFIG_FIELD_ROW(layers, YK_CONFIG_FIELD_REQUIRED, "the number of the decoder's blocks",
                        "decoder_layers"),
    YK_CONFIG_FIELD_ROW(encoder_inner, YK_CONFIG_FIELD_REQUIRED,
                        "the width inside the encoder's feed-forward", "encoder_ffn_dim"),
    YK_CONFIG_FIELD_ROW(feed_forward_width, YK_CONFIG_FIELD_REQUIRED,
                        "the width inside the decoder's feed-forward", "decoder_ffn_dim"),
    YK_CONFIG_FIELD_ROW(encoder_heads, YK_CONFIG_FIELD_REQUIRED,
                        "the number of the encoder's heads", "encoder_attention_heads",
                        "num_attention_heads"),
    YK_CONFIG_FIELD_ROW(heads, YK_CONFIG_FIELD_REQUIRED, "the number of the decoder's heads",
                        "decoder_attention_heads"),
    YK_CONFIG_FIELD_ROW(positions, DEFAULT_POSITIONS, "the longest sequence",
                        "max_position_embeddings"),
};

static const double DEFAULT_SPREAD = 0.02;
static const double EPSILON = 1e-5; /* the default of PyTorch; the config has no key for it */

static const struct yk_config_flag flags[] = {
    YK_CONFIG_FLAG_ROW(tied, "tie_word_embeddings", true),
    YK_CONFIG_FLAG_ROW(shared, "share_encoder_decoder_embeddings", true),
    YK_CONFIG_FLAG_ROW(scaled_embedding, "scale_embedding", false),
};

static const struct yk_config_field_table table = YK_CONFIG_FIELD_TABLE(fields, flags);

/* transformers can create a model with other vocabularies, but cannot compute its loss. */
static yk_status check_vocabularies(const struct yk_model_config *config)
{
    const int64_t target = yk_model_config_target_vocabulary_size(config);
    if (!config->shared || target == config->vocabulary) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT,
                   "\"decoder_vocab_size\" is %" PRId64
                   ", but encoder and decoder share one embedding with \"vocab_size\", %" PRId64,
                   target, config->vocabulary);
}

/* Reads what does not change sizes. The switches are options of marian-nn that transformers
 * ignores: with other values it would compute a different model. */
static yk_status read_arithmetic(const struct yk_json *json, struct yk_model_config *config)
{
    static const struct {
        const char *key;
        bool known; /* the supported value, and the default */
        const char *what;
    } switches[] = {
        {"static_position_embeddings", true, "its learned positions"},
        {"normalize_before", false, "its normalize_before"},
        {"normalize_embedding", false, "its normalize_embedding"},
        {"add_final_layer_norm", false, "its add_final_layer_norm"},
    };
    YK_TRY(yk_config_fields_read_activation(json, "activation_function", "gelu",
                                            "its activation_function", config));
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        bool value = false;
        YK_TRY(yk_config_fields_read_flag(json, switches[i].key, switches[i].known, &value));
        config->not_trained = value == switches[i].known ? config->not_trained : switches[i].what;
    }
    config->norm_epsilon = EPSILON;
    return yk_config_fields_read_number(json, "init_std", DEFAULT_SPREAD, &config->init_std);
}

static yk_status read_config(const struct yk_json *json, struct yk_model_config *config)
{
    YK_TRY(yk_config_fields_read(&table, json, config));
    YK_TRY(check_vocabularies(config));
    YK_TRY(read_arithmetic(json, config));
    YK_TRY(yk_config_fields_read_token_ids(json, config));
    YK_TRY(yk_config_fields_check_divisible(&table, json, config,
                                            YK_MODEL_CONFIG_OFFSETOF(encoder_heads),
                                            YK_MODEL_CONFIG_OFFSETOF(width)));
    YK_TRY(yk_config_fields_check_divisible(&table, json, config, YK_MODEL_CONFIG_OFFSETOF(heads),
                                            YK_MODEL_CONFIG_OFFSETOF(width)));
    config->kv_heads = config->heads;
    config->head_size = config->width / config->heads;
    config->linear_bias = true;
    config->inner_bias = true;
    config->post_norm = true;
    config->residual_dropout = true;
    return YK_OK;
}

/* Whether both embeddings and the head share one table. */
static bool has_one_table(const struct yk_model_config *config)
{
    return config->shared && config->tied;
}

static int32_t add_source_embed(struct yk_model_builder *model)
{
    static const char *const own[YK_MODEL_BUILDER_MAX_MODULES] = {"model.encoder.embed_tokens",
                                                                  "model.encoder.embed_positions"};
    static const char *const shared[YK_MODEL_BUILDER_MAX_MODULES] = {
        "model.shared", "model.encoder.embed_tokens", "model.encoder.embed_positions"};
    const struct yk_model_config *config = model->config;
    const int64_t weights = config->vocabulary * config->width;
    const bool idle = config->shared && !config->tied; /* model.shared exists but is unused */
    struct yk_layer_builder layer;
    yk_model_builder_begin_layer(model, YK_LAYER_ROLE_EMBEDDING, "embed", 0, &layer);
    yk_layer_builder_append_shape_text(&layer, " V%lld C%lld sinusoids%s",
                                       (long long)config->vocabulary, (long long)config->width,
                                       idle ? " idle" : "");
    yk_layer_builder_add_embedding(&layer, model->workload.batch * model->workload.sequence,
                                   config->width, 2, weights); /* token and position */
    yk_layer_builder_add_unused_parameters(&layer, idle ? weights : 0);
    return yk_model_builder_add_layer(model, &layer, "encoder embed", config->shared ? shared : own,
                                      YK_LAYER_NONE);
}

static int32_t add_target_embed(struct yk_model_builder *model, int32_t source_embed)
{
    static const char *const modules[YK_MODEL_BUILDER_MAX_MODULES] = {
        "model.decoder.embed_tokens", "model.decoder.embed_positions"};
    const struct yk_model_config *config = model->config;
    const int64_t V = yk_model_config_target_vocabulary_size(config);
    const bool tied = has_one_table(config);
    struct yk_layer_builder layer;
    yk_model_builder_begin_layer(model, YK_LAYER_ROLE_EMBEDDING, "embed", 0, &layer);
    yk_layer_builder_append_shape_text(&layer, " V%lld C%lld sinusoids%s", (long long)V,
                                       (long long)config->width, tied ? " tied" : "");
    yk_model_builder_append_target_length(model, &layer);
    yk_layer_builder_add_embedding(&layer, model->workload.batch * model->workload.target_sequence,
                                   config->width, 2, tied ? 0 : V * config->width);
    return yk_model_builder_add_layer(model, &layer, "decoder embed", modules,
                                      tied ? source_embed : YK_LAYER_NONE);
}

/* Cross-attention to the encoder's output, the residual sum and its norm. */
static void build_cross_attention(struct yk_layer_builder *layer,
                                  const struct yk_attention_spec *attention)
{
    const int64_t rows = attention->batch * attention->queries;
    const int64_t memory = attention->batch * attention->keys;
    const int64_t C = attention->heads * attention->head_size;
    yk_layer_builder_add_linear(layer,
                                &(struct yk_linear_spec){"cross q", rows, C, C, 1, .bias = true});
    yk_layer_builder_add_linear(
        layer, &(struct yk_linear_spec){"cross kv", memory, C, 2 * C, 2, .bias = true});
    yk_layer_builder_add_attention(layer, attention);
    yk_layer_builder_add_linear(layer, &(struct yk_linear_spec){"cross out", rows, C, C, 1,
                                                                .bias = true, .input_kept = true});
    yk_layer_builder_add_residual(layer, rows, C);
    yk_layer_builder_add_norm(layer, YK_NORM_LAYER, rows, C);
}

static void build_encoder_block(const struct yk_model_builder *model,
                                struct yk_layer_builder *layer)
{
    const struct yk_model_config *config = model->config;
    const int64_t rows = model->workload.batch * model->workload.sequence;
    struct yk_attention_spec attention =
        yk_model_builder_make_self_attention_spec(model, model->workload.sequence, false);
    attention.heads = attention.kv_heads = config->encoder_heads;
    attention.head_size = config->width / config->encoder_heads;
    yk_model_builder_begin_block(model, "encoder-block", rows, config->encoder_inner,
                                 config->encoder_heads, layer);
    yk_layer_builder_add_self_attention(layer, &attention, 3);
    yk_layer_builder_add_norm(layer, YK_NORM_LAYER, rows, config->width);
    yk_model_builder_add_feed_forward(model, layer, rows, config->encoder_inner);
    yk_layer_builder_add_norm(layer, YK_NORM_LAYER, rows, config->width);
}

static void build_decoder_block(const struct yk_model_builder *model,
                                struct yk_layer_builder *layer)
{
    const struct yk_model_config *config = model->config;
    const struct yk_workload *workload = &model->workload;
    const int64_t rows = workload->batch * workload->target_sequence;
    const int64_t memory = workload->batch * workload->sequence;
    const struct yk_attention_spec self =
        yk_model_builder_make_self_attention_spec(model, workload->target_sequence, true);
    struct yk_attention_spec cross =
        yk_model_builder_make_self_attention_spec(model, workload->target_sequence, false);
    cross.name = "cross attention";
    cross.keys = workload->sequence;
    yk_model_builder_begin_block(model, "decoder-block", rows + memory, config->feed_forward_width,
                                 config->heads, layer);
    yk_model_builder_append_target_length(model, layer);
    yk_layer_builder_add_self_attention(layer, &self, 3);
    yk_layer_builder_add_norm(layer, YK_NORM_LAYER, rows, config->width);
    build_cross_attention(layer, &cross);
    yk_model_builder_add_feed_forward(model, layer, rows, config->feed_forward_width);
    yk_layer_builder_add_norm(layer, YK_NORM_LAYER, rows, config->width);
    /* The gradients of the encoder's keys and values have a buffer of their own. */
    layer->transient_bytes += 2 * memory * config->width * yk_precision_bytes(layer->precision);
}

static void add_layers(struct yk_model_builder *model)
{
    const struct yk_model_config *config = model->config;
    const int64_t source_rows = model->workload.batch * model->workload.sequence;
    const int64_t target_rows = model->workload.batch * model->workload.target_sequence;
    struct yk_layer_builder layer;
    const int32_t source_embed = add_source_embed(model);
    build_encoder_block(model, &layer);
    const int32_t encoder =
        yk_model_builder_add_blocks(model, &layer, config->encoder_layers, "encoder",
                                    "model.encoder.layers", source_embed, source_rows);
    const int32_t target_embed = add_target_embed(model, source_embed);
    build_decoder_block(model, &layer);
    const int32_t decoder =
        yk_model_builder_add_blocks(model, &layer, config->layers, "decoder",
                                    "model.decoder.layers", target_embed, target_rows);
    for (int32_t block = target_embed + 1; block <= decoder; block++) {
        yk_model_builder_add_edge(model, encoder, block, source_rows);
    }
    yk_model_builder_add_head(model, target_rows, decoder,
                              config->shared ? source_embed : target_embed);
}

/* In transformers, none of Marian's classes is unsplittable. */

static void list_attention(const struct yk_model_config *config, struct yk_module_tree *modules,
                           const char *name)
{
    const int64_t width = config->width;
    yk_module_tree_open_module(modules, name);
    (void)yk_module_tree_add_linear(modules, "k_proj", width, width, true);
    (void)yk_module_tree_add_linear(modules, "v_proj", width, width, true);
    (void)yk_module_tree_add_linear(modules, "q_proj", width, width, true);
    (void)yk_module_tree_add_linear(modules, "out_proj", width, width, true);
    yk_module_tree_close_module(modules);
}

static void list_feed_forward(struct yk_module_tree *modules, int64_t width, int64_t inner)
{
    (void)yk_module_tree_add_linear(modules, "fc1", width, inner, true);
    (void)yk_module_tree_add_linear(modules, "fc2", inner, width, true);
    yk_module_tree_add_norm(modules, "final_layer_norm", width, true);
}

static void list_encoder_block(const struct yk_model_config *config, struct yk_module_tree *modules)
{
    list_attention(config, modules, "self_attn");
    yk_module_tree_add_norm(modules, "self_attn_layer_norm", config->width, true);
    yk_module_tree_add_empty_module(modules, "activation_fn");
    list_feed_forward(modules, config->width, config->encoder_inner);
}

static void list_decoder_block(const struct yk_model_config *config, struct yk_module_tree *modules)
{
    list_attention(config, modules, "self_attn");
    yk_module_tree_add_empty_module(modules, "activation_fn");
    yk_module_tree_add_norm(modules, "self_attn_layer_norm", config->width, true);
    list_attention(config, modules, "encoder_attn");
    yk_module_tree_add_norm(modules, "encoder_attn_layer_norm", config->width, true);
    list_feed_forward(modules, config->width, config->feed_forward_width);
}

/* An encoder or decoder. Returns its embedding, which is tied to `shared` unless that is NONE.
 * transformers stores the fixed sinusoidal positions as parameters. */
static int32_t list_stack(const struct yk_model_config *config, struct yk_module_tree *modules,
                          bool decoder, int32_t shared)
{
    yk_module_tree_open_module(modules, decoder ? "decoder" : "encoder");
    const int64_t vocabulary =
        decoder ? yk_model_config_target_vocabulary_size(config) : config->vocabulary;
    const int32_t tokens =
        yk_module_tree_add_embedding(modules, "embed_tokens", vocabulary, config->width);
    if (shared != YK_MODULE_NONE) {
        yk_module_tree_tie_parameters(modules, tokens, shared);
    }
    (void)yk_module_tree_add_embedding(modules, "embed_positions", config->positions,
                                       config->width);
    yk_module_tree_add_numbered_blocks(modules, "layers",
                                       decoder ? config->layers : config->encoder_layers,
                                       decoder ? list_decoder_block : list_encoder_block, config);
    yk_module_tree_close_module(modules);
    return tokens;
}

/* Without tied weights, transformers stores even the shared embedding three times. */
static void list_modules(const struct yk_model_config *config, struct yk_module_tree *modules)
{
    const int64_t predicted = yk_model_config_target_vocabulary_size(config);
    int32_t shared = YK_MODULE_NONE;
    yk_module_tree_add_buffer(modules, "final_logits_bias", YK_MODULE_TENSOR_FLOAT, predicted);
    yk_module_tree_open_module(modules, "model");
    if (config->shared) {
        shared = yk_module_tree_add_embedding(modules, "shared", config->vocabulary, config->width);
    }
    const int32_t original = config->tied ? shared : YK_MODULE_NONE;
    (void)list_stack(config, modules, false, original);
    const int32_t target = list_stack(config, modules, true, original);
    yk_module_tree_close_module(modules);
    const int32_t head =
        yk_module_tree_add_linear(modules, "lm_head", config->width, predicted, false);
    if (config->tied) {
        yk_module_tree_tie_parameters(modules, head, config->shared ? shared : target);
    }
}

static const char *const model_types[] = {"marian", NULL};
static const char *const classes[] = {"MarianMTModel", NULL};

const struct yk_architecture yk_architecture_transformer = {
    .name = "transformer",
    .model_types = model_types,
    .classes = classes,
    .position_table = true,
    .read_config = read_config,
    .add_layers = add_layers,
    .list_modules = list_modules,
};
