/*
 * GPT-2 (Radford et al. 2019), and minGPT, whose head is untied: pre-norm blocks, learned
 * positions, one linear for queries, keys and values.
 */
#include "model/architecture.h"
#include "model/config_fields.h"

enum {
    GPT2_VOCABULARY = 50257,
    GPT2_END_OF_TEXT = 50256, /* begins and ends a text */
};

static const double DEFAULT_EPSILON = 1e-5;
static const double DEFAULT_SPREAD = 0.02;

static const struct yk_config_field fields[] = {
    YK_CONFIG_FIELD_ROW(vocabulary, YK_CONFIG_FIELD_REQUIRED, "the vocabulary", "vocab_size"),
    YK_CONFIG_FIELD_ROW(width, YK_CONFIG_FIELD_REQUIRED, "the width of the model", "n_embd",
                        "hidden_size"),
    YK_CONFIG_FIELD_ROW(layers, YK_CONFIG_FIELD_REQUIRED, "the number of blocks", "n_layer",
                        "num_hidden_layers"),
    YK_CONFIG_FIELD_ROW(heads, YK_CONFIG_FIELD_REQUIRED, "the number of heads", "n_head",
                        "num_attention_heads"),
    YK_CONFIG_FIELD_ROW(positions, YK_CONFIG_FIELD_REQUIRED, "the number of positions",
                        "n_positions", "max_position_embeddings"),
    YK_CONFIG_FIELD_ROW(feed_forward_width, YK_CONFIG_FIELD_DERIVED,
                        "the width inside the feed-forward", "n_inner"),
};

static const struct yk_config_flag flags[] = {
    YK_CONFIG_FLAG_ROW(tied, "tie_word_embeddings", true),
};

static const struct yk_config_field_table table = YK_CONFIG_FIELD_TABLE(fields, flags);

/* Reads what does not change sizes. A model with an unknown option can be planned, but not trained.
 */
static yk_status read_arithmetic(const struct yk_json *json, struct yk_model_config *config)
{
    bool scaled = true;
    bool scaled_by_layer = false;
    YK_TRY(yk_config_fields_read_activation(json, "activation_function", "gelu_new",
                                            "its activation_function", config));
    (void)yk_json_boolean_value(yk_json_get_member(json, "scale_attn_weights"), &scaled);
    (void)yk_json_boolean_value(yk_json_get_member(json, "scale_attn_by_inverse_layer_idx"),
                                &scaled_by_layer);
    if (!scaled || scaled_by_layer) {
        config->not_trained = "its way to scale attention";
    }
    YK_TRY(yk_config_fields_read_number(json, "layer_norm_epsilon", DEFAULT_EPSILON,
                                        &config->norm_epsilon));
    return yk_config_fields_read_number(json, "initializer_range", DEFAULT_SPREAD,
                                        &config->init_std);
}

static yk_status read_ids(const struct yk_json *json, struct yk_model_config *config)
{
    YK_TRY(yk_config_fields_read_token_ids(json, config));
    if (config->vocabulary == GPT2_VOCABULARY) {
        config->ids.begin = config->ids.begin < 0 ? GPT2_END_OF_TEXT : config->ids.begin;
        config->ids.end = config->ids.end < 0 ? GPT2_END_OF_TEXT : config->ids.end;
    }
    return YK_OK;
}

static yk_status read_config(const struct yk_json *json, struct yk_model_config *config)
{
    YK_TRY(yk_config_fields_read(&table, json, config));
    YK_TRY(yk_config_fields_check_divisible(&table, json, config, YK_MODEL_CONFIG_OFFSETOF(heads),
                                            YK_MODEL_CONFIG_OFFSETOF(width)));
    YK_TRY(read_arithmetic(json, config));
    YK_TRY(read_ids(json, config));
    YK_TRY(yk_config_fields_check_flag_is_false(json, "add_cross_attention",
                                                "GPT-2 is known only without an encoder"));
    config->kv_heads = config->heads;
    config->head_size = config->width / config->heads;
    config->feed_forward_width =
        config->feed_forward_width > 0 ? config->feed_forward_width : 4 * config->width;
    config->linear_bias = true;
    config->inner_bias = true;
    config->residual_dropout = true;
    return YK_OK;
}

