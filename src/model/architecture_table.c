/* The table of architectures: one row for each family of models. */
#include "model/architecture.h"

#include "base/json.h"
#include "model/config_images.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define CLASSES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define FIELDS(...) ((const struct yk_config_field[]){__VA_ARGS__, YK_CONFIG_END})
#define MODULES(...) ((const struct yk_module_entry[]){__VA_ARGS__, {NULL, YK_MODULE_END, false}})
#define M(name, role)                                                                              \
    {                                                                                              \
        name, YK_MODULE_##role, false                                                              \
    }
/* A module outside the base model. */
#define OUTSIDE(name, role)                                                                        \
    {                                                                                              \
        name, YK_MODULE_##role, true                                                               \
    }

enum {
    DERIVED = YK_CONFIG_FIELD_DERIVED,
    REQUIRED = YK_CONFIG_FIELD_REQUIRED,
    ANY_LENGTH = 2048, /* the longest sequence if a file does not say; no size depends on it */
};

/* ---- fields that many families share ---- */

#define VOCABULARY YK_CONFIG_SIZE(vocabulary, REQUIRED, "the vocabulary", "vocab_size")
#define TIED(preset) YK_CONFIG_FLAG(tied, preset, "tie_word_embeddings")
#define INIT_STD YK_CONFIG_NUMBER(init_std, 0.02, "initializer_range")
#define RMS_EPSILON(preset) YK_CONFIG_NUMBER(norm_epsilon, preset, "rms_norm_eps")
#define LAYER_EPSILON(preset, key) YK_CONFIG_NUMBER(norm_epsilon, preset, key)
#define ATTENTION_BIAS(preset)                                                                     \
    YK_CONFIG_FLAG(qkv_bias, preset, "attention_bias"),                                            \
        YK_CONFIG_FLAG(out_bias, preset, "attention_bias")
#define MLP_BIAS YK_CONFIG_FLAG(inner_bias, false, "mlp_bias")
#define POSITIONS(preset, what) YK_CONFIG_SIZE(positions, preset, what, "max_position_embeddings")
#define LENGTH_WORDS "the longest sequence"
#define WINDOW_WORDS "the sliding window of attention"
#define WINDOW(preset) YK_CONFIG_OPTIONAL_SIZE(window, preset, WINDOW_WORDS, "sliding_window")

/* The sizes of all families except GPT-2 and Marian, with their presets. */
#define SIZES_OR(vocabulary_preset, width_preset, inner_preset, layers_preset, heads_preset)       \
    YK_CONFIG_SIZE(vocabulary, vocabulary_preset, "the vocabulary", "vocab_size"),                 \
        YK_CONFIG_SIZE(width, width_preset, "the width of the model", "hidden_size"),              \
        YK_CONFIG_SIZE(feed_forward_width, inner_preset, "the width inside the feed-forward",      \
                       "intermediate_size"),                                                       \
        YK_CONFIG_SIZE(layers, layers_preset, "the number of blocks", "num_hidden_layers"),        \
        YK_CONFIG_SIZE(heads, heads_preset, "the number of heads", "num_attention_heads")
#define SIZES SIZES_OR(REQUIRED, REQUIRED, REQUIRED, REQUIRED, REQUIRED)
#define HEAD_SIZES(kv_heads_preset, head_size_preset)                                              \
    YK_CONFIG_OPTIONAL_SIZE(kv_heads, kv_heads_preset, "the number of heads of keys and values",   \
                            "num_key_value_heads"),                                                \
        YK_CONFIG_SIZE(head_size, head_size_preset, "the size of a head", "head_dim")

/* The sizes of a decoder. */
#define DECODER_SIZES(kv_heads_preset, head_size_preset)                                           \
    SIZES, HEAD_SIZES(kv_heads_preset, head_size_preset), POSITIONS(ANY_LENGTH, LENGTH_WORDS),     \
        INIT_STD

/* ---- modules that many families share ---- */

#define SELF_ATTENTION                                                                             \
    M("self_attn.q_proj", Q), M("self_attn.k_proj", K), M("self_attn.v_proj", V),                  \
        M("self_attn.o_proj", OUT)
#define QK_NORMS M("self_attn.q_norm", Q_NORM), M("self_attn.k_norm", K_NORM)
#define GATED_MLP                                                                                  \
    M("mlp.gate_proj", GATE), M("mlp.up_proj", UP), M("mlp.down_proj", DOWN), M("mlp.act_fn", EMPTY)
#define LLAMA_NORMS M("input_layernorm", ATTENTION_NORM), M("post_attention_layernorm", MLP_NORM)
#define GEMMA2_NORMS                                                                               \
    M("input_layernorm", ATTENTION_NORM), M("post_attention_layernorm", ATTENTION_POST_NORM),      \
        M("pre_feedforward_layernorm", MLP_NORM), M("post_feedforward_layernorm", MLP_POST_NORM)

#define LLAMA_MODULES                                                                              \
    .modules = MODULES(M("embed_tokens", EMBEDDING), M("layers", BLOCKS), M("norm", FINAL_NORM),   \
                       M("rotary_emb", ROTARY), OUTSIDE("lm_head", HEAD))
#define LLAMA_NAMES .base = "model", LLAMA_MODULES

static const struct yk_module_entry llama_block[] = {
    SELF_ATTENTION, GATED_MLP, LLAMA_NORMS, {NULL, YK_MODULE_END, false}};
static const struct yk_module_entry qwen3_block[] = {
    SELF_ATTENTION, QK_NORMS, GATED_MLP, LLAMA_NORMS, {NULL, YK_MODULE_END, false}};

/* The description that most decoders share: RMS norms before attention and feed-forward, rotary
 * positions, a gated feed-forward, usually with SiLU. */
#define GATED_DECODER(activation_, theta_)                                                         \
    .norm = YK_NORM_RMS, .activation = (activation_), .gated = true, .rope.theta = (theta_)
#define DECODER(theta_) GATED_DECODER(YK_ACTIVATION_SILU, theta_)

