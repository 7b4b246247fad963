/* Rates by hand, and the loss scale's rule. (What updates do is held against PyTorch elsewhere.) */
#include "nn/optimizer.h"

#include "nn/loss_scaler.h"
#include "nn/lr_schedule.h"

#include "support/support.h"

#include <math.h>

static void expect_near(double given, double expected)
{
    assert_true(fabs(given - expected) <= 1e-12 * fabs(expected) + 1e-18);
}

static void cosine_rises_then_falls_to_the_minimum(void **state)
{
    (void)state;
    const struct yk_lr_schedule rate = {
        .kind = YK_LR_SCHEDULE_COSINE, .max_lr = 1, .min_lr = 0.1, .warmup = 4, .steps = 14};
    expect_near(yk_lr_schedule_lr_at_step(&rate, 0), 0.2);
    expect_near(yk_lr_schedule_lr_at_step(&rate, 3), 0.8);
    expect_near(yk_lr_schedule_lr_at_step(&rate, 4), 1);
    expect_near(yk_lr_schedule_lr_at_step(&rate, 9), 0.55); /* half way: the mean of both */
    expect_near(yk_lr_schedule_lr_at_step(&rate, 14), 0.1);
    expect_near(yk_lr_schedule_lr_at_step(&rate, 100), 0.1);
}

static void constant_stays_after_its_warm_up(void **state)
{
    (void)state;
    const struct yk_lr_schedule rate = {.kind = YK_LR_SCHEDULE_CONSTANT, .max_lr = 3, .warmup = 2};
    expect_near(yk_lr_schedule_lr_at_step(&rate, 0), 1);
    expect_near(yk_lr_schedule_lr_at_step(&rate, 2), 3);
    expect_near(yk_lr_schedule_lr_at_step(&rate, 1000000), 3);
}

static void inverse_root_peaks_where_the_warm_up_ends(void **state)
{
    (void)state;
    const struct yk_lr_schedule rate = {
        .kind = YK_LR_SCHEDULE_INVERSE_ROOT, .max_lr = 2, .warmup = 4};
    expect_near(yk_lr_schedule_lr_at_step(&rate, 0), 0.5);
    expect_near(yk_lr_schedule_lr_at_step(&rate, 3), 2);
    expect_near(yk_lr_schedule_lr_at_step(&rate, 15), 1); /* sqrt(4 / 16) */
    const struct yk_lr_schedule none = {.kind = YK_LR_SCHEDULE_INVERSE_ROOT, .max_lr = 2};
    expect_near(yk_lr_schedule_lr_at_step(&none, 3), 1);
}

static void overflow_halves_the_scale_and_two_thousand_good_steps_double_it(void **state)
{
    (void)state;
    struct yk_loss_scaler scaler = yk_loss_scaler_init(YK_PRECISION_FP16);
    expect_near(scaler.scale, 65536);
    yk_loss_scaler_update(&scaler, YK_PRECISION_FP16, true);
    expect_near(scaler.scale, 32768);
    for (int i = 0; i < 1999; i++) {
        yk_loss_scaler_update(&scaler, YK_PRECISION_FP16, false);
    }
    expect_near(scaler.scale, 32768);
    yk_loss_scaler_update(&scaler, YK_PRECISION_FP16, false);
    expect_near(scaler.scale, 65536);
    for (int i = 0; i < 1500; i++) {
        yk_loss_scaler_update(&scaler, YK_PRECISION_FP16, false);
    }
    yk_loss_scaler_update(&scaler, YK_PRECISION_FP16, true); /* the count begins again */
    for (int i = 0; i < 1999; i++) {
        yk_loss_scaler_update(&scaler, YK_PRECISION_FP16, false);
    }
    expect_near(scaler.scale, 32768);
}

static void the_scale_is_never_below_one_and_one_in_other_precisions(void **state)
{
    (void)state;
    struct yk_loss_scaler scaler = yk_loss_scaler_init(YK_PRECISION_FP16);
    for (int i = 0; i < 40; i++) {
        yk_loss_scaler_update(&scaler, YK_PRECISION_FP16, true);
    }
    expect_near(scaler.scale, 1);
    scaler = yk_loss_scaler_init(YK_PRECISION_BF16);
    yk_loss_scaler_update(&scaler, YK_PRECISION_BF16, true);
    expect_near(scaler.scale, 1);
}

static void names_are_found_and_others_are_not(void **state)
{
    (void)state;
    enum yk_lr_schedule_kind rule = YK_LR_SCHEDULE_CONSTANT;
    enum yk_optimizer_kind kind = YK_OPTIMIZER_NONE;
    assert_true(yk_lr_schedule_find_kind("inverse-root", &rule));
    assert_int_equal(rule, YK_LR_SCHEDULE_INVERSE_ROOT);
    assert_false(yk_lr_schedule_find_kind("linear", &rule));
    assert_true(yk_optimizer_find_kind("sgd", &kind));
    assert_int_equal(kind, YK_OPTIMIZER_SGD);
    assert_false(yk_optimizer_find_kind("none", &kind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cosine_rises_then_falls_to_the_minimum),
        cmocka_unit_test(constant_stays_after_its_warm_up),
        cmocka_unit_test(inverse_root_peaks_where_the_warm_up_ends),
        cmocka_unit_test(overflow_halves_the_scale_and_two_thousand_good_steps_double_it),
        cmocka_unit_test(the_scale_is_never_below_one_and_one_in_other_precisions),
        cmocka_unit_test(names_are_found_and_others_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
