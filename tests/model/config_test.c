#include "model/architecture.h"
#include "model/config.h"
#include "model/model.h"
#include "support/group_arena.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

/* As published with the models, without what says nothing about sizes. */
static const char LLAMA3_8B[] =
    "{\"architectures\": [\"LlamaForCausalLM\"], \"attention_bias\": false, "
    "\"attention_dropout\": 0.0, \"bos_token_id\": 128000, \"hidden_act\": \"silu\", "
    "\"hidden_size\": 4096, \"intermediate_size\": 14336, \"max_position_embeddings\": 8192, "
    "\"model_type\": \"llama\", \"num_attention_heads\": 32, \"num_hidden_layers\": 32, "
    "\"num_key_value_heads\": 8, \"rms_norm_eps\": 1e-05, \"rope_scaling\": null, "
    "\"rope_theta\": 500000.0, \"tie_word_embeddings\": false, \"torch_dtype\": \"bfloat16\", "
    "\"vocab_size\": 128256}";
static const char LLAMA3_8B_NEW_KEYS[] =
    "{\"architectures\": [\"LlamaForCausalLM\"], \"dtype\": \"bfloat16\", \"head_dim\": 128, "
    "\"hidden_size\": 4096, \"intermediate_size\": 14336, \"max_position_embeddings\": 8192, "
    "\"mlp_bias\": false, \"model_type\": \"llama\", \"num_attention_heads\": 32, "
    "\"num_hidden_layers\": 32, \"num_key_value_heads\": 8, "
    "\"rope_parameters\": {\"rope_theta\": 500000.0, \"rope_type\": \"default\"}, "
    "\"tie_word_embeddings\": false, \"transformers_version\": \"5.0.0\", "
    "\"vocab_size\": 128256}";
static const char GPT2[] =
    "{\"activation_function\": \"gelu_new\", \"architectures\": [\"GPT2LMHeadModel\"], "
    "\"model_type\": \"gpt2\", \"n_ctx\": 1024, \"n_embd\": 768, \"n_head\": 12, \"n_inner\": "
    "null, "
    "\"n_layer\": 12, \"n_positions\": 1024, \"vocab_size\": 50257}";
static const char BERT_SIZES[] = "\"hidden_size\": 768, \"intermediate_size\": 3072, "
                                 "\"max_position_embeddings\": 512, \"model_type\": \"bert\", "
                                 "\"num_attention_heads\": 12, \"num_hidden_layers\": 12, "
                                 "\"type_vocab_size\": 2, \"vocab_size\": 30522}";
static const char MISTRAL_7B[] =
    "{\"architectures\": [\"MistralForCausalLM\"], \"hidden_size\": 4096, "
    "\"intermediate_size\": 14336, \"max_position_embeddings\": 32768, \"model_type\": "
    "\"mistral\", "
    "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"num_key_value_heads\": 8, "
    "\"sliding_window\": 4096, \"vocab_size\": 32000}";
static const char OPUS_MT[] =
    "{\"architectures\": [\"MarianMTModel\"], \"d_model\": 512, \"decoder_attention_heads\": 8, "
    "\"decoder_ffn_dim\": 2048, \"decoder_layers\": 6, \"encoder_attention_heads\": 8, "
    "\"encoder_ffn_dim\": 2048, \"encoder_layers\": 6, \"is_encoder_decoder\": true, "
    "\"max_position_embeddings\": 512, \"model_type\": \"marian\", \"num_hidden_layers\": 6, "
    "\"vocab_size\": 58101}";

static const struct yk_model_config *read_config(const char *text)
{
    const struct yk_model_config *config = NULL;
    assert_ok(yk_model_config_parse(text, strlen(text), "config.json", group_arena, &config));
    return config;
}

static void assert_unreadable(const char *text, const char *message)
{
    const struct yk_model_config *config = NULL;
    char expected[512];
    snprintf(expected, sizeof expected, "config.json: %s", message);
    assert_fails(yk_model_config_parse(text, strlen(text), "config.json", group_arena, &config),
                 YK_ERROR_INPUT, expected);
    assert_null(config);
}

