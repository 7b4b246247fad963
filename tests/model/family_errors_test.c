/* What a config of any family may get wrong: one sentence that names the key, and the status of bad
 * input. */
#include "model/config.h"
#include "model/model.h"
#include "support/group_arena.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

/* All that most families need, except what a case says itself. */
#define REST                                                                                       \
    "\"vocab_size\": 40, \"hidden_size\": 16, \"intermediate_size\": 24, "                         \
    "\"max_position_embeddings\": 32, \"num_hidden_layers\": 2"
#define HEADS "\"num_attention_heads\": 2"
#define OF(type) "{\"model_type\": \"" type "\", " REST ", "

struct bad_config {
    const char *text;
    const char *message;
};

static void refuse_all(const struct bad_config *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct yk_model_config *config = NULL;
        char expected[512];
        const yk_status status = yk_model_config_parse(cases[i].text, strlen(cases[i].text),
                                                       "config.json", group_arena, &config);
        if (status == YK_OK) {
            fail_msg("is taken: %s", cases[i].text);
        }
        snprintf(expected, sizeof expected, "config.json: %s", cases[i].message);
        assert_string_equal(yk_status_message(), expected);
        assert_int_equal(status, YK_ERROR_INPUT);
        assert_null(config);
    }
}

#define REFUSE(...)                                                                                \
    do {                                                                                           \
        static const struct bad_config cases[] = {__VA_ARGS__};                                    \
        refuse_all(cases, sizeof cases / sizeof cases[0]);                                         \
    } while (0)

static void classes_of_a_known_family_are_named(void **state)
{
    (void)state;
    REFUSE({OF("qwen3") HEADS ", \"architectures\": [\"Qwen3ForTokenClassification\"]}",
            "the architecture \"Qwen3ForTokenClassification\" is not known; of \"qwen3\", known is "
            "Qwen3ForCausalLM"},
           {OF("gemma3_text") HEADS ", \"architectures\": [\"Gemma3Model\"]}",
            "the architecture \"Gemma3Model\" is not known; of \"gemma3_text\", known is "
            "Gemma3ForCausalLM"});
}

static void a_multimodal_model_needs_the_description_of_its_language_model(void **state)
{
    (void)state;
    REFUSE({"{\"architectures\": [\"Gemma3ForConditionalGeneration\"]}",
            "\"text_config\" must be an object that describes the language model"},
           {"{\"model_type\": \"gemma3\", \"text_config\": 3}",
            "\"text_config\" must be an object that describes the language model"},
           {"{\"model_type\": \"gemma3\", \"text_config\": {\"num_attention_heads\": 6}}",
            "\"num_key_value_heads\" is 4, which does not divide \"num_attention_heads\", 6"});
}

static void heads_that_do_not_divide_are_refused(void **state)
{
    (void)state;
    REFUSE({OF("qwen2") "\"num_attention_heads\": 3}",
            "\"num_attention_heads\" is 3, which does not divide \"hidden_size\", 16"},
           {OF("gpt_neox") "\"num_attention_heads\": 5}",
            "\"num_attention_heads\" is 5, which does not divide \"hidden_size\", 16"},
           {OF("qwen3") "\"num_attention_heads\": 4, \"num_key_value_heads\": 3}",
            "\"num_key_value_heads\" is 3, which does not divide \"num_attention_heads\", 4"},
           {OF("phi3") "\"num_attention_heads\": 4, \"num_key_value_heads\": 8}",
            "\"num_key_value_heads\" is 8, which does not divide \"num_attention_heads\", 4"});
}

