/*
 * GPT-2 (Radford et al. 2019), and minGPT, which differs by an untied head: pre-norm blocks,
 * learned positions, one linear for queries, keys and values.
 */
#include "model/architecture.h"
#include "model/config_fields.h"

enum {
    BYTE_PAIRS = 50257, /* the vocabulary of GPT-2, */
    LAST_PAIR = 50256,  /* whose last one both begins and ends a text */
};

static const double USUAL_EPSILON = 1e-5;
static const double USUAL_SPREAD = 0.02;

static const struct yk_config_field fields[] = {
    {{"vocab_size"}, "the vocabulary", YK_FIELD_REQUIRED, YK_CONFIG_OFFSET(vocabulary)},
    {{"n_embd", "hidden_size"},
     "the width of the model",
     YK_FIELD_REQUIRED,
     YK_CONFIG_OFFSET(width)},
    {{"n_layer", "num_hidden_layers"},
     "the number of blocks",
     YK_FIELD_REQUIRED,
     YK_CONFIG_OFFSET(layers)},
    {{"n_head", "num_attention_heads"},
     "the number of heads",
     YK_FIELD_REQUIRED,
     YK_CONFIG_OFFSET(heads)},
    {{"n_positions", "max_position_embeddings"},
     "the number of positions",
     YK_FIELD_REQUIRED,
     YK_CONFIG_OFFSET(positions)},
    {{"n_inner"}, "the width inside the feed-forward", YK_FIELD_DERIVED, YK_CONFIG_OFFSET(inner)},
};

static const struct yk_config_flag flags[] = {
    {"tie_word_embeddings", true, YK_CONFIG_OFFSET(tied)},
};

static const struct yk_config_field_table table = YK_FIELD_TABLE(fields, flags);

/* Sizes do not depend on these; what cannot be computed with can be planned for all the same. */
static yk_status read_arithmetic(const struct yk_json *json, struct yk_model_config *config)
{
    bool scaled = true;
    bool scaled_by_layer = false;
    YK_TRY(yk_config_fields_read_activation(json, "activation_function", "gelu_new",
                                            "its activation_function", config));
    (void)yk_json_boolean(yk_json_get(json, "scale_attn_weights"), &scaled);
    (void)yk_json_boolean(yk_json_get(json, "scale_attn_by_inverse_layer_idx"), &scaled_by_layer);
    if (!scaled || scaled_by_layer) {
        config->not_trained = "its way to scale attention";
    }
    YK_TRY(yk_config_fields_read_number(json, "layer_norm_epsilon", USUAL_EPSILON,
                                        &config->norm_epsilon));
    return yk_config_fields_read_number(json, "initializer_range", USUAL_SPREAD, &config->spread);
}

static yk_status read_ids(const struct yk_json *json, struct yk_model_config *config)
{
    YK_TRY(yk_config_fields_read_token_ids(json, config));
    if (config->vocabulary == BYTE_PAIRS) {
        config->ids.begin = config->ids.begin < 0 ? LAST_PAIR : config->ids.begin;
        config->ids.end = config->ids.end < 0 ? LAST_PAIR : config->ids.end;
    }
    return YK_OK;
}

static yk_status read_config(const struct yk_json *json, struct yk_model_config *config)
{
    YK_TRY(yk_config_fields_read(&table, json, config));
    YK_TRY(yk_config_fields_check_divides(&table, json, config, YK_CONFIG_OFFSET(heads),
                                          YK_CONFIG_OFFSET(width)));
    YK_TRY(read_arithmetic(json, config));
    YK_TRY(read_ids(json, config));
    YK_TRY(yk_config_fields_refuse(json, "add_cross_attention",
                                   "GPT-2 is known only without an encoder"));
    config->kv_heads = config->heads;
    config->head_size = config->width / config->heads;
    config->inner = config->inner > 0 ? config->inner : 4 * config->width;
    config->linear_bias = true;
    config->inner_bias = true;
    config->drops_stream = true;
    return YK_OK;
}

static int32_t add_embed(struct yk_model_builder *layers)
{
    static const char *const modules[YK_MODEL_BUILDER_MODULES] = {
        "transformer.wte", "transformer.wpe", "transformer.drop"};
    const struct yk_model_config *config = layers->config;
    const int64_t rows = layers->workload.batch * layers->workload.sequence;
    struct yk_layer_builder draft;
    yk_model_builder_begin_layer(layers, YK_LAYER_EMBEDDING, "embed", 0, &draft);
    yk_layer_add_shape(&draft, " V%lld C%lld P%lld", (long long)config->vocabulary,
                       (long long)config->width, (long long)config->positions);
    yk_layer_add_embedding(&draft, rows, config->width, 2,
                           (config->vocabulary + config->positions) * config->width);
    return yk_model_builder_add_layer(layers, &draft, "embed", modules, YK_LAYER_NONE);
}

static void draft_block(const struct yk_model_builder *layers, struct yk_layer_builder *draft)
{
    const struct yk_model_config *config = layers->config;
    const int64_t rows = layers->workload.batch * layers->workload.sequence; /* B·T */
    const int64_t C = config->width;
    const int64_t F = config->inner;
    const struct yk_layer_attention attention =
        yk_model_builder_self_attention(layers, layers->workload.sequence, true);
    yk_model_builder_begin_layer(layers, YK_LAYER_BLOCK, "gpt-block", rows, draft);
    yk_layer_add_shape(draft, " C%lld F%lld H%lld%s", (long long)C, (long long)F,
                       (long long)config->heads, config->relu ? " relu" : "");
    yk_layer_add_norm(draft, YK_NORM_LAYER, rows, C);
    yk_layer_add_linear(draft, &(struct yk_layer_linear){"qkv", rows, C, 3 * C, 1, .bias = true});
    yk_layer_add_attention(draft, &attention);
    yk_layer_add_linear(
        draft, &(struct yk_layer_linear){"out", rows, C, C, 1, .bias = true, .input_kept = true});
    yk_layer_add_residual(draft, rows, C);
    yk_layer_add_norm(draft, YK_NORM_LAYER, rows, C);
    yk_layer_add_linear(draft, &(struct yk_layer_linear){"up", rows, C, F, 1, .bias = true});
    yk_layer_add_activation(draft, yk_model_builder_activation(layers), rows, F);
    yk_layer_add_linear(draft, &(struct yk_layer_linear){"down", rows, F, C, 1, .bias = true});
    yk_layer_add_residual(draft, rows, C);
}

static void describe(struct yk_model_builder *layers)
{
    const int64_t rows = layers->workload.batch * layers->workload.sequence;
    struct yk_layer_builder draft;
    const int32_t embed = add_embed(layers);
    draft_block(layers, &draft);
    const int32_t last = yk_model_builder_add_blocks(layers, &draft, layers->config->layers,
                                                     "layer", "transformer.h", embed, rows);
    yk_model_builder_add_norm_and_head(layers, YK_NORM_LAYER, last, embed, "transformer.ln_f");
}

static const char *const model_types[] = {"gpt2", NULL};
static const char *const classes[] = {"GPT2LMHeadModel", NULL};

const struct yk_architecture yk_architecture_gpt2 = {
    .name = "gpt2",
    .model_types = model_types,
    .classes = classes,
    .learned_positions = true,
    .position_table = true,
    .read = read_config,
    .describe = describe,
    .list_modules = yk_modules_gpt2,
};