static int64_t parameters_of(const char *text)
{
    const struct yk_workload workload = {.batch = 1, .sequence = 8, .precision = YK_PRECISION_BF16};
    const struct yk_model *model = NULL;
    assert_ok(yk_model_build(read_config(text), &workload, group_arena, &model));
    return model->parameters;
}

static void published_configs_give_published_totals(void **state)
{
    (void)state;
    assert_int_equal(parameters_of(LLAMA3_8B), 8030261248);
    assert_int_equal(parameters_of(LLAMA3_8B_NEW_KEYS), 8030261248);
    assert_int_equal(parameters_of(GPT2), 124439808);
    assert_int_equal(parameters_of(MISTRAL_7B), 7241732096);
}

static void the_class_of_a_bert_decides_its_head(void **state)
{
    (void)state;
    static const struct {
        const char *class;
        int64_t parameters;
    } classes[] = {
        {"BertModel", 109482240},
        {"BertForMaskedLM", 109514298},
        {"BertForPreTraining", 110106428},
    };
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"architectures\": [\"%s\"], %s", classes[i].class,
                 BERT_SIZES);
        assert_int_equal(parameters_of(text), classes[i].parameters);
    }
}

/* opus-mt: the blocks of the Transformer base, a larger vocabulary, its embedding shared. */
static void marian_is_the_transformer_with_its_own_vocabulary(void **state)
{
    (void)state;
    const struct yk_model_config *config = read_config(OPUS_MT);
    assert_string_equal(config->architecture->name, "transformer");
    assert_true(config->tied && config->shared);
    assert_int_equal(parameters_of(OPUS_MT), 63082496 - 37000 * 512 + 58101 * 512);
}

#define MARIAN_SIZES                                                                               \
    "\"model_type\": \"marian\", \"vocab_size\": 100, \"d_model\": 32, \"encoder_layers\": 1, "    \
    "\"decoder_layers\": 1, \"encoder_ffn_dim\": 8, \"decoder_ffn_dim\": 8, "                      \
    "\"encoder_attention_heads\": 2, \"decoder_attention_heads\": 2}"
#define UNSHARED "\"share_encoder_decoder_embeddings\": false, "
#define UNTIED "\"tie_word_embeddings\": false, "

/* The totals of transformers 5.22, less its fixed positions. A table is 100 × 32; without ties,
 * even shared ones are kept apart: shared, source, target and head. */
static void marians_tables_are_counted_as_the_framework_keeps_them(void **state)
{
    (void)state;
    assert_int_equal(parameters_of("{" MARIAN_SIZES), 17296);
    assert_int_equal(parameters_of("{" UNTIED MARIAN_SIZES), 26896);
    assert_int_equal(parameters_of("{" UNSHARED MARIAN_SIZES), 20496);
    assert_int_equal(parameters_of("{" UNSHARED UNTIED MARIAN_SIZES), 23696);
}

static void the_target_may_have_a_vocabulary_of_its_own(void **state)
{
    (void)state;
#define TARGET "\"decoder_vocab_size\": 140, "
    assert_int_equal(parameters_of("{" TARGET UNSHARED MARIAN_SIZES), 21776);
    assert_int_equal(parameters_of("{" TARGET UNSHARED UNTIED MARIAN_SIZES), 26256);
    assert_int_equal(parameters_of("{\"decoder_vocab_size\": 100, " MARIAN_SIZES), 17296);
    assert_int_equal(parameters_of("{\"decoder_vocab_size\": null, " UNSHARED MARIAN_SIZES), 20496);
    assert_unreadable(
        "{" TARGET MARIAN_SIZES,
        "\"decoder_vocab_size\" is 140, but encoder and decoder share one embedding with "
        "\"vocab_size\", 100");
#undef TARGET
}

