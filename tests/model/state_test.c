/* Bytes of a layer's state, against DESIGN's bytes a parameter. */
#include "model/model.h"

#include "model/config.h"
#include "support/programs/tiny_step.h"
#include "support/support.h"

#include <math.h>

/* NF4 with double quantisation, by the paper (Dettmers et al. 2023): 4 bits, a scale of 8 bits for
 * each 64 weights, and one of 32 bits for each 256 scales. */
static const double nf4_bytes = 0.5 + (8.0 / 64 + 32.0 / (64 * 256)) / 8;

static struct yk_model_layer_state_bytes state_of(enum yk_precision precision, int64_t lora_rank,
                                                  bool nf4, int32_t layer)
{
    struct tiny_step tiny = tiny_step_make((struct tiny_options){.cluster = "cpu:1",
                                                                 .blocks = 2,
                                                                 .precision = precision,
                                                                 .lora_rank = lora_rank,
                                                                 .nf4 = nf4});
    const struct yk_model_layer_state_bytes layer_state =
        yk_model_layer_state_bytes(tiny.model, &tiny.model->layers[layer]);
    tiny_step_free(&tiny);
    return layer_state;
}

static void assert_state(struct yk_model_layer_state_bytes state, double weights, double gradients,
                         double optimizer)
{
    assert_bytes(state.weight_bytes, weights);
    assert_bytes(state.gradient_bytes, gradients);
    assert_bytes(state.optimizer_bytes, optimizer);
}

static void sixteen_bit_training_needs_2_and_2_and_12_bytes_a_parameter(void **state)
{
    (void)state;
    const enum yk_precision precisions[] = {YK_PRECISION_BF16, YK_PRECISION_FP16};
    for (int i = 0; i < 2; i++) {
        assert_state(state_of(precisions[i], 0, false, 0), 2 * 216, 2 * 216, 12 * 216);
        assert_state(state_of(precisions[i], 0, false, 1), 2 * 872, 2 * 872, 12 * 872);
        assert_state(state_of(precisions[i], 0, false, 3), 2 * 16, 2 * 16, 12 * 16);
        assert_state(state_of(precisions[i], 0, false, 4), 2 * 88, 2 * 88, 12 * 88);
    }
}

static void fp32_training_needs_4_and_4_and_8_bytes_a_parameter(void **state)
{
    (void)state;
    const enum yk_precision precisions[] = {YK_PRECISION_FP32, YK_PRECISION_TF32};
    for (int i = 0; i < 2; i++) {
        assert_state(state_of(precisions[i], 0, false, 0), 4 * 216, 4 * 216, 8 * 216);
        assert_state(state_of(precisions[i], 0, false, 1), 4 * 872, 4 * 872, 8 * 872);
    }
}

/* Adapters of rank 3 on qkv (8 × 24), out (8 × 8), up (8 × 32) and down (32 × 8). */
enum {
    ADAPTERS = 3 * ((8 + 24) + (8 + 8) + (8 + 32) + (32 + 8)),
    BLOCK_WEIGHTS = 8 * 24 + 8 * 8 + 8 * 32 + 32 * 8,
    BLOCK_OTHERS = TINY_BLOCK - BLOCK_WEIGHTS, /* norms and biases */
};

static void adapters_alone_have_gradients_and_optimizer_state(void **state)
{
    (void)state;
    assert_state(state_of(YK_PRECISION_BF16, 3, false, 1), 2 * (872 + ADAPTERS), 2 * ADAPTERS,
                 12 * ADAPTERS);
    assert_state(state_of(YK_PRECISION_FP32, 3, false, 1), 4 * (872 + ADAPTERS), 4 * ADAPTERS,
                 8 * ADAPTERS);
    assert_state(state_of(YK_PRECISION_BF16, 3, false, 0), 2 * 216, 0, 0);
    assert_state(state_of(YK_PRECISION_BF16, 3, false, 4), 2 * 88, 0, 0);
}

/* The paper's 0.127 bits are rounded: 0.126953. */
static void nf4_needs_half_a_byte_and_its_scales(void **state)
{
    (void)state;
    const struct yk_model_layer_state_bytes block = state_of(YK_PRECISION_BF16, 3, true, 1);
    const double quantised = block.weight_bytes - 4 * BLOCK_OTHERS - 2 * ADAPTERS;
    assert_true(fabs(quantised / BLOCK_WEIGHTS - nf4_bytes) < 1e-5);
    assert_bytes(quantised, BLOCK_WEIGHTS * (0.5 + 0.127 / 8));
}

static void what_is_not_quantised_in_an_nf4_model_is_fp32(void **state)
{
    (void)state;
    assert_state(state_of(YK_PRECISION_BF16, 3, true, 0), 4 * 216, 0, 0);
    assert_state(state_of(YK_PRECISION_BF16, 3, true, 1),
                 BLOCK_WEIGHTS * (0.5 + 0.127 / 8) + 4 * BLOCK_OTHERS + 2 * ADAPTERS, 2 * ADAPTERS,
                 12 * ADAPTERS);
    assert_state(state_of(YK_PRECISION_BF16, 3, true, 3), 4 * 16, 0, 0);
    assert_state(state_of(YK_PRECISION_BF16, 3, true, 4), 4 * 88, 0, 0);
}

static void a_tied_head_has_no_state_of_its_own(void **state)
{
    (void)state;
    struct tiny_step tiny = tiny_step_make((struct tiny_options){
        .cluster = "cpu:1", .blocks = 1, .tied = true, .precision = YK_PRECISION_BF16});
    assert_state(yk_model_layer_state_bytes(tiny.model, &tiny.model->layers[3]), 0, 0, 0);
    tiny_step_free(&tiny);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixteen_bit_training_needs_2_and_2_and_12_bytes_a_parameter),
        cmocka_unit_test(fp32_training_needs_4_and_4_and_8_bytes_a_parameter),
        cmocka_unit_test(adapters_alone_have_gradients_and_optimizer_state),
        cmocka_unit_test(nf4_needs_half_a_byte_and_its_scales),
        cmocka_unit_test(what_is_not_quantised_in_an_nf4_model_is_fp32),
        cmocka_unit_test(a_tied_head_has_no_state_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
