/*
 * The 16 values and the rule of the 256 are those of bitsandbytes. Codes and scales of a whole
 * tensor were made by a numpy program written from the paper and that rule: nearest values by
 * searching the midpoints, the mean in double precision.
 */
#include "support/support.h"

#include "backend/cpu/kernels/kernels.h"
#include "backend/cpu/math/convert.h"
#include "backend/nf4_codebook.h"
#include "backend/ops.h"

#include <math.h>
#include <string.h>

enum {
    COUNT = 64 * 259 + 5, /* 260 blocks in two groups, the last of 5 numbers */
    BLOCKS = 260,
    GROUPS = 2,
    CODES = (COUNT + 1) / 2,
    ZERO_SCALE = 127, /* the code of 0 among the scales */
};

struct stored {
    uint8_t codes[CODES];
    uint8_t scales[BLOCKS];
    float scale_scales[GROUPS];
    float mean;
};

static const float values_of_codes[] = {YK_NF4_VALUE_CODEBOOK};
static const float bounds_of_codes[] = {YK_NF4_VALUE_MIDPOINTS};
static const float scale_values[] = {YK_NF4_SCALE_CODEBOOK};

static float numbers[COUNT];
static struct stored stored;

static struct yk_nf4_tensor parts(struct stored *of)
{
    return (struct yk_nf4_tensor){
        .codes = of->codes,
        .scales = of->scales,
        .scale_scales = of->scale_scales,
        .mean = &of->mean,
    };
}

static void quantise(const void *from, int64_t count, enum yk_precision type)
{
    const struct yk_quantise_op op = {
        .count = count, .from = from, .to = parts(&stored), .type = type};
    yk_cpu_nf4_quantise(1, &op);
}

static void dequantise(int64_t count, enum yk_precision type, void *to)
{
    const struct yk_dequantise_op op = {
        .count = count, .from = parts(&stored), .to = to, .type = type};
    yk_cpu_nf4_dequantise(1, &op);
}

/* Whole numbers over 4096: exact in fp32. The second block is all zeros. */
static void fill(void)
{
    for (int64_t i = 0; i < COUNT; i++) {
        const int64_t size = i / 64 * 37 % 101 + 1;
        numbers[i] = i / 64 == 1 ? 0.0F : (float)((i * 7919 % 2003 - 1001) * size) / 4096.0F;
    }
}

static uint64_t fnv1a(const uint8_t *bytes, int64_t count)
{
    uint64_t hash = 0xcbf29ce484222325U;
    for (int64_t i = 0; i < count; i++) {
        hash = (hash ^ bytes[i]) * 0x100000001b3U;
    }
    return hash;
}

static int code_of(int64_t at)
{
    return at % 2 == 0 ? stored.codes[at / 2] >> 4 : stored.codes[at / 2] & 15;
}

static void the_scale_map_has_the_256_values_of_its_rule(void **state)
{
    (void)state;
    int at = ZERO_SCALE;
    assert_true(scale_values[at] == 0.0F);
    for (int i = 0; i < 7; i++) {
        const int parts_count = 1 << i;
        for (int part = 0; part < parts_count; part++) {
            const double middle = 0.1 + 0.9 * (part + 0.5) / parts_count;
            const double expected = middle * pow(10, i - 6);
            at++;
            assert_true(fabs((double)scale_values[at] - expected) < 2e-7 * expected);
            assert_true(scale_values[2 * ZERO_SCALE - at] == -scale_values[at]);
        }
    }
    assert_int_equal(at, 254);
    assert_true(scale_values[255] == 1.0F);
    for (int i = 0; i < YK_NF4_SCALE_VALUE_COUNT - 1; i++) {
        assert_true(scale_values[i] < scale_values[i + 1]);
    }
}

static void the_scale_map_is_that_of_bitsandbytes_to_the_bit(void **state)
{
    (void)state;
    assert_true(scale_values[0] == -0.992968738079071F);
    assert_true(scale_values[126] == -5.500000384017767e-07F);
    assert_true(scale_values[128] == 5.500000384017767e-07F);
    assert_true(scale_values[131] == 2.1249998098937795e-05F);
    assert_true(scale_values[254] == 0.992968738079071F);
}