/* transformers 5.22: hidden_size 64 is 59152, num_hidden_layers 3 is 27104. */
static void an_alias_goes_before_marians_own_name(void **state)
{
    (void)state;
    assert_int_equal(parameters_of("{\"hidden_size\": 64, " MARIAN_SIZES), 59152);
    assert_int_equal(parameters_of("{\"num_hidden_layers\": 3, " MARIAN_SIZES), 27104);
    assert_int_equal(read_config("{\"num_attention_heads\": 4, " MARIAN_SIZES)->encoder_heads, 4);
}

/* decoder.bias is predictions.bias only where weights are tied; totals of transformers 5.22. */
static void an_untied_bert_has_two_biases_for_each_word(void **state)
{
    (void)state;
#define SIZES                                                                                      \
    "\"tie_word_embeddings\": false, \"vocab_size\": 131, \"hidden_size\": 32, "                   \
    "\"intermediate_size\": 30, \"num_hidden_layers\": 2, \"num_attention_heads\": 2, "            \
    "\"max_position_embeddings\": 64}"
    assert_int_equal(parameters_of("{\"architectures\": [\"BertForMaskedLM\"], " SIZES), 24610);
    assert_int_equal(parameters_of("{\"architectures\": [\"BertForPreTraining\"], " SIZES), 25732);
#undef SIZES
}

static void gpt2_goes_by_the_common_names_as_well(void **state)
{
    (void)state;
    const struct yk_model_config *config =
        read_config("{\"model_type\": \"gpt2\", \"hidden_size\": 64, \"num_hidden_layers\": 2, "
                    "\"num_attention_heads\": 4, \"max_position_embeddings\": 32, "
                    "\"n_inner\": 100, \"vocab_size\": 50, "
                    "\"tie_word_embeddings\": false}");
    assert_int_equal(config->width, 64);
    assert_int_equal(config->layers, 2);
    assert_int_equal(config->head_size, 16);
    assert_int_equal(config->positions, 32);
    assert_int_equal(config->feed_forward_width, 100);
    assert_false(config->tied);
}

/* Totals of transformers 5.22: 30720 as it stands, 110592 with hidden_size 64. */
static void gpt2_reads_the_keys_that_the_framework_reads(void **state)
{
    (void)state;
#define SIZES                                                                                      \
    "\"model_type\": \"gpt2\", \"vocab_size\": 100, \"n_embd\": 32, \"n_layer\": 2, \"n_head\": 2"
    assert_int_equal(parameters_of("{\"n_positions\": 64, \"n_ctx\": 32, " SIZES "}"), 30720);
    assert_int_equal(parameters_of("{\"n_positions\": 64, \"intermediate_size\": 7, " SIZES "}"),
                     30720);
    assert_int_equal(parameters_of("{\"n_positions\": 64, \"hidden_size\": 64, " SIZES "}"),
                     110592);
    assert_int_equal(parameters_of("{" SIZES ", \"hidden_size\": 64, \"n_positions\": 64}"),
                     110592);
    assert_unreadable("{\"n_ctx\": 64, " SIZES "}",
                      "\"n_positions\" is missing; it gives the number of positions");
#undef SIZES
}

/* Totals of transformers 5.22. */
static void mistral_differs_from_llama_in_keys_that_are_missing(void **state)
{
    (void)state;
#define SIZES                                                                                      \
    "\"vocab_size\": 100, \"hidden_size\": 64, \"intermediate_size\": 30, "                        \
    "\"num_hidden_layers\": 2, \"num_attention_heads\": 16}"
#define MISTRAL "{\"architectures\": [\"MistralForCausalLM\"], "
    assert_int_equal(parameters_of("{\"model_type\": \"llama\", " SIZES), 57408);
    assert_int_equal(parameters_of("{\"model_type\": \"mistral\", " SIZES), 49216);
    assert_int_equal(parameters_of(MISTRAL SIZES), 49216);
    assert_int_equal(parameters_of(MISTRAL "\"num_key_value_heads\": 4, " SIZES), 45120);
    assert_int_equal(
        parameters_of(MISTRAL "\"num_key_value_heads\": 4, \"attention_bias\": true, " SIZES),
        45120);
    assert_int_equal(
        parameters_of(MISTRAL "\"num_key_value_heads\": 4, \"mlp_bias\": true, " SIZES), 45120);
#undef MISTRAL
#undef SIZES
}

