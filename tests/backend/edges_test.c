/* Kernels at the edges of what backend/ops.h says: sums that 16 bits could not hold step by step,
 * rows without a target, updates that are skipped. Expected values are worked out by hand. */
#include "support/support.h"

#include "backend/cpu/kernels/kernels.h"
#include "backend/cpu/math/convert.h"
#include "backend/ops.h"

#include <math.h>
#include <string.h>

enum {
    REPEATS = 1024,
};

/* 1024 · 1/16 = 64. Rounded to a bfloat16 after every step, the sum would stop at 16, where 1/16
 * is half of a step. */
static void sixteenths(uint16_t *out)
{
    for (int i = 0; i < REPEATS; i++) {
        out[i] = yk_cpu_convert_fp32_value_to_bf16(0.0625F);
    }
}

static void a_token_that_repeats_is_summed_before_it_is_rounded(void **state)
{
    (void)state;
    static const int32_t tokens[REPEATS] = {0};
    uint16_t d_out[REPEATS];
    uint16_t d_table[2] = {yk_cpu_convert_fp32_value_to_bf16(32.0F),
                           yk_cpu_convert_fp32_value_to_bf16(5.0F)};
    uint16_t d_positions[1] = {0};
    sixteenths(d_out);
    const struct yk_embedding_backward_op op = {
        .rows = REPEATS,
        .width = 1,
        .sequence = 1,
        .vocabulary = 2,
        .tokens = tokens,
        .d_out = d_out,
        .d_table = d_table,
        .d_positions = d_positions,
        .scale = 1,
        .table_type = YK_PRECISION_BF16,
        .out_type = YK_PRECISION_BF16,
    };
    yk_cpu_embedding_backward(1, &op);
    assert_true(yk_cpu_convert_bf16_value_to_fp32(d_table[0]) == 96.0F);
    assert_true(yk_cpu_convert_bf16_value_to_fp32(d_table[1]) == 5.0F);
    assert_true(yk_cpu_convert_bf16_value_to_fp32(d_positions[0]) == 64.0F);
}

static void rows_are_summed_before_they_are_rounded(void **state)
{
    (void)state;
    uint16_t from[REPEATS];
    uint16_t to = yk_cpu_convert_fp32_value_to_bf16(-1.0F);
    sixteenths(from);
    const struct yk_sum_rows_op op = {
        .rows = REPEATS,
        .columns = 1,
        .from = from,
        .stride = 1,
        .to = &to,
        .from_type = YK_PRECISION_BF16,
        .to_type = YK_PRECISION_BF16,
    };
    yk_cpu_sum_rows(1, &op);
    assert_true(yk_cpu_convert_bf16_value_to_fp32(to) == 63.0F);
}

static struct yk_cross_entropy_op cross_entropy_of(float *logits, const int32_t *targets,
                                                   float *losses, double *loss)
{
    return (struct yk_cross_entropy_op){
        .rows = 2,
        .classes = 4,
        .stride = 4,
        .logits = logits,
        .targets = targets,
        .row_losses = losses,
        .loss = loss,
        .factor = 8.0F,
        .type = YK_PRECISION_FP32,
    };
}

/* Four equal logits: a loss of log 4 and probabilities of 1/4. */
static void rows_with_no_target_bear_no_loss(void **state)
{
    (void)state;
    static const float expected[8] = {2.0F, -6.0F, 2.0F, 2.0F};
    static const int32_t targets[2] = {1, -100};
    float logits[8] = {5.0F, 5.0F, 5.0F, 5.0F, 1.0F, NAN, INFINITY, 4.0F};
    float losses[2] = {7.0F, 7.0F};
    double loss = 1;
    const struct yk_cross_entropy_op op = cross_entropy_of(logits, targets, losses, &loss);
    yk_cpu_cross_entropy(1, &op);
    assert_float_equal(losses[0], 1.3862943611, 1e-6);
    assert_true(losses[1] == 0.0F);
    assert_float_equal(loss, 2.3862943611, 1e-6);
    for (int i = 0; i < 8; i++) {
        assert_float_equal(logits[i], expected[i], 1e-6);
    }
}

static void a_factor_of_0_leaves_the_logits(void **state)
{
    (void)state;
    static const int32_t targets[2] = {1, -1};
    const float before[8] = {5.0F, 5.0F, 5.0F, 5.0F, 1.0F, 2.0F, 3.0F, 4.0F};
    float logits[8];
    float losses[2];
    double loss = 0;
    memcpy(logits, before, sizeof before);
    struct yk_cross_entropy_op op = cross_entropy_of(logits, targets, losses, &loss);
    op.factor = 0.0F;
    yk_cpu_cross_entropy(1, &op);
    assert_memory_equal(logits, before, sizeof before);
    assert_float_equal(loss, 1.3862943611, 1e-6);
}

