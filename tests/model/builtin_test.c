/* Totals of parameters that papers, model cards and the framework state, model by model. */
#include "model/builtin.h"
#include "model/model.h"
#include "support/support.h"

#include <math.h>

static const struct yk_workload ONE_SAMPLE = {
    .batch = 1, .sequence = 16, .precision = YK_PRECISION_BF16};

/* The model of that name under `workload`, in `arena`. */
static const struct yk_model *describe(const char *name, struct yk_workload workload,
                                       struct yk_arena *arena)
{
    const struct yk_model_config *config = NULL;
    const struct yk_model *model = NULL;
    assert_ok(yk_model_config_find_builtin(name, &config));
    if (yk_model_config_reads_images(config)) {
        workload.sequence = config->positions;
    }
    assert_ok(yk_model_build(config, &workload, arena, &model));
    return model;
}

static void assert_parameters(const char *name, int64_t expected)
{
    struct yk_arena *arena = NULL;
    assert_ok(yk_arena_create(&arena));
    const struct yk_model *model = describe(name, ONE_SAMPLE, arena);
    assert_int_equal(model->parameters, expected);
    assert_int_equal(model->trainable, expected);
    yk_arena_destroy(arena);
}

static void gpt2_has_the_parameters_of_the_framework(void **state)
{
    (void)state;
    assert_parameters("gpt2", 124439808);
    assert_parameters("gpt2-medium", 354823168);
    assert_parameters("gpt2-large", 774030080);
    assert_parameters("gpt2-xl", 1557611200);
}

static void bert_has_the_parameters_of_the_framework(void **state)
{
    (void)state;
    assert_parameters("bert-base", 109482240);
    assert_parameters("bert-large", 335141888);
    assert_parameters("bert-base-mlm", 109514298);
    assert_parameters("bert-large-mlm", 335174458);
    assert_parameters("bert-mini", 11201594);
    assert_parameters("bert-tiny", 4416698);
}

static void llama_has_the_parameters_of_the_framework(void **state)
{
    (void)state;
    assert_parameters("llama2-7b", 6738415616);
    assert_parameters("llama3-8b", 8030261248);
    assert_parameters("llama3-70b", 70553706496);
    assert_parameters("tinyllama-1.1b", 1100048384);
    assert_parameters("llama-mini", 5196032);
}

/* transformers 5.23 counted these. */
static void todays_models_have_the_parameters_of_the_framework(void **state)
{
    (void)state;
    assert_parameters("roberta-base", 124697433);
    assert_parameters("llama3.1-8b", 8030261248);
    assert_parameters("llama3.2-1b", 1235814400);
    assert_parameters("llama3.2-3b", 3212749824);
    assert_parameters("mistral-7b", 7248023552);
    assert_parameters("qwen2.5-0.5b", 494032768);
    assert_parameters("qwen2.5-1.5b", 1543714304);
    assert_parameters("qwen2.5-3b", 3085938688);
    assert_parameters("qwen2.5-7b", 7615616512);
    assert_parameters("qwen2.5-14b", 14770033664);
    assert_parameters("qwen2.5-32b", 32763876352);
    assert_parameters("qwen3-0.6b", 596049920);
    assert_parameters("qwen3-1.7b", 1720574976);
    assert_parameters("qwen3-4b", 4022468096);
    assert_parameters("qwen3-8b", 8190735360);
    assert_parameters("qwen3-14b", 14768307200);
    assert_parameters("qwen3-32b", 32762123264);
    assert_parameters("gemma-2b", 2506172416);
    assert_parameters("gemma2-2b", 2614341888);
    assert_parameters("gemma2-9b", 9241705984);
    assert_parameters("gemma3-1b", 999885952);
    assert_parameters("gemma3-4b", 3880263168);
    assert_parameters("gemma3-12b", 11766034176);
    assert_parameters("gemma3-27b", 27009346304);
    assert_parameters("phi3-mini", 3821079552);
    assert_parameters("phi4", 14659507200);
    assert_parameters("smollm2-135m", 134515008);
    assert_parameters("smollm2-360m", 361821120);
    assert_parameters("smollm2-1.7b", 1711376384);
    assert_parameters("smollm3-3b", 3075098624);
    assert_parameters("olmo2-7b", 7298617344);
    assert_parameters("granite3-2b", 2533531648);
    assert_parameters("pythia-160m", 162322944);
    assert_parameters("pythia-1.4b", 1414647808);
    assert_parameters("starcoder2-3b", 3030371328);
    assert_parameters("mixtral-8x7b", 46702792704);
    assert_parameters("qwen3-30b-a3b", 30532122624);
    assert_parameters("gpt-oss-20b", 20914757184);
    assert_parameters("vit-tiny", 5717416);
    assert_parameters("vit-small", 22050664);
    assert_parameters("vit-base", 86567656);
    assert_parameters("vit-large", 304326632);
}