/* Heads may be larger than their part of the width, and biases come where they are asked for. */
static void llama_reads_a_size_of_heads_and_biases(void **state)
{
    (void)state;
#define SIZES                                                                                      \
    "\"model_type\": \"llama\", \"hidden_size\": 10, \"num_attention_heads\": 4, "                 \
    "\"num_key_value_heads\": 2, \"head_dim\": 6, \"intermediate_size\": 12, "                     \
    "\"num_hidden_layers\": 1, \"vocab_size\": 7}"
    const int C = 10;
    const int V = 7;
    const int linears = C * 24 + 2 * C * 12 + 24 * C + 3 * C * 12;
    const int norms = 3 * C;
    const int plain = 2 * V * C + linears + norms;
    assert_int_equal(parameters_of("{" SIZES), plain);
    assert_int_equal(parameters_of("{\"attention_bias\": true, " SIZES), plain + 24 + 2 * 12 + C);
    assert_int_equal(parameters_of("{\"mlp_bias\": true, " SIZES), plain + 2 * 12 + C);
#undef SIZES
}

/* A Llama config with one member replaced or added; "" leaves it out. */
static void refuses(const char *key, const char *value, const char *message)
{
    static const struct {
        const char *key;
        const char *value;
    } members[] = {
        {"model_type", "\"llama\""},  {"vocab_size", "100"},           {"hidden_size", "64"},
        {"intermediate_size", "128"}, {"num_hidden_layers", "2"},      {"num_attention_heads", "8"},
        {"num_key_value_heads", "4"}, {"tie_word_embeddings", "null"},
    };
    char text[1024] = "{\"comment\": 0";
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const bool replaced = strcmp(members[i].key, key) == 0;
        const char *word = replaced ? value : members[i].value;
        const size_t used = strlen(text);
        if (*word) {
            snprintf(text + used, sizeof text - used, ", \"%s\": %s", members[i].key, word);
        }
    }
    const size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "}");
    assert_unreadable(text, message);
}

static void a_bad_size_is_one_sentence_that_names_it(void **state)
{
    (void)state;
    refuses("hidden_size", "", "\"hidden_size\" is missing; it gives the width of the model");
    refuses("vocab_size", "", "\"vocab_size\" is missing; it gives the vocabulary");
    refuses("hidden_size", "-64",
            "\"hidden_size\" is -64; the width of the model is a whole number, 1 or more");
    refuses("num_hidden_layers", "0",
            "\"num_hidden_layers\" is 0; the number of blocks is a whole number, 1 or more");
    refuses(
        "intermediate_size", "128.5",
        "\"intermediate_size\" is 128.5; the width inside the feed-forward is a whole number, 1 "
        "or more");
    refuses("vocab_size", "2000000000000",
            "\"vocab_size\" is 2000000000000; the vocabulary is at most 1099511627776");
    refuses("hidden_size", "\"64\"",
            "\"hidden_size\" must be a whole number, the width of the model, not a string");
    refuses("hidden_size", "null",
            "\"hidden_size\" must be a whole number, the width of the model, not null");
    refuses("num_hidden_layers", "[2]",
            "\"num_hidden_layers\" must be a whole number, the number of blocks, not a list");
    refuses("tie_word_embeddings", "1",
            "\"tie_word_embeddings\" must be true or false, not a number");
}

static void heads_that_do_not_divide_are_refused(void **state)
{
    (void)state;
    refuses("num_attention_heads", "12",
            "\"num_attention_heads\" is 12, which does not divide \"hidden_size\", 64");
    refuses("num_key_value_heads", "3",
            "\"num_key_value_heads\" is 3, which does not divide \"num_attention_heads\", 8");
    refuses("num_key_value_heads", "16",
            "\"num_key_value_heads\" is 16, which does not divide \"num_attention_heads\", 8");
}

static void sizes_that_cannot_be_counted_together_are_refused(void **state)
{
    (void)state;
    refuses("intermediate_size", "1000000000000, \"head_dim\": 1000000000000",
            "these sizes together make about 8.6e+15 parameters; at most 1.1e+15 are counted");
    refuses("num_hidden_layers", "1000000",
            "1000000 blocks are too many; at most 10000 are counted");
}

