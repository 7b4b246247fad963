/* Which of the keys that describe rotary positions counts. What is expected is what transformers
 * 5.23 makes of the same files. */
#include "model/config.h"
#include "support/group_arena.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

#define YARN "{\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 64}"
#define OLDER "\"rope_scaling\": " YARN
#define NEWER "\"rope_parameters\": {\"rope_theta\": 777.0, \"rope_type\": \"default\"}"

struct rope_case {
    const char *family;
    const char *keys;
    double theta;
    enum yk_rope_scaling scaling;
};

static const struct yk_model_config *parse(const char *family, const char *keys)
{
    const struct yk_model_config *config = NULL;
    char text[1024];
    const int length =
        snprintf(text, sizeof text,
                 "{\"model_type\": \"%s\", \"vocab_size\": 64, \"num_hidden_layers\": 2, "
                 "\"num_attention_heads\": 4, \"hidden_size\": 32, \"intermediate_size\": 48, "
                 "\"num_key_value_heads\": 2, \"max_position_embeddings\": 256, "
                 "\"head_dim\": 8, %s}",
                 family, keys);
    assert_true(length > 0 && (size_t)length < sizeof text);
    assert_ok(yk_model_config_parse(text, (size_t)length, "config.json", group_arena, &config));
    return config;
}

static void what_is_added_as_rope_scaling_replaces_rope_parameters(void **state)
{
    (void)state;
    static const struct rope_case cases[] = {
        {"llama", OLDER ", " NEWER, 10000, YK_ROPE_YARN},
        {"qwen2", OLDER ", " NEWER, 10000, YK_ROPE_YARN},
        {"qwen3", OLDER ", " NEWER, 10000, YK_ROPE_YARN},
        {"mistral", OLDER ", " NEWER, 10000, YK_ROPE_YARN},
        {"gemma", OLDER ", " NEWER, 10000, YK_ROPE_YARN},
        {"gemma2", OLDER ", " NEWER, 10000, YK_ROPE_YARN},
        {"smollm3", OLDER ", " NEWER, 2000000, YK_ROPE_YARN},
        {"olmo2", OLDER ", " NEWER, 10000, YK_ROPE_YARN},
        {"granite", OLDER ", " NEWER, 10000, YK_ROPE_YARN},
        {"starcoder2", OLDER ", " NEWER, 10000, YK_ROPE_YARN},
        {"gpt_neox", OLDER ", " NEWER, 10000, YK_ROPE_YARN},
        {"nemotron", OLDER ", " NEWER, 10000, YK_ROPE_YARN},
        {"qwen3", OLDER ", \"rope_theta\": 999.0, " NEWER, 999, YK_ROPE_YARN},
        {"qwen3", OLDER ", \"rope_theta\": 999.0", 999, YK_ROPE_YARN},
        {"qwen3", "\"rope_scaling\": {}, " NEWER, 777, YK_ROPE_DEFAULT},
        {"qwen3", "\"rope_scaling\": null, " NEWER, 777, YK_ROPE_DEFAULT},
        {"phi3", "\"rope_scaling\": {}, " NEWER, 777, YK_ROPE_DEFAULT},
        {"llama", "\"rope_scaling\": {\"type\": \"linear\", \"factor\": 2.0}", 10000,
         YK_ROPE_LINEAR},
        {"llama", "\"rope_scaling\": {\"factor\": 2.0}", 10000, YK_ROPE_DEFAULT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct yk_model_config *config = parse(cases[i].family, cases[i].keys);
        if (config->rope.theta != cases[i].theta || config->rope.scaling != cases[i].scaling) {
            fail_msg("%s with %s: base %g, scaling %d", cases[i].family, cases[i].keys,
                     config->rope.theta, (int)config->rope.scaling);
        }
    }
}

/* Of a family with two kinds of blocks, only the kind without a window is scaled. */
static void rope_scaling_is_added_to_that_of_full_attention(void **state)
{
    (void)state;
    const struct yk_model_config *config =
        parse("gemma3_text", OLDER ", \"rope_theta\": 999.0, \"rope_parameters\": "
                                   "{\"full_attention\": {\"rope_theta\": 777.0, \"rope_type\": "
                                   "\"default\"}, \"sliding_attention\": {\"rope_theta\": 55.0, "
                                   "\"rope_type\": \"default\"}}");
    assert_true(config->rope.theta == 777);
    assert_int_equal(config->rope.scaling, YK_ROPE_YARN);
    assert_true(config->rope.factor == 4);
    assert_int_equal(config->rope.positions, 64);
    assert_true(config->local_rope.theta == 55);
    assert_int_equal(config->local_rope.scaling, YK_ROPE_DEFAULT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_as_rope_scaling_replaces_rope_parameters),
        cmocka_unit_test(rope_scaling_is_added_to_that_of_full_attention),
    };
    return cmocka_run_group_tests(tests, group_arena_make, group_arena_drop);
}
