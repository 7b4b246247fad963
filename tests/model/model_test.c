/* Layers against the tree of modules, which is a second account of the same models. */
#include "model/config.h"
#include "model/model.h"
#include "model/module_tree.h"
#include "support/support.h"

#include <string.h>

static const struct yk_model *describe(const char *name, struct yk_arena *arena)
{
    const struct yk_workload workload = {.batch = 1, .sequence = 16};
    const struct yk_model_config *config = NULL;
    const struct yk_model *model = NULL;
    assert_ok(yk_model_config_find_builtin(name, &config));
    assert_ok(yk_model_build(config, &workload, arena, &model));
    return model;
}

/* Parameters that a module and those inside it own; computed positions are none of ours. */
static int64_t parameters_in(const struct yk_module_tree *modules, int32_t module)
{
    int64_t sum = 0;
    for (int32_t m = module; m < modules->modules[module].end; m++) {
        const struct yk_module *inner = &modules->modules[m];
        if (strstr(inner->name, "embed_positions")) {
            continue;
        }
        for (int32_t t = inner->first_tensor; t < inner->first_tensor + inner->tensor_count; t++) {
            const struct yk_module_tensor *tensor = &modules->tensors[t];
            sum += tensor->buffer || tensor->tied_to != YK_MODULE_NONE ? 0 : tensor->elements;
        }
    }
    return sum;
}

static void assert_agrees_with_its_modules(const struct yk_model *model, struct yk_arena *arena)
{
    const struct yk_module_tree *modules = NULL;
    assert_ok(yk_module_tree_build(model->config, arena, &modules));
    for (int32_t i = 0; i < model->layer_count; i++) {
        const struct yk_layer *layer = &model->layers[i];
        int64_t sum = 0;
        for (int32_t m = 0; m < layer->module_count; m++) {
            const int32_t module = yk_module_tree_find_module(modules, layer->modules[m]);
            assert_int_not_equal(module, YK_MODULE_NONE);
            sum += parameters_in(modules, module);
        }
        assert_int_equal(layer->parameters, sum);
    }
    assert_int_equal(model->parameters, parameters_in(modules, 0));
}

static void layers_have_the_parameters_of_their_modules(void **state)
{
    (void)state;
    static const char *const names[] = {"gpt2",      "gpt2-xl",          "gpt-mini", "bert-base",
                                        "llama3-8b", "transformer-base", "tinyllama"};
    struct yk_arena *arena = NULL;
    assert_ok(yk_arena_create(&arena));
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        assert_agrees_with_its_modules(describe(names[n], arena), arena);
    }
    yk_arena_destroy(arena);
}

static void layers_and_modules_agree_on_what_is_shared_and_tied(void **state)
{
    (void)state;
#define MARIAN                                                                                     \
    "\"vocab_size\": 100, \"d_model\": 32, \"encoder_layers\": 1, \"decoder_layers\": 1, "         \
    "\"encoder_ffn_dim\": 8, \"decoder_ffn_dim\": 8, \"encoder_attention_heads\": 2, "             \
    "\"decoder_attention_heads\": 2, \"architectures\": [\"MarianMTModel\"]}"
#define BERT                                                                                       \
    "\"vocab_size\": 131, \"hidden_size\": 32, \"intermediate_size\": 30, "                        \
    "\"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"max_position_embeddings\": 64}"
    static const char *const texts[] = {
        "{\"share_encoder_decoder_embeddings\": false, " MARIAN,
        "{\"tie_word_embeddings\": false, " MARIAN,
        "{\"share_encoder_decoder_embeddings\": false, \"tie_word_embeddings\": false, " MARIAN,
        "{\"share_encoder_decoder_embeddings\": false, \"decoder_vocab_size\": 140, " MARIAN,
        "{\"share_encoder_decoder_embeddings\": false, \"decoder_vocab_size\": 140, "
        "\"tie_word_embeddings\": false, " MARIAN,
        "{\"architectures\": [\"BertForMaskedLM\"], \"tie_word_embeddings\": false, " BERT,
        "{\"architectures\": [\"BertForPreTraining\"], \"tie_word_embeddings\": false, " BERT,
        "{\"architectures\": [\"BertForPreTraining\"], " BERT,
    };
    struct yk_arena *arena = NULL;
    assert_ok(yk_arena_create(&arena));
    for (size_t n = 0; n < sizeof texts / sizeof texts[0]; n++) {
        const struct yk_workload workload = {.batch = 1, .sequence = 16};
        const struct yk_model_config *config = NULL;
        const struct yk_model *model = NULL;
        assert_ok(yk_model_config_parse(texts[n], strlen(texts[n]), "tiny", arena, &config));
        assert_ok(yk_model_build(config, &workload, arena, &model));
        assert_agrees_with_its_modules(model, arena);
    }
    yk_arena_destroy(arena);
#undef BERT
#undef MARIAN
}

static void equal_blocks_share_their_works(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    assert_ok(yk_arena_create(&arena));
    const struct yk_model *model = describe("gpt2", arena);
    assert_int_equal(model->layer_count, 1 + 12 + 2);
    assert_string_equal(model->layers[12].name, "layer 11");
    assert_ptr_equal(model->layers[1].forward.items, model->layers[12].forward.items);
    assert_string_equal(model->layers[14].name, "head");
    assert_int_equal(model->layers[14].shares_weights_of, 0);
    yk_arena_destroy(arena);
}

/* What was done last is undone first. */
static void backward_goes_through_the_parts_from_the_last_to_the_first(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "residual", "down", "bias", "activation", "up",  "bias", "norm",
        "residual", "out",  "bias", "attention",  "qkv", "bias", "norm",
    };
    struct yk_arena *arena = NULL;
    assert_ok(yk_arena_create(&arena));
    const struct yk_kernel_work_list *backward = &describe("gpt2", arena)->layers[1].backward;
    assert_int_equal(backward->count, sizeof expected / sizeof expected[0]);
    for (int32_t i = 0; i < backward->count; i++) {
        assert_string_equal(backward->items[i].name, expected[i]);
    }
    yk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_have_the_parameters_of_their_modules),
        cmocka_unit_test(layers_and_modules_agree_on_what_is_shared_and_tied),
        cmocka_unit_test(equal_blocks_share_their_works),
        cmocka_unit_test(backward_goes_through_the_parts_from_the_last_to_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