/* Rotary positions are no parameters; learned ones, and the sinusoids that are kept, are. */
static void only_positions_that_are_kept_count_towards_the_size(void **state)
{
    (void)state;
    const struct yk_model_config *config = read_config(
        "{\"model_type\": \"llama\", \"vocab_size\": 100, \"hidden_size\": 4096, "
        "\"intermediate_size\": 30, \"num_hidden_layers\": 1, \"num_attention_heads\": 16, "
        "\"max_position_embeddings\": 1000000000000}");
    assert_int_equal(config->positions, 1000000000000);
    assert_unreadable(
        "{\"max_position_embeddings\": 1000000000000, \"hidden_size\": 4096, " MARIAN_SIZES,
        "these sizes together make about 8.2e+15 parameters; at most 1.1e+15 are counted");
}

/* transformers 5.23: the number of positions is that of vit.embeddings.position_embeddings. */
static void images_are_cut_into_whole_patches(void **state)
{
    (void)state;
    const struct yk_model_config *usual = read_config("{\"model_type\": \"vit\"}");
    const struct yk_model_config *wide =
        read_config("{\"model_type\": \"vit\", \"image_size\": [9, 20], \"patch_size\": [2, 3], "
                    "\"num_channels\": 1, \"num_labels\": 7}");
    assert_int_equal(usual->positions, 197);
    assert_int_equal(usual->width, 768);
    assert_int_equal(usual->image.channels, 3);
    assert_int_equal(usual->vocabulary, 2);
    assert_true(usual->qkv_bias && usual->bidirectional && usual->classifier);
    assert_int_equal(wide->positions, 1 + 4 * 6);
    assert_int_equal(yk_model_config_image_bytes(wide), 180);
    assert_int_equal(yk_model_config_patch_size(wide), 6);
    assert_int_equal(wide->vocabulary, 7);
    assert_null(wide->labels);
}

static void classes_have_the_names_of_the_file(void **state)
{
    (void)state;
    const struct yk_model_config *named =
        read_config("{\"model_type\": \"vit\", \"id2label\": {\"0\": \"cat\", \"1\": \"a dog\", "
                    "\"2\": \"fish\"}, \"num_labels\": 9}");
    const struct yk_model_config *usual = read_config(
        "{\"model_type\": \"vit\", \"id2label\": {\"0\": \"LABEL_0\", \"1\": \"LABEL_1\"}}");
    assert_int_equal(named->vocabulary, 3);
    assert_string_equal(named->labels[1], "a dog");
    assert_int_equal(usual->vocabulary, 2);
    assert_null(usual->labels);
}

static void a_model_of_images_that_has_no_head_gets_a_new_one(void **state)
{
    (void)state;
    const char *const base = "{\"model_type\": \"vit\", \"architectures\": [\"ViTModel\"]}";
    assert_true(read_config(base)->new_head);
    assert_false(read_config("{\"model_type\": \"vit\"}")->new_head);
}

static void images_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    assert_unreadable("{\"model_type\": \"vit\", \"image_size\": 8, \"patch_size\": [4, 9]}",
                      "\"patch_size\" is 4 × 9, but \"image_size\" is only 8 × 8");
    assert_unreadable("{\"model_type\": \"vit\", \"image_size\": 1e9}",
                      "\"image_size\" must be a whole number from 1 to 8192, or a list of two, "
                      "height and width");
    assert_unreadable("{\"model_type\": \"vit\", \"image_size\": [8, 8, 8]}",
                      "\"image_size\" must be a whole number from 1 to 8192, or a list of two, "
                      "height and width");
    assert_unreadable("{\"model_type\": \"vit\", \"num_channels\": 5}",
                      "\"num_channels\" is 5; images have at most 4");
    assert_unreadable("{\"model_type\": \"vit\", \"id2label\": [\"cat\"]}",
                      "\"id2label\" must be an object of names, not a list");
    assert_unreadable("{\"model_type\": \"vit\", \"id2label\": {\"0\": \"cat\", \"2\": \"dog\"}}",
                      "\"id2label\" has 2 classes, but no name of class \"1\"");
    assert_unreadable("{\"model_type\": \"vit\", \"num_labels\": 2000000}",
                      "2000000 classes are too many; at most 1048576 are counted");
}

