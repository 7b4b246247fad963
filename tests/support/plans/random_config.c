#include "support/plans/random_config.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct sizes {
    int layers;
    int heads;
    int kv_heads;
    int head_size; /* need not be a head's part of the width */
    int inner;
};

struct drawing {
    struct yk_random *random;
    struct yk_text *text;
    struct sizes sizes;
};

enum {
    WIDTH = 16,
    VOCABULARY = 40,
    POSITIONS = 32,
};

static int pick(const struct drawing *drawing, const int *from, int count)
{
    return from[yk_random_below(drawing->random, count)];
}

static bool flag(const struct drawing *drawing)
{
    return yk_random_below(drawing->random, 2) == 0;
}

static void add_number(const struct drawing *drawing, const char *key, int64_t value)
{
    yk_text_addf(drawing->text, ",\"%s\":%lld", key, (long long)value);
}

static void add_flag(const struct drawing *drawing, const char *key)
{
    yk_text_addf(drawing->text, ",\"%s\":%s", key, flag(drawing) ? "true" : "false");
}

/* One of two values, as they are in a config.json. */
static void add_either(const struct drawing *drawing, const char *key, const char *one,
                       const char *other)
{
    yk_text_addf(drawing->text, ",\"%s\":%s", key, flag(drawing) ? one : other);
}

static struct sizes draw_sizes(struct yk_random *random)
{
    const int heads = yk_random_below(random, 2) == 0 ? 2 : 4;
    static const int head_sizes[] = {4, 8, 12};
    static const int inners[] = {12, 24, 33};
    return (struct sizes){
        .layers = 2 + (int)yk_random_below(random, 2),
        .heads = heads,
        .kv_heads = 1 << yk_random_below(random, heads == 2 ? 2 : 3),
        .head_size = head_sizes[yk_random_below(random, 3)],
        .inner = inners[yk_random_below(random, 3)],
    };
}

/* ---- properties that several families have ---- */

static void add_sizes(const struct drawing *drawing)
{
    add_number(drawing, "hidden_size", WIDTH);
    add_number(drawing, "intermediate_size", drawing->sizes.inner);
    add_number(drawing, "num_hidden_layers", drawing->sizes.layers);
    add_number(drawing, "num_attention_heads", drawing->sizes.heads);
    add_number(drawing, "max_position_embeddings", POSITIONS);
    add_flag(drawing, "tie_word_embeddings");
}

static void add_kv_heads(const struct drawing *drawing)
{
    add_number(drawing, "num_key_value_heads", drawing->sizes.kv_heads);
}

static void add_head_size(const struct drawing *drawing)
{
    add_number(drawing, "head_dim", drawing->sizes.head_size);
}

static void add_rope(const struct drawing *drawing)
{
    static const char *const kinds[] = {
        "\"rope_type\":\"default\"",
        "\"rope_type\":\"linear\",\"factor\":2.0",
        "\"rope_type\":\"dynamic\",\"factor\":2.0",
        "\"rope_type\":\"yarn\",\"factor\":4.0,\"original_max_position_embeddings\":8",
        ("\"rope_type\":\"llama3\",\"factor\":4.0,\"low_freq_factor\":1.0,"
         "\"high_freq_factor\":4.0,\"original_max_position_embeddings\":16"),
    };
    const int kind = (int)yk_random_below(drawing->random, 5);
    if (flag(drawing)) {
        yk_text_addf(drawing->text, ",\"rope_parameters\":{\"rope_theta\":10000.0,%s}",
                     kinds[kind]);
    } else {
        yk_text_addf(drawing->text, ",\"rope_theta\":500.0,\"rope_scaling\":{%s}", kinds[kind]);
    }
}

static void add_window(const struct drawing *drawing)
{
    static const int windows[] = {2, 3, 5};
    add_number(drawing, "sliding_window", pick(drawing, windows, 3));
}

static void add_layer_types(const struct drawing *drawing)
{
    yk_text_add(drawing->text, ",\"layer_types\":[");
    for (int i = 0; i < drawing->sizes.layers; i++) {
        yk_text_addf(drawing->text, "%s\"%s\"", i > 0 ? "," : "",
                     flag(drawing) ? "sliding_attention" : "full_attention");
    }
    yk_text_add(drawing->text, "]");
}

/* ---- families ---- */

static void add_gpt2(const struct drawing *drawing)
{
    add_number(drawing, "n_embd", WIDTH);
    add_number(drawing, "n_layer", drawing->sizes.layers);
    add_number(drawing, "n_head", drawing->sizes.heads);
    add_number(drawing, "n_positions", POSITIONS);
    add_either(drawing, "n_inner", "null", "24");
    add_either(drawing, "activation_function", "\"gelu_new\"", "\"relu\"");
    add_flag(drawing, "tie_word_embeddings");
}