/* Ids of the padding token and of the tokens that begin and end a text; −1 means: none. */
#define IDS(pad_, begin_, end_)                                                                    \
    .ids = {                                                                                       \
        .pad = (pad_),                                                                             \
        .begin = (begin_),                                                                         \
        .end = (end_),                                                                             \
        .decoder_start = -1,                                                                       \
    }

/* ---- what tables cannot express ---- */

static yk_status read_gpt2(const struct yk_json *json, struct yk_arena *arena,
                           struct yk_model_config *config)
{
    bool scaled = true;
    bool scaled_by_layer = false;
    (void)arena;
    YK_TRY(yk_config_fields_check_flag_is_false(json, "add_cross_attention",
                                                "GPT-2 is known only without an encoder"));
    (void)yk_json_boolean_value(yk_json_get_member(json, "scale_attn_weights"), &scaled);
    (void)yk_json_boolean_value(yk_json_get_member(json, "scale_attn_by_inverse_layer_idx"),
                                &scaled_by_layer);
    if (!scaled || scaled_by_layer) {
        config->not_trained = "its scaling of attention";
    }
    return YK_OK;
}

static void write_gpt2(const struct yk_model_config *config, struct yk_json_writer *json)
{
    yk_json_write_integer(json, "n_ctx", config->positions);
}

/* The first class of the file; "" if there is none. */
static const char *class_of(const struct yk_json *json)
{
    const char *class =
        yk_json_string_value(yk_json_array_at(yk_json_get_member(json, "architectures"), 0));
    return class ? class : "";
}

static yk_status read_bert(const struct yk_json *json, struct yk_arena *arena,
                           struct yk_model_config *config)
{
    static const char key[] = "position_embedding_type";
    static const char encoder_only[] = "BERT is known only as an encoder";
    const struct yk_json *positions = yk_json_get_member(json, key);
    const char *const *classes = config->architecture->classes;
    bool absolute = false;
    (void)arena;
    YK_TRY(yk_config_fields_check_flag_is_false(json, "is_decoder", encoder_only));
    YK_TRY(yk_config_fields_check_flag_is_false(json, "add_cross_attention", encoder_only));
    YK_TRY(yk_config_fields_string_equals(json, key, "absolute", &absolute));
    if (positions && !yk_json_is_null(positions) && !absolute) {
        config->not_trained = "its position_embedding_type";
    }
    const bool masked = strcmp(class_of(json), classes[0]) == 0;
    config->masked_head = masked || (classes[2] && strcmp(class_of(json), classes[2]) == 0);
    config->pooler = !masked;
    config->head_activation = config->activation;
    return YK_OK;
}

/* The first positions belong to padding: a token's position is its number + pad + 1. */
static yk_status read_roberta(const struct yk_json *json, struct yk_arena *arena,
                              struct yk_model_config *config)
{
    static const struct yk_config_field rows[] = {POSITIONS(REQUIRED, "the number of positions"),
                                                  YK_CONFIG_END};
    YK_TRY(read_bert(json, arena, config));
    YK_TRY(yk_config_fields_read(rows, json, config));
    config->head_activation = YK_ACTIVATION_GELU;
    config->first_position = config->ids.pad + 1;
    if (config->first_position >= config->positions) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"max_position_embeddings\" is %" PRId64 ", but positions begin at %" PRId64
                       ", after \"pad_token_id\"",
                       config->positions, config->first_position);
    }
    config->positions -= config->first_position;
    return YK_OK;
}

static void write_roberta(const struct yk_model_config *config, struct yk_json_writer *json)
{
    yk_json_write_integer(json, "max_position_embeddings",
                          config->first_position + config->positions);
}

/* The switches are options of marian-nn that transformers ignores: with other values it would
 * compute a different model. */
static yk_status read_marian(const struct yk_json *json, struct yk_arena *arena,
                             struct yk_model_config *config)
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
    const int64_t target = yk_model_config_target_vocabulary_size(config);
    bool scaled = false;
    (void)arena;
    /* transformers can create a model with other vocabularies, but cannot compute its loss. */
    if (config->shared && target != config->vocabulary) {
        return yk_fail(
            YK_ERROR_INPUT,
            "\"decoder_vocab_size\" is %" PRId64
            ", but encoder and decoder share one embedding with \"vocab_size\", %" PRId64,
            target, config->vocabulary);
    }
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        bool value = false;
        YK_TRY(yk_config_fields_read_flag(json, switches[i].key, switches[i].known, &value));
        config->not_trained = value == switches[i].known ? config->not_trained : switches[i].what;
    }
    YK_TRY(yk_config_fields_read_flag(json, "scale_embedding", false, &scaled));
    config->embedding_scale = scaled ? sqrt((double)config->width) : 0;
    return yk_config_fields_check_divisible(config->architecture->fields, json, config,
                                            YK_MODEL_CONFIG_OFFSETOF(encoder_heads),
                                            YK_MODEL_CONFIG_OFFSETOF(width));
}

/* forced_eos_token_id is null: transformers would append its default token to a cut translation. */
static void write_marian(const struct yk_model_config *config, struct yk_json_writer *json)
{
    if (config->ids.decoder_start >= 0) {
        yk_json_write_integer(json, "decoder_start_token_id", config->ids.decoder_start);
    }
    yk_json_write_null(json, "forced_eos_token_id");
    yk_json_write_bool(json, "is_encoder_decoder", true);
    yk_json_write_bool(json, "scale_embedding", config->embedding_scale > 0);
    yk_json_write_bool(json, "static_position_embeddings", true);
}

