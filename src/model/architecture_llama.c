/*
 * Llama (Touvron et al. 2023) and Mistral, which has the same shape: pre-norm blocks with RMS
 * norms, rotary positions, grouped queries, and a gated feed-forward.
 */
#include "model/architecture.h"
#include "model/config_fields.h"

#include <string.h>

enum {
    DEFAULT_POSITIONS = 2048, /* as in transformers; no size depends on it */
    MAX_POSITIONS = 1 << 30,
    MISTRAL_DEFAULT_KV_HEADS = 8, /* if the key is missing; null means the number of heads */
};

static const struct yk_config_field fields[] = {
    YK_CONFIG_FIELD_ROW(vocabulary, YK_CONFIG_FIELD_REQUIRED, "the vocabulary", "vocab_size"),
    YK_CONFIG_FIELD_ROW(width, YK_CONFIG_FIELD_REQUIRED, "the width of the model", "hidden_size"),
    YK_CONFIG_FIELD_ROW(feed_forward_width, YK_CONFIG_FIELD_REQUIRED,
                        "the width inside the feed-forward", "intermediate_size"),
    YK_CONFIG_FIELD_ROW(layers, YK_CONFIG_FIELD_REQUIRED, "the number of blocks",
                        "num_hidden_layers"),
    YK_CONFIG_FIELD_ROW(heads, YK_CONFIG_FIELD_REQUIRED, "the number of heads",
                        "num_attention_heads"),
    YK_CONFIG_FIELD_ROW(kv_heads, YK_CONFIG_FIELD_DERIVED, "the number of heads of keys and values",
                        "num_key_value_heads"),
    YK_CONFIG_FIELD_ROW(head_size, YK_CONFIG_FIELD_DERIVED, "the size of a head", "head_dim"),
    YK_CONFIG_FIELD_ROW(positions, DEFAULT_POSITIONS, "the longest sequence",
                        "max_position_embeddings"),
};

static const struct yk_config_flag flags[] = {
    YK_CONFIG_FLAG_ROW(tied, "tie_word_embeddings", false),
    YK_CONFIG_FLAG_ROW(linear_bias, "attention_bias", false),
    YK_CONFIG_FLAG_ROW(inner_bias, "mlp_bias", false),
};

/* Mistral's linears have no biases; the keys are ignored. */
static const struct yk_config_flag mistral_flags[] = {
    YK_CONFIG_FLAG_ROW(tied, "tie_word_embeddings", false),
};

static const struct yk_config_field_table llama_table = YK_CONFIG_FIELD_TABLE(fields, flags);
static const struct yk_config_field_table mistral_table =
    YK_CONFIG_FIELD_TABLE(fields, mistral_flags);

static const double DEFAULT_EPSILON = 1e-6;
static const double DEFAULT_SPREAD = 0.02;
static const double DEFAULT_THETA = 1e4;

/* Reads Llama 3's scaling. Other kinds cannot be trained. */
static yk_status read_scaling(const struct yk_json *scaling, struct yk_model_config *config)
{
    const char *newer = yk_json_string_value(yk_json_get_member(scaling, "rope_type"));
    const char *type = newer ? newer : yk_json_string_value(yk_json_get_member(scaling, "type"));
    double positions = 0;
    if (!type || strcmp(type, "default") == 0) {
        return YK_OK;
    }
    if (strcmp(type, "llama3") != 0) {
        config->not_trained = "its rope_scaling";
        return YK_OK;
    }
    YK_TRY(yk_config_fields_read_number(scaling, "factor", 8, &config->rope_factor));
    YK_TRY(yk_config_fields_read_number(scaling, "low_freq_factor", 1, &config->rope_low));
    YK_TRY(yk_config_fields_read_number(scaling, "high_freq_factor", 4, &config->rope_high));
    YK_TRY(yk_config_fields_read_number(scaling, "original_max_position_embeddings",
                                        (double)config->positions, &positions));
    if (!(positions <= MAX_POSITIONS && config->rope_high > config->rope_low)) {
        return yk_fail(YK_ERROR_INPUT, "\"rope_scaling\" makes no sense: high_freq_factor must be "
                                       "above low_freq_factor");
    }
    config->rope_positions = (int64_t)positions;
    return YK_OK;
}