static void add_llama(const struct drawing *drawing)
{
    add_sizes(drawing);
    add_kv_heads(drawing);
    add_rope(drawing);
    add_flag(drawing, "attention_bias");
    add_flag(drawing, "mlp_bias");
}

static void add_mistral(const struct drawing *drawing)
{
    add_sizes(drawing);
    add_kv_heads(drawing);
    add_head_size(drawing);
    add_rope(drawing);
    add_window(drawing);
}

static void add_qwen2(const struct drawing *drawing)
{
    add_sizes(drawing);
    add_kv_heads(drawing);
    add_rope(drawing);
    add_window(drawing);
    add_flag(drawing, "use_sliding_window");
    add_number(drawing, "max_window_layers", yk_random_below(drawing->random, 3));
}

static void add_qwen3(const struct drawing *drawing)
{
    add_qwen2(drawing);
    add_head_size(drawing);
    add_flag(drawing, "attention_bias");
}

static void add_gemma(const struct drawing *drawing)
{
    add_sizes(drawing);
    add_kv_heads(drawing);
    add_head_size(drawing);
    add_rope(drawing);
    add_flag(drawing, "attention_bias");
}

static void add_gemma2(const struct drawing *drawing)
{
    add_gemma(drawing);
    add_window(drawing);
    add_layer_types(drawing);
    add_either(drawing, "query_pre_attn_scalar", "16", "256");
    add_either(drawing, "attn_logit_softcapping", "2.0", "null");
    add_either(drawing, "final_logit_softcapping", "3.0", "null");
}

/* Rotary positions of two bases. */
static void add_gemma3(const struct drawing *drawing)
{
    add_sizes(drawing);
    add_kv_heads(drawing);
    add_head_size(drawing);
    add_window(drawing);
    add_layer_types(drawing);
    add_either(drawing, "query_pre_attn_scalar", "16", "256");
    yk_text_add(drawing->text, ",\"rope_theta\":1000000.0,\"rope_local_base_freq\":10000.0");
    add_either(drawing, "rope_scaling", "null", "{\"rope_type\":\"linear\",\"factor\":8.0}");
}

static void add_phi3(const struct drawing *drawing)
{
    const bool half = drawing->sizes.heads == 2 && flag(drawing);
    const int pairs = WIDTH / drawing->sizes.heads / (half ? 4 : 2);
    add_sizes(drawing);
    add_kv_heads(drawing);
    add_either(drawing, "sliding_window", "null", "3");
    add_number(drawing, "original_max_position_embeddings", 4);
    yk_text_addf(drawing->text, ",\"partial_rotary_factor\":%s", half ? "0.5" : "1.0");
    if (flag(drawing)) {
        yk_text_add(drawing->text, ",\"rope_scaling\":{\"type\":\"longrope\",\"short_factor\":[");
        for (int i = 0; i < 2 * pairs; i++) {
            yk_text_addf(drawing->text, "%s%d.5",
                         i == pairs ? "],\"long_factor\":["
                         : i > 0    ? ","
                                    : "",
                         1 + i);
        }
        yk_text_add(drawing->text, "]}");
    }
}

static void add_smollm3(const struct drawing *drawing)
{
    add_llama(drawing);
    add_window(drawing);
    add_flag(drawing, "use_sliding_window");
    add_number(drawing, "no_rope_layer_interval", 2);
}

static void add_olmo2(const struct drawing *drawing)
{
    add_sizes(drawing);
    add_kv_heads(drawing);
    add_rope(drawing);
    add_flag(drawing, "attention_bias");
}

static void add_granite(const struct drawing *drawing)
{
    add_llama(drawing);
    add_either(drawing, "embedding_multiplier", "1.0", "3.0");
    add_either(drawing, "attention_multiplier", "0.5", "0.125");
    add_either(drawing, "residual_multiplier", "0.5", "0.22");
    add_either(drawing, "logits_scaling", "2.0", "4.0");
}

static void add_gpt_neox(const struct drawing *drawing)
{
    add_sizes(drawing);
    add_either(drawing, "rotary_pct", drawing->sizes.heads == 2 ? "0.25" : "0.5", "1.0");
    yk_text_addf(drawing->text, ",\"use_parallel_residual\":%s",
                 yk_random_below(drawing->random, 4) > 0 ? "true" : "false");
    add_flag(drawing, "attention_bias");
    add_either(drawing, "hidden_act", "\"gelu\"", "\"gelu_new\"");
}

