#include "model/config.h"

#include "model/architecture.h"
#include "support/group_arena.h"
#include "support/support.h"

#include <string.h>

static void assert_same(const struct yk_model_config *a, const struct yk_model_config *b)
{
    assert_ptr_equal(a->architecture, b->architecture);
    assert_int_equal(a->vocabulary, b->vocabulary);
    assert_int_equal(a->target_vocabulary, b->target_vocabulary);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->positions, b->positions);
    assert_int_equal(a->layers, b->layers);
    assert_int_equal(a->encoder_layers, b->encoder_layers);
    assert_int_equal(a->heads, b->heads);
    assert_int_equal(a->kv_heads, b->kv_heads);
    assert_int_equal(a->head_size, b->head_size);
    assert_int_equal(a->feed_forward_width, b->feed_forward_width);
    assert_int_equal(a->token_types, b->token_types);
    assert_int_equal(a->encoder_heads, b->encoder_heads);
    assert_int_equal(a->encoder_inner, b->encoder_inner);
    assert_int_equal(a->pooler, b->pooler);
    assert_int_equal(a->masked_head, b->masked_head);
    assert_int_equal(a->shared, b->shared);
    assert_int_equal(a->tied, b->tied);
    assert_int_equal(a->relu, b->relu);
    assert_int_equal(a->linear_bias, b->linear_bias);
    assert_int_equal(a->inner_bias, b->inner_bias);
    assert_int_equal(a->gelu_erf, b->gelu_erf);
    assert_int_equal(a->silu, b->silu);
    assert_int_equal(a->scaled_embedding, b->scaled_embedding);
    assert_int_equal(a->post_norm, b->post_norm);
    assert_int_equal(a->rms_norm, b->rms_norm);
    assert_int_equal(a->residual_dropout, b->residual_dropout);
    assert_memory_equal(&a->ids, &b->ids, sizeof a->ids);
    assert_true(a->norm_epsilon == b->norm_epsilon);
    assert_true(a->init_std == b->init_std);
    assert_true(a->rope_theta == b->rope_theta);
    assert_true(a->rope_factor == b->rope_factor);
    assert_true(a->rope_low == b->rope_low);
    assert_true(a->rope_high == b->rope_high);
    assert_int_equal(a->rope_positions, b->rope_positions);
    assert_null(b->not_trained);
}

static void assert_returns(const struct yk_model_config *config)
{
    struct yk_text text = {0};
    const struct yk_model_config *again = NULL;
    assert_ok(yk_model_config_to_json(config, YK_PRECISION_BF16, &text));
    assert_ok(
        yk_model_config_parse(yk_text_chars(&text), text.length, "again", group_arena, &again));
    assert_same(config, again);
    yk_text_free(&text);
}

static void every_builtin_reads_back_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < yk_builtin_model_count; i++) {
        assert_returns(&yk_builtin_models[i].config);
    }
}

static void what_no_builtin_has_reads_back_the_same(void **state)
{
    (void)state;
    const struct yk_model_config *gpt2 = NULL;
    assert_ok(yk_model_config_find_builtin("gpt2", &gpt2));
    struct yk_model_config config = *gpt2;
    config.feed_forward_width = 1000;
    config.tied = false;
    config.gelu_erf = true;
    config.norm_epsilon = 1.0 / 3;
    assert_returns(&config);
    config.gelu_erf = false;
    config.relu = true;
    assert_returns(&config);
    config.relu = false;
    config.silu = true;
    config.ids = (struct yk_special_token_ids){7, 8, 9, -1};
    assert_returns(&config);
    const struct yk_model_config *llama = NULL;
    assert_ok(yk_model_config_find_builtin("llama3-8b", &llama));
    config = *llama;
    config.head_size = 100;
    config.linear_bias = true;
    config.tied = true;
    config.rope_factor = 8;
    config.rope_low = 1.5;
    config.rope_high = 4;
    config.rope_positions = 8192;
    config.init_std = 1e-7;
    assert_returns(&config);
    config.linear_bias = false;
    config.inner_bias = true;
    assert_returns(&config);
}

/* By hand, from what transformers 4 writes for such models. */
static void a_small_gpt2_is_written_in_the_frameworks_keys(void **state)
{
    (void)state;
    const struct yk_model_config config = {
        .name = "small",
        .architecture = &yk_architecture_gpt2,
        .vocabulary = 65,
        .width = 48,
        .positions = 128,
        .layers = 3,
        .heads = 3,
        .kv_heads = 3,
        .head_size = 16,
        .feed_forward_width = 192,
        .linear_bias = true,
        .inner_bias = true,
        .ids = YK_SPECIAL_TOKEN_IDS_NONE,
        .norm_epsilon = 1e-5,
        .init_std = 0.02,
    };
    struct yk_text text = {0};
    assert_ok(yk_model_config_to_json(&config, YK_PRECISION_TF32, &text));
    assert_string_equal(yk_text_chars(&text), "{\n"
                                              "  \"activation_function\": \"gelu_new\",\n"
                                              "  \"architectures\": [\n"
                                              "    \"GPT2LMHeadModel\"\n"
                                              "  ],\n"
                                              "  \"bos_token_id\": null,\n"
                                              "  \"eos_token_id\": null,\n"
                                              "  \"pad_token_id\": null,\n"
                                              "  \"initializer_range\": 0.02,\n"
                                              "  \"layer_norm_epsilon\": 1e-05,\n"
                                              "  \"model_type\": \"gpt2\",\n"
                                              "  \"n_ctx\": 128,\n"
                                              "  \"n_embd\": 48,\n"
                                              "  \"n_head\": 3,\n"
                                              "  \"n_inner\": 192,\n"
                                              "  \"n_layer\": 3,\n"
                                              "  \"n_positions\": 128,\n"
                                              "  \"tie_word_embeddings\": false,\n"
                                              "  \"torch_dtype\": \"float32\",\n"
                                              "  \"vocab_size\": 65\n"
                                              "}\n");
    yk_text_free(&text);
}