/* Reads "rope_theta" and "rope_scaling", or "rope_parameters", which contains both. */
static yk_status read_arithmetic(const struct yk_json *json, struct yk_model_config *config)
{
    const struct yk_json *both = yk_json_get_member(json, "rope_parameters");
    const struct yk_json *scaling = both ? both : yk_json_get_member(json, "rope_scaling");
    const char *activation = yk_json_string_value(yk_json_get_member(json, "hidden_act"));
    double theta = 0;
    YK_TRY(yk_config_fields_read_number(json, "rope_theta", DEFAULT_THETA, &theta));
    YK_TRY(yk_config_fields_read_number(both, "rope_theta", theta, &config->rope_theta));
    YK_TRY(
        yk_config_fields_read_number(json, "rms_norm_eps", DEFAULT_EPSILON, &config->norm_epsilon));
    YK_TRY(
        yk_config_fields_read_number(json, "initializer_range", DEFAULT_SPREAD, &config->init_std));
    if (activation && strcmp(activation, "silu") != 0) {
        config->not_trained = "its hidden_act";
    }
    return read_scaling(scaling, config);
}

/* Only Mistral has a window; null means none. */
static yk_status read_window(const struct yk_json *json, bool mistral,
                             struct yk_model_config *config)
{
    double window = 0;
    if (mistral) {
        YK_TRY(yk_config_fields_read_number(json, "sliding_window", 0, &window));
        config->window = window < MAX_POSITIONS ? (int64_t)window : 0;
    }
    return YK_OK;
}

static bool is_mistral(const struct yk_json *json)
{
    const char *class =
        yk_json_string_value(yk_json_array_at(yk_json_get_member(json, "architectures"), 0));
    const char *type = yk_json_string_value(yk_json_get_member(json, "model_type"));
    return class ? strcmp(class, "MistralForCausalLM") == 0 : type && strcmp(type, "mistral") == 0;
}

static yk_status read_config(const struct yk_json *json, struct yk_model_config *config)
{
    const bool mistral = is_mistral(json);
    const struct yk_config_field_table *table = mistral ? &mistral_table : &llama_table;
    YK_TRY(yk_config_fields_read(table, json, config));
    YK_TRY(read_arithmetic(json, config));
    YK_TRY(read_window(json, mistral, config));
    YK_TRY(yk_config_fields_read_token_ids(json, config));
    config->rms_norm = true;
    if (config->head_size == 0) {
        YK_TRY(yk_config_fields_check_divisible(
            table, json, config, YK_MODEL_CONFIG_OFFSETOF(heads), YK_MODEL_CONFIG_OFFSETOF(width)));
        config->head_size = config->width / config->heads;
    }
    if (config->kv_heads == 0) {
        const bool missing = !yk_json_get_member(json, "num_key_value_heads");
        config->kv_heads = mistral && missing ? MISTRAL_DEFAULT_KV_HEADS : config->heads;
    }
    return yk_config_fields_check_divisible(table, json, config, YK_MODEL_CONFIG_OFFSETOF(kv_heads),
                                            YK_MODEL_CONFIG_OFFSETOF(heads));
}

static int32_t add_embed(struct yk_model_builder *model)
{
    static const char *const modules[YK_MODEL_BUILDER_MAX_MODULES] = {"model.embed_tokens",
                                                                      "model.rotary_emb"};
    const struct yk_model_config *config = model->config;
    const int64_t rows = model->workload.batch * model->workload.sequence;
    struct yk_layer_builder layer;
    yk_model_builder_begin_layer(model, YK_LAYER_ROLE_EMBEDDING, "embed", 0, &layer);
    yk_layer_builder_append_shape_text(&layer, " V%lld C%lld", (long long)config->vocabulary,
                                       (long long)config->width);
    yk_layer_builder_add_embedding(&layer, rows, config->width, 1,
                                   config->vocabulary * config->width);
    return yk_model_builder_add_layer(model, &layer, "embed", modules, YK_LAYER_NONE);
}

static void build_shape(const struct yk_model_config *config, struct yk_layer_builder *layer)
{
    yk_layer_builder_append_shape_text(
        layer, " C%lld F%lld H%lld KV%lld D%lld%s%s", (long long)config->width,
        (long long)config->feed_forward_width, (long long)config->heads,
        (long long)config->kv_heads, (long long)config->head_size,
        config->linear_bias ? " attention-bias" : "", config->inner_bias ? " inner-bias" : "");
}

