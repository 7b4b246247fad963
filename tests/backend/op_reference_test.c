/*
 * The references that backends are held to, on numbers small enough to be known from elsewhere:
 * PyTorch 2.8 in double precision, the test vectors of Random123, the definitions of the formats.
 */
#include "support/ops/reference.h"
#include "support/support.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* The expected numbers come last, so that they may be written out. */
#define assert_near(actual, count, tolerance, ...)                                                 \
    near_all((actual), (__VA_ARGS__), (count), (tolerance), __FILE__, __LINE__)

static void near_all(const double *actual, const double *expected, int count, double tolerance,
                     const char *file, int line)
{
    for (int i = 0; i < count; i++) {
        if (!(fabs(actual[i] - expected[i]) <= tolerance)) {
            print_error("number %d: %.17g is not %.17g\n", i, actual[i], expected[i]);
            _fail(file, line);
        }
    }
}

/* ---- numbers ---- */

static void rounding_goes_to_the_nearest_and_the_even_one(void **state)
{
    (void)state;
    static const struct {
        enum yk_precision type;
        double from;
        double to;
    } cases[] = {
        {YK_PRECISION_BF16, 0x1.01p0, 1},
        {YK_PRECISION_BF16, 0x1.03p0, 0x1.04p0},
        {YK_PRECISION_BF16, 0x1.010001p0, 0x1.02p0},
        {YK_PRECISION_BF16, 0x1p-134, 0},
        {YK_PRECISION_BF16, 0x1.8p-133, 0x1p-132},
        {YK_PRECISION_BF16, -3.14159, -3.140625},
        {YK_PRECISION_FP16, 65519, 65504},
        {YK_PRECISION_FP16, 65520, INFINITY},
        {YK_PRECISION_FP16, -65520, -INFINITY},
        {YK_PRECISION_FP16, 0x1p-25, 0},
        {YK_PRECISION_FP16, 0x1.8p-24, 0x1p-23},
        {YK_PRECISION_FP16, 0.1, 0.0999755859375},
        {YK_PRECISION_FP32, 0.1, (double)0.1F},
        {YK_PRECISION_FP32, 0x1p-150, 0},
        {YK_PRECISION_FP32, 0x1.ffffffp127, INFINITY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double got = reference_round(cases[i].type, cases[i].from);
        if (got != cases[i].to) {
            fail_msg("%a is rounded to %a, not to %a", cases[i].from, got, cases[i].to);
        }
    }
}

static void stored_numbers_of_16_bits_come_back(void **state)
{
    (void)state;
    static const enum yk_precision types[] = {YK_PRECISION_FP16, YK_PRECISION_BF16};
    for (int i = 0; i < 2; i++) {
        for (uint32_t bits = 0; bits < 65536; bits++) {
            const uint16_t stored = (uint16_t)bits;
            uint16_t again = 0;
            const double value = reference_load(types[i], &stored, 0);
            reference_store(types[i], value, &again, 0);
            if (!isnan(value) && stored != again) {
                fail_msg("%s %04x, %g, comes back as %04x", yk_precision_name(types[i]),
                         (unsigned)stored, value, (unsigned)again);
            }
        }
    }
    const uint16_t one = 0x3c00;
    const uint16_t third = 0x3eab;
    assert_true(reference_load(YK_PRECISION_FP16, &one, 0) == 1);
    assert_true(reference_load(YK_PRECISION_BF16, &third, 0) == 0.333984375);
}

/* kat_vectors of Random123. */
static void philox_gives_the_known_answers(void **state)
{
    (void)state;
    static const uint32_t vectors[][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
         0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
         0x94fdcceb, 0x5001e420, 0x24126ea1},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        uint32_t out[4];
        reference_philox(vectors[i], vectors[i] + 4, out);
        assert_memory_equal(out, vectors[i] + 6, sizeof out);
    }
}

