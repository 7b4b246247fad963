/* Configs that transformers wrote, and what the models compute that it makes of them:
 * tests/oracle/make_config_cases.py. */
#include "model/config.h"
#include "model/model.h"
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
    struct yk_special_token_ids ids;
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
    const enum yk_matmul_epilogue gelu = config->gelu_erf ? YK_EPILOGUE_GELU_ERF : YK_EPILOGUE_GELU;
    const enum yk_matmul_epilogue smooth = config->silu ? YK_EPILOGUE_SILU : gelu;
    return config->relu ? YK_EPILOGUE_RELU : smooth;
}

static void arithmetic_is_that_of_the_framework(void **state)
{
    (void)state;
    for (size_t i = 0; i < case_count; i++) {
        const struct yk_model_config *config = read_case(&cases[i]);
        const double scale = config->scaled_embedding ? sqrt((double)config->width) : 1;
        assert_null(config->not_trained);
        assert_true(config->norm_epsilon == cases[i].norm_epsilon);
        assert_true(config->init_std == cases[i].spread);
        assert_true(fabs(reference_epilogue(suffix_of(config), -1, 0) - cases[i].activation) <
                    1e-9);
        assert_true(fabs(scale - cases[i].embedding_scale) < 1e-9);
        assert_true(config->post_norm && config->residual_dropout && !config->rms_norm);
    }
}

static void assert_same_ids(const struct yk_special_token_ids *a,
                            const struct yk_special_token_ids *b)
{
    assert_int_equal(a->pad, b->pad);
    assert_int_equal(a->begin, b->begin);
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->decoder_start, b->decoder_start);
}

static void ids_are_those_of_the_framework(void **state)
{
    (void)state;
    for (size_t i = 0; i < case_count; i++) {
        assert_same_ids(&read_case(&cases[i])->ids, &cases[i].ids);
    }
}

/* The config but for its name, which is what it was read under. */
static void assert_same(const struct yk_model_config *a, const struct yk_model_config *b)
{
    struct yk_model_config left;
    struct yk_model_config right;
    memcpy(&left, a, sizeof left); /* with what lies between the members: both began as zeros */
    memcpy(&right, b, sizeof right);
    left.name = right.name = NULL;
    assert_memory_equal(&left, &right, sizeof left);
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
        assert_same(config, again);
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