static void bounds_are_the_midpoints_of_the_values(void **state)
{
    (void)state;
    static const float values[YK_NF4_VALUE_COUNT] = {
        -1.0F,
        -0.6961928009986877F,
        -0.5250730514526367F,
        -0.39491748809814453F,
        -0.28444138169288635F,
        -0.18477343022823334F,
        -0.09105003625154495F,
        0.0F,
        0.07958029955625534F,
        0.16093020141124725F,
        0.24611230194568634F,
        0.33791524171829224F,
        0.44070982933044434F,
        0.5626170039176941F,
        0.7229568362236023F,
        1.0F,
    };
    assert_memory_equal(values_of_codes, values, sizeof values);
    for (int i = 0; i < YK_NF4_VALUE_COUNT - 1; i++) {
        assert_true(bounds_of_codes[i] == (float)(((double)values[i] + (double)values[i + 1]) / 2));
    }
}

/* The largest is 1, so that numbers are compared as they are. */
static void numbers_get_the_code_of_the_nearest_value(void **state)
{
    (void)state;
    float block[2 * YK_NF4_VALUE_COUNT] = {0};
    for (int i = 0; i < YK_NF4_VALUE_COUNT; i++) {
        block[i] = values_of_codes[i];
    }
    for (int i = 0; i < YK_NF4_VALUE_COUNT - 1; i++) {
        block[YK_NF4_VALUE_COUNT + i] = bounds_of_codes[i]; /* a tie: the lower */
    }
    quantise(block, (int64_t)2 * YK_NF4_VALUE_COUNT, YK_PRECISION_FP32);
    for (int i = 0; i < YK_NF4_VALUE_COUNT; i++) {
        assert_int_equal(code_of(i), i);
    }
    for (int i = 0; i < YK_NF4_VALUE_COUNT - 1; i++) {
        assert_int_equal(code_of(YK_NF4_VALUE_COUNT + i), i);
        block[YK_NF4_VALUE_COUNT + i] = nextafterf(bounds_of_codes[i], 2.0F); /* more than a tie */
    }
    quantise(block, (int64_t)2 * YK_NF4_VALUE_COUNT, YK_PRECISION_FP32);
    for (int i = 0; i < YK_NF4_VALUE_COUNT - 1; i++) {
        assert_int_equal(code_of(YK_NF4_VALUE_COUNT + i), i + 1);
    }
}

static void a_tensor_gets_the_codes_and_scales_of_numpy(void **state)
{
    (void)state;
    static const uint8_t first_scales[] = {2, 0, 216, 15, 84, 232, 29, 193, 246, 43, 207, 6};
    static const uint8_t last_scales[] = {9, 60, 243, 0, 180, 197};
    static const uint8_t first_codes[] = {0x0f, 0xee, 0xdd, 0xcb, 0xa9, 0x87, 0x65, 0x43};
    static const uint8_t last_codes[] = {0x65, 0x32, 0x10, 0x07};
    fill();
    quantise(numbers, COUNT, YK_PRECISION_FP32);
    assert_true(stored.mean == 12.2617483F);
    assert_true(stored.scale_scales[0] == 12.3717966F);
    assert_true(stored.scale_scales[1] == 8.41018581F);
    assert_memory_equal(stored.scales, first_scales, sizeof first_scales);
    assert_memory_equal(stored.scales + BLOCKS - sizeof last_scales, last_scales,
                        sizeof last_scales);
    assert_memory_equal(stored.codes, first_codes, sizeof first_codes);
    assert_memory_equal(stored.codes + CODES - sizeof last_codes, last_codes, sizeof last_codes);
    assert_true(fnv1a(stored.scales, BLOCKS) == 0x1e526e779ef56967U);
    assert_true(fnv1a(stored.codes, CODES) == 0xa3b1b100e55a1d04U);

    static float back[COUNT];
    dequantise(COUNT, YK_PRECISION_FP32, back);
    assert_float_equal(back[0], -0.324897766, 1e-5);
    assert_float_equal(back[128], -17.9353771, 1e-5);
    assert_float_equal(back[5000], 10.1993685, 1e-5);
    assert_float_equal(back[COUNT - 1], -13.8715105, 1e-5);
}

