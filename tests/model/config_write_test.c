#include "model/config_write.h"

#include "model/architecture.h"
#include "support/support.h"

#include <string.h>

static struct yk_arena *arena;

static int set_up(void **state)
{
    (void)state;
    return yk_arena_create(&arena) == YK_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    yk_arena_destroy(arena);
    return 0;
}

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
    assert_int_equal(a->inner, b->inner);
    assert_int_equal(a->tied, b->tied);
    assert_int_equal(a->relu, b->relu);
    assert_int_equal(a->linear_bias, b->linear_bias);
    assert_int_equal(a->inner_bias, b->inner_bias);
    assert_int_equal(a->gelu_erf, b->gelu_erf);
    assert_true(a->norm_epsilon == b->norm_epsilon);
    assert_true(a->spread == b->spread);
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
    assert_ok(yk_model_config_write(config, YK_PRECISION_BF16, &text));
    assert_ok(yk_model_config_read(yk_text_chars(&text), text.length, "again", arena, &again));
    assert_same(config, again);
    yk_text_free(&text);
}

static void every_builtin_that_is_written_reads_back_the_same(void **state)
{
    (void)state;
    const char *name = NULL;
    const char *summary = NULL;
    int written = 0;
    for (size_t i = 0; yk_model_config_builtin(i, &name, &summary); i++) {
        const struct yk_model_config *config = NULL;
        assert_ok(yk_model_config_find(name, &config));
        if (config->architecture == &yk_architecture_gpt2 ||
            config->architecture == &yk_architecture_llama) {
            assert_returns(config);
            written++;
        }
    }
    assert_true(written > 10);
}

static void what_no_builtin_has_reads_back_the_same(void **state)
{
    (void)state;
    const struct yk_model_config *gpt2 = NULL;
    assert_ok(yk_model_config_find("gpt2", &gpt2));
    struct yk_model_config config = *gpt2;
    config.inner = 1000;
    config.tied = false;
    config.gelu_erf = true;
    config.norm_epsilon = 1.0 / 3;
    assert_returns(&config);
    config.gelu_erf = false;
    config.relu = true;
    assert_returns(&config);
    const struct yk_model_config *llama = NULL;
    assert_ok(yk_model_config_find("llama3-8b", &llama));
    config = *llama;
    config.head_size = 100;
    config.linear_bias = true;
    config.tied = true;
    config.rope_factor = 8;
    config.rope_low = 1.5;
    config.rope_high = 4;
    config.rope_positions = 8192;
    config.spread = 1e-7;
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
        .inner = 192,
        .linear_bias = true,
        .inner_bias = true,
        .norm_epsilon = 1e-5,
        .spread = 0.02,
    };
    struct yk_text text = {0};
    assert_ok(yk_model_config_write(&config, YK_PRECISION_TF32, &text));
    assert_string_equal(yk_text_chars(&text), "{\n"
                                              "  \"activation_function\": \"gelu_new\",\n"
                                              "  \"architectures\": [\n"
                                              "    \"GPT2LMHeadModel\"\n"
                                              "  ],\n"
                                              "  \"bos_token_id\": null,\n"
                                              "  \"eos_token_id\": null,\n"
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
        .inner = 8192,
        .tied = true,
        .norm_epsilon = 1e-5,
        .spread = 0.02,
        .rope_theta = 500000,
        .rope_factor = 32,
        .rope_low = 1,
        .rope_high = 4,
        .rope_positions = 8192,
    };
    struct yk_text text = {0};
    assert_ok(yk_model_config_write(&config, YK_PRECISION_BF16, &text));
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

static void what_cannot_be_written_is_refused(void **state)
{
    (void)state;
    const struct yk_model_config *bert = NULL;
    const struct yk_model_config *gpt2 = NULL;
    struct yk_text text = {0};
    assert_ok(yk_model_config_find("bert-base", &bert));
    assert_fails(yk_model_config_write(bert, YK_PRECISION_FP32, &text), YK_ERROR_INPUT,
                 "the config of bert-base cannot be written yet: its architecture is \"bert\", and "
                 "only those of GPT-2 and Llama can");
    assert_ok(yk_model_config_find("gpt2", &gpt2));
    struct yk_model_config odd = *gpt2;
    odd.not_trained = "its activation_function";
    assert_fails(yk_model_config_write(&odd, YK_PRECISION_FP32, &text), YK_ERROR_INPUT,
                 "the config of gpt2 cannot be written: its activation_function is not known");
    assert_int_equal(text.length, 0);
    yk_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_builtin_that_is_written_reads_back_the_same),
        cmocka_unit_test(what_no_builtin_has_reads_back_the_same),
        cmocka_unit_test(a_small_gpt2_is_written_in_the_frameworks_keys),
        cmocka_unit_test(a_scaled_llama_is_written_in_the_frameworks_keys),
        cmocka_unit_test(what_cannot_be_written_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
