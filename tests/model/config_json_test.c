#include "model/config.h"

#include "model/architecture.h"
#include "model/builtin.h"
#include "support/files/same_config.h"
#include "support/group_arena.h"
#include "support/support.h"

#include <string.h>

static void assert_returns(const struct yk_model_config *config)
{
    struct yk_text text = {0};
    const struct yk_model_config *again = NULL;
    assert_ok(yk_model_config_to_json(config, YK_PRECISION_BF16, &text));
    assert_ok(
        yk_model_config_parse(yk_text_chars(&text), text.length, "again", group_arena, &again));
    assert_same_config(config, again);
    yk_text_free(&text);
}

static void every_builtin_reads_back_the_same(void **state)
{
    (void)state;
    const struct yk_builtin_model *models = NULL;
    size_t count = 0;
    assert_ok(yk_builtin_models_get(&models, &count));
    for (size_t i = 0; i < count; i++) {
        if (models[i].config->experts == 0) {
            assert_returns(models[i].config);
        }
    }
}

/* As Gemma 3 with pictures is published: sizes that are the presets are left out, and what ends a
 * text is said outside. The numbers are those of transformers' Gemma3TextConfig. */
static void the_language_model_of_a_multimodal_model_reads_back_the_same(void **state)
{
    (void)state;
    static const char text[] =
        "{\"architectures\": [\"Gemma3ForConditionalGeneration\"], \"model_type\": \"gemma3\", "
        "\"eos_token_id\": [1, 106], \"vision_config\": {\"hidden_size\": 1152}, "
        "\"text_config\": {\"hidden_size\": 2560, \"intermediate_size\": 10240, "
        "\"num_hidden_layers\": 34, \"sliding_window\": 1024, "
        "\"rope_scaling\": {\"factor\": 8.0, \"rope_type\": \"linear\"}}}";
    const struct yk_model_config *config = NULL;
    const struct yk_model_config *builtin = NULL;
    assert_ok(yk_model_config_parse(text, strlen(text), "config.json", group_arena, &config));
    assert_returns(config);
    assert_int_equal(config->vocabulary, 262208);
    assert_int_equal(config->heads, 8);
    assert_int_equal(config->ids.end, 1);
    assert_int_equal(config->ids.more_end_count, 1);
    assert_int_equal(config->ids.more_ends[0], 106);
    assert_ok(yk_model_config_find_builtin("gemma3-4b", &builtin));
    struct yk_model_config same = *config;
    same.architecture = builtin->architecture;
    same.name = builtin->name;
    same.ids = builtin->ids;
    assert_same_config(&same, builtin);
}

static void what_no_builtin_has_reads_back_the_same(void **state)
{
    (void)state;
    const struct yk_model_config *gpt2 = NULL;
    assert_ok(yk_model_config_find_builtin("gpt2", &gpt2));
    struct yk_model_config config = *gpt2;
    config.feed_forward_width = 1000;
    config.tied = false;
    config.norm_epsilon = 1.0 / 3;
    config.ids = (struct yk_special_token_ids){.pad = 7,
                                               .begin = 8,
                                               .end = 9,
                                               .decoder_start = -1,
                                               .more_ends = {10, 11},
                                               .more_end_count = 2};
    for (int i = YK_ACTIVATION_GELU_TANH; i <= YK_ACTIVATION_SILU; i++) {
        config.activation = (enum yk_activation)i;
        assert_returns(&config);
    }
    const struct yk_model_config *llama = NULL;
    assert_ok(yk_model_config_find_builtin("llama3-8b", &llama));
    config = *llama;
    config.head_size = config.rotary_size = 100;
    config.qkv_bias = config.out_bias = true;
    config.tied = true;
    config.rope.scaling = YK_ROPE_LLAMA3;
    config.rope.factor = 8;
    config.rope.low = 1.5;
    config.rope.high = 4;
    config.rope.positions = 8192;
    config.init_std = 1e-7;
    assert_returns(&config);
    config.qkv_bias = config.out_bias = false;
    config.inner_bias = true;
    assert_returns(&config);
}