static void zeros_stay_zeros(void **state)
{
    (void)state;
    float back[64];
    fill();
    quantise(numbers, COUNT, YK_PRECISION_FP32);
    static float all[COUNT];
    dequantise(COUNT, YK_PRECISION_FP32, all);
    for (int i = 64; i < 128; i++) {
        assert_true(all[i] == 0.0F);
    }
    memset(numbers, 0, sizeof numbers);
    quantise(numbers, 64, YK_PRECISION_FP32);
    dequantise(64, YK_PRECISION_FP32, back);
    assert_true(stored.mean == 0.0F && stored.scale_scales[0] == 0.0F);
    for (int i = 0; i < 64; i++) {
        assert_true(back[i] == 0.0F);
    }
}

static void one_block_keeps_its_scale_exactly(void **state)
{
    (void)state;
    const float from[3] = {3.0F, -3.0F, 0.1F};
    float back[3];
    quantise(from, 3, YK_PRECISION_FP32);
    assert_int_equal(stored.scales[0], ZERO_SCALE);
    assert_int_equal(stored.codes[1] & 15, 7); /* what has no number is 0 */
    dequantise(3, YK_PRECISION_FP32, back);
    assert_true(back[0] == 3.0F && back[1] == -3.0F && back[2] == 0.0F);
}

/* Half of the widest step between values, of the block's scale; and of that, half of the widest
 * step between scales, of the largest in its group. */
static void what_comes_back_is_near(void **state)
{
    (void)state;
    static float back[COUNT];
    fill();
    quantise(numbers, COUNT, YK_PRECISION_FP32);
    dequantise(COUNT, YK_PRECISION_FP32, back);
    for (int64_t first = 0; first < COUNT; first += 64) {
        const int64_t end = first + 64 < COUNT ? first + 64 : COUNT;
        float scale = 0.0F;
        for (int64_t i = first; i < end; i++) {
            scale = fmaxf(scale, fabsf(numbers[i]));
        }
        const float bound =
            0.15191F * scale + 0.00704F * stored.scale_scales[first / 64 / YK_NF4_SCALE_BLOCK_SIZE];
        for (int64_t i = first; i < end; i++) {
            assert_true(fabsf(back[i] - numbers[i]) <= bound);
        }
    }
}

static void sixteen_bits_give_the_same_codes_and_round_what_comes_back(void **state)
{
    (void)state;
    static const enum yk_precision types[] = {YK_PRECISION_FP16, YK_PRECISION_BF16};
    static uint16_t from[COUNT];
    static uint16_t back[COUNT];
    static float full[COUNT];
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        fill();
        yk_cpu_convert_array_from_fp32(types[t], numbers, COUNT, from, 0);
        yk_cpu_convert_array_to_fp32(types[t], from, 0, COUNT, numbers);
        quantise(numbers, COUNT, YK_PRECISION_FP32);
        static struct stored expected;
        expected = stored;
        memset(&stored, 0, sizeof stored);
        quantise(from, COUNT, types[t]);
        assert_memory_equal(stored.codes, expected.codes, sizeof stored.codes);
        assert_memory_equal(stored.scales, expected.scales, sizeof stored.scales);
        dequantise(COUNT, YK_PRECISION_FP32, full);
        dequantise(COUNT, types[t], back);
        for (int64_t i = 0; i < COUNT; i++) {
            uint16_t rounded = 0;
            yk_cpu_convert_array_from_fp32(types[t], full + i, 1, &rounded, 0);
            assert_int_equal(back[i], rounded);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scale_map_has_the_256_values_of_its_rule),
        cmocka_unit_test(the_scale_map_is_that_of_bitsandbytes_to_the_bit),
        cmocka_unit_test(bounds_are_the_midpoints_of_the_values),
        cmocka_unit_test(numbers_get_the_code_of_the_nearest_value),
        cmocka_unit_test(a_tensor_gets_the_codes_and_scales_of_numpy),
        cmocka_unit_test(zeros_stay_zeros),
        cmocka_unit_test(one_block_keeps_its_scale_exactly),
        cmocka_unit_test(what_comes_back_is_near),
        cmocka_unit_test(sixteen_bits_give_the_same_codes_and_round_what_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