/* By the layers of minGPT's model.py: a block is 12C² + 13C; embedding, head, positions and the
 * last norm are (65 + 65 + 128 + 2)·C. */
static void mingpt_has_the_parameters_of_its_sizes(void **state)
{
    (void)state;
    assert_parameters("gpt-nano", 3 * (12 * 48 * 48 + 13 * 48) + (65 + 65 + 128 + 2) * 48);
    assert_parameters("gpt-micro", 4 * (12 * 128 * 128 + 13 * 128) + (65 + 65 + 128 + 2) * 128);
    assert_parameters("gpt-mini", 6 * (12 * 192 * 192 + 13 * 192) + (65 + 65 + 128 + 2) * 192);
}

/* "Attention Is All You Need", table 3: N = 6, d_model 512 or 1024, d_ff 2048 or 4096; the paper
 * counts 65 and 213 million. */
static void the_transformer_has_the_parameters_of_the_papers_sizes(void **state)
{
    (void)state;
    const struct {
        const char *name;
        int64_t width;
        int64_t inner;
        double paper;
    } models[] = {{"transformer-base", 512, 2048, 65e6}, {"transformer-big", 1024, 4096, 213e6}};
    for (int i = 0; i < 2; i++) {
        const int64_t C = models[i].width;
        const int64_t F = models[i].inner;
        const int64_t attention = 4 * (C * C + C); /* queries, keys, values, output */
        const int64_t feed_forward = C * F + F + F * C + C;
        const int64_t norm = 2 * C;
        const int64_t encoder = 6 * (attention + norm + feed_forward + norm);
        const int64_t decoder = 6 * (attention + norm + attention + norm + feed_forward + norm);
        const int64_t total = 37000 * C + encoder + decoder;
        assert_parameters(models[i].name, total);
        assert_true((double)total > 0.96 * models[i].paper &&
                    (double)total < 1.01 * models[i].paper);
    }
}

static void the_small_transformer_has_the_parameters_of_the_framework(void **state)
{
    (void)state;
    assert_parameters("transformer-small", 7577600);
}

/* Models by their names at the hub: what such configs say there. */
static void builtins_compute_as_the_published_ones(void **state)
{
    (void)state;
    const struct yk_model_config *bert = NULL;
    const struct yk_model_config *transformer = NULL;
    const struct yk_model_config *llama = NULL;
    assert_ok(yk_model_config_find_builtin("bert", &bert));
    assert_ok(yk_model_config_find_builtin("transformer", &transformer));
    assert_ok(yk_model_config_find_builtin("llama-mini", &llama));
    assert_true(bert->masked_head && !bert->pooler && bert->width == 768);
    assert_true(bert->activation == YK_ACTIVATION_GELU &&
                bert->norm_placement == YK_NORM_AFTER_SUM && bert->residual_dropout &&
                bert->embedding_scale == 0);
    assert_true(bert->norm_epsilon == 1e-12 && bert->init_std == 0.02 && bert->ids.pad == 0);
    assert_true(transformer->activation == YK_ACTIVATION_RELU &&
                transformer->embedding_scale == sqrt(512) &&
                transformer->norm_placement == YK_NORM_AFTER_SUM);
    assert_true(transformer->norm_epsilon == 1e-5 && transformer->ids.pad == -1);
    assert_true(llama->norm == YK_NORM_RMS && llama->tied &&
                llama->norm_placement == YK_NORM_BEFORE && !llama->residual_dropout);
}