static void an_unknown_architecture_names_the_known_ones(void **state)
{
    (void)state;
#define KNOWN                                                                                      \
    "known values of \"model_type\" are gpt2, llama, mistral, qwen2, qwen3, gemma, gemma2, "       \
    "gemma3_text, gemma3, phi3, smollm3, bert, marian, olmo2, granite, gpt_neox, starcoder2, "     \
    "nemotron, roberta, mixtral, qwen2_moe, qwen3_moe, olmoe, granitemoe, gpt_oss, vit"
    refuses("model_type", "\"swin\"", "the architecture \"swin\" is not known; " KNOWN);
    refuses("model_type", "\"swin\", \"architectures\": [\"SwinModel\"]",
            "the architecture \"SwinModel\" is not known; " KNOWN);
    refuses("model_type", "",
            "neither \"architectures\" nor \"model_type\" says what model this is; " KNOWN);
    refuses(
        "model_type", "\"llama\", \"architectures\": [\"LlamaModel\"]",
        "the architecture \"LlamaModel\" is not known; of \"llama\", known is LlamaForCausalLM");
    refuses("model_type", "\"bert\", \"architectures\": [\"BertForQuestionAnswering\"]",
            "the architecture \"BertForQuestionAnswering\" is not known; of \"bert\", known is "
            "BertForMaskedLM and BertModel and BertForPreTraining");
    refuses("model_type", "\"llama\", \"architectures\": [3]",
            "\"architectures\" must be a list of names, not of a number");
    refuses("model_type", "3", "\"model_type\" must be a string, not a number");
    refuses("model_type", "\"llama\", \"architectures\": \"LlamaForCausalLM\"",
            "\"architectures\" must be a list of names, not a string");
#undef KNOWN
}

static void the_type_decides_where_no_class_is_given(void **state)
{
    (void)state;
    assert_int_equal(parameters_of("{\"architectures\": null, " MARIAN_SIZES), 17296);
    assert_int_equal(parameters_of("{\"architectures\": [], " MARIAN_SIZES), 17296);
}

static void attention_to_another_model_is_refused(void **state)
{
    (void)state;
    char text[512];
    snprintf(text, sizeof text, "{\"is_decoder\": true, %s", BERT_SIZES);
    assert_unreadable(text, "\"is_decoder\" is true; BERT is known only as an encoder");
    snprintf(text, sizeof text, "{\"add_cross_attention\": true, %s", BERT_SIZES);
    assert_unreadable(text, "\"add_cross_attention\" is true; BERT is known only as an encoder");
    snprintf(text, sizeof text, "{\"is_decoder\": false, \"add_cross_attention\": false, %s",
             BERT_SIZES);
    assert_int_equal(parameters_of(text), 109482240);
    assert_unreadable(
        "{\"model_type\": \"gpt2\", \"vocab_size\": 100, \"n_embd\": 32, \"n_layer\": 2, "
        "\"n_head\": 2, \"n_positions\": 64, \"add_cross_attention\": true}",
        "\"add_cross_attention\" is true; GPT-2 is known only without an encoder");
}

static void an_activation_is_named_by_a_string(void **state)
{
    (void)state;
    assert_unreadable("{\"activation_function\": 3, " MARIAN_SIZES,
                      "\"activation_function\" must be a string, not a number");
}

static const char *not_trained(const char *text)
{
    return read_config(text)->not_trained;
}

