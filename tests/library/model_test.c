#include "public_api.h"

/* GPT-2 of two blocks and width 8: V = 10, T = 16, F = 32. */
static const char small[] =
    "{\"model_type\": \"gpt2\", \"vocab_size\": 10, \"n_positions\": 16, \"n_embd\": 8, "
    "\"n_layer\": 2, \"n_head\": 2}";

static void a_built_in_model_has_its_published_size(void **state)
{
    (void)state;
    yoke_model *model = NULL;
    assert_done(yoke_model_open("gpt2", NULL, &model));
    const struct yoke_model_info *info = yoke_model_info(model);
    assert_string_equal(info->name, "gpt2");
    assert_string_equal(info->architecture, "gpt2");
    assert_int_equal(info->parameters, 124439808);
    assert_int_equal(info->trainable, 124439808);
    assert_int_equal(info->layer_count, 15); /* embed, 12 blocks, norm, head */
    assert_int_equal(info->workload.batch, 1);
    assert_int_equal(info->workload.sequence, 1024);
    assert_string_equal(info->workload.precision, "bf16");
    assert_int_equal(info->tokens, 1024);
    yoke_model_destroy(model);
}

static void adapters_are_counted_for_the_workload(void **state)
{
    (void)state;
    const struct yoke_workload workload = {.batch = 2, .lora_rank = 32, .nf4 = true};
    yoke_model *model = NULL;
    assert_done(yoke_model_open("llama3-8b", &workload, &model));
    assert_int_equal(yoke_model_info(model)->trainable, 83886080);
    assert_int_equal(yoke_model_info(model)->tokens, 2048);
    assert_true(yoke_model_info(model)->workload.nf4);
    yoke_model_destroy(model);
}

/* What the layers of the small model are made of, counted by hand. */
static void layers_are_read_one_by_one(void **state)
{
    (void)state;
    const struct yoke_workload workload = {.batch = 3, .sequence = 5, .precision = "fp32"};
    yoke_model *model = NULL;
    assert_done(yoke_model_read(small, "small", &workload, &model));
    assert_string_equal(yoke_model_info(model)->name, "small");
    assert_int_equal(yoke_model_info(model)->layer_count, 5);
    const struct yoke_layer *embed = yoke_model_layer(model, 0);
    const struct yoke_layer *block = yoke_model_layer(model, 2);
    const struct yoke_layer *head = yoke_model_layer(model, 4);
    assert_string_equal(embed->name, "embed");
    assert_int_equal(embed->parameters, (10 + 16) * 8);
    assert_int_equal(embed->shares, -1);
    assert_string_equal(block->name, "layer 1");
    /* Two norms; Q, K, V and their projection; two linears. All with biases. */
    assert_int_equal(block->parameters,
                     2 * 16 + (8 * 24 + 24) + (8 * 8 + 8) + (8 * 32 + 32) + (32 * 8 + 8));
    assert_int_equal(block->module_count, 1);
    assert_string_equal(block->modules[0], "transformer.h.1");
    assert_string_equal(head->name, "head");
    assert_int_equal(head->shares, 0);
    assert_int_equal(head->parameters, 0);
    /* fp32 with Adam: 4 bytes, 4 bytes, 8 bytes a parameter. */
    assert_near(block->weight_bytes, 4.0 * (double)block->parameters);
    assert_near(block->gradient_bytes, 4.0 * (double)block->parameters);
    assert_near(block->optimizer_bytes, 8.0 * (double)block->parameters);
    assert_true(block->backward_operations > block->forward_operations);
    assert_true(block->forward_operations > 2.0 * 15 * 8 * (24 + 8 + 32 + 32));
    assert_true(block->saved_bytes > 0);
    assert_null(yoke_model_layer(model, 5));
    assert_null(yoke_model_layer(model, -1));
    yoke_model_destroy(model);
}

static void edges_carry_a_token_s_width(void **state)
{
    (void)state;
    const struct yoke_workload workload = {.batch = 3, .sequence = 5, .precision = "fp32"};
    yoke_model *model = NULL;
    assert_done(yoke_model_read(small, "small", &workload, &model));
    assert_int_equal(yoke_model_info(model)->edge_count, 4);
    const struct yoke_layer_edge *edge = yoke_model_edge(model, 1);
    assert_int_equal(edge->from, 1);
    assert_int_equal(edge->to, 2);
    assert_int_equal(edge->bytes, 3 * 5 * 8 * 4);
    assert_null(yoke_model_edge(model, 4));
    yoke_model_destroy(model);
}

static void a_short_model_is_trained_on_the_length_it_has(void **state)
{
    (void)state;
    yoke_model *model = NULL;
    assert_done(yoke_model_read(small, "small", NULL, &model));
    assert_int_equal(yoke_model_info(model)->workload.sequence, 16);
    yoke_model_destroy(model);
}

static void workloads_that_cannot_be_are_refused(void **state)
{
    (void)state;
    yoke_model *model = NULL;
    const struct yoke_workload frozen = {.nf4 = true};
    const struct yoke_workload wide = {.precision = "fp64"};
    const struct yoke_workload long_one = {.sequence = 17};
    const struct yoke_workload negative = {.batch = -1};
    assert_mentions(yoke_model_open("gpt2", &frozen, &model), YOKE_ERROR_USAGE, "LoRA rank");
    assert_says(yoke_model_open("gpt2", &wide, &model), YOKE_ERROR_USAGE,
                "there is no precision \"fp64\"; there are fp32, tf32, fp16 and bf16");
    assert_mentions(yoke_model_read(small, "small", &long_one, &model), YOKE_ERROR_INPUT,
                    "16 positions");
    assert_mentions(yoke_model_open("gpt2", &negative, &model), YOKE_ERROR_INPUT, "not -1");
    assert_mentions(yoke_model_open("gpt2-xxl", NULL, &model), YOKE_ERROR_INPUT, "\"gpt2-xl\"");
    assert_mentions(yoke_model_read("{}", "empty", NULL, &model), YOKE_ERROR_INPUT, "empty: ");
    assert_null(model);
}

static void built_in_models_are_listed(void **state)
{
    (void)state;
    int32_t count = 0;
    bool found = false;
    const char *summary = NULL;
    for (const char *name; (name = yoke_model_builtin(count, &summary)) != NULL; count++) {
        yoke_model *model = NULL;
        assert_done(yoke_model_open(name, NULL, &model));
        yoke_model_destroy(model);
        found = found || (strcmp(name, "gpt2-xl") == 0 && strstr(summary, "1.56 billion"));
    }
    assert_true(found);
    assert_null(yoke_model_builtin(-1, NULL));
    assert_non_null(yoke_model_builtin(0, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_built_in_model_has_its_published_size),
        cmocka_unit_test(adapters_are_counted_for_the_workload),
        cmocka_unit_test(layers_are_read_one_by_one),
        cmocka_unit_test(edges_carry_a_token_s_width),
        cmocka_unit_test(a_short_model_is_trained_on_the_length_it_has),
        cmocka_unit_test(workloads_that_cannot_be_are_refused),
        cmocka_unit_test(built_in_models_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
