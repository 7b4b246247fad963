#include "model/config_write.h"

#include "base/number.h"
#include "model/architecture.h"

#include <inttypes.h>
#include <string.h>

static void add_integer(struct yk_text *out, const char *key, int64_t value)
{
    yk_text_addf(out, "  \"%s\": %" PRId64 ",\n", key, value);
}

static void add_flag(struct yk_text *out, const char *key, bool value)
{
    yk_text_addf(out, "  \"%s\": %s,\n", key, value ? "true" : "false");
}

static void add_word(struct yk_text *out, const char *key, const char *value)
{
    yk_text_addf(out, "  \"%s\": \"%s\",\n", key, value);
}

/* With a point or an exponent in any case: the framework tells 8 from 8.0. */
static void add_number(struct yk_text *out, const char *key, double value)
{
    char digits[YK_NUMBER_SIZE];
    yk_number_format(value, digits);
    yk_text_addf(out, "  \"%s\": %s%s,\n", key, digits, strpbrk(digits, ".e") ? "" : ".0");
}

static const char *torch_name(enum yk_precision dtype)
{
    switch (dtype) {
    case YK_PRECISION_FP16:
        return "float16";
    case YK_PRECISION_BF16:
        return "bfloat16";
    case YK_PRECISION_FP32:
    case YK_PRECISION_TF32:
    case YK_PRECISION_COUNT:
        break;
    }
    return "float32";
}

static void add_id(struct yk_text *out, const char *key, int64_t id)
{
    if (id < 0) {
        yk_text_addf(out, "  \"%s\": null,\n", key);
    } else {
        add_integer(out, key, id);
    }
}

static void add_ids(struct yk_text *out, const struct yk_config_ids *ids)
{
    add_id(out, "bos_token_id", ids->begin);
    add_id(out, "eos_token_id", ids->end);
    add_id(out, "pad_token_id", ids->pad);
}

static void add_activation(struct yk_text *out, const char *key,
                           const struct yk_model_config *config)
{
    const char *gelu = config->gelu_erf ? "gelu" : "gelu_new";
    const char *smooth = config->silu ? "silu" : gelu;
    add_word(out, key, config->relu ? "relu" : smooth);
}

static void add_class(struct yk_text *out, const char *name)
{
    yk_text_addf(out, "  \"architectures\": [\n    \"%s\"\n  ],\n", name);
}

static void write_gpt2(const struct yk_model_config *config, struct yk_text *out)
{
    add_activation(out, "activation_function", config);
    add_class(out, "GPT2LMHeadModel");
    add_ids(out, &config->ids);
    add_number(out, "initializer_range", config->spread);
    add_number(out, "layer_norm_epsilon", config->norm_epsilon);
    add_word(out, "model_type", "gpt2");
    add_integer(out, "n_ctx", config->positions);
    add_integer(out, "n_embd", config->width);
    add_integer(out, "n_head", config->heads);
    add_integer(out, "n_inner", config->inner);
    add_integer(out, "n_layer", config->layers);
    add_integer(out, "n_positions", config->positions);
}

/* The scaling of Llama 3.1; its members are indented once more. */
static void add_scaling(const struct yk_model_config *config, struct yk_text *out)
{
    if (config->rope_factor <= 0) {
        yk_text_add(out, "  \"rope_scaling\": null,\n");
        return;
    }
    yk_text_add(out, "  \"rope_scaling\": {\n  ");
    add_number(out, "factor", config->rope_factor);
    yk_text_add(out, "  ");
    add_number(out, "high_freq_factor", config->rope_high);
    yk_text_add(out, "  ");
    add_number(out, "low_freq_factor", config->rope_low);
    yk_text_add(out, "  ");
    add_integer(out, "original_max_position_embeddings", config->rope_positions);
    yk_text_add(out, "    \"rope_type\": \"llama3\"\n  },\n");
}