/* The third vector read as a dropout: word 2 of it is 0x5001e420, 0.3125 of the whole. */
static void dropout_uses_the_word_of_its_place(void **state)
{
    (void)state;
    struct yk_dropout_options dropout = {
        .rate = 0.3F, .seed = 0x299f31d0a4093822U, .site = 0x0370734413198a2eU};
    const int64_t place = 4 * (int64_t)0x243f6a88;
    const double kept = 1 / (1 - (double)0.3F);
    const double expected[2][4] = {{kept, kept, kept, 0}, {kept, kept, 0, 0}};
    for (int64_t i = 0; i < 4; i++) {
        dropout.rate = 0.3F;
        assert_true(reference_kept(&dropout, 0x85a308d3, place + i) == expected[0][i]);
        dropout.rate = 0.3203125F;
        assert_true((reference_kept(&dropout, 0x85a308d3, place + i) == 0) ==
                    (expected[1][i] == 0));
    }
}

/* ---- against PyTorch ---- */

static void endings_are_those_of_pytorch(void **state)
{
    (void)state;
    static const double x[] = {-2, -0.5, 1, 3};
    static const double expected[6][4] = {
        {-0.04540230591222494, -0.15428599017485606, 0.8411919906082768, 2.996362607918227},
        {-0.0860992566236183, 0.13263009646535764, 1.0829640838457826, 1.0115841666309695},
        {-0.04550026389635842, -0.15426876936299344, 0.841344746068543, 2.99595030590511},
        {-0.08523180107819692, 0.13250487534383712, 1.0833154705876864, 1.011945647204184},
        {-0.2384058440442351, -0.1887703343990727, 0.7310585786300049, 2.8577223804672998},
        {-0.09078424878489547, 0.2600388126973482, 0.9276705118714869, 1.0881041060151693},
    };
    static const enum yk_matmul_epilogue endings[] = {
        YK_EPILOGUE_GELU,     YK_EPILOGUE_GELU_BACKWARD,
        YK_EPILOGUE_GELU_ERF, YK_EPILOGUE_GELU_ERF_BACKWARD,
        YK_EPILOGUE_SILU,     YK_EPILOGUE_SILU_BACKWARD};
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 4; j++) {
            const double got = i % 2 == 0 ? reference_epilogue(endings[i], x[j], 0)
                                          : 2 * reference_epilogue(endings[i], 0.5, x[j]);
            assert_near(&got, 1, 1e-14, &expected[i][j]);
        }
    }
    assert_true(reference_epilogue(YK_EPILOGUE_RELU, -1, 5) == 0);
    assert_true(reference_epilogue(YK_EPILOGUE_RELU, 2, -5) == 2);
    assert_true(reference_epilogue(YK_EPILOGUE_RELU_BACKWARD, -1, 5) == -1);
    assert_true(reference_epilogue(YK_EPILOGUE_RELU_BACKWARD, 2, 0) == 0);
    assert_true(reference_epilogue(YK_EPILOGUE_RELU_SQUARED, -3, 5) == 0);
    assert_true(reference_epilogue(YK_EPILOGUE_RELU_SQUARED, 3, -5) == 9);
    assert_true(reference_epilogue(YK_EPILOGUE_RELU_SQUARED_BACKWARD, -2, 5) == -20);
    assert_true(reference_epilogue(YK_EPILOGUE_RELU_SQUARED_BACKWARD, 2, -5) == 0);
}