/* The embedding is multiplied by √width, the queries by 1 / √query_pre_attn_scalar. */
static yk_status read_gemma(const struct yk_json *json, struct yk_arena *arena,
                            struct yk_model_config *config)
{
    const struct yk_json *bidirectional = yk_json_get_member(json, "use_bidirectional_attention");
    bool all = false;
    double scalar = 0;
    (void)arena;
    if (yk_json_boolean_value(bidirectional, &all) && all) {
        config->not_trained = "its use_bidirectional_attention";
    }
    config->embedding_scale = sqrt((double)config->width);
    if (config->architecture->window_pattern == YK_WINDOW_ALL) {
        /* "gelu" in files of the first Gemma means the tanh form. */
        const bool exact = config->activation == YK_ACTIVATION_GELU;
        config->activation = exact ? YK_ACTIVATION_GELU_TANH : config->activation;
    } else {
        YK_TRY(yk_config_fields_read_number(json, "query_pre_attn_scalar", 256, &scalar));
        config->attention_scale = 1 / sqrt(scalar);
    }
    return YK_OK;
}

static void write_gemma(const struct yk_model_config *config, struct yk_json_writer *json)
{
    const double scalar = 1 / (config->attention_scale * config->attention_scale);
    if (config->attention_scale > 0 && fabs(scalar - round(scalar)) < 1e-9 * scalar) {
        yk_json_write_integer(json, "query_pre_attn_scalar", (int64_t)round(scalar));
    } else if (config->attention_scale > 0) {
        yk_config_fields_write_number(json, "query_pre_attn_scalar", scalar);
    }
}

/* "logits_scaling" divides. */
static yk_status read_granite(const struct yk_json *json, struct yk_arena *arena,
                              struct yk_model_config *config)
{
    double divisor = 1;
    (void)arena;
    YK_TRY(yk_config_fields_read_number(json, "logits_scaling", 1, &divisor));
    config->logit_scale = 1 / divisor;
    return YK_OK;
}

static void write_granite(const struct yk_model_config *config, struct yk_json_writer *json)
{
    yk_config_fields_write_number(json, "logits_scaling", 1 / config->logit_scale);
}

/* Older files have the longest sequence of the first training outside "rope_scaling" only. */
static void write_phi3(const struct yk_model_config *config, struct yk_json_writer *json)
{
    const int64_t positions = config->rope.positions;
    yk_json_write_integer(json, "original_max_position_embeddings",
                          positions > 0 ? positions : config->positions);
}

/* ---- mixtures of experts: planned, but not trained ---- */

static yk_status read_experts(const struct yk_json *json, struct yk_arena *arena,
                              struct yk_model_config *config)
{
    (void)json;
    (void)arena;
    if (config->experts_per_token > config->experts) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"num_experts_per_tok\" is %" PRId64 ", but there are only %" PRId64
                       " experts",
                       config->experts_per_token, config->experts);
    }
    config->expert_width =
        config->expert_width > 0 ? config->expert_width : config->feed_forward_width;
    config->not_trained = "its mixture of experts";
    return YK_OK;
}

/* Some blocks have a feed-forward instead of experts. */
static yk_status read_qwen_experts(const struct yk_json *json, struct yk_arena *arena,
                                   struct yk_model_config *config)
{
    const struct yk_json *dense = yk_json_get_member(json, "mlp_only_layers");
    unsigned char *flags = NULL;
    int64_t step = 1;
    YK_TRY(read_experts(json, arena, config));
    YK_TRY(yk_config_fields_read_size(json, "decoder_sparse_step", 1,
                                      "the distance of blocks with experts", &step));
    if (dense && !yk_json_is_null(dense) && !yk_json_is_array(dense)) {
        return yk_fail(YK_ERROR_INPUT, "\"mlp_only_layers\" must be a list of blocks, not %s",
                       yk_json_type_name(dense));
    }
    YK_TRY_NEW(arena, flags, config->layers);
    for (int64_t i = 0; i < config->layers; i++) {
        const bool sparse = (i + 1) % step == 0;
        flags[i] = (unsigned char)(yk_model_config_block_flags(config, i) |
                                   (sparse ? 0U : (unsigned)YK_BLOCK_DENSE));
    }
    for (size_t i = 0; yk_json_is_array(dense) && i < yk_json_array_count(dense); i++) {
        double block = -1;
        if (yk_json_number_value(yk_json_array_at(dense, i), &block) && block >= 0 &&
            block < (double)config->layers) {
            flags[(int64_t)block] |= YK_BLOCK_DENSE;
        }
    }
    config->block_flags = flags;
    return YK_OK;
}

static yk_status read_granite_experts(const struct yk_json *json, struct yk_arena *arena,
                                      struct yk_model_config *config)
{
    YK_TRY(read_granite(json, arena, config));
    return read_experts(json, arena, config);
}

#define EXPERTS(per_token, ...)                                                                    \
    YK_CONFIG_SIZE(experts, REQUIRED, "the number of experts", __VA_ARGS__),                       \
        YK_CONFIG_SIZE(experts_per_token, per_token, "the number of experts of a token",           \
                       "num_experts_per_tok")
#define EXPERT_WIDTH                                                                               \
    YK_CONFIG_SIZE(expert_width, DERIVED, "the width inside an expert", "moe_intermediate_size")

#define EXPERT_BLOCK(...)                                                                          \
    MODULES(SELF_ATTENTION, __VA_ARGS__ M("mlp", EXPERTS), GATED_MLP, LLAMA_NORMS)

/* ---- names of BERT and Marian ---- */

#define BERT_BLOCK                                                                                 \
    M("attention.self.query", Q), M("attention.self.key", K), M("attention.self.value", V),        \
        M("attention.self.dropout", EMPTY), M("attention.output.dense", OUT),                      \
        M("attention.output.LayerNorm", ATTENTION_NORM), M("attention.output.dropout", EMPTY),     \
        M("intermediate.dense", UP), M("intermediate.intermediate_act_fn", EMPTY),                 \
        M("output.dense", DOWN), M("output.LayerNorm", MLP_NORM), M("output.dropout", EMPTY)

#define BERT_FIELDS                                                                                \
    SIZES, YK_CONFIG_SIZE(token_types, 2, "the number of segments", "type_vocab_size"),            \
        TIED(true), LAYER_EPSILON(1e-12, "layer_norm_eps"), INIT_STD

#define BERT_COMMON                                                                                \
    .position_kind = YK_POSITIONS_LEARNED, .qkv_bias = true, .out_bias = true, .inner_bias = true, \
    .bidirectional = true, .norm_placement = YK_NORM_AFTER_SUM, .residual_dropout = true,          \
    .activation = YK_ACTIVATION_GELU