static void write_llama(const struct yk_model_config *config, struct yk_text *out)
{
    add_class(out, "LlamaForCausalLM");
    add_flag(out, "attention_bias", config->linear_bias);
    add_ids(out, &config->ids);
    add_integer(out, "head_dim", config->head_size);
    add_word(out, "hidden_act", "silu");
    add_integer(out, "hidden_size", config->width);
    add_number(out, "initializer_range", config->spread);
    add_integer(out, "intermediate_size", config->inner);
    add_integer(out, "max_position_embeddings", config->positions);
    add_flag(out, "mlp_bias", config->inner_bias);
    add_word(out, "model_type", "llama");
    add_integer(out, "num_attention_heads", config->heads);
    add_integer(out, "num_hidden_layers", config->layers);
    add_integer(out, "num_key_value_heads", config->kv_heads);
    add_number(out, "rms_norm_eps", config->norm_epsilon);
    add_scaling(config, out);
    add_number(out, "rope_theta", config->rope_theta);
}

static void write_bert(const struct yk_model_config *config, struct yk_text *out)
{
    const char *with_head = config->pooler ? "BertForPreTraining" : "BertForMaskedLM";
    add_class(out, config->masked_head ? with_head : "BertModel");
    add_ids(out, &config->ids);
    add_activation(out, "hidden_act", config);
    add_integer(out, "hidden_size", config->width);
    add_number(out, "initializer_range", config->spread);
    add_integer(out, "intermediate_size", config->inner);
    add_number(out, "layer_norm_eps", config->norm_epsilon);
    add_integer(out, "max_position_embeddings", config->positions);
    add_word(out, "model_type", "bert");
    add_integer(out, "num_attention_heads", config->heads);
    add_integer(out, "num_hidden_layers", config->layers);
    add_integer(out, "type_vocab_size", config->token_types);
}

/* The framework would force its own last token on a translation that is cut off: none here. */
static void write_transformer(const struct yk_model_config *config, struct yk_text *out)
{
    add_activation(out, "activation_function", config);
    add_class(out, "MarianMTModel");
    add_integer(out, "d_model", config->width);
    add_integer(out, "decoder_attention_heads", config->heads);
    add_integer(out, "decoder_ffn_dim", config->inner);
    add_integer(out, "decoder_layers", config->layers);
    if (config->ids.decoder_start >= 0) {
        add_integer(out, "decoder_start_token_id", config->ids.decoder_start);
    }
    if (config->target_vocabulary > 0) {
        add_integer(out, "decoder_vocab_size", config->target_vocabulary);
    }
    add_integer(out, "encoder_attention_heads", config->encoder_heads);
    add_integer(out, "encoder_ffn_dim", config->encoder_inner);
    add_integer(out, "encoder_layers", config->encoder_layers);
    add_id(out, "forced_eos_token_id", -1);
    add_ids(out, &config->ids);
    add_number(out, "init_std", config->spread);
    add_flag(out, "is_encoder_decoder", true);
    add_integer(out, "max_position_embeddings", config->positions);
    add_word(out, "model_type", "marian");
    add_flag(out, "scale_embedding", config->scaled_embedding);
    add_flag(out, "share_encoder_decoder_embeddings", config->shared);
    add_flag(out, "static_position_embeddings", true);
}

yk_status yk_model_config_write(const struct yk_model_config *config, enum yk_precision dtype,
                                struct yk_text *out)
{
    static const struct {
        const struct yk_architecture *architecture;
        void (*write)(const struct yk_model_config *config, struct yk_text *out);
    } writers[] = {
        {&yk_architecture_gpt2, write_gpt2},
        {&yk_architecture_llama, write_llama},
        {&yk_architecture_bert, write_bert},
        {&yk_architecture_transformer, write_transformer},
    };
    if (config->not_trained) {
        return yk_fail(YK_ERROR_INPUT, "the config of %s cannot be written: %s is not known",
                       config->name, config->not_trained);
    }
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++) {
        if (writers[i].architecture == config->architecture) {
            yk_text_add(out, "{\n");
            writers[i].write(config, out);
            add_flag(out, "tie_word_embeddings", config->tied);
            add_word(out, "torch_dtype", torch_name(dtype));
            yk_text_addf(out, "  \"vocab_size\": %" PRId64 "\n}\n", config->vocabulary);
            return yk_text_status(out);
        }
    }
    return yk_fail(YK_ERROR_INPUT,
                   "the config of %s cannot be written yet: its architecture is \"%s\"",
                   config->name, config->architecture->name);
}