static void sizes_that_are_none_are_refused(void **state)
{
    (void)state;
    REFUSE(
        {OF("phi3") HEADS ", \"num_key_value_heads\": 0}",
         "\"num_key_value_heads\" is 0; the number of heads of keys and values is a whole "
         "number, 1 or more"},
        {OF("gemma") HEADS ", \"head_dim\": -8}",
         "\"head_dim\" is -8; the size of a head is a whole number, 1 or more"},
        {OF("mistral") HEADS ", \"sliding_window\": 0}",
         "\"sliding_window\" is 0; the sliding window of attention is a whole number, 1 or "
         "more"},
        {OF("gemma2") HEADS ", \"sliding_window\": -1}",
         "\"sliding_window\" is -1; the sliding window of attention is a whole number, 1 or "
         "more"},
        {OF("granite") HEADS ", \"logits_scaling\": 0}",
         "\"logits_scaling\" must be a number above 0"},
        {OF("granite") HEADS ", \"residual_multiplier\": -1}",
         "\"residual_multiplier\" must be a number above 0"},
        {OF("gemma2") HEADS ", \"num_key_value_heads\": 1, \"query_pre_attn_scalar\": 0}",
         "\"query_pre_attn_scalar\" must be a number above 0"},
        {OF("olmo2") HEADS ", \"rms_norm_eps\": 0}", "\"rms_norm_eps\" must be a number above 0"},
        {OF("llama") HEADS ", \"rope_theta\": -10000}", "\"rope_theta\" must be a number above 0"});
}

static void types_of_blocks_are_checked(void **state)
{
    (void)state;
    REFUSE({OF("gemma2") HEADS ", \"num_key_value_heads\": 1, \"layer_types\": "
                               "[\"full_attention\"]}",
            "\"layer_types\" has 1 elements, but the model has 2 blocks"},
           {OF("gemma3_text") HEADS ", \"num_key_value_heads\": 1, \"layer_types\": "
                                    "[\"full_attention\", \"chunked_attention\"]}",
            "\"layer_types\" says \"chunked_attention\" for block 1; known are \"full_attention\" "
            "and \"sliding_attention\""},
           {OF("qwen3") HEADS ", \"num_key_value_heads\": 1, \"layer_types\": \"full_attention\"}",
            "\"layer_types\" must be a list with one element for each block, not a string"},
           {OF("qwen2") HEADS ", \"num_key_value_heads\": 1, \"layer_types\": [1, 0]}",
            "\"layer_types\" must be a list of strings, not of a number"},
           {OF("qwen2") HEADS ", \"num_key_value_heads\": 1, \"max_window_layers\": \"2\"}",
            "\"max_window_layers\" must be a number, not a string"},
           {OF("gemma3_text") HEADS ", \"num_key_value_heads\": 1, \"sliding_window_pattern\": 0}",
            "\"sliding_window_pattern\" is 0; the distance of blocks without a window is a whole "
            "number, 1 or more"});
}

static void blocks_that_rotate_nothing_are_checked(void **state)
{
    (void)state;
    REFUSE({OF("smollm3") HEADS ", \"num_key_value_heads\": 1, \"no_rope_layers\": [1, 1, 0]}",
            "\"no_rope_layers\" has 3 elements, but the model has 2 blocks"},
           {OF("smollm3") HEADS ", \"num_key_value_heads\": 1, \"no_rope_layers\": 2}",
            "\"no_rope_layers\" must be a list with one element for each block, not a number"},
           {OF("smollm3") HEADS ", \"num_key_value_heads\": 1, \"no_rope_layers\": [1, \"0\"]}",
            "\"no_rope_layers\" must be a list of 0 and 1"},
           {OF("smollm3") HEADS ", \"num_key_value_heads\": 1, \"no_rope_layer_interval\": 0.5}",
            "\"no_rope_layer_interval\" is 0.5; the distance of blocks without rotary positions "
            "is a whole number, 1 or more"});
}

static void rotary_sizes_are_checked(void **state)
{
    (void)state;
    REFUSE(
        {OF("llama") HEADS ", \"head_dim\": 5}",
         "5 of the 5 numbers of a head are rotated; rotary positions rotate pairs, so this must be "
         "an even number"},
        {OF("gpt_neox") "\"num_attention_heads\": 4, \"rotary_pct\": 0.25}",
         "1 of the 4 numbers of a head are rotated; rotary positions rotate pairs, so this must be "
         "an even number"},
        {OF("phi3") HEADS ", \"partial_rotary_factor\": 1.5}",
         "\"partial_rotary_factor\" is 1.5; it is the part of a head that is rotated, at most "
         "1"},
        {OF("gpt_neox") HEADS ", \"rotary_pct\": 2}",
         "\"rotary_pct\" is 2; it is the part of a head that is rotated, at most 1"},
        {OF("gpt_neox") HEADS ", \"rotary_pct\": 0}", "\"rotary_pct\" must be a number above 0"});
}