#define MARIAN_ATTENTION                                                                           \
    M("self_attn.k_proj", K), M("self_attn.v_proj", V), M("self_attn.q_proj", Q),                  \
        M("self_attn.out_proj", OUT)
#define MARIAN_MLP M("fc1", UP), M("fc2", DOWN), M("final_layer_norm", MLP_NORM)

/* ---- Gemma 3 ---- */

/* All but names. Published models with images leave out the sizes that are the presets. */
#define GEMMA3                                                                                     \
    .common = {GATED_DECODER(YK_ACTIVATION_GELU_TANH, 1e6),                                        \
               IDS(0, 2, 1),                                                                       \
               .norm_plus_one = true,                                                              \
               .embedding_scale_rounded = true,                                                    \
               .norm_placement = YK_NORM_BEFORE_AND_AFTER,                                         \
               .qk_norm = YK_QK_NORM_PER_HEAD,                                                     \
               .local_rope.theta = 1e4},                                                           \
    .fields = FIELDS(SIZES_OR(262208, 2304, 9216, 26, 8), HEAD_SIZES(4, 256),                      \
                     POSITIONS(131072, LENGTH_WORDS), INIT_STD, TIED(true), RMS_EPSILON(1e-6),     \
                     ATTENTION_BIAS(false), WINDOW(4096),                                          \
                     YK_CONFIG_OPTIONAL_NUMBER(attention_softcap, 0, "attn_logit_softcapping"),    \
                     YK_CONFIG_OPTIONAL_NUMBER(logit_softcap, 0, "final_logit_softcapping")),      \
    .activation_key = "hidden_activation", .window_pattern = YK_WINDOW_PERIODIC,                   \
    .window_period = 6, .read = read_gemma, .write = write_gemma,                                  \
    .block = MODULES(SELF_ATTENTION, QK_NORMS, GATED_MLP, GEMMA2_NORMS),                           \
    .block_kind = "gemma3-block"

/* ---- ViT ---- */

/* Files of weights have the names that transformers 4 has in memory, too. */
static const char *const vit_file_names[][2] = {
    {"vit.layers.", "vit.encoder.layer."},
    {".attention.q_proj.", ".attention.attention.query."},
    {".attention.k_proj.", ".attention.attention.key."},
    {".attention.v_proj.", ".attention.attention.value."},
    {".attention.o_proj.", ".attention.output.dense."},
    {".mlp.fc1.", ".intermediate.dense."},
    {".mlp.fc2.", ".output.dense."},
    {NULL, NULL},
};

/* ---- the rows ---- */