static int32_t add_embed(struct yk_model_builder *model)
{
    static const char *const modules[YK_MODEL_BUILDER_MAX_MODULES] = {
        "transformer.wte", "transformer.wpe", "transformer.drop"};
    const struct yk_model_config *config = model->config;
    const int64_t rows = model->workload.batch * model->workload.sequence;
    struct yk_layer_builder layer;
    yk_model_builder_begin_layer(model, YK_LAYER_ROLE_EMBEDDING, "embed", 0, &layer);
    yk_layer_builder_append_shape_text(&layer, " V%lld C%lld P%lld", (long long)config->vocabulary,
                                       (long long)config->width, (long long)config->positions);
    yk_layer_builder_add_embedding(&layer, rows, config->width, 2,
                                   (config->vocabulary + config->positions) * config->width);
    return yk_model_builder_add_layer(model, &layer, "embed", modules, YK_LAYER_NONE);
}

static void build_block(const struct yk_model_builder *model, struct yk_layer_builder *layer)
{
    const struct yk_model_config *config = model->config;
    const int64_t rows = model->workload.batch * model->workload.sequence; /* B·T */
    const int64_t C = config->width;
    const struct yk_attention_spec attention =
        yk_model_builder_make_self_attention_spec(model, model->workload.sequence, true);
    yk_model_builder_begin_block(model, "gpt-block", rows, config->feed_forward_width,
                                 config->heads, layer);
    yk_layer_builder_add_norm(layer, YK_NORM_LAYER, rows, C);
    yk_layer_builder_add_self_attention(layer, &attention, 1);
    yk_layer_builder_add_norm(layer, YK_NORM_LAYER, rows, C);
    yk_model_builder_add_feed_forward(model, layer, rows, config->feed_forward_width);
}

static void add_layers(struct yk_model_builder *model)
{
    const int64_t rows = model->workload.batch * model->workload.sequence;
    struct yk_layer_builder layer;
    const int32_t embed = add_embed(model);
    build_block(model, &layer);
    const int32_t last = yk_model_builder_add_blocks(model, &layer, model->config->layers, "layer",
                                                     "transformer.h", embed, rows);
    yk_model_builder_add_norm_and_head(model, YK_NORM_LAYER, last, embed, "transformer.ln_f");
}

/* Causal masks are not listed, because transformers no longer stores them as buffers. */
static void list_block(const struct yk_model_config *config, struct yk_module_tree *modules)
{
    const int64_t width = config->width;
    yk_module_tree_set_unsplittable(modules);
    yk_module_tree_add_norm(modules, "ln_1", width, true);
    yk_module_tree_open_module(modules, "attn");
    (void)yk_module_tree_add_linear(modules, "c_attn", width, 3 * width, true);
    (void)yk_module_tree_add_linear(modules, "c_proj", width, width, true);
    yk_module_tree_add_empty_module(modules, "attn_dropout");
    yk_module_tree_add_empty_module(modules, "resid_dropout");
    yk_module_tree_close_module(modules);
    yk_module_tree_add_norm(modules, "ln_2", width, true);
    yk_module_tree_open_module(modules, "mlp");
    (void)yk_module_tree_add_linear(modules, "c_fc", width, config->feed_forward_width, true);
    (void)yk_module_tree_add_linear(modules, "c_proj", config->feed_forward_width, width, true);
    yk_module_tree_add_empty_module(modules, "act");
    yk_module_tree_add_empty_module(modules, "dropout");
    yk_module_tree_close_module(modules);
}

static void list_modules(const struct yk_model_config *config, struct yk_module_tree *modules)
{
    yk_module_tree_open_module(modules, "transformer");
    const int32_t tokens =
        yk_module_tree_add_embedding(modules, "wte", config->vocabulary, config->width);
    (void)yk_module_tree_add_embedding(modules, "wpe", config->positions, config->width);
    yk_module_tree_add_empty_module(modules, "drop");
    yk_module_tree_add_numbered_blocks(modules, "h", config->layers, list_block, config);
    yk_module_tree_add_norm(modules, "ln_f", config->width, true);
    yk_module_tree_close_module(modules);
    const int32_t head =
        yk_module_tree_add_linear(modules, "lm_head", config->width, config->vocabulary, false);
    if (config->tied) {
        yk_module_tree_tie_parameters(modules, head, tokens);
    }
}

static const char *const model_types[] = {"gpt2", NULL};
static const char *const classes[] = {"GPT2LMHeadModel", NULL};

const struct yk_architecture yk_architecture_gpt2 = {
    .name = "gpt2",
    .model_types = model_types,
    .classes = classes,
    .learned_positions = true,
    .position_table = true,
    .read_config = read_config,
    .add_layers = add_layers,
    .list_modules = list_modules,
};