static void product_is_that_of_the_definition(void **state)
{
    (void)state;
    static const double a[] = {1, 2, 3, 4, 5, 6};           /* (2, 3) */
    static const double b[] = {1, 0, -1, 2, 0.5, 1};        /* (3, 2) */
    static const double a_stored[] = {1, 4, 2, 5, 3, 6};    /* (3, 2) */
    static const double b_stored[] = {1, -1, 0.5, 0, 2, 1}; /* (2, 3) */
    static const double bias[] = {10, 20};
    static const double add[] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++) {
        double c[4] = {100, 100, 100, 100};
        const struct yk_matmul_op op = {.m = 2,
                                        .n = 2,
                                        .k = 3,
                                        .a_transposed = i & 1,
                                        .b_transposed = i & 2,
                                        .scale = 2,
                                        .accumulate = false};
        const struct reference_matmul numbers = {
            .a = i & 1 ? a_stored : a, .b = i & 2 ? b_stored : b, .bias = bias, .add = add, .c = c};
        reference_matmul(&op, &numbers);
        assert_near(c, 4, 1e-14, (const double[]){12, 36, 17, 56});
        struct yk_matmul_op more = op;
        more.accumulate = true;
        reference_matmul(&more, &numbers);
        assert_near(c, 4, 1e-14, (const double[]){13, 50, 21, 88});
    }
}

/* Two queries and three keys: the first query does not see the last key. */
static void attention_is_that_of_pytorch(void **state)
{
    (void)state;
    static const double q[] = {1, -0.5, 0.25, 2};
    static const double k[] = {0.5, 1, -1, 0.75, 2, -0.25};
    static const double v[] = {1, 2, -3, 0.5, 0, -1};
    static const double d_out[] = {1, 0.5, -2, 1};
    static const double expected_out[] = {-0.3383577650127439, 1.4981158381202209,
                                          -0.47053389774026555, 0.9929663056993863};
    static const double expected_sums[] = {0.40735104725372645, 1.7512571981748293};
    static const double expected_dq[] = {0.7931526738836755, 0.13219211231394593,
                                         -1.4922808056698584, 0.13320009639509497};
    static const double expected_dk[] = {0.40735950297972,     -1.2356557948364015,
                                         -0.3437072423119303,  1.744873880178719,
                                         -0.06365226066778966, -0.5092180853423173};
    static const double expected_dv[] = {-0.3389890737270451,  0.8349050956103365,
                                         -0.31389970139827744, 0.4915392919523247,
                                         -0.3471112248746775,  0.17355561243733875};
    const struct yk_attention_op op = {.batch = 1,
                                       .queries = 2,
                                       .keys = 3,
                                       .heads = 1,
                                       .kv_heads = 1,
                                       .head_size = 2,
                                       .scale = 0.5F,
                                       .causal = true};
    const struct reference_attention numbers = {q, k, v, NULL};
    double out[4];
    double sums[2];
    double dq[4];
    double dk[6];
    double dv[6];
    reference_attention(&op, &numbers, out, sums);
    reference_attention_backward(&op, &numbers, d_out, dq, dk, dv);
    assert_near(out, 4, 1e-14, expected_out);
    assert_near(sums, 2, 1e-14, expected_sums);
    assert_near(dq, 4, 1e-14, expected_dq);
    assert_near(dk, 6, 1e-14, expected_dk);
    assert_near(dv, 6, 1e-14, expected_dv);
}

struct norm {
    double y[6];
    double dx[6];
    double d_weight[3];
    double d_bias[3];
};

static void normalise_as(bool rms, struct norm *out)
{
    static const double x[] = {1, -2, 0.5, 4, 4.5, 3};
    static const double dy[] = {1, 2, -1, 0.5, -0.25, 3};
    static const double weight[] = {0.5, -1, 2};
    static const double bias[] = {0.1, 0.2, 0.3};
    double mean[2];
    double rstd[2];
    *out = (struct norm){0};
    const struct yk_norm_op op = {.rows = 2, .width = 3, .epsilon = 1e-5F};
    const struct reference_norm numbers = {x, weight, rms ? NULL : bias, NULL, out->y, mean, rstd};
    reference_norm(&op, &numbers);
    const struct yk_norm_backward_op back = {.rows = 2, .width = 3};
    const struct reference_norm_backward back_numbers = {.x = x,
                                                         .dy = dy,
                                                         .weight = weight,
                                                         .mean = rms ? NULL : mean,
                                                         .rstd = rstd,
                                                         .dx = out->dx,
                                                         .d_weight = out->d_weight,
                                                         .d_bias = rms ? NULL : out->d_bias};
    reference_norm_backward(&back, &back_numbers);
}