const struct yk_architecture yk_architectures[] = {
    {
        .name = "gpt2",
        .model_type = "gpt2",
        .classes = CLASSES("GPT2LMHeadModel"),
        .common = {.position_kind = YK_POSITIONS_LEARNED,
                   .qkv_bias = true,
                   .out_bias = true,
                   .inner_bias = true,
                   .transposed = true,
                   .scaled_init = true,
                   .residual_dropout = true,
                   IDS(-1, 50256, 50256)},
        .fields = FIELDS(
            VOCABULARY,
            YK_CONFIG_SIZE(width, REQUIRED, "the width of the model", "n_embd", "hidden_size"),
            YK_CONFIG_SIZE(layers, REQUIRED, "the number of blocks", "n_layer",
                           "num_hidden_layers"),
            YK_CONFIG_SIZE(heads, REQUIRED, "the number of heads", "n_head", "num_attention_heads"),
            YK_CONFIG_SIZE(positions, REQUIRED, "the number of positions", "n_positions",
                           "max_position_embeddings"),
            YK_CONFIG_SIZE(feed_forward_width, DERIVED, "the width inside the feed-forward",
                           "n_inner"),
            TIED(true), LAYER_EPSILON(1e-5, "layer_norm_epsilon"), INIT_STD),
        .activation_key = "activation_function",
        .read = read_gpt2,
        .write = write_gpt2,
        .base = "transformer",
        .modules = MODULES(M("wte", EMBEDDING), M("wpe", POSITIONS), M("drop", EMPTY),
                           M("h", BLOCKS), M("ln_f", FINAL_NORM), OUTSIDE("lm_head", HEAD)),
        .block = MODULES(M("ln_1", ATTENTION_NORM), M("attn.c_attn", QKV), M("attn.c_proj", OUT),
                         M("attn.attn_dropout", EMPTY), M("attn.resid_dropout", EMPTY),
                         M("ln_2", MLP_NORM), M("mlp.c_fc", UP), M("mlp.c_proj", DOWN),
                         M("mlp.act", EMPTY), M("mlp.dropout", EMPTY)),
        .block_kind = "gpt-block",
    },
    {
        .name = "llama",
        .model_type = "llama",
        .classes = CLASSES("LlamaForCausalLM"),
        .common = {DECODER(1e4), IDS(-1, 1, 2)},
        .fields = FIELDS(DECODER_SIZES(DERIVED, DERIVED), TIED(false), RMS_EPSILON(1e-6),
                         ATTENTION_BIAS(false), MLP_BIAS),
        .activation_key = "hidden_act",
        LLAMA_NAMES,
        .block = llama_block,
        .block_kind = "llama-block",
    },
    {
        .name = "mistral",
        .model_type = "mistral",
        .classes = CLASSES("MistralForCausalLM"),
        .common = {DECODER(1e4), IDS(-1, 1, 2)},
        .fields = FIELDS(DECODER_SIZES(8, DERIVED), TIED(false), RMS_EPSILON(1e-6), WINDOW(4096)),
        .activation_key = "hidden_act",
        LLAMA_NAMES,
        .block = llama_block,
        .block_kind = "llama-block",
    },
    {
        .name = "qwen2",
        .model_type = "qwen2",
        .classes = CLASSES("Qwen2ForCausalLM"),
        .common = {DECODER(1e4), IDS(-1, -1, -1), .qkv_bias = true},
        .fields = FIELDS(DECODER_SIZES(32, DERIVED), TIED(false), RMS_EPSILON(1e-6), WINDOW(4096)),
        .activation_key = "hidden_act",
        .window_pattern = YK_WINDOW_FROM_LAYER,
        LLAMA_NAMES,
        .block = llama_block,
        .block_kind = "qwen2-block",
    },
    {
        .name = "qwen3",
        .model_type = "qwen3",
        .classes = CLASSES("Qwen3ForCausalLM"),
        .common = {DECODER(1e4), IDS(-1, -1, -1), .qk_norm = YK_QK_NORM_PER_HEAD},
        .fields = FIELDS(DECODER_SIZES(32, 128), TIED(false), RMS_EPSILON(1e-6),
                         ATTENTION_BIAS(false), WINDOW(4096)),
        .activation_key = "hidden_act",
        .window_pattern = YK_WINDOW_FROM_LAYER,
        LLAMA_NAMES,
        .block = qwen3_block,
        .block_kind = "qwen3-block",
    },
    {
        .name = "gemma",
        .model_type = "gemma",
        .classes = CLASSES("GemmaForCausalLM"),
        .common = {GATED_DECODER(YK_ACTIVATION_GELU_TANH, 1e4), IDS(0, 2, 1), .norm_plus_one = true,
                   .embedding_scale_rounded = true},
        .fields =
            FIELDS(DECODER_SIZES(16, 256), TIED(true), RMS_EPSILON(1e-6), ATTENTION_BIAS(false)),
        .read = read_gemma,
        .write = write_gemma,
        LLAMA_NAMES,
        .block = llama_block,
        .block_kind = "gemma-block",
    },
    {
        .name = "gemma2",
        .model_type = "gemma2",
        .classes = CLASSES("Gemma2ForCausalLM"),
        .common = {GATED_DECODER(YK_ACTIVATION_GELU_TANH, 1e4), IDS(0, 2, 1), .norm_plus_one = true,
                   .embedding_scale_rounded = true, .norm_placement = YK_NORM_BEFORE_AND_AFTER},
        .fields = FIELDS(DECODER_SIZES(4, 256), TIED(true), RMS_EPSILON(1e-6),
                         ATTENTION_BIAS(false), WINDOW(4096),
                         YK_CONFIG_OPTIONAL_NUMBER(attention_softcap, 50, "attn_logit_softcapping"),
                         YK_CONFIG_OPTIONAL_NUMBER(logit_softcap, 30, "final_logit_softcapping")),
        .activation_key = "hidden_activation",
        .window_pattern = YK_WINDOW_PERIODIC,
        .window_period = 2,
        .read = read_gemma,
        .write = write_gemma,
        LLAMA_NAMES,
        .block = MODULES(SELF_ATTENTION, GATED_MLP, GEMMA2_NORMS),
        .block_kind = "gemma2-block",
    },
    {
        .name = "gemma3",
        .model_type = "gemma3_text",
        .classes = CLASSES("Gemma3ForCausalLM"),
        GEMMA3,
        LLAMA_NAMES,
    },
    {
        .name = "gemma3_multimodal",
        .model_type = "gemma3",
        .classes = CLASSES("Gemma3ForConditionalGeneration"),
        .text_family = "gemma3",
        GEMMA3,
        .base = "model.language_model",
        .base_alias = "language_model.model",
        .head_alias = "language_model.lm_head",
        LLAMA_MODULES,
    },
    {
        .name = "phi3",
        .model_type = "phi3",
        .classes = CLASSES("Phi3ForCausalLM"),
        .common = {DECODER(1e4), IDS(32000, 1, 32000), .residual_dropout = true},
        .fields =
            FIELDS(DECODER_SIZES(DERIVED, DERIVED), TIED(false), RMS_EPSILON(1e-5), WINDOW(0)),
        .activation_key = "hidden_act",
        .partial_key = "partial_rotary_factor",
        .write = write_phi3,
        LLAMA_NAMES,
        .block = MODULES(M("self_attn.o_proj", OUT), M("self_attn.qkv_proj", QKV),
                         M("mlp.gate_up_proj", GATE_UP), M("mlp.down_proj", DOWN),
                         M("mlp.activation_fn", EMPTY), LLAMA_NORMS, M("resid_attn_dropout", EMPTY),
                         M("resid_mlp_dropout", EMPTY)),
        .block_kind = "phi3-block",
    },
    {
        .name = "smollm3",
        .model_type = "smollm3",
        .classes = CLASSES("SmolLM3ForCausalLM"),
        .common = {DECODER(2e6), IDS(128004, 128000, 128001)},
        .fields = FIELDS(DECODER_SIZES(4, DERIVED), TIED(true), RMS_EPSILON(1e-6),
                         ATTENTION_BIAS(false), MLP_BIAS, WINDOW(0)),
        .activation_key = "hidden_act",
        .no_rope_period = 4,
        .window_pattern = YK_WINDOW_NO_ROPE,
        LLAMA_NAMES,
        .block = llama_block,
        .block_kind = "llama-block",
    },
    {
        .name = "bert",
        .model_type = "bert",
        .classes = CLASSES("BertForMaskedLM", "BertModel", "BertForPreTraining"),
        .common = {BERT_COMMON, IDS(0, -1, -1)},
        .fields = FIELDS(BERT_FIELDS, POSITIONS(REQUIRED, "the number of positions")),
        .activation_key = "hidden_act",
        .read = read_bert,
        .base = "bert",
        .modules = MODULES(M("embeddings", EMBEDDINGS), M("embeddings.word_embeddings", EMBEDDING),
                           M("embeddings.position_embeddings", POSITIONS),
                           M("embeddings.token_type_embeddings", TOKEN_TYPES),
                           M("embeddings.LayerNorm", EMBEDDING_NORM),
                           M("embeddings.dropout", EMPTY), M("encoder.layer", BLOCKS),
                           M("pooler.dense", POOLER), M("pooler.activation", POOLER_ACTIVATION),
                           OUTSIDE("cls.predictions", HEAD_BIAS),
                           OUTSIDE("cls.predictions.transform.dense", TRANSFORM),
                           OUTSIDE("cls.predictions.transform.transform_act_fn", HEAD_ACTIVATION),
                           OUTSIDE("cls.predictions.transform.LayerNorm", TRANSFORM_NORM),
                           OUTSIDE("cls.predictions.decoder", HEAD),
                           OUTSIDE("cls.seq_relationship", SENTENCE_HEAD)),
        .block = MODULES(BERT_BLOCK),
        .block_kind = "bert-block",
    },
    {
        .name = "transformer",
        .model_type = "marian",
        .classes = CLASSES("MarianMTModel"),
        .common = {.position_kind = YK_POSITIONS_SINUSOIDAL,
                   .qkv_bias = true,
                   .out_bias = true,
                   .inner_bias = true,
                   .norm_placement = YK_NORM_AFTER_SUM,
                   .residual_dropout = true,
                   .activation = YK_ACTIVATION_GELU,
                   .norm_epsilon = 1e-5, /* the default of PyTorch; the config has no key for it */
                   .ids = YK_SPECIAL_TOKEN_IDS_NONE},
        .fields = FIELDS(
            VOCABULARY,
            YK_CONFIG_SIZE(target_vocabulary, DERIVED, "the target's vocabulary",
                           "decoder_vocab_size"),
            YK_CONFIG_SIZE(width, REQUIRED, "the width of the model", "d_model", "hidden_size"),
            YK_CONFIG_SIZE(encoder_layers, REQUIRED, "the number of the encoder's blocks",
                           "encoder_layers", "num_hidden_layers"),
            YK_CONFIG_SIZE(layers, REQUIRED, "the number of the decoder's blocks",
                           "decoder_layers"),
            YK_CONFIG_SIZE(encoder_inner, REQUIRED, "the width inside the encoder's feed-forward",
                           "encoder_ffn_dim"),
            YK_CONFIG_SIZE(feed_forward_width, REQUIRED,
                           "the width inside the decoder's feed-forward", "decoder_ffn_dim"),
            YK_CONFIG_SIZE(encoder_heads, REQUIRED, "the number of the encoder's heads",
                           "encoder_attention_heads", "num_attention_heads"),
            YK_CONFIG_SIZE(heads, REQUIRED, "the number of the decoder's heads",
                           "decoder_attention_heads"),
            POSITIONS(1024, "the longest sequence"), TIED(true),
            YK_CONFIG_FLAG(shared, true, "share_encoder_decoder_embeddings"),
            YK_CONFIG_NUMBER(init_std, 0.02, "init_std")),
        .activation_key = "activation_function",
        .read = read_marian,
        .write = write_marian,
        .base = "model",
        .modules =
            MODULES(OUTSIDE("", LOGITS_BUFFER), M("shared", SHARED_EMBEDDING),
                    M("encoder.embed_tokens", ENCODER_EMBEDDING),
                    M("encoder.embed_positions", SINUSOIDS), M("encoder.layers", ENCODER_BLOCKS),
                    M("decoder.embed_tokens", EMBEDDING), M("decoder.embed_positions", SINUSOIDS),
                    M("decoder.layers", BLOCKS), OUTSIDE("lm_head", HEAD)),
        .block = MODULES(MARIAN_ATTENTION, M("activation_fn", EMPTY),
                         M("self_attn_layer_norm", ATTENTION_NORM),
                         M("encoder_attn.k_proj", CROSS_K), M("encoder_attn.v_proj", CROSS_V),
                         M("encoder_attn.q_proj", CROSS_Q), M("encoder_attn.out_proj", CROSS_OUT),
                         M("encoder_attn_layer_norm", CROSS_NORM), MARIAN_MLP),
        .encoder_block = MODULES(MARIAN_ATTENTION, M("self_attn_layer_norm", ATTENTION_NORM),
                                 M("activation_fn", EMPTY), MARIAN_MLP),
        .block_kind = "decoder-block",
        .splittable = true,
    },
    {
        .name = "olmo2",
        .model_type = "olmo2",
        .classes = CLASSES("Olmo2ForCausalLM"),
        .common = {DECODER(1e4), IDS(1, -1, 50279), .norm_placement = YK_NORM_AFTER,
                   .qk_norm = YK_QK_NORM_WHOLE},
        .fields = FIELDS(DECODER_SIZES(DERIVED, DERIVED), TIED(false), RMS_EPSILON(1e-5),
                         ATTENTION_BIAS(false)),
        .activation_key = "hidden_act",
        LLAMA_NAMES,
        .block = MODULES(SELF_ATTENTION, QK_NORMS, GATED_MLP,
                         M("post_attention_layernorm", ATTENTION_POST_NORM),
                         M("post_feedforward_layernorm", MLP_POST_NORM)),
        .block_kind = "olmo2-block",
    },
    {
        .name = "granite",
        .model_type = "granite",
        .classes = CLASSES("GraniteForCausalLM"),
        .common = {DECODER(1e4), IDS(-1, 1, 2)},
        .fields = FIELDS(DECODER_SIZES(DERIVED, DERIVED), TIED(false), RMS_EPSILON(1e-6),
                         ATTENTION_BIAS(false), MLP_BIAS,
                         YK_CONFIG_NUMBER(embedding_scale, 1, "embedding_multiplier"),
                         YK_CONFIG_NUMBER(attention_scale, 1, "attention_multiplier"),
                         YK_CONFIG_NUMBER(residual_scale, 1, "residual_multiplier")),
        .activation_key = "hidden_act",
        .read = read_granite,
        .write = write_granite,
        LLAMA_NAMES,
        .block = llama_block,
        .block_kind = "granite-block",
    },
    {
        .name = "gpt_neox",
        .model_type = "gpt_neox",
        .classes = CLASSES("GPTNeoXForCausalLM"),
        .common = {.rope.theta = 1e4,
                   .activation = YK_ACTIVATION_GELU,
                   .inner_bias = true,
                   .interleaved = true,
                   .residual_dropout = true,
                   IDS(-1, 0, 2)},
        .fields = FIELDS(SIZES, POSITIONS(ANY_LENGTH, "the longest sequence"), INIT_STD,
                         TIED(false), LAYER_EPSILON(1e-5, "layer_norm_eps"), ATTENTION_BIAS(true),
                         YK_CONFIG_FLAG(parallel, true, "use_parallel_residual")),
        .activation_key = "hidden_act",
        .theta_key = "rotary_emb_base",
        .partial_key = "rotary_pct",
        .partial_rotary = 0.25,
        .base = "gpt_neox",
        .modules = MODULES(M("embed_in", EMBEDDING), M("emb_dropout", EMPTY), M("layers", BLOCKS),
                           M("final_layer_norm", FINAL_NORM), M("rotary_emb", ROTARY),
                           OUTSIDE("embed_out", HEAD)),
        .block =
            MODULES(LLAMA_NORMS, M("post_attention_dropout", EMPTY), M("post_mlp_dropout", EMPTY),
                    M("attention.query_key_value", QKV), M("attention.dense", OUT),
                    M("mlp.dense_h_to_4h", UP), M("mlp.dense_4h_to_h", DOWN), M("mlp.act", EMPTY)),
        .head_alias = "lm_head",
        .block_kind = "neox-block",
    },
    {
        .name = "starcoder2",
        .model_type = "starcoder2",
        .classes = CLASSES("Starcoder2ForCausalLM"),
        .common = {.rope.theta = 1e4,
                   .activation = YK_ACTIVATION_GELU_TANH,
                   .residual_dropout = true,
                   IDS(-1, 50256, 50256)},
        .fields = FIELDS(DECODER_SIZES(2, DERIVED), TIED(true), LAYER_EPSILON(1e-5, "norm_epsilon"),
                         YK_CONFIG_FLAG(qkv_bias, true, "use_bias"),
                         YK_CONFIG_FLAG(out_bias, true, "use_bias"),
                         YK_CONFIG_FLAG(inner_bias, true, "use_bias"), WINDOW(0),
                         YK_CONFIG_NUMBER(init_std, 0.018042, "initializer_range")),
        .activation_key = "hidden_act",
        LLAMA_NAMES,
        .block = MODULES(SELF_ATTENTION, M("mlp.c_fc", UP), M("mlp.c_proj", DOWN),
                         M("mlp.act", EMPTY), LLAMA_NORMS),
        .block_kind = "starcoder2-block",
    },
    {
        .name = "nemotron",
        .model_type = "nemotron",
        .classes = CLASSES("NemotronForCausalLM"),
        .common = {.rope.theta = 1e4,
                   .activation = YK_ACTIVATION_RELU_SQUARED,
                   .norm_plus_one = true,
                   IDS(-1, 2, 3)},
        /* Of two fields with the same key, the last preset is used. */
        .fields = FIELDS(DECODER_SIZES(DERIVED, DERIVED), POSITIONS(4096, "the longest sequence"),
                         YK_CONFIG_NUMBER(init_std, 0.0134, "initializer_range"), TIED(false),
                         LAYER_EPSILON(1e-5, "norm_eps"), ATTENTION_BIAS(false), MLP_BIAS),
        .activation_key = "hidden_act",
        .partial_key = "partial_rotary_factor",
        .partial_rotary = 0.5,
        LLAMA_NAMES,
        .block = MODULES(SELF_ATTENTION, M("mlp.up_proj", UP), M("mlp.down_proj", DOWN),
                         M("mlp.act_fn", EMPTY), LLAMA_NORMS),
        .block_kind = "nemotron-block",
    },
    {
        .name = "roberta",
        .model_type = "roberta",
        .classes = CLASSES("RobertaForMaskedLM", "RobertaModel"),
        .common = {BERT_COMMON, IDS(1, 0, 2)},
        .fields = FIELDS(BERT_FIELDS),
        .activation_key = "hidden_act",
        .read = read_roberta,
        .write = write_roberta,
        .base = "roberta",
        .modules = MODULES(
            M("embeddings", EMBEDDINGS), M("embeddings.word_embeddings", EMBEDDING),
            M("embeddings.token_type_embeddings", TOKEN_TYPES),
            M("embeddings.LayerNorm", EMBEDDING_NORM), M("embeddings.dropout", EMPTY),
            M("embeddings.position_embeddings", POSITIONS), M("encoder.layer", BLOCKS),
            M("pooler.dense", POOLER), M("pooler.activation", POOLER_ACTIVATION),
            OUTSIDE("lm_head", HEAD_BIAS), OUTSIDE("lm_head.dense", TRANSFORM),
            OUTSIDE("lm_head.layer_norm", TRANSFORM_NORM), OUTSIDE("lm_head.decoder", HEAD)),
        .block = MODULES(BERT_BLOCK),
        .block_kind = "bert-block",
    },
    {
        .name = "mixtral",
        .model_type = "mixtral",
        .classes = CLASSES("MixtralForCausalLM"),
        .common = {DECODER(1e6), IDS(-1, 1, 2)},
        .fields = FIELDS(DECODER_SIZES(8, DERIVED), TIED(false), RMS_EPSILON(1e-5), WINDOW(0),
                         EXPERTS(2, "num_local_experts")),
        .activation_key = "hidden_act",
        .read = read_experts,
        LLAMA_NAMES,
        .block = EXPERT_BLOCK(),
        .block_kind = "mixtral-block",
    },
    {
        .name = "qwen2_moe",
        .model_type = "qwen2_moe",
        .classes = CLASSES("Qwen2MoeForCausalLM"),
        .common = {DECODER(1e4), IDS(-1, -1, -1)},
        .fields = FIELDS(DECODER_SIZES(16, DERIVED), TIED(false), RMS_EPSILON(1e-6),
                         YK_CONFIG_SIZE_OR_ZERO(window, 4096, WINDOW_WORDS, "sliding_window"),
                         YK_CONFIG_FLAG(qkv_bias, true, "qkv_bias"),
                         EXPERTS(4, "num_experts", "num_local_experts"), EXPERT_WIDTH,
                         YK_CONFIG_SIZE(shared_expert_width, DERIVED,
                                        "the width inside the shared expert",
                                        "shared_expert_intermediate_size")),
        .activation_key = "hidden_act",
        .window_pattern = YK_WINDOW_FROM_LAYER,
        .read = read_qwen_experts,
        LLAMA_NAMES,
        .block = EXPERT_BLOCK(),
        .block_kind = "qwen2-moe-block",
    },
    {
        .name = "qwen3_moe",
        .model_type = "qwen3_moe",
        .classes = CLASSES("Qwen3MoeForCausalLM"),
        .common = {DECODER(1e4), IDS(-1, -1, -1), .qk_norm = YK_QK_NORM_PER_HEAD},
        .fields =
            FIELDS(DECODER_SIZES(4, DERIVED), TIED(false), RMS_EPSILON(1e-6), ATTENTION_BIAS(false),
                   WINDOW(4096), EXPERTS(8, "num_experts", "num_local_experts"), EXPERT_WIDTH),
        .activation_key = "hidden_act",
        .window_pattern = YK_WINDOW_FROM_LAYER,
        .read = read_qwen_experts,
        LLAMA_NAMES,
        .block = EXPERT_BLOCK(QK_NORMS, ),
        .block_kind = "qwen3-moe-block",
    },
    {
        .name = "olmoe",
        .model_type = "olmoe",
        .classes = CLASSES("OlmoeForCausalLM"),
        .common = {DECODER(1e4), IDS(1, -1, 50279), .qk_norm = YK_QK_NORM_WHOLE},
        .fields = FIELDS(DECODER_SIZES(DERIVED, DERIVED), TIED(false), RMS_EPSILON(1e-5),
                         ATTENTION_BIAS(false), EXPERTS(8, "num_experts", "num_local_experts")),
        .activation_key = "hidden_act",
        .read = read_experts,
        LLAMA_NAMES,
        .block = EXPERT_BLOCK(QK_NORMS, ),
        .block_kind = "olmoe-block",
    },
    {
        .name = "granitemoe",
        .model_type = "granitemoe",
        .classes = CLASSES("GraniteMoeForCausalLM"),
        .common = {DECODER(1e4), IDS(-1, 1, 2)},
        .fields = FIELDS(DECODER_SIZES(DERIVED, DERIVED), TIED(false), RMS_EPSILON(1e-6),
                         ATTENTION_BIAS(false), EXPERTS(2, "num_local_experts"),
                         YK_CONFIG_NUMBER(embedding_scale, 1, "embedding_multiplier"),
                         YK_CONFIG_NUMBER(attention_scale, 1, "attention_multiplier"),
                         YK_CONFIG_NUMBER(residual_scale, 1, "residual_multiplier")),
        .activation_key = "hidden_act",
        .read = read_granite_experts,
        LLAMA_NAMES,
        .block = MODULES(SELF_ATTENTION, M("block_sparse_moe", EXPERTS), LLAMA_NORMS),
        .block_kind = "granite-moe-block",
    },
    {
        .name = "gpt_oss",
        .model_type = "gpt_oss",
        .classes = CLASSES("GptOssForCausalLM"),
        .common = {DECODER(15e4), IDS(-1, -1, -1), .attention_sinks = true, .expert_bias = true},
        .fields = FIELDS(DECODER_SIZES(8, 64), TIED(false), RMS_EPSILON(1e-5), ATTENTION_BIAS(true),
                         WINDOW(128), EXPERTS(4, "num_local_experts")),
        .activation_key = "hidden_act",
        .window_pattern = YK_WINDOW_PERIODIC,
        .window_period = 2,
        .read = read_experts,
        LLAMA_NAMES,
        .block = EXPERT_BLOCK(),
        .block_kind = "gpt-oss-block",
    },
    {
        .name = "vit",
        .model_type = "vit",
        .classes = CLASSES("ViTForImageClassification", "ViTModel"),
        .common = {.position_kind = YK_POSITIONS_LEARNED,
                   .bidirectional = true,
                   .classifier = true,
                   .out_bias = true,
                   .inner_bias = true,
                   .residual_dropout = true,
                   .activation = YK_ACTIVATION_GELU,
                   .ids = YK_SPECIAL_TOKEN_IDS_NONE},
        .fields = FIELDS(YK_CONFIG_SIZE(width, 768, "the width of the model", "hidden_size"),
                         YK_CONFIG_SIZE(feed_forward_width, 3072,
                                        "the width inside the feed-forward", "intermediate_size"),
                         YK_CONFIG_SIZE(layers, 12, "the number of blocks", "num_hidden_layers"),
                         YK_CONFIG_SIZE(heads, 12, "the number of heads", "num_attention_heads"),
                         LAYER_EPSILON(1e-12, "layer_norm_eps"), INIT_STD,
                         YK_CONFIG_FLAG(qkv_bias, true, "qkv_bias")),
        .activation_key = "hidden_act",
        .read = yk_config_images_read,
        .write = yk_config_images_write,
        .base = "vit",
        .modules = MODULES(M("embeddings", PATCH_EMBEDDINGS),
                           M("embeddings.patch_embeddings.projection", PATCHES),
                           M("embeddings.dropout", EMPTY), M("layers", BLOCKS),
                           M("layernorm", FINAL_NORM), OUTSIDE("classifier", HEAD)),
        .block =
            MODULES(M("attention.q_proj", Q), M("attention.k_proj", K), M("attention.v_proj", V),
                    M("attention.o_proj", OUT), M("layernorm_before", ATTENTION_NORM),
                    M("layernorm_after", MLP_NORM), M("mlp.activation_fn", EMPTY), M("mlp.fc1", UP),
                    M("mlp.fc2", DOWN), M("dropout", EMPTY)),
        .file_names = vit_file_names,
        .block_kind = "vit-block",
    },
};
const size_t yk_architecture_count = sizeof yk_architectures / sizeof yk_architectures[0];
