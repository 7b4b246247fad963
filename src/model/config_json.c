#include "model/config.h"

#include "base/json_write.h"
#include "base/number.h"
#include "model/architecture.h"

#include <string.h>

/* Writes a number with a point or an exponent, because 8 is an int in Python. */
static void write_number(struct yk_json_writer *json, const char *key, double value)
{
    char digits[YK_NUMBER_BUFFER_SIZE];
    yk_number_format(value, digits);
    yk_json_write_key(json, key);
    yk_text_addf(json->text, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
}

static const char *torch_name(enum yk_precision dtype)
{
    return dtype == YK_PRECISION_FP16   ? "float16"
           : dtype == YK_PRECISION_BF16 ? "bfloat16"
                                        : "float32";
}

static void write_id(struct yk_json_writer *json, const char *key, int64_t id)
{
    if (id < 0) {
        yk_json_write_null(json, key);
    } else {
        yk_json_write_integer(json, key, id);
    }
}

static void write_ids(struct yk_json_writer *json, const struct yk_special_token_ids *ids)
{
    write_id(json, "bos_token_id", ids->begin);
    write_id(json, "eos_token_id", ids->end);
    write_id(json, "pad_token_id", ids->pad);
}

static void write_activation(struct yk_json_writer *json, const char *key,
                             const struct yk_model_config *config)
{
    const char *gelu = config->gelu_erf ? "gelu" : "gelu_new";
    const char *smooth = config->silu ? "silu" : gelu;
    yk_json_write_string(json, key, config->relu ? "relu" : smooth);
}

static void write_class(struct yk_json_writer *json, const char *name)
{
    yk_json_write_begin_array(json, "architectures");
    yk_json_write_newline(json, 4);
    yk_json_write_string(json, NULL, name);
    yk_json_write_newline(json, 2);
    yk_json_write_end_array(json);
}

/* Keys of Llama and BERT that are adjacent in alphabetical order. */
static void write_sizes(struct yk_json_writer *json, const struct yk_model_config *config)
{
    yk_json_write_integer(json, "hidden_size", config->width);
    write_number(json, "initializer_range", config->init_std);
    yk_json_write_integer(json, "intermediate_size", config->feed_forward_width);
}

static void write_type(struct yk_json_writer *json, const char *type,
                       const struct yk_model_config *config)
{
    yk_json_write_string(json, "model_type", type);
    yk_json_write_integer(json, "num_attention_heads", config->heads);
    yk_json_write_integer(json, "num_hidden_layers", config->layers);
}

static void write_gpt2(const struct yk_model_config *config, struct yk_json_writer *json)
{
    write_activation(json, "activation_function", config);
    write_class(json, "GPT2LMHeadModel");
    write_ids(json, &config->ids);
    write_number(json, "initializer_range", config->init_std);
    write_number(json, "layer_norm_epsilon", config->norm_epsilon);
    yk_json_write_string(json, "model_type", "gpt2");
    yk_json_write_integer(json, "n_ctx", config->positions);
    yk_json_write_integer(json, "n_embd", config->width);
    yk_json_write_integer(json, "n_head", config->heads);
    yk_json_write_integer(json, "n_inner", config->feed_forward_width);
    yk_json_write_integer(json, "n_layer", config->layers);
    yk_json_write_integer(json, "n_positions", config->positions);
}

/* The scaling of Llama 3.1. */
static void write_scaling(const struct yk_model_config *config, struct yk_json_writer *json)
{
    if (config->rope_factor <= 0) {
        yk_json_write_null(json, "rope_scaling");
        return;
    }
    yk_json_write_begin_object(json, "rope_scaling");
    json->line_indent = 4;
    write_number(json, "factor", config->rope_factor);
    write_number(json, "high_freq_factor", config->rope_high);
    write_number(json, "low_freq_factor", config->rope_low);
    yk_json_write_integer(json, "original_max_position_embeddings", config->rope_positions);
    yk_json_write_string(json, "rope_type", "llama3");
    json->line_indent = 2;
    yk_json_write_newline(json, 2);
    yk_json_write_end_object(json);
}

static void write_llama(const struct yk_model_config *config, struct yk_json_writer *json)
{
    write_class(json, "LlamaForCausalLM");
    yk_json_write_bool(json, "attention_bias", config->linear_bias);
    write_ids(json, &config->ids);
    yk_json_write_integer(json, "head_dim", config->head_size);
    yk_json_write_string(json, "hidden_act", "silu");
    write_sizes(json, config);
    yk_json_write_integer(json, "max_position_embeddings", config->positions);
    yk_json_write_bool(json, "mlp_bias", config->inner_bias);
    write_type(json, "llama", config);
    yk_json_write_integer(json, "num_key_value_heads", config->kv_heads);
    write_number(json, "rms_norm_eps", config->norm_epsilon);
    write_scaling(config, json);
    write_number(json, "rope_theta", config->rope_theta);
}

static void write_bert(const struct yk_model_config *config, struct yk_json_writer *json)
{
    const char *with_head = config->pooler ? "BertForPreTraining" : "BertForMaskedLM";
    write_class(json, config->masked_head ? with_head : "BertModel");
    write_ids(json, &config->ids);
    write_activation(json, "hidden_act", config);
    write_sizes(json, config);
    write_number(json, "layer_norm_eps", config->norm_epsilon);
    yk_json_write_integer(json, "max_position_embeddings", config->positions);
    write_type(json, "bert", config);
    yk_json_write_integer(json, "type_vocab_size", config->token_types);
}

/* forced_eos_token_id is null: transformers would append its default token to a cut translation. */
static void write_transformer(const struct yk_model_config *config, struct yk_json_writer *json)
{
    write_activation(json, "activation_function", config);
    write_class(json, "MarianMTModel");
    yk_json_write_integer(json, "d_model", config->width);
    yk_json_write_integer(json, "decoder_attention_heads", config->heads);
    yk_json_write_integer(json, "decoder_ffn_dim", config->feed_forward_width);
    yk_json_write_integer(json, "decoder_layers", config->layers);
    if (config->ids.decoder_start >= 0) {
        yk_json_write_integer(json, "decoder_start_token_id", config->ids.decoder_start);
    }
    if (config->target_vocabulary > 0) {
        yk_json_write_integer(json, "decoder_vocab_size", config->target_vocabulary);
    }
    yk_json_write_integer(json, "encoder_attention_heads", config->encoder_heads);
    yk_json_write_integer(json, "encoder_ffn_dim", config->encoder_inner);
    yk_json_write_integer(json, "encoder_layers", config->encoder_layers);
    write_id(json, "forced_eos_token_id", -1);
    write_ids(json, &config->ids);
    write_number(json, "init_std", config->init_std);
    yk_json_write_bool(json, "is_encoder_decoder", true);
    yk_json_write_integer(json, "max_position_embeddings", config->positions);
    yk_json_write_string(json, "model_type", "marian");
    yk_json_write_bool(json, "scale_embedding", config->scaled_embedding);
    yk_json_write_bool(json, "share_encoder_decoder_embeddings", config->shared);
    yk_json_write_bool(json, "static_position_embeddings", true);
}

yk_status yk_model_config_to_json(const struct yk_model_config *config, enum yk_precision dtype,
                                  struct yk_text *out)
{
    static const struct {
        const struct yk_architecture *architecture;
        void (*write)(const struct yk_model_config *config, struct yk_json_writer *json);
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
            struct yk_json_writer json = {.text = out, .spaced = true};
            yk_json_write_begin_object(&json, NULL);
            json.line_indent = 2;
            writers[i].write(config, &json);
            yk_json_write_bool(&json, "tie_word_embeddings", config->tied);
            yk_json_write_string(&json, "torch_dtype", torch_name(dtype));
            yk_json_write_integer(&json, "vocab_size", config->vocabulary);
            yk_json_write_newline(&json, 0);
            yk_json_write_end_object(&json);
            yk_text_add(out, "\n");
            return yk_text_status(out);
        }
    }
    return yk_fail(YK_ERROR_INPUT,
                   "the config of %s cannot be written yet: its architecture is \"%s\"",
                   config->name, config->architecture->name);
}
