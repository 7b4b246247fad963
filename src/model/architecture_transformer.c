/*
 * The Transformer (Vaswani et al. 2017) with encoder and decoder, which Marian implements:
 * post-norm blocks, sinusoidal positions, ReLU, GELU or SiLU. Every block of the decoder reads the
 * encoder's output, so the layers are no chain.
 */
#include "model/architecture.h"
#include "model/config_fields.h"

#include <inttypes.h>

enum {
    USUAL_POSITIONS = 1024 /* what the framework assumes; no layer is counted by it */
};

static const struct yk_config_field fields[] = {
    {{"vocab_size"}, "the vocabulary", YK_FIELD_REQUIRED, YK_CONFIG_OFFSET(vocabulary)},
    {{"decoder_vocab_size"},
     "the target's vocabulary",
     YK_FIELD_DERIVED,
     YK_CONFIG_OFFSET(target_vocabulary)},
    {{"d_model", "hidden_size"},
     "the width of the model",
     YK_FIELD_REQUIRED,
     YK_CONFIG_OFFSET(width)},
    {{"encoder_layers", "num_hidden_layers"},
     "the number of the encoder's blocks",
     YK_FIELD_REQUIRED,
     YK_CONFIG_OFFSET(encoder_layers)},
    {{"decoder_layers"},
     "the number of the decoder's blocks",
     YK_FIELD_REQUIRED,
     YK_CONFIG_OFFSET(layers)},
    {{"encoder_ffn_dim"},
     "the width inside the encoder's feed-forward",
     YK_FIELD_REQUIRED,
     YK_CONFIG_OFFSET(encoder_inner)},
    {{"decoder_ffn_dim"},
     "the width inside the decoder's feed-forward",
     YK_FIELD_REQUIRED,
     YK_CONFIG_OFFSET(inner)},
    {{"encoder_attention_heads", "num_attention_heads"},
     "the number of the encoder's heads",
     YK_FIELD_REQUIRED,
     YK_CONFIG_OFFSET(encoder_heads)},
    {{"decoder_attention_heads"},
     "the number of the decoder's heads",
     YK_FIELD_REQUIRED,
     YK_CONFIG_OFFSET(heads)},
    {{"max_position_embeddings"},
     "the longest sequence",
     USUAL_POSITIONS,
     YK_CONFIG_OFFSET(positions)},
};

static const double USUAL_SPREAD = 0.02;
static const double EPSILON = 1e-5; /* no key: what the framework gives a norm that says nothing */

static const struct yk_config_flag flags[] = {
    {"tie_word_embeddings", true, YK_CONFIG_OFFSET(tied)},
    {"share_encoder_decoder_embeddings", true, YK_CONFIG_OFFSET(shared)},
    {"scale_embedding", false, YK_CONFIG_OFFSET(scaled_embedding)},
};

static const struct yk_config_field_table table = YK_FIELD_TABLE(fields, flags);

/* The framework makes such a model, but cannot compute its loss. */
static yk_status check_vocabularies(const struct yk_model_config *config)
{
    const int64_t target = yk_model_config_target_vocabulary(config);
    if (!config->shared || target == config->vocabulary) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT,
                   "\"decoder_vocab_size\" is %" PRId64
                   ", but encoder and decoder share one embedding with \"vocab_size\", %" PRId64,
                   target, config->vocabulary);
}

/* Sizes do not depend on these. The last four are marian-nn's, for models that the framework makes
 * but does not compute as they were meant. */