/* Fails unless the text of the config has all of these lines and no others between the braces. */
static void assert_lines(const struct yk_model_config *config, enum yk_precision dtype,
                         const char *const *lines, size_t count)
{
    struct yk_text text = {0};
    size_t length = strlen("{}\n\n");
    assert_ok(yk_model_config_to_json(config, dtype, &text));
    for (size_t i = 0; i < count; i++) {
        const char *found = strstr(yk_text_chars(&text), lines[i]);
        if (!found || found[-1] != '\n' || !strchr(",\n", found[strlen(lines[i])])) {
            print_error("no line %s in %s\n", lines[i], yk_text_chars(&text));
            fail();
        }
        length += strlen(lines[i]) + strlen(",\n") - (i == 0 ? 1 : 0);
    }
    assert_int_equal(text.length, length);
    yk_text_free(&text);
}

/* By hand, from what transformers 4 writes for such models. */
static void a_small_gpt2_is_written_in_the_frameworks_keys(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "  \"architectures\": [\n    \"GPT2LMHeadModel\"\n  ]",
        "  \"model_type\": \"gpt2\"",
        "  \"activation_function\": \"gelu_new\"",
        "  \"bos_token_id\": null",
        "  \"eos_token_id\": null",
        "  \"pad_token_id\": null",
        "  \"initializer_range\": 0.02",
        "  \"layer_norm_epsilon\": 1e-05",
        "  \"n_ctx\": 128",
        "  \"n_embd\": 48",
        "  \"n_head\": 3",
        "  \"n_inner\": 192",
        "  \"n_layer\": 3",
        "  \"n_positions\": 128",
        "  \"tie_word_embeddings\": false",
        "  \"torch_dtype\": \"float32\"",
        "  \"vocab_size\": 65",
    };
    const struct yk_model_config *nano = NULL;
    assert_ok(yk_model_config_find_builtin("gpt-nano", &nano));
    assert_lines(nano, YK_PRECISION_TF32, lines, sizeof lines / sizeof lines[0]);
}

/* By hand, in the keys of Llama 3.2 1B. */
static void a_scaled_llama_is_written_in_the_frameworks_keys(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "  \"architectures\": [\n    \"LlamaForCausalLM\"\n  ]",
        "  \"model_type\": \"llama\"",
        "  \"attention_bias\": false",
        "  \"bos_token_id\": 128000",
        "  \"eos_token_id\": 128001",
        "  \"pad_token_id\": null",
        "  \"head_dim\": 64",
        "  \"hidden_act\": \"silu\"",
        "  \"hidden_size\": 2048",
        "  \"initializer_range\": 0.02",
        "  \"intermediate_size\": 8192",
        "  \"max_position_embeddings\": 131072",
        "  \"mlp_bias\": false",
        "  \"num_attention_heads\": 32",
        "  \"num_hidden_layers\": 16",
        "  \"num_key_value_heads\": 8",
        "  \"rms_norm_eps\": 1e-05",
        "  \"rope_scaling\": {\n"
        "    \"factor\": 32.0,\n"
        "    \"high_freq_factor\": 4.0,\n"
        "    \"low_freq_factor\": 1.0,\n"
        "    \"original_max_position_embeddings\": 8192,\n"
        "    \"rope_type\": \"llama3\"\n"
        "  }",
        "  \"rope_theta\": 500000.0",
        "  \"tie_word_embeddings\": true",
        "  \"torch_dtype\": \"bfloat16\"",
        "  \"vocab_size\": 128256",
    };
    const struct yk_model_config *llama = NULL;
    assert_ok(yk_model_config_find_builtin("llama3.2-1b", &llama));
    assert_lines(llama, YK_PRECISION_BF16, lines, sizeof lines / sizeof lines[0]);
}