static void norms_are_those_of_pytorch(void **state)
{
    (void)state;
    static const struct norm layer = {
        {0.5444991540211251, 1.5969973412092506, 1.3159980663340003, 0.2336289028813626,
         -0.8690312230509016, -2.372578057627255},
        {0.768146613318634, 0.15362416076803986, -0.9217707740866741, -1.975827003288341,
         1.3170862856606682, 0.6587407176276692},
        {1.0226272109236128, -3.061252488181226, -4.516866119607883},
        {1.5, 1.75, 2.0},
    };
    static const struct norm rms = {
        {0.37796339311536103, 1.5118535724614441, 0.7559267862307221, 0.5149691197994822,
         -1.158680519548835, 1.5449073593984468},
        {-0.12598491800048545, -0.5039569502297512, -1.7638277280193675, -0.39369501096306764,
         -0.45095327983031797, 1.2013577461949447},
        {1.2708959060302043, -3.313377274810097, 1.939397645982309},
        {0, 0, 0},
    };
    struct norm got;
    normalise_as(false, &got);
    assert_near(&got.y[0], 15 + 3, 1e-11, &layer.y[0]);
    normalise_as(true, &got);
    assert_near(&got.y[0], 15 + 3, 1e-11, &rms.y[0]);
}

static void loss_is_that_of_pytorch(void **state)
{
    (void)state;
    static const int32_t targets[] = {2, -100, 0};
    static const double logits[] = {1, 2, -1, 0.5, 0, 3, 1, -2, 5, 1, 1, 1};
    static const double losses[2][3] = {{3.495181898085856, 0, 0.05349044970593362},
                                        {3.332681898085856, 0, 0.3534904497059337}};
    static const double gradients[2][12] = {
        {0.2242078180482011, 0.609460037598877, -0.9696567714405838, 0.1359889157935055, 0, 0, 0, 0,
         -0.05208500617248446, 0.01736166872416146, 0.01736166872416146, 0.01736166872416146},
        {0.19920781804820112, 0.584460037598877, -0.8946567714405839, 0.1109889157935055, 0, 0, 0,
         0, 0.022914993827515495, -0.007638331275838541, -0.007638331275838541,
         -0.007638331275838541},
    };
    for (int i = 0; i < 2; i++) {
        double turned[12];
        double row_losses[3];
        double loss = 1;
        struct yk_cross_entropy_op op = {
            .rows = 3, .classes = 4, .smoothing = i ? 0.1F : 0, .factor = 1};
        memcpy(turned, logits, sizeof turned);
        reference_cross_entropy(&op, targets, turned, row_losses, &loss);
        assert_near(row_losses, 3, 1e-8, losses[i]); /* 0.1 is not an fp32 */
        assert_near(turned, 12, 1e-8, gradients[i]);
        assert_near(&loss, 1, 1e-8, (const double[]){1 + losses[i][0] + losses[i][2]});
        op.factor = 0;
        memcpy(turned, logits, sizeof turned);
        reference_cross_entropy(&op, targets, turned, row_losses, &loss);
        assert_memory_equal(turned, logits, sizeof turned);
    }
}