static void build_block(const struct yk_model_builder *model, struct yk_layer_builder *layer)
{
    const struct yk_model_config *config = model->config;
    const int64_t rows = model->workload.batch * model->workload.sequence; /* B·T */
    const int64_t C = config->width;
    const int64_t F = config->feed_forward_width;
    const int64_t Q = config->heads * config->head_size;
    const int64_t K = config->kv_heads * config->head_size;
    const bool bias = config->linear_bias;
    const struct yk_attention_spec attention =
        yk_model_builder_make_self_attention_spec(model, model->workload.sequence, true);
    yk_model_builder_begin_layer(model, YK_LAYER_ROLE_BLOCK, "llama-block", rows, layer);
    build_shape(config, layer);
    yk_layer_builder_add_norm(layer, YK_NORM_RMS, rows, C);
    yk_layer_builder_add_linear(
        layer, &(struct yk_linear_spec){"qkv", rows, C, Q + 2 * K, 3, .bias = bias});
    yk_layer_builder_add_rotary(layer, rows, Q + K);
    yk_layer_builder_add_attention(layer, &attention);
    yk_layer_builder_add_linear(
        layer, &(struct yk_linear_spec){"out", rows, Q, C, 1, .bias = bias, .input_kept = true});
    yk_layer_builder_add_residual(layer, rows, C);
    yk_layer_builder_add_norm(layer, YK_NORM_RMS, rows, C);
    yk_layer_builder_add_linear(layer, &(struct yk_linear_spec){"gate and up", rows, C, 2 * F, 2,
                                                                .bias = config->inner_bias});
    yk_layer_builder_add_activation(layer, YK_ACTIVATION_SILU, true, rows, F);
    yk_layer_builder_add_linear(
        layer, &(struct yk_linear_spec){"down", rows, F, C, 1, .bias = config->inner_bias});
    yk_layer_builder_add_residual(layer, rows, C);
}

static void add_layers(struct yk_model_builder *model)
{
    const int64_t rows = model->workload.batch * model->workload.sequence;
    struct yk_layer_builder layer;
    const int32_t embed = add_embed(model);
    build_block(model, &layer);
    const int32_t last = yk_model_builder_add_blocks(model, &layer, model->config->layers, "layer",
                                                     "model.layers", embed, rows);
    yk_model_builder_add_norm_and_head(model, YK_NORM_RMS, last, embed, "model.norm");
}

static void list_block(const struct yk_model_config *config, struct yk_module_tree *modules)
{
    const int64_t width = config->width;
    const int64_t queries = config->heads * config->head_size;
    const int64_t keys = config->kv_heads * config->head_size;
    const bool bias = config->linear_bias;
    const bool inner_bias = config->inner_bias;
    yk_module_tree_set_unsplittable(modules);
    yk_module_tree_open_module(modules, "self_attn");
    (void)yk_module_tree_add_linear(modules, "q_proj", width, queries, bias);
    (void)yk_module_tree_add_linear(modules, "k_proj", width, keys, bias);
    (void)yk_module_tree_add_linear(modules, "v_proj", width, keys, bias);
    (void)yk_module_tree_add_linear(modules, "o_proj", queries, width, bias);
    yk_module_tree_close_module(modules);
    yk_module_tree_open_module(modules, "mlp");
    (void)yk_module_tree_add_linear(modules, "gate_proj", width, config->feed_forward_width,
                                    inner_bias);
    (void)yk_module_tree_add_linear(modules, "up_proj", width, config->feed_forward_width,
                                    inner_bias);
    (void)yk_module_tree_add_linear(modules, "down_proj", config->feed_forward_width, width,
                                    inner_bias);
    yk_module_tree_add_empty_module(modules, "act_fn");
    yk_module_tree_close_module(modules);
    yk_module_tree_add_norm(modules, "input_layernorm", width, false);
    yk_module_tree_add_norm(modules, "post_attention_layernorm", width, false);
}

static void list_modules(const struct yk_model_config *config, struct yk_module_tree *modules)
{
    yk_module_tree_open_module(modules, "model");
    const int32_t tokens =
        yk_module_tree_add_embedding(modules, "embed_tokens", config->vocabulary, config->width);
    yk_module_tree_add_numbered_blocks(modules, "layers", config->layers, list_block, config);
    yk_module_tree_add_norm(modules, "norm", config->width, false);
    yk_module_tree_open_module(modules, "rotary_emb");
    yk_module_tree_add_buffer(modules, "inv_freq", YK_MODULE_TENSOR_FLOAT, config->head_size / 2);
    yk_module_tree_add_buffer(modules, "original_inv_freq", YK_MODULE_TENSOR_FLOAT,
                              config->head_size / 2);
    yk_module_tree_close_module(modules);
    yk_module_tree_close_module(modules);
    const int32_t head =
        yk_module_tree_add_linear(modules, "lm_head", config->width, config->vocabulary, false);
    if (config->tied) {
        yk_module_tree_tie_parameters(modules, head, tokens);
    }
}

static const char *const model_types[] = {"llama", "mistral", NULL};
static const char *const classes[] = {"LlamaForCausalLM", "MistralForCausalLM", NULL};

const struct yk_architecture yk_architecture_llama = {
    .name = "llama",
    .model_types = model_types,
    .classes = classes,
    .read_config = read_config,
    .add_layers = add_layers,
    .list_modules = list_modules,
};
