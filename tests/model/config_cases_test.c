/* Configs that transformers wrote, and what the models compute that it makes of them:
 * tests/oracle/make_config_cases.py. */
#include "model/config.h"
#include "model/model.h"
#include "support/files/same_config.h"
#include "support/group_arena.h"
#include "support/ops/reference.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

struct config_case {
    const char *name;
    const char *text;
    int64_t parameters;
    double norm_epsilon;
    double spread;
    double activation; /* at −1 */
    double embedding_scale;
    int64_t ids[4]; /* padding, beginning, end, the decoder's first */
};

#define CASE(name_, text_, ...) {name_, text_, __VA_ARGS__},

static const struct config_case cases[] = {
#include "model/config_cases.inc"
};

static const size_t case_count = sizeof cases / sizeof cases[0];

static const struct yk_model_config *read_case(const struct config_case *one)
{
    const struct yk_model_config *config = NULL;
    assert_ok(yk_model_config_parse(one->text, strlen(one->text), one->name, group_arena, &config));
    return config;
}

static void sizes_are_those_of_the_framework(void **state)
{
    (void)state;
    const struct yk_workload workload = {.batch = 1, .sequence = 8, .precision = YK_PRECISION_BF16};
    for (size_t i = 0; i < case_count; i++) {
        const struct yk_model *model = NULL;
        assert_ok(yk_model_build(read_case(&cases[i]), &workload, group_arena, &model));
        assert_int_equal(model->parameters, cases[i].parameters);
    }
}

static enum yk_matmul_epilogue suffix_of(const struct yk_model_config *config)
{
    static const enum yk_matmul_epilogue epilogues[] = {
        [YK_ACTIVATION_GELU_TANH] = YK_EPILOGUE_GELU,
        [YK_ACTIVATION_GELU] = YK_EPILOGUE_GELU_ERF,
        [YK_ACTIVATION_RELU] = YK_EPILOGUE_RELU,
        [YK_ACTIVATION_SILU] = YK_EPILOGUE_SILU,
    };
    return epilogues[config->activation];
}

static void arithmetic_is_that_of_the_framework(void **state)
{
    (void)state;
    for (size_t i = 0; i < case_count; i++) {
        const struct yk_model_config *config = read_case(&cases[i]);
        const double scale = config->embedding_scale > 0 ? config->embedding_scale : 1;
        assert_null(config->not_trained);
        assert_true(config->norm_epsilon == cases[i].norm_epsilon);
        assert_true(config->init_std == cases[i].spread);
        assert_true(fabs(reference_epilogue(suffix_of(config), -1, 0) - cases[i].activation) <
                    1e-9);
        assert_true(fabs(scale - cases[i].embedding_scale) < 1e-9);
        assert_true(config->norm_placement == YK_NORM_AFTER_SUM && config->residual_dropout &&
                    config->norm == YK_NORM_LAYER);
    }
}

static void ids_are_those_of_the_framework(void **state)
{
    (void)state;
    for (size_t i = 0; i < case_count; i++) {
        const struct yk_special_token_ids *ids = &read_case(&cases[i])->ids;
        assert_int_equal(ids->pad, cases[i].ids[0]);
        assert_int_equal(ids->begin, cases[i].ids[1]);
        assert_int_equal(ids->end, cases[i].ids[2]);
        assert_int_equal(ids->decoder_start, cases[i].ids[3]);
    }
}

static void configs_written_again_read_back_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < case_count; i++) {
        const struct yk_model_config *config = read_case(&cases[i]);
        const struct yk_model_config *again = NULL;
        struct yk_text text = {0};
        assert_ok(yk_model_config_to_json(config, YK_PRECISION_FP32, &text));
        assert_ok(
            yk_model_config_parse(yk_text_chars(&text), text.length, "again", group_arena, &again));
        assert_same_config(config, again);
        yk_text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_the_framework),
        cmocka_unit_test(arithmetic_is_that_of_the_framework),
        cmocka_unit_test(ids_are_those_of_the_framework),
        cmocka_unit_test(configs_written_again_read_back_the_same),
    };
    return cmocka_run_group_tests(tests, group_arena_make, group_arena_drop);
}