/* All settings are powers of two, so that they are the same in fp32. */
static void optimizers_step_as_those_of_pytorch(void **state)
{
    (void)state;
    static const double gradients[3][3] = {{0.5, -1, 0}, {-0.25, 2, 1}, {1, 0, -0.125}};
    static const double adamw[3][3] = {
        {0.8456730769230769, -1.813468992248062, 0.484375},
        {0.7879373388687066, -1.803550963552233, 0.37744046751255894},
        {0.6824605461348432, -1.7833171524073486, 0.30542504617576977}};
    static const double sgd[3][3] = {{0.90625, -1.8125, 0.484375},
                                     {0.8271484375, -1.841796875, 0.33056640625},
                                     {0.607086181640625, -1.80987548828125, 0.2012786865234375}};
    double weights[2][3] = {{1, -2, 0.5}, {1, -2, 0.5}};
    double moments[2][3] = {{0}, {0}};
    double velocity[3] = {NAN, NAN, NAN};
    for (int i = 0; i < 3; i++) {
        const struct yk_adamw_op op = {.update.count = 3,
                                       .update.lr = 0.125F,
                                       .beta1 = 0.875F,
                                       .beta2 = 0.9375F,
                                       .epsilon = 0.0078125F,
                                       .update.weight_decay = 0.25F,
                                       .correction1 = (float)(1 - pow(0.875, i + 1)),
                                       .correction2 = (float)(1 - pow(0.9375, i + 1))};
        const struct yk_sgd_op descent = {.update.count = 3,
                                          .update.lr = 0.125F,
                                          .momentum = 0.875F,
                                          .update.weight_decay = 0.25F,
                                          .first = i == 0};
        reference_adamw(&op, NULL, gradients[i], weights[0], moments[0], moments[1]);
        reference_sgd(&descent, NULL, gradients[i], weights[1], velocity);
        assert_near(weights[0], 3, 1e-14, adamw[i]);
        assert_near(weights[1], 3, 1e-14, sgd[i]);
    }
}

/* ---- by hand ---- */

static void verdict_clips_and_skips(void **state)
{
    (void)state;
    struct yk_gradient_norm_and_factor verdict;
    struct yk_clip_norm_op op = {.count = 2, .unscale = 0.5F, .clip = 0};
    reference_clip_norm(&op, (const double[]){9, 16}, &verdict);
    assert_true(verdict.norm == 2.5 && verdict.factor == 0.5F && verdict.skip == 0);
    op.clip = 5;
    reference_clip_norm(&op, (const double[]){9, 16}, &verdict);
    assert_true(verdict.factor == 0.5F);
    op.clip = 1.25F;
    reference_clip_norm(&op, (const double[]){9, 16}, &verdict);
    assert_true(fabs((double)verdict.factor - 0.25) < 1e-6 && verdict.factor < 0.25F);
    reference_clip_norm(&op, (const double[]){9, INFINITY}, &verdict);
    assert_int_equal(verdict.skip, 1);
    reference_clip_norm(&op, (const double[]){NAN, 1}, &verdict);
    assert_int_equal(verdict.skip, 1);
}

static void rotation_carries_the_first_axis_to_the_second(void **state)
{
    (void)state;
    double data[] = {1, 2, 0, 0, 1, 2, 0, 0}; /* two rows of one head of four numbers */
    const double cos_sin[] = {0, 1, 1, 0, 1, 0, 0, 1};
    struct yk_rotary_op op = {.rows = 2, .sequence = 2, .heads = 1, .head_size = 4};
    reference_rotary(&op, cos_sin, data);
    assert_near(data, 8, 0, (const double[]){0, 2, 1, 0, 1, 0, 0, 2});
    op.inverse = true;
    reference_rotary(&op, cos_sin, data);
    assert_near(data, 8, 0, (const double[]){1, 2, 0, 0, 1, 2, 0, 0});
}

static void rotation_leaves_the_rest_of_a_head_alone(void **state)
{
    (void)state;
    double data[] = {1, 2, 3, 4, 5}; /* one head of five numbers, of which two are rotated */
    const double cos_sin[] = {0, 1};
    const struct yk_rotary_op op = {
        .rows = 1, .sequence = 1, .heads = 1, .head_size = 5, .rotary_size = 2};
    reference_rotary(&op, cos_sin, data);
    assert_near(data, 5, 0, (const double[]){-2, 1, 3, 4, 5});
}