/* What cannot be computed with can be planned for all the same. */
static void what_cannot_be_trained_is_named(void **state)
{
    (void)state;
    char text[512];
    snprintf(text, sizeof text, "{\"hidden_act\": \"quick_gelu\", %s", BERT_SIZES);
    assert_string_equal(not_trained(text), "its hidden_act");
    snprintf(text, sizeof text, "{\"position_embedding_type\": \"relative_key\", %s", BERT_SIZES);
    assert_string_equal(not_trained(text), "its position_embedding_type");
    snprintf(text, sizeof text, "{\"position_embedding_type\": \"absolute\", %s", BERT_SIZES);
    assert_null(not_trained(text));
    assert_string_equal(not_trained("{\"activation_function\": \"mish\", " MARIAN_SIZES),
                        "its activation_function");
    assert_string_equal(not_trained("{\"static_position_embeddings\": false, " MARIAN_SIZES),
                        "its learned positions");
    assert_string_equal(not_trained("{\"normalize_before\": true, " MARIAN_SIZES),
                        "its normalize_before");
    assert_string_equal(not_trained("{\"normalize_embedding\": true, " MARIAN_SIZES),
                        "its normalize_embedding");
    assert_string_equal(not_trained("{\"add_final_layer_norm\": true, " MARIAN_SIZES),
                        "its add_final_layer_norm");
    assert_null(not_trained("{" MARIAN_SIZES));
}

static void an_id_that_is_no_token_is_not_known(void **state)
{
    (void)state;
    const struct yk_model_config *config =
        read_config("{\"pad_token_id\": 99, \"eos_token_id\": 100, \"bos_token_id\": -1, "
                    "\"decoder_start_token_id\": 0, " MARIAN_SIZES);
    assert_int_equal(config->ids.pad, 99);
    assert_int_equal(config->ids.begin, -1);
    assert_int_equal(config->ids.end, -1);
    assert_int_equal(config->ids.decoder_start, 0);
    assert_unreadable("{\"pad_token_id\": \"<pad>\", " MARIAN_SIZES,
                      "\"pad_token_id\" must be a token's id, a whole number");
    assert_unreadable("{\"eos_token_id\": [1.5], " MARIAN_SIZES,
                      "\"eos_token_id\" must be a token's id, a whole number");
}

/* "<|endoftext|>" is the last of GPT-2's byte pairs, said or not. */
static void gpt2s_own_vocabulary_has_its_own_ends(void **state)
{
    (void)state;
    const struct yk_model_config *config = read_config(GPT2);
    assert_int_equal(config->ids.begin, 50256);
    assert_int_equal(config->ids.end, 50256);
    assert_int_equal(config->ids.pad, -1);
    assert_int_equal(read_config(LLAMA3_8B)->ids.begin, 128000);
    assert_int_equal(read_config(LLAMA3_8B)->ids.end, 2); /* the preset of LlamaConfig */
}

static void what_is_no_object_is_refused(void **state)
{
    (void)state;
    const struct yk_model_config *config = NULL;
    assert_fails(yk_model_config_parse("[]", 2, "c", group_arena, &config), YK_ERROR_INPUT,
                 "c: a config.json is an object, not a list");
    assert_int_equal(yk_model_config_parse("{", 1, "c", group_arena, &config), YK_ERROR_INPUT);
    assert_int_equal(yk_model_config_parse("", 0, "c", group_arena, &config), YK_ERROR_INPUT);
    assert_int_equal(yk_model_config_open("missing/config.json", group_arena, &config),
                     YK_ERROR_INPUT);
}

static void assert_workload_refused(const char *name, struct yk_workload workload, yk_status status,
                                    const char *message)
{
    const struct yk_model_config *config = NULL;
    const struct yk_model *model = NULL;
    assert_ok(yk_model_config_find_builtin(name, &config));
    assert_fails(yk_model_build(config, &workload, group_arena, &model), status, message);
    assert_null(model);
}