static void add_starcoder2(const struct drawing *drawing)
{
    add_sizes(drawing);
    add_kv_heads(drawing);
    add_rope(drawing);
    add_either(drawing, "sliding_window", "null", "3");
    add_flag(drawing, "use_bias");
}

static void add_nemotron(const struct drawing *drawing)
{
    add_llama(drawing);
    /* Half of a head of 4 or 8 elements: whole pairs. */
    add_either(drawing, "partial_rotary_factor", "0.5", "1.0");
    add_either(drawing, "hidden_act", "\"relu2\"", "\"gelu\"");
}

static void add_bert(const struct drawing *drawing)
{
    add_sizes(drawing);
    add_number(drawing, "type_vocab_size", 1 + yk_random_below(drawing->random, 2));
    add_either(drawing, "hidden_act", "\"gelu\"", "\"relu\"");
}

static void add_roberta(const struct drawing *drawing)
{
    add_bert(drawing);
    add_number(drawing, "pad_token_id", yk_random_below(drawing->random, 2));
}

static void add_marian(const struct drawing *drawing)
{
    add_number(drawing, "d_model", WIDTH);
    add_number(drawing, "encoder_layers", drawing->sizes.layers);
    add_number(drawing, "decoder_layers", 2);
    add_number(drawing, "encoder_attention_heads", drawing->sizes.kv_heads);
    add_number(drawing, "decoder_attention_heads", drawing->sizes.heads);
    add_number(drawing, "encoder_ffn_dim", drawing->sizes.inner);
    add_number(drawing, "decoder_ffn_dim", 24);
    add_number(drawing, "max_position_embeddings", POSITIONS);
    add_flag(drawing, "share_encoder_decoder_embeddings");
    add_flag(drawing, "tie_word_embeddings");
    add_flag(drawing, "scale_embedding");
    add_either(drawing, "activation_function", "\"swish\"", "\"relu\"");
}

/* Three to nine tokens. */
static void add_vit(const struct drawing *drawing)
{
    static const int classes[] = {3, 5, 10};
    add_sizes(drawing);
    add_either(drawing, "image_size", "[4, 10]", "[9, 8]");
    add_either(drawing, "patch_size", "[2, 4]", "4");
    add_either(drawing, "num_channels", "1", "3");
    add_number(drawing, "num_labels", pick(drawing, classes, 3));
    add_flag(drawing, "qkv_bias");
    add_either(drawing, "hidden_act", "\"gelu\"", "\"relu\"");
}

static const struct {
    const char *model_type;
    const char *class;
    void (*add)(const struct drawing *drawing);
} families[] = {
    {"gpt2", "GPT2LMHeadModel", add_gpt2},
    {"llama", "LlamaForCausalLM", add_llama},
    {"mistral", "MistralForCausalLM", add_mistral},
    {"qwen2", "Qwen2ForCausalLM", add_qwen2},
    {"qwen3", "Qwen3ForCausalLM", add_qwen3},
    {"gemma", "GemmaForCausalLM", add_gemma},
    {"gemma2", "Gemma2ForCausalLM", add_gemma2},
    {"gemma3_text", "Gemma3ForCausalLM", add_gemma3},
    {"phi3", "Phi3ForCausalLM", add_phi3},
    {"smollm3", "SmolLM3ForCausalLM", add_smollm3},
    {"olmo2", "Olmo2ForCausalLM", add_olmo2},
    {"granite", "GraniteForCausalLM", add_granite},
    {"gpt_neox", "GPTNeoXForCausalLM", add_gpt_neox},
    {"starcoder2", "Starcoder2ForCausalLM", add_starcoder2},
    {"bert", "BertForMaskedLM", add_bert},
    {"roberta", "RobertaForMaskedLM", add_roberta},
    {"marian", "MarianMTModel", add_marian},
    {"nemotron", "NemotronForCausalLM", add_nemotron},
    {"vit", "ViTForImageClassification", add_vit},
};

static_assert(sizeof families / sizeof families[0] == RANDOM_CONFIG_FAMILIES, "count them");

const char *random_config_family(int family)
{
    return families[family].model_type;
}

void random_config_draw(struct yk_random *random, int family, struct yk_text *out)
{
    const struct drawing drawing = {random, out, draw_sizes(random)};
    yk_text_addf(out, "{\"model_type\":\"%s\",\"architectures\":[\"%s\"],\"vocab_size\":%d",
                 families[family].model_type, families[family].class, VOCABULARY);
    families[family].add(&drawing);
    yk_text_add(out, "}");
}