/* Keys are all the same, so that every value that a query sees counts as much as any other. */
static void queries_see_the_keys_of_their_window(void **state)
{
    (void)state;
    static const double q[] = {1, 1, 1, 1};
    static const double k[] = {1, 1, 1, 1};
    static const double v[] = {1, 2, 4, 8};
    static const int32_t lengths[] = {2};
    struct yk_attention_op op = {.batch = 1,
                                 .queries = 4,
                                 .keys = 4,
                                 .heads = 1,
                                 .kv_heads = 1,
                                 .head_size = 1,
                                 .scale = 1,
                                 .causal = true,
                                 .window = 2};
    struct reference_attention numbers = {q, k, v, NULL};
    double out[4];
    double sums[4];
    reference_attention(&op, &numbers, out, sums);
    assert_near(out, 4, 1e-14, (const double[]){1, 1.5, 3, 6});
    op.causal = false;
    reference_attention(&op, &numbers, out, sums);
    assert_near(out, 4, 1e-14, (const double[]){1.5, 7 / 3.0, 14 / 3.0, 6});
    numbers.lengths = lengths;
    reference_attention(&op, &numbers, out, sums);
    assert_near(out, 4, 1e-14, (const double[]){1.5, 1.5, 2, 0});
    assert_true(isinf(sums[3]) && sums[3] < 0);
}

/* Scores and logits c · atanh(x / c) are capped to x. */
static void caps_undo_the_inverse_of_tanh(void **state)
{
    (void)state;
    static const double plain[] = {0.5, -1, 1.5};
    static const int32_t target = 1;
    double inverse[3];
    for (int i = 0; i < 3; i++) {
        inverse[i] = 2 * atanh(plain[i] / 2);
    }
    struct yk_attention_op attention = {
        .batch = 1, .queries = 1, .keys = 3, .heads = 1, .kv_heads = 1, .head_size = 1, .scale = 1};
    struct yk_cross_entropy_op loss = {.rows = 1, .classes = 3, .smoothing = 0.25F};
    const struct reference_attention numbers = {(const double[]){1}, plain, plain, NULL};
    const struct reference_attention wide = {(const double[]){1}, inverse, plain, NULL};
    double out[2];
    double sums[2];
    double row_losses[2];
    double losses[2] = {0};
    reference_attention(&attention, &numbers, &out[0], &sums[0]);
    double logits[] = {plain[0], plain[1], plain[2]};
    reference_cross_entropy(&loss, &target, logits, &row_losses[0], &losses[0]);
    attention.softcap = loss.softcap = 2;
    reference_attention(&attention, &wide, &out[1], &sums[1]);
    reference_cross_entropy(&loss, &target, inverse, &row_losses[1], &losses[1]);
    assert_near(&out[1], 1, 1e-14, &out[0]);
    assert_near(&sums[1], 1, 1e-14, &sums[0]);
    assert_near(&losses[1], 1, 1e-14, &losses[0]);
}

static void norms_of_groups_share_their_weight(void **state)
{
    (void)state;
    static const double x[] = {3, 4, 0, 2}; /* root mean squares: 5 / √2 and √2 */
    static const double add[] = {1, 1, 1, 1};
    double y[4];
    double rstd[2];
    const struct yk_norm_op op = {.rows = 1, .groups = 2, .width = 2, .weight_offset = 1};
    const struct reference_norm numbers = {
        .x = x, .weight = (const double[]){0, 1}, .add = add, .y = y, .rstd = rstd};
    const double root = sqrt(2);
    reference_norm(&op, &numbers);
    assert_near(rstd, 2, 1e-14, (const double[]){root / 5, 1 / root});
    assert_near(y, 4, 1e-14, (const double[]){1 + 0.6 * root, 1 + 1.6 * root, 1, 1 + 2 * root});
}

static void gate_and_up_lie_side_by_side(void **state)
{
    (void)state;
    double out[2];
    reference_glu(&(struct yk_glu_op){.rows = 1, .width = 2, .activation = YK_ACTIVATION_SILU},
                  (const double[]){0.5, -1, 2, 3}, out);
    assert_near(out, 2, 1e-15, (const double[]){0.6224593312018546, -0.8068242641099853});
}

