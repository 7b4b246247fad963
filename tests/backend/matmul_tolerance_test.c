/* Which numbers of a product are taken for right, by what IEEE 754 says of their types. */
#include "support/support.h"

#include "backend/cuda/matmul/matmul_tolerance.h"

/* A number with nothing added to it and no ending. */
static enum yk_matmul_tolerance_result judge(enum yk_precision type, float made, float expected,
                                             float amount)
{
    const struct yk_matmul_expected_element number = {expected, expected, expected, amount};
    return yk_matmul_tolerance_check_element(type, made, &number);
}

static void rounding_is_right_and_a_term_too_many_is_not(void **state)
{
    (void)state;
    /* 64 terms of 1: the nearest bf16 below, and a 16th of the terms twice */
    assert_int_equal(judge(YK_PRECISION_BF16, 63.75F, 64, 8), YK_MATMUL_WITHIN_TOLERANCE);
    assert_int_equal(judge(YK_PRECISION_BF16, 68, 64, 8), YK_MATMUL_BEYOND_TOLERANCE);
    assert_int_equal(judge(YK_PRECISION_FP32, 64.001F, 64, 8), YK_MATMUL_WITHIN_TOLERANCE);
    assert_int_equal(judge(YK_PRECISION_FP32, 0, 64, 8), YK_MATMUL_BEYOND_TOLERANCE);
    assert_int_equal(judge(YK_PRECISION_FP32, NAN, 64, 8), YK_MATMUL_BEYOND_TOLERANCE);
    assert_int_equal(judge(YK_PRECISION_FP32, INFINITY, 64, 8), YK_MATMUL_BEYOND_TOLERANCE);
}

static void what_fp16_cannot_hold_is_nobodys_fault(void **state)
{
    (void)state;
    assert_int_equal(judge(YK_PRECISION_FP16, INFINITY, 70000, 100), YK_MATMUL_TOLERANCE_UNDECIDED);
    assert_int_equal(judge(YK_PRECISION_FP16, INFINITY, 65000, 100), YK_MATMUL_TOLERANCE_UNDECIDED);
    assert_int_equal(judge(YK_PRECISION_FP16, INFINITY, 60000, 100), YK_MATMUL_BEYOND_TOLERANCE);
    assert_int_equal(judge(YK_PRECISION_BF16, INFINITY, 70000, 100), YK_MATMUL_BEYOND_TOLERANCE);
    /* Nor what is over on the way to an ending that makes little of it: inf times 0. */
    const struct yk_matmul_expected_element ended = {70000, 70000, 0, 100};
    assert_int_equal(yk_matmul_tolerance_check_element(YK_PRECISION_FP16, NAN, &ended),
                     YK_MATMUL_TOLERANCE_UNDECIDED);
}

static void small_numbers_of_fp16_are_steps_apart(void **state)
{
    (void)state;
    const float step = ldexpf(1, -24);
    assert_int_equal(judge(YK_PRECISION_FP16, step, 1.4F * step, step),
                     YK_MATMUL_TOLERANCE_UNDECIDED);
    assert_int_equal(judge(YK_PRECISION_FP16, 0, 0.4F * step, step), YK_MATMUL_TOLERANCE_UNDECIDED);
    assert_int_equal(judge(YK_PRECISION_FP16, 10 * step, 9.6F * step, step),
                     YK_MATMUL_WITHIN_TOLERANCE);
    assert_int_equal(judge(YK_PRECISION_FP16, 0, 9.6F * step, step), YK_MATMUL_BEYOND_TOLERANCE);
    assert_int_equal(judge(YK_PRECISION_BF16, 0, 9.6F * step, step), YK_MATMUL_BEYOND_TOLERANCE);
}

static void a_product_may_be_rounded_before_something_is_added(void **state)
{
    (void)state;
    /* 4088 terms of 1/4 and a bias of -1020: 1022 is between the bf16 numbers 1020 and 1024. */
    const struct yk_matmul_expected_element number = {1022, 2, 2, 16};
    assert_int_equal(yk_matmul_tolerance_check_element(YK_PRECISION_BF16, 4, &number),
                     YK_MATMUL_TOLERANCE_UNDECIDED);
    assert_int_equal(yk_matmul_tolerance_check_element(YK_PRECISION_FP32, 4, &number),
                     YK_MATMUL_BEYOND_TOLERANCE);
    /* Half of the terms. */
    assert_int_equal(yk_matmul_tolerance_check_element(YK_PRECISION_BF16, -509, &number),
                     YK_MATMUL_BEYOND_TOLERANCE);
}

static void what_is_no_number_decides_nothing(void **state)
{
    (void)state;
    assert_int_equal(judge(YK_PRECISION_FP32, 1, NAN, 1), YK_MATMUL_TOLERANCE_UNDECIDED);
    assert_int_equal(judge(YK_PRECISION_BF16, 1, INFINITY, 1), YK_MATMUL_TOLERANCE_UNDECIDED);
    assert_int_equal(judge(YK_PRECISION_FP32, 0, 0, 0), YK_MATMUL_TOLERANCE_UNDECIDED);
    assert_int_equal(judge(YK_PRECISION_FP32, 1e-3F, 0, 0), YK_MATMUL_BEYOND_TOLERANCE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_is_right_and_a_term_too_many_is_not),
        cmocka_unit_test(what_fp16_cannot_hold_is_nobodys_fault),
        cmocka_unit_test(small_numbers_of_fp16_are_steps_apart),
        cmocka_unit_test(a_product_may_be_rounded_before_something_is_added),
        cmocka_unit_test(what_is_no_number_decides_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