static yk_status read_arithmetic(const struct yk_json *json, struct yk_model_config *config)
{
    static const struct {
        const char *key;
        bool known; /* what it must be, and is where it is missing */
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
    return yk_config_fields_read_number(json, "init_std", USUAL_SPREAD, &config->spread);
}

static yk_status read_config(const struct yk_json *json, struct yk_model_config *config)
{
    YK_TRY(yk_config_fields_read(&table, json, config));
    YK_TRY(check_vocabularies(config));
    YK_TRY(read_arithmetic(json, config));
    YK_TRY(yk_config_fields_read_token_ids(json, config));
    YK_TRY(yk_config_fields_check_divides(&table, json, config, YK_CONFIG_OFFSET(encoder_heads),
                                          YK_CONFIG_OFFSET(width)));
    YK_TRY(yk_config_fields_check_divides(&table, json, config, YK_CONFIG_OFFSET(heads),
                                          YK_CONFIG_OFFSET(width)));
    config->kv_heads = config->heads;
    config->head_size = config->width / config->heads;
    config->linear_bias = true;
    config->inner_bias = true;
    config->post_norm = true;
    config->drops_stream = true;
    return YK_OK;
}

/* True where one table serves as both embeddings, and as the head's weights. */
static bool has_one_table(const struct yk_model_config *config)
{
    return config->shared && config->tied;
}

static int32_t add_source_embed(struct yk_model_builder *layers)
{
    static const char *const own[YK_MODEL_BUILDER_MODULES] = {"model.encoder.embed_tokens",
                                                              "model.encoder.embed_positions"};
    static const char *const shared[YK_MODEL_BUILDER_MODULES] = {
        "model.shared", "model.encoder.embed_tokens", "model.encoder.embed_positions"};
    const struct yk_model_config *config = layers->config;
    const int64_t weights = config->vocabulary * config->width;
    const bool idle = config->shared && !config->tied; /* then model.shared is kept unused */
    struct yk_layer_builder draft;
    yk_model_builder_begin_layer(layers, YK_LAYER_EMBEDDING, "embed", 0, &draft);
    yk_layer_add_shape(&draft, " V%lld C%lld sinusoids%s", (long long)config->vocabulary,
                       (long long)config->width, idle ? " idle" : "");
    yk_layer_add_embedding(&draft, layers->workload.batch * layers->workload.sequence,
                           config->width, 2, weights); /* token and position */
    yk_layer_add_unused(&draft, idle ? weights : 0);
    return yk_model_builder_add_layer(layers, &draft, "encoder embed",
                                      config->shared ? shared : own, YK_LAYER_NONE);
}

static int32_t add_target_embed(struct yk_model_builder *layers, int32_t source_embed)
{
    static const char *const modules[YK_MODEL_BUILDER_MODULES] = {"model.decoder.embed_tokens",
                                                                  "model.decoder.embed_positions"};
    const struct yk_model_config *config = layers->config;
    const int64_t V = yk_model_config_target_vocabulary(config);
    const bool tied = has_one_table(config);
    struct yk_layer_builder draft;
    yk_model_builder_begin_layer(layers, YK_LAYER_EMBEDDING, "embed", 0, &draft);
    yk_layer_add_shape(&draft, " V%lld C%lld sinusoids%s", (long long)V, (long long)config->width,
                       tied ? " tied" : "");
    yk_model_builder_shape_target(layers, &draft);
    yk_layer_add_embedding(&draft, layers->workload.batch * layers->workload.target_sequence,
                           config->width, 2, tied ? 0 : V * config->width);
    return yk_model_builder_add_layer(layers, &draft, "decoder embed", modules,
                                      tied ? source_embed : YK_LAYER_NONE);
}

/* Attention with its linears, the sum and its norm. `attention` is to the sequence itself. */
static void draft_self_attention(struct yk_layer_builder *draft,
                                 const struct yk_layer_attention *attention)
{
    const int64_t rows = attention->batch * attention->queries;
    const int64_t C = attention->heads * attention->head_size;
    yk_layer_add_linear(draft, &(struct yk_layer_linear){"qkv", rows, C, 3 * C, 3, .bias = true});
    yk_layer_add_attention(draft, attention);
    yk_layer_add_linear(
        draft, &(struct yk_layer_linear){"out", rows, C, C, 1, .bias = true, .input_kept = true});
    yk_layer_add_residual(draft, rows, C);
    yk_layer_add_norm(draft, YK_NORM_LAYER, rows, C);
}

/* The same to the encoder's output, which gives keys and values. */
static void draft_cross_attention(struct yk_layer_builder *draft,
                                  const struct yk_layer_attention *attention)
{
    const int64_t rows = attention->batch * attention->queries;
    const int64_t memory = attention->batch * attention->keys;
    const int64_t C = attention->heads * attention->head_size;
    yk_layer_add_linear(draft, &(struct yk_layer_linear){"cross q", rows, C, C, 1, .bias = true});
    yk_layer_add_linear(draft,
                        &(struct yk_layer_linear){"cross kv", memory, C, 2 * C, 2, .bias = true});
    yk_layer_add_attention(draft, attention);
    yk_layer_add_linear(draft, &(struct yk_layer_linear){"cross out", rows, C, C, 1, .bias = true,
                                                         .input_kept = true});
    yk_layer_add_residual(draft, rows, C);
    yk_layer_add_norm(draft, YK_NORM_LAYER, rows, C);
}

static void draft_feed_forward(const struct yk_model_builder *layers,
                               struct yk_layer_builder *draft, int64_t rows, int64_t F)
{
    const int64_t C = layers->config->width;
    yk_layer_add_linear(draft, &(struct yk_layer_linear){"up", rows, C, F, 1, .bias = true});
    yk_layer_add_activation(draft, yk_model_builder_activation(layers), rows, F);
    yk_layer_add_linear(draft, &(struct yk_layer_linear){"down", rows, F, C, 1, .bias = true});
    yk_layer_add_residual(draft, rows, C);
    yk_layer_add_norm(draft, YK_NORM_LAYER, rows, C);
}

static void draft_encoder_block(const struct yk_model_builder *layers,
                                struct yk_layer_builder *draft)
{
    const struct yk_model_config *config = layers->config;
    const int64_t rows = layers->workload.batch * layers->workload.sequence;
    struct yk_layer_attention attention =
        yk_model_builder_self_attention(layers, layers->workload.sequence, false);
    attention.heads = attention.kv_heads = config->encoder_heads;
    attention.head_size = config->width / config->encoder_heads;
    yk_model_builder_begin_layer(layers, YK_LAYER_BLOCK, "encoder-block", rows, draft);
    yk_layer_add_shape(draft, " C%lld F%lld H%lld%s", (long long)config->width,
                       (long long)config->encoder_inner, (long long)config->encoder_heads,
                       config->relu ? " relu" : "");
    draft_self_attention(draft, &attention);
    draft_feed_forward(layers, draft, rows, config->encoder_inner);
}

static void draft_decoder_block(const struct yk_model_builder *layers,
                                struct yk_layer_builder *draft)
{
    const struct yk_model_config *config = layers->config;
    const struct yk_workload *workload = &layers->workload;
    const int64_t rows = workload->batch * workload->target_sequence;
    const int64_t memory = workload->batch * workload->sequence;
    const struct yk_layer_attention self =
        yk_model_builder_self_attention(layers, workload->target_sequence, true);
    struct yk_layer_attention cross =
        yk_model_builder_self_attention(layers, workload->target_sequence, false);
    cross.name = "cross attention";
    cross.keys = workload->sequence;
    yk_model_builder_begin_layer(layers, YK_LAYER_BLOCK, "decoder-block", rows + memory, draft);
    yk_layer_add_shape(draft, " C%lld F%lld H%lld%s", (long long)config->width,
                       (long long)config->inner, (long long)config->heads,
                       config->relu ? " relu" : "");
    yk_model_builder_shape_target(layers, draft);
    draft_self_attention(draft, &self);
    draft_cross_attention(draft, &cross);
    draft_feed_forward(layers, draft, rows, config->inner);
    /* The gradients of the encoder's keys and values have room of their own. */
    draft->transient_bytes += 2 * memory * config->width * yk_precision_bytes(draft->precision);
}

static void describe(struct yk_model_builder *layers)
{
    const struct yk_model_config *config = layers->config;
    const int64_t source_rows = layers->workload.batch * layers->workload.sequence;
    const int64_t target_rows = layers->workload.batch * layers->workload.target_sequence;
    struct yk_layer_builder draft;
    const int32_t source_embed = add_source_embed(layers);
    draft_encoder_block(layers, &draft);
    const int32_t encoder =
        yk_model_builder_add_blocks(layers, &draft, config->encoder_layers, "encoder",
                                    "model.encoder.layers", source_embed, source_rows);
    const int32_t target_embed = add_target_embed(layers, source_embed);
    draft_decoder_block(layers, &draft);
    const int32_t decoder =
        yk_model_builder_add_blocks(layers, &draft, config->layers, "decoder",
                                    "model.decoder.layers", target_embed, target_rows);
    for (int32_t block = target_embed + 1; block <= decoder; block++) {
        yk_model_builder_add_edge(layers, encoder, block, source_rows);
    }
    yk_model_builder_add_head(layers, target_rows, decoder,
                              config->shared ? source_embed : target_embed);
}

static const char *const model_types[] = {"marian", NULL};
static const char *const classes[] = {"MarianMTModel", NULL};

const struct yk_architecture yk_architecture_transformer = {
    .name = "transformer",
    .model_types = model_types,
    .classes = classes,
    .position_table = true,
    .read = read_config,
    .describe = describe,
    .list_modules = yk_modules_transformer,
};