/* bitsandbytes' create_dynamic_map(): 256 values, and some of them. */
static void nf4_scales_have_the_values_of_the_dynamic_map(void **state)
{
    (void)state;
    double values[256];
    reference_nf4_scale_values(values);
    for (int i = 1; i < 256; i++) {
        assert_true(values[i - 1] < values[i]);
    }
    assert_near(values, 1, 1e-15, (const double[]){-0.99296875});
    assert_near(values + 126, 5, 1e-20, (const double[]){-5.5e-7, 0, 5.5e-7, 3.25e-6, 7.75e-6});
    assert_near(values + 254, 2, 1e-15, (const double[]){0.99296875, 1});
}

/* Two blocks, of scales 2 and 1, the second one short: mean 1.5, and 0.5 above and below. */
static void nf4_of_two_blocks_is_as_worked_out(void **state)
{
    (void)state;
    double numbers[67] = {0};
    double back[67];
    uint8_t codes[34];
    uint8_t scales[2];
    double scale_scale;
    double mean;
    const struct reference_nf4 nf4 = {codes, scales, &scale_scale, &mean};
    numbers[0] = -2;
    numbers[1] = 2;
    numbers[2] = 0.89; /* 0.445: nearest to 0.4407 */
    numbers[64] = 0.5; /* between 0.4407 and 0.5626 */
    numbers[65] = -0.09;
    numbers[66] = 1;
    reference_quantise(67, numbers, &nf4);
    assert_near(&mean, 1, 0, (const double[]){1.5});
    assert_near(&scale_scale, 1, 0, (const double[]){0.5});
    assert_int_equal(codes[0], 0x0f);
    assert_int_equal(codes[1], 0xc7);
    assert_int_equal(codes[32], 0xc6);
    assert_int_equal(codes[33], 0xf0);
    assert_int_equal(scales[0], 255);
    assert_int_equal(scales[1], 0); /* −0.99296875: there is no −1 */
    reference_dequantise(67, &nf4, back);
    const double second = 1.5 - 0.5 * 0.99296875;
    assert_near(back, 4, 1e-15, (const double[]){-2, 2, 2 * 0.44070982933044434, 0});
    assert_near(
        back + 64, 3, 1e-15,
        (const double[]){second * 0.44070982933044434, second * -0.09105003625154495, second});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_goes_to_the_nearest_and_the_even_one),
        cmocka_unit_test(stored_numbers_of_16_bits_come_back),
        cmocka_unit_test(philox_gives_the_known_answers),
        cmocka_unit_test(dropout_uses_the_word_of_its_place),
        cmocka_unit_test(endings_are_those_of_pytorch),
        cmocka_unit_test(product_is_that_of_the_definition),
        cmocka_unit_test(attention_is_that_of_pytorch),
        cmocka_unit_test(norms_are_those_of_pytorch),
        cmocka_unit_test(loss_is_that_of_pytorch),
        cmocka_unit_test(optimizers_step_as_those_of_pytorch),
        cmocka_unit_test(verdict_clips_and_skips),
        cmocka_unit_test(rotation_carries_the_first_axis_to_the_second),
        cmocka_unit_test(rotation_leaves_the_rest_of_a_head_alone),
        cmocka_unit_test(queries_see_the_keys_of_their_window),
        cmocka_unit_test(caps_undo_the_inverse_of_tanh),
        cmocka_unit_test(norms_of_groups_share_their_weight),
        cmocka_unit_test(gate_and_up_lie_side_by_side),
        cmocka_unit_test(nf4_scales_have_the_values_of_the_dynamic_map),
        cmocka_unit_test(nf4_of_two_blocks_is_as_worked_out),
    };
    return cmocka_run_group_tests_name("op_reference", tests, NULL, NULL);
}