static void scalings_that_make_no_finite_angles_are_refused(void **state)
{
    (void)state;
    REFUSE({OF("llama") HEADS ", \"head_dim\": 2, \"rope_scaling\": {\"rope_type\": \"dynamic\", "
                              "\"factor\": 2}}",
            "\"rope_type\" is \"dynamic\", which needs more than one pair of numbers of a head to "
            "be rotated"},
           {OF("llama") HEADS ", \"rope_theta\": 1, \"rope_scaling\": {\"rope_type\": \"yarn\", "
                              "\"factor\": 2, \"original_max_position_embeddings\": 16}}",
            "the base of rotary positions is 1; \"yarn\" needs one above 1"});
}

static void descriptions_of_positions_are_checked(void **state)
{
    (void)state;
    REFUSE({OF("llama") HEADS ", \"rope_scaling\": 3}",
            "\"rope_scaling\" must be an object, not a number"},
           {OF("mistral") HEADS ", \"num_key_value_heads\": 1, \"rope_parameters\": \"yarn\"}",
            "\"rope_parameters\" must be an object, not a string"},
           {OF("gemma3_text") HEADS
            ", \"num_key_value_heads\": 1, \"rope_parameters\": {\"full_attention\": 1}}",
            "\"full_attention\" must be an object, not a number"},
           {OF("llama") HEADS ", \"rope_scaling\": {\"rope_type\": 7}}",
            "\"rope_type\" must be a string, not a number"},
           {OF("llama") HEADS ", \"rope_scaling\": {\"type\": [\"linear\"]}}",
            "\"type\" must be a string, not a list"},
           {OF("llama") HEADS ", \"rope_scaling\": {\"rope_type\": \"linear\"}}",
            "\"rope_type\" is \"linear\", but \"factor\" is missing"},
           {OF("llama") HEADS ", \"rope_scaling\": {\"rope_type\": \"dynamic\", \"factor\": null}}",
            "\"rope_type\" is \"dynamic\", but \"factor\" is missing"},
           {OF("llama") HEADS ", \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8, "
                              "\"low_freq_factor\": 1}}",
            "\"rope_type\" is \"llama3\", but \"high_freq_factor\" is missing"});
}

#define LONG(factors)                                                                              \
    OF("phi3")                                                                                     \
    HEADS ", \"original_max_position_embeddings\": 8, \"rope_scaling\": {\"type\": "               \
          "\"longrope\", " factors "}}"

static void lists_of_longrope_are_checked(void **state)
{
    (void)state;
    REFUSE({LONG("\"short_factor\": [1, 1, 1], \"long_factor\": [1, 1, 1, 1]"),
            "\"short_factor\" has 3 numbers, but a head has 4 pairs that are rotated"},
           {LONG("\"short_factor\": [1, 1, 1, 1], \"long_factor\": [1, 1, 1, 1, 1]"),
            "\"long_factor\" has 5 numbers, but a head has 4 pairs that are rotated"},
           {LONG("\"short_factor\": [1, 1, 1, 1]"), "\"long_factor\" must be a list of 4 numbers"},
           {LONG("\"long_factor\": [1, 1, 1, 1]"), "\"short_factor\" must be a list of 4 numbers"},
           {LONG("\"short_factor\": 1, \"long_factor\": 1"),
            "\"short_factor\" must be a list of 4 numbers"},
           {LONG("\"short_factor\": [1, 1, 1, 0], \"long_factor\": [1, 1, 1, 1]"),
            "\"short_factor\" must be a list of numbers above 0"},
           {OF("phi3") HEADS ", \"original_max_position_embeddings\": 1, \"rope_scaling\": "
                             "{\"type\": \"longrope\", \"short_factor\": [1, 1, 1, 1], "
                             "\"long_factor\": [1, 1, 1, 1]}}",
            "\"original_max_position_embeddings\" is 1; LongRoPE needs 2 or more"});
}