static void lora_on_all_linears_of_llama3_8b_is_the_known_count(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    assert_ok(yk_arena_create(&arena));
    struct yk_workload workload = ONE_SAMPLE;
    workload.lora_rank = 32;
    const struct yk_model *model = describe("llama3-8b", workload, arena);
    assert_int_equal(model->trainable, 83886080);
    assert_int_equal(model->parameters, 8030261248 + 83886080);
    yk_arena_destroy(arena);
}

/* GPT-2's adapters: c_attn (C, 3C), c_proj (C, C), c_fc (C, 4C), c_proj (4C, C): r · 16C a block.
 */
static void lora_on_gpt2_sits_on_its_four_linears(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    assert_ok(yk_arena_create(&arena));
    struct yk_workload workload = ONE_SAMPLE;
    workload.lora_rank = 8;
    const struct yk_model *model = describe("gpt2", workload, arena);
    assert_int_equal(model->trainable, 12 * 8 * 16 * 768);
    yk_arena_destroy(arena);
}

static void names_are_found_however_they_are_written(void **state)
{
    (void)state;
    const char *const words[] = {"llama3-8b",       "LLAMA-3-8B",
                                 "Meta-Llama-3-8B", "meta-llama/Meta-Llama-3-8B",
                                 "llama_3_8b",      "meta-llama/Meta-Llama-3-8B-Instruct"};
    struct yk_arena *arena = NULL;
    assert_ok(yk_arena_create(&arena));
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const struct yk_model_config *config = NULL;
        assert_ok(yk_model_config_open(words[i], arena, &config));
        assert_string_equal(config->name, "llama3-8b");
    }
    const struct yk_model_config *tiny = NULL;
    assert_ok(yk_model_config_open("tinyllama", arena, &tiny));
    assert_string_equal(tiny->name, "tinyllama-1.1b");
    yk_arena_destroy(arena);
}

static void a_name_that_is_none_offers_the_nearest(void **state)
{
    (void)state;
    const struct yk_model_config *config = NULL;
    assert_fails(yk_model_config_find_builtin("gtp2", &config), YK_ERROR_INPUT,
                 "no built-in model is called \"gtp2\"; did you mean \"gpt2\"?");
    assert_fails(yk_model_config_find_builtin("resnet", &config), YK_ERROR_INPUT,
                 "no built-in model is called \"resnet\"; yoke model lists them, and takes a "
                 "config.json or a folder with one as well");
    assert_null(config);
}

static void every_builtin_is_listed_and_found_by_its_name(void **state)
{
    (void)state;
    const struct yk_builtin_model *models = NULL;
    size_t count = 0;
    assert_ok(yk_builtin_models_get(&models, &count));
    for (size_t i = 0; i < count; i++) {
        const char *name = models[i].config->name;
        const struct yk_model_config *config = NULL;
        assert_ok(yk_model_config_find_builtin(name, &config));
        assert_string_equal(config->name, name);
        assert_true(*models[i].summary);
    }
    assert_int_equal(count, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpt2_has_the_parameters_of_the_framework),
        cmocka_unit_test(bert_has_the_parameters_of_the_framework),
        cmocka_unit_test(llama_has_the_parameters_of_the_framework),
        cmocka_unit_test(todays_models_have_the_parameters_of_the_framework),
        cmocka_unit_test(mingpt_has_the_parameters_of_its_sizes),
        cmocka_unit_test(the_transformer_has_the_parameters_of_the_papers_sizes),
        cmocka_unit_test(the_small_transformer_has_the_parameters_of_the_framework),
        cmocka_unit_test(builtins_compute_as_the_published_ones),
        cmocka_unit_test(lora_on_all_linears_of_llama3_8b_is_the_known_count),
        cmocka_unit_test(lora_on_gpt2_sits_on_its_four_linears),
        cmocka_unit_test(names_are_found_however_they_are_written),
        cmocka_unit_test(a_name_that_is_none_offers_the_nearest),
        cmocka_unit_test(every_builtin_is_listed_and_found_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