static void a_workload_that_cannot_be_is_refused(void **state)
{
    (void)state;
    assert_workload_refused("gpt2", (struct yk_workload){.sequence = 4}, YK_ERROR_INPUT,
                            "a batch has 1 sample or more, not 0");
    assert_workload_refused("gpt2", (struct yk_workload){.batch = 4}, YK_ERROR_INPUT,
                            "a sequence has 1 token or more, not 0");
    assert_workload_refused("gpt2", (struct yk_workload){.batch = 1, .sequence = 1025},
                            YK_ERROR_INPUT,
                            "gpt2: a sequence of 1025 tokens is too long; the model has learned "
                            "1024 positions");
    assert_workload_refused(
        "gpt2", (struct yk_workload){.batch = 1, .sequence = 4, .target_sequence = 4},
        YK_ERROR_INPUT, "gpt2: a target sequence is for models with encoder and decoder");
    assert_workload_refused(
        "gpt2", (struct yk_workload){.batch = 1, .sequence = 4, .nf4 = true}, YK_ERROR_USAGE,
        "NF4 weights are frozen and nothing would be trained; add adapters with "
        "a LoRA rank, such as 32");
    assert_workload_refused("gpt2",
                            (struct yk_workload){.batch = 1, .sequence = 4, .lora_rank = -1},
                            YK_ERROR_INPUT, "a LoRA rank is from 1 to 1048576, not -1");
    assert_workload_refused(
        "llama3-8b", (struct yk_workload){.batch = INT64_MAX, .sequence = INT64_MAX},
        YK_ERROR_INPUT,
        "llama3-8b: a batch of 9223372036854775807 × 9223372036854775807 tokens is more than can "
        "be counted");
}

/* Rotary and sinusoidal positions are computed, not learned: only practice limits their length. */
static void positions_that_are_not_learned_set_no_limit(void **state)
{
    (void)state;
    const struct yk_model_config *config = NULL;
    const struct yk_model *model = NULL;
    const struct yk_workload workload = {.batch = 1, .sequence = 20000};
    assert_ok(yk_model_config_find_builtin("tinyllama", &config));
    assert_ok(yk_model_build(config, &workload, group_arena, &model));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_configs_give_published_totals),
        cmocka_unit_test(the_class_of_a_bert_decides_its_head),
        cmocka_unit_test(marian_is_the_transformer_with_its_own_vocabulary),
        cmocka_unit_test(marians_tables_are_counted_as_the_framework_keeps_them),
        cmocka_unit_test(the_target_may_have_a_vocabulary_of_its_own),
        cmocka_unit_test(an_alias_goes_before_marians_own_name),
        cmocka_unit_test(an_untied_bert_has_two_biases_for_each_word),
        cmocka_unit_test(gpt2_goes_by_the_common_names_as_well),
        cmocka_unit_test(gpt2_reads_the_keys_that_the_framework_reads),
        cmocka_unit_test(mistral_differs_from_llama_in_keys_that_are_missing),
        cmocka_unit_test(llama_reads_a_size_of_heads_and_biases),
        cmocka_unit_test(a_bad_size_is_one_sentence_that_names_it),
        cmocka_unit_test(heads_that_do_not_divide_are_refused),
        cmocka_unit_test(sizes_that_cannot_be_counted_together_are_refused),
        cmocka_unit_test(only_positions_that_are_kept_count_towards_the_size),
        cmocka_unit_test(images_are_cut_into_whole_patches),
        cmocka_unit_test(classes_have_the_names_of_the_file),
        cmocka_unit_test(a_model_of_images_that_has_no_head_gets_a_new_one),
        cmocka_unit_test(images_that_make_no_sense_are_refused),
        cmocka_unit_test(an_unknown_architecture_names_the_known_ones),
        cmocka_unit_test(the_type_decides_where_no_class_is_given),
        cmocka_unit_test(attention_to_another_model_is_refused),
        cmocka_unit_test(an_activation_is_named_by_a_string),
        cmocka_unit_test(what_cannot_be_trained_is_named),
        cmocka_unit_test(an_id_that_is_no_token_is_not_known),
        cmocka_unit_test(gpt2s_own_vocabulary_has_its_own_ends),
        cmocka_unit_test(what_is_no_object_is_refused),
        cmocka_unit_test(a_workload_that_cannot_be_is_refused),
        cmocka_unit_test(positions_that_are_not_learned_set_no_limit),
    };
    return cmocka_run_group_tests(tests, group_arena_make, group_arena_drop);
}
