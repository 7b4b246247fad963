/* A model as a job: its layers with what they take, and the list of those that are built in. */
#include "job/models/model_summary.h"

#include "support/support.h"

#include <string.h>

static void the_list_has_gpt2(void **state)
{
    (void)state;
    struct yk_model_summary_result result = {0};
    assert_ok(yk_model_summary_run(&(struct yk_model_summary_request){.model = NULL}, &result));
    bool found = false;
    for (int32_t i = 0; i < result.builtin_count; i++) {
        found = found || strcmp(result.builtins[i].name, "gpt2") == 0;
    }
    assert_true(found);
    assert_null(result.model);
    yk_model_summary_result_free(&result);
}

/* 124439808 parameters, as transformers counts them. A head of 50257 tokens on 768 numbers is one
 * product for each of 1024 positions. */
static void gpt2_needs_what_its_shapes_say(void **state)
{
    (void)state;
    const struct yk_model_summary_request request = {
        .model = "gpt2",
        .workload = {.batch = 1, .sequence = 1024, .precision = "bf16"},
    };
    struct yk_model_summary_result result = {0};
    assert_ok(yk_model_summary_run(&request, &result));
    assert_int_equal(result.model->parameters, 124439808);
    assert_string_equal(result.architecture, "gpt2");
    assert_true(result.causal);
    const int32_t head = result.model->layer_count - 1;
    assert_float_equal(result.layers[head].forward_flops, 2.0 * 1024 * 768 * 50257, 0);
    assert_int_equal(result.layers[head].sent_bytes, 0);
    yk_model_summary_result_free(&result);
}

static void a_model_that_is_none_is_refused(void **state)
{
    (void)state;
    struct yk_model_summary_result result = {0};
    assert_int_equal(
        yk_model_summary_run(&(struct yk_model_summary_request){.model = "gpt3"}, &result),
        YK_ERROR_INPUT);
    yk_model_summary_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_has_gpt2),
        cmocka_unit_test(gpt2_needs_what_its_shapes_say),
        cmocka_unit_test(a_model_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
