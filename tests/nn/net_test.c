#include "nn/net.h"

#include "model/model.h"
#include "model/module_tree.h"
#include "nn/layers/layer.h"
#include "support/support.h"

#include <string.h>

struct bench {
    struct yk_arena *arena;
    const struct yk_model_config *config;
    struct yk_model_cache *cache;
    struct yk_net *net;
};

/* `model` is a built-in name, or a config.json. */
static yk_status open_bench(struct bench *bench, const char *model)
{
    const struct yk_net_options options = {0};
    struct yk_workload workload = {.batch = 2, .sequence = 8};
    *bench = (struct bench){0};
    assert_ok(yk_arena_create(&bench->arena));
    if (model[0] == '{') {
        assert_ok(
            yk_model_config_parse(model, strlen(model), "test", bench->arena, &bench->config));
    } else {
        assert_ok(yk_model_config_find_builtin(model, &bench->config));
    }
    if (yk_model_config_reads_images(bench->config)) {
        workload.sequence = bench->config->positions;
    }
    assert_ok(yk_model_cache_create(bench->config, &workload, &bench->cache));
    return yk_net_create(yk_model_cache_get_whole_batch(bench->cache), &options, &bench->net);
}

static void close_bench(struct bench *bench)
{
    yk_net_destroy(bench->net);
    yk_model_cache_destroy(bench->cache);
    yk_arena_destroy(bench->arena);
}

/* Of buffers one is saved with the weights. The framework lists the table of sinusoids among the
 * parameters; here it is no weight. */
static bool is_parameter(const struct yk_module_tensor *tensor)
{
    const bool kept = !tensor->buffer || strcmp(tensor->name, "final_logits_bias") == 0;
    return kept && tensor->kind == YK_MODULE_TENSOR_FLOAT && tensor->tied_to == YK_MODULE_NONE &&
           !strstr(tensor->name, "embed_positions");
}

static int32_t count_parameters(const struct yk_net *net)
{
    int32_t count = 0;
    for (int32_t l = 0; l < net->layer_count; l++) {
        count += net->layers[l].parameter_count;
    }
    return count;
}

#define MARIAN(tied, shared)                                                                       \
    "{\"model_type\": \"marian\", \"vocab_size\": 13, \"d_model\": 12, \"encoder_layers\": 2, "    \
    "\"decoder_layers\": 1, \"encoder_ffn_dim\": 16, \"decoder_ffn_dim\": 20, "                    \
    "\"encoder_attention_heads\": 2, \"decoder_attention_heads\": 3, "                             \
    "\"tie_word_embeddings\": " tied ", \"share_encoder_decoder_embeddings\": " shared "}"

#define BERT(tied)                                                                                 \
    "{\"model_type\": \"bert\", \"architectures\": [\"BertForMaskedLM\"], \"vocab_size\": 13, "    \
    "\"hidden_size\": 12, \"intermediate_size\": 20, \"num_hidden_layers\": 1, "                   \
    "\"num_attention_heads\": 3, \"max_position_embeddings\": 8, \"tie_word_embeddings\": " tied   \
    "}"

#define NEMOTRON                                                                                   \
    "{\"model_type\": \"nemotron\", \"vocab_size\": 13, \"hidden_size\": 16, "                     \
    "\"intermediate_size\": 20, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "            \
    "\"num_key_value_heads\": 2, \"attention_bias\": true, \"mlp_bias\": true}"

static void parameters_are_the_tensors_that_the_framework_lists(void **state)
{
    (void)state;
    static const char *const models[] = {
        "gpt2",
        "gpt-nano",
        "tinyllama-1.1b",
        "llama-mini",
        "bert-base-mlm",
        "transformer-base",
        "roberta-base",
        "mistral-7b",
        "qwen2.5-0.5b",
        "qwen3-0.6b",
        "gemma-2b",
        "gemma2-2b",
        "gemma3-1b",
        "phi3-mini",
        "smollm3-3b",
        "olmo2-7b",
        "granite3-2b",
        "pythia-160m",
        "starcoder2-3b",
        NEMOTRON,
        "vit-tiny",
        "vit-digits",
        BERT("true"),
        BERT("false"),
        MARIAN("true", "true"),
        MARIAN("true", "false"),
        MARIAN("false", "true"),
        MARIAN("false", "false"),
    };
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        struct bench bench;
        const struct yk_module_tree *modules = NULL;
        int32_t count = 0;
        assert_ok(open_bench(&bench, models[m]));
        assert_ok(yk_module_tree_build(bench.config, bench.arena, &modules));
        for (int32_t i = 0; i < modules->tensor_count; i++) {
            const struct yk_module_tensor *tensor = &modules->tensors[i];
            if (is_parameter(tensor)) {
                const struct yk_parameter *found =
                    yk_net_find_parameter(bench.net, tensor->name, NULL);
                if (!found || found->count != tensor->elements) {
                    fail_msg("%s: %s is not there, or of another size", models[m], tensor->name);
                }
                count++;
            }
        }
        assert_int_equal(count, count_parameters(bench.net));
        close_bench(&bench);
    }
}

static void decoders_look_at_the_last_of_the_encoder(void **state)
{
    (void)state;
    struct bench bench;
    assert_ok(open_bench(&bench, MARIAN("true", "true")));
    const struct yk_net_layer *layers = bench.net->layers;
    /* Embed, two blocks; embed, block, head. */
    assert_int_equal(bench.net->layer_count, 6);
    assert_int_equal(layers[0].input, -1);
    assert_int_equal(layers[3].input, -1);
    assert_int_equal(layers[4].input, 3);
    assert_int_equal(layers[4].memory, 2);
    assert_int_equal(layers[5].input, 4);
    assert_int_equal(layers[5].memory, -1);
    assert_int_equal(layers[3].weights_owner, 0);
    assert_int_equal(layers[5].weights_owner, 0);
    for (int32_t l = 0; l < 6; l++) {
        assert_int_equal(layers[l].decodes, l >= 3);
    }
    close_bench(&bench);
}

static void a_pooler_is_refused_with_what_can_be_trained(void **state)
{
    (void)state;
    struct bench bench;
    assert_fails(open_bench(&bench, "bert-base"), YK_ERROR_INPUT,
                 "bert-base has a pooler, for whose output there is no loss to train by; BERT is "
                 "trained to predict masked words: --model bert-base-mlm, or a config of "
                 "BertForMaskedLM");
    close_bench(&bench);
}

static void a_mixture_of_experts_is_refused(void **state)
{
    (void)state;
    struct bench bench;
    assert_fails(open_bench(&bench, "mixtral-8x7b"), YK_ERROR_INPUT,
                 "mixtral-8x7b is a mixture of experts (mixtral), which yoke can plan but not "
                 "train yet");
    close_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_the_tensors_that_the_framework_lists),
        cmocka_unit_test(decoders_look_at_the_last_of_the_encoder),
        cmocka_unit_test(a_pooler_is_refused_with_what_can_be_trained),
        cmocka_unit_test(a_mixture_of_experts_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