/* By hand, in the keys of MarianConfig of transformers 5.22. */
static void a_small_transformer_is_written_in_the_frameworks_keys(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "  \"architectures\": [\n    \"MarianMTModel\"\n  ]",
        "  \"activation_function\": \"relu\"",
        "  \"d_model\": 256",
        "  \"decoder_attention_heads\": 4",
        "  \"decoder_ffn_dim\": 1024",
        "  \"decoder_layers\": 3",
        "  \"decoder_start_token_id\": 3",
        "  \"encoder_attention_heads\": 4",
        "  \"encoder_ffn_dim\": 1024",
        "  \"encoder_layers\": 3",
        "  \"forced_eos_token_id\": null",
        "  \"bos_token_id\": null",
        "  \"eos_token_id\": 2",
        "  \"pad_token_id\": 1",
        "  \"init_std\": 0.02",
        "  \"is_encoder_decoder\": true",
        "  \"max_position_embeddings\": 512",
        "  \"model_type\": \"marian\"",
        "  \"scale_embedding\": true",
        "  \"share_encoder_decoder_embeddings\": true",
        "  \"static_position_embeddings\": true",
        "  \"tie_word_embeddings\": true",
        "  \"torch_dtype\": \"float32\"",
        "  \"vocab_size\": 8000",
    };
    const struct yk_model_config *small = NULL;
    assert_ok(yk_model_config_find_builtin("transformer-small", &small));
    struct yk_model_config config = *small;
    config.ids = (struct yk_special_token_ids){.pad = 1, .begin = -1, .end = 2, .decoder_start = 3};
    assert_lines(&config, YK_PRECISION_FP32, lines, sizeof lines / sizeof lines[0]);
}

/* Version 5 refuses null there, and takes its own preset for what is missing. */
static void a_decoders_first_token_that_is_not_known_is_left_out(void **state)
{
    (void)state;
    const struct yk_model_config *small = NULL;
    struct yk_text text = {0};
    assert_ok(yk_model_config_find_builtin("transformer-small", &small));
    assert_ok(yk_model_config_to_json(small, YK_PRECISION_FP32, &text));
    assert_null(strstr(yk_text_chars(&text), "decoder_start_token_id"));
    assert_non_null(strstr(yk_text_chars(&text), "\"pad_token_id\": null"));
    yk_text_free(&text);
}

static void the_heads_of_a_bert_decide_its_class(void **state)
{
    (void)state;
    static const struct {
        bool masked_head;
        bool pooler;
        const char *class;
    } heads[] = {
        {true, false, "\"BertForMaskedLM\""},
        {true, true, "\"BertForPreTraining\""},
        {false, true, "\"BertModel\""},
    };
    const struct yk_model_config *bert = NULL;
    assert_ok(yk_model_config_find_builtin("bert-tiny", &bert));
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        struct yk_model_config config = *bert;
        struct yk_text text = {0};
        config.masked_head = heads[i].masked_head;
        config.pooler = heads[i].pooler;
        assert_returns(&config);
        assert_ok(yk_model_config_to_json(&config, YK_PRECISION_FP32, &text));
        assert_non_null(strstr(yk_text_chars(&text), heads[i].class));
        yk_text_free(&text);
    }
}

static void what_cannot_be_written_is_refused(void **state)
{
    (void)state;
    const struct yk_model_config *gpt2 = NULL;
    struct yk_text text = {0};
    assert_ok(yk_model_config_find_builtin("gpt2", &gpt2));
    struct yk_model_config odd = *gpt2;
    odd.not_trained = "its activation_function";
    assert_fails(yk_model_config_to_json(&odd, YK_PRECISION_FP32, &text), YK_ERROR_INPUT,
                 "the config of gpt2 cannot be written: its activation_function is not known");
    assert_int_equal(text.length, 0);
    yk_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_builtin_reads_back_the_same),
        cmocka_unit_test(the_language_model_of_a_multimodal_model_reads_back_the_same),
        cmocka_unit_test(what_no_builtin_has_reads_back_the_same),
        cmocka_unit_test(a_small_gpt2_is_written_in_the_frameworks_keys),
        cmocka_unit_test(a_scaled_llama_is_written_in_the_frameworks_keys),
        cmocka_unit_test(a_small_transformer_is_written_in_the_frameworks_keys),
        cmocka_unit_test(a_decoders_first_token_that_is_not_known_is_left_out),
        cmocka_unit_test(the_heads_of_a_bert_decide_its_class),
        cmocka_unit_test(what_cannot_be_written_is_refused),
    };
    return cmocka_run_group_tests(tests, group_arena_make, group_arena_drop);
}