static void experts_are_checked(void **state)
{
    (void)state;
    REFUSE({OF("mixtral") HEADS ", \"num_key_value_heads\": 1, \"num_local_experts\": 4, "
                                "\"num_experts_per_tok\": 5}",
            "\"num_experts_per_tok\" is 5, but there are only 4 experts"},
           {OF("qwen3_moe") HEADS ", \"num_key_value_heads\": 1, \"num_experts\": 4}",
            "\"num_experts_per_tok\" is 8, but there are only 4 experts"},
           {OF("mixtral") HEADS ", \"num_key_value_heads\": 1, \"num_local_experts\": 4, "
                                "\"num_experts_per_tok\": 0}",
            "\"num_experts_per_tok\" is 0; the number of experts of a token is a whole number, 1 "
            "or more"},
           {OF("mixtral") HEADS ", \"num_key_value_heads\": 1, \"num_local_experts\": 4, "
                                "\"num_experts_per_tok\": 1.5}",
            "\"num_experts_per_tok\" is 1.5; the number of experts of a token is a whole number, 1 "
            "or more"},
           {OF("olmoe") HEADS "}", "\"num_experts\" is missing; it gives the number of experts"},
           {OF("qwen2_moe") HEADS ", \"num_key_value_heads\": 1, \"num_experts\": 4, "
                                  "\"mlp_only_layers\": 1}",
            "\"mlp_only_layers\" must be a list of blocks, not a number"},
           {OF("qwen2_moe") HEADS ", \"num_key_value_heads\": 1, \"num_experts\": 4, "
                                  "\"decoder_sparse_step\": 0}",
            "\"decoder_sparse_step\" is 0; the distance of blocks with experts is a whole number, "
            "1 or more"});
}

static void padding_after_the_last_position_is_refused(void **state)
{
    (void)state;
    REFUSE({OF("roberta") HEADS ", \"pad_token_id\": 31}",
            "\"max_position_embeddings\" is 32, but positions begin at 32, after "
            "\"pad_token_id\""});
}

/* A sequence of learned positions has an end. */
static void a_sequence_longer_than_robertas_positions_is_refused(void **state)
{
    (void)state;
    static const char text[] = OF("roberta") HEADS ", \"pad_token_id\": 1}";
    const struct yk_workload workload = {.batch = 1, .sequence = 31};
    const struct yk_model_config *config = NULL;
    const struct yk_model *model = NULL;
    assert_ok(yk_model_config_parse(text, strlen(text), "config.json", group_arena, &config));
    assert_int_equal(config->positions, 30);
    assert_fails(yk_model_build(config, &workload, group_arena, &model), YK_ERROR_INPUT,
                 "config.json: a sequence of 31 tokens is too long; the model has learned 30 "
                 "positions");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_of_a_known_family_are_named),
        cmocka_unit_test(a_multimodal_model_needs_the_description_of_its_language_model),
        cmocka_unit_test(heads_that_do_not_divide_are_refused),
        cmocka_unit_test(sizes_that_are_none_are_refused),
        cmocka_unit_test(types_of_blocks_are_checked),
        cmocka_unit_test(blocks_that_rotate_nothing_are_checked),
        cmocka_unit_test(rotary_sizes_are_checked),
        cmocka_unit_test(scalings_that_make_no_finite_angles_are_refused),
        cmocka_unit_test(descriptions_of_positions_are_checked),
        cmocka_unit_test(lists_of_longrope_are_checked),
        cmocka_unit_test(experts_are_checked),
        cmocka_unit_test(padding_after_the_last_position_is_refused),
        cmocka_unit_test(a_sequence_longer_than_robertas_positions_is_refused),
    };
    return cmocka_run_group_tests(tests, group_arena_make, group_arena_drop);
}