static void a_scaled_llama_is_written_in_the_frameworks_keys(void **state)
{
    (void)state;
    const struct yk_model_config config = {
        .name = "small",
        .architecture = &yk_architecture_llama,
        .vocabulary = 128256,
        .width = 2048,
        .positions = 131072,
        .layers = 16,
        .heads = 32,
        .kv_heads = 8,
        .head_size = 64,
        .feed_forward_width = 8192,
        .tied = true,
        .ids = YK_SPECIAL_TOKEN_IDS_NONE,
        .norm_epsilon = 1e-5,
        .init_std = 0.02,
        .rope_theta = 500000,
        .rope_factor = 32,
        .rope_low = 1,
        .rope_high = 4,
        .rope_positions = 8192,
    };
    struct yk_text text = {0};
    assert_ok(yk_model_config_to_json(&config, YK_PRECISION_BF16, &text));
    const char *scaling = strstr(yk_text_chars(&text), "  \"rope_scaling\"");
    assert_non_null(scaling);
    assert_string_equal(scaling, "  \"rope_scaling\": {\n"
                                 "    \"factor\": 32.0,\n"
                                 "    \"high_freq_factor\": 4.0,\n"
                                 "    \"low_freq_factor\": 1.0,\n"
                                 "    \"original_max_position_embeddings\": 8192,\n"
                                 "    \"rope_type\": \"llama3\"\n"
                                 "  },\n"
                                 "  \"rope_theta\": 500000.0,\n"
                                 "  \"tie_word_embeddings\": true,\n"
                                 "  \"torch_dtype\": \"bfloat16\",\n"
                                 "  \"vocab_size\": 128256\n"
                                 "}\n");
    assert_non_null(strstr(yk_text_chars(&text), "\n    \"LlamaForCausalLM\"\n"));
    assert_non_null(strstr(yk_text_chars(&text), "\n  \"num_key_value_heads\": 8,\n"));
    assert_non_null(strstr(yk_text_chars(&text), "\n  \"head_dim\": 64,\n"));
    yk_text_free(&text);
}

/* By hand, in the keys of MarianConfig of transformers 5.22. */
static void a_small_transformer_is_written_in_the_frameworks_keys(void **state)
{
    (void)state;
    const struct yk_model_config *small = NULL;
    assert_ok(yk_model_config_find_builtin("transformer-small", &small));
    struct yk_model_config config = *small;
    config.ids = (struct yk_special_token_ids){.pad = 1, .begin = -1, .end = 2, .decoder_start = 3};
    struct yk_text text = {0};
    assert_ok(yk_model_config_to_json(&config, YK_PRECISION_FP32, &text));
    assert_string_equal(yk_text_chars(&text), "{\n"
                                              "  \"activation_function\": \"relu\",\n"
                                              "  \"architectures\": [\n"
                                              "    \"MarianMTModel\"\n"
                                              "  ],\n"
                                              "  \"d_model\": 256,\n"
                                              "  \"decoder_attention_heads\": 4,\n"
                                              "  \"decoder_ffn_dim\": 1024,\n"
                                              "  \"decoder_layers\": 3,\n"
                                              "  \"decoder_start_token_id\": 3,\n"
                                              "  \"encoder_attention_heads\": 4,\n"
                                              "  \"encoder_ffn_dim\": 1024,\n"
                                              "  \"encoder_layers\": 3,\n"
                                              "  \"forced_eos_token_id\": null,\n"
                                              "  \"bos_token_id\": null,\n"
                                              "  \"eos_token_id\": 2,\n"
                                              "  \"pad_token_id\": 1,\n"
                                              "  \"init_std\": 0.02,\n"
                                              "  \"is_encoder_decoder\": true,\n"
                                              "  \"max_position_embeddings\": 512,\n"
                                              "  \"model_type\": \"marian\",\n"
                                              "  \"scale_embedding\": true,\n"
                                              "  \"share_encoder_decoder_embeddings\": true,\n"
                                              "  \"static_position_embeddings\": true,\n"
                                              "  \"tie_word_embeddings\": true,\n"
                                              "  \"torch_dtype\": \"float32\",\n"
                                              "  \"vocab_size\": 8000\n"
                                              "}\n");
    yk_text_free(&text);
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