/* Far apart and far out: probabilities of 1 and 0, and no overflow on the way. What is masked by
 * −infinity gets a gradient of exactly 0. */
static void logits_may_be_large_or_masked(void **state)
{
    (void)state;
    static const float expected[8] = {0.0F, 0.0F, 0.0F, 0.0F, 4.0F, -4.0F, 0.0F, 0.0F};
    static const int32_t targets[2] = {1, 1};
    float logits[8] = {-3.0e38F, 1.0e5F, -1.0e5F, 0.0F, 3.0F, 3.0F, -INFINITY, -INFINITY};
    float losses[2];
    double loss = 0;
    const struct yk_cross_entropy_op op = cross_entropy_of(logits, targets, losses, &loss);
    yk_cpu_cross_entropy(1, &op);
    assert_true(losses[0] == 0.0F);
    assert_float_equal(losses[1], 0.6931471806, 1e-6);
    for (int i = 0; i < 8; i++) {
        assert_true(logits[i] == expected[i]);
    }
}

static void a_logit_that_is_not_a_number_shows_in_the_loss(void **state)
{
    (void)state;
    static const int32_t targets[2] = {0, 0};
    float logits[8] = {1.0F, 2.0F, -NAN, 3.0F, 1.0F, 2.0F, NAN, 3.0F};
    float losses[2] = {0};
    double loss = 0;
    const struct yk_cross_entropy_op op = cross_entropy_of(logits, targets, losses, &loss);
    yk_cpu_cross_entropy(1, &op);
    assert_true(isnan(losses[0]) && isnan(losses[1]) && isnan(loss));
    assert_true(isnan(logits[0]) && isnan(logits[7]));
}

static struct yk_gradient_norm_and_factor judged(double sum, float unscale, float clip)
{
    const double sums[2] = {sum / 4, 3 * sum / 4};
    struct yk_gradient_norm_and_factor verdict = {0};
    const struct yk_clip_norm_op op = {
        .sums = sums,
        .count = 2,
        .unscale = unscale,
        .clip = clip,
        .gradient_norm = &verdict,
    };
    yk_cpu_optimizer_clip_norm(1, &op);
    return verdict;
}

static void the_verdict_unscales_and_clips(void **state)
{
    (void)state;
    struct yk_gradient_norm_and_factor verdict = judged(400.0, 0.5F, 2.5F); /* 0.5 · √400 = 10 */
    assert_float_equal(verdict.norm, 10, 1e-12);
    assert_float_equal(verdict.factor, 0.125, 1e-6);
    assert_int_equal(verdict.skip, 0);
    verdict = judged(400.0, 0.5F, 20.0F); /* within the bound */
    assert_true(verdict.factor == 0.5F);
    verdict = judged(400.0, 0.5F, 0.0F); /* no bound */
    assert_true(verdict.factor == 0.5F);
    assert_int_equal(judged((double)INFINITY, 1.0F, 1.0F).skip, 1);
    assert_int_equal(judged((double)NAN, 1.0F, 0.0F).skip, 1);
}

static void a_skipped_update_touches_nothing(void **state)
{
    (void)state;
    const struct yk_gradient_norm_and_factor verdict = {.factor = 1.0F, .skip = 1};
    float weight = 1.0F;
    float gradient = NAN;
    float moments[2] = {2.0F, 3.0F};
    const struct yk_adamw_op adamw = {
        .update.count = 1,
        .update.weights = &weight,
        .update.gradients = &gradient,
        .moment1 = &moments[0],
        .moment2 = &moments[1],
        .update.lr = 0.1F,
        .correction1 = 1.0F,
        .correction2 = 1.0F,
        .update.weight_decay = 0.5F,
        .update.gradient_norm = &verdict,
    };
    const struct yk_sgd_op sgd = {
        .update.count = 1,
        .update.weights = &weight,
        .update.gradients = &gradient,
        .velocity = &moments[0],
        .update.lr = 0.1F,
        .momentum = 0.9F,
        .update.weight_decay = 0.5F,
        .update.gradient_norm = &verdict,
    };
    yk_cpu_optimizer_adamw(1, &adamw);
    yk_cpu_optimizer_sgd(1, &sgd);
    assert_true(weight == 1.0F && moments[0] == 2.0F && moments[1] == 3.0F);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_that_repeats_is_summed_before_it_is_rounded),
        cmocka_unit_test(rows_are_summed_before_they_are_rounded),
        cmocka_unit_test(rows_with_no_target_bear_no_loss),
        cmocka_unit_test(a_factor_of_0_leaves_the_logits),
        cmocka_unit_test(logits_may_be_large_or_masked),
        cmocka_unit_test(a_logit_that_is_not_a_number_shows_in_the_loss),
        cmocka_unit_test(the_verdict_unscales_and_clips),
        cmocka_unit_test(a_skipped_update_touches_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
