/* Expected values are worked out by hand from IEEE 754: a half has 10 bits after the point and an
 * exponent from −14 to 15, a bfloat16 is the upper half of a single. */
#include "support/support.h"

#include "backend/cpu/math/convert.h"

#include <math.h>

struct rounding {
    float value;
    uint16_t expected;
};

static void check(enum yk_precision type, const struct rounding *roundings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const float both[2] = {roundings[i].value, -roundings[i].value};
        uint16_t stored[2] = {0};
        yk_cpu_convert_array_from_fp32(type, both, 2, stored, 0);
        assert_int_equal(stored[0], roundings[i].expected);
        assert_int_equal(stored[1], roundings[i].expected | 0x8000);
    }
}

static void halves_are_rounded_to_the_nearest_and_ties_to_even(void **state)
{
    (void)state;
    static const struct rounding roundings[] = {
        {0.0F, 0x0000},
        {1.0F, 0x3c00},
        {0x1.002p0F, 0x3c00},    /* 1 + 2^-11: a tie, down to the even one */
        {0x1.006p0F, 0x3c02},    /* 1 + 3 · 2^-11: a tie, up to the even one */
        {0x1.002002p0F, 0x3c01}, /* just more than a tie */
        {0x1.ffep0F, 0x4000},    /* a tie that carries into the exponent */
        {65504.0F, 0x7bff},      /* the largest */
        {65519.996F, 0x7bff},
        {65520.0F, 0x7c00}, /* a tie with what would be 65536: infinite */
        {3.0e38F, 0x7c00},
        {INFINITY, 0x7c00},
        {0x1p-14F, 0x0400},     /* the smallest that is normal */
        {0x1.ff8p-15F, 0x03ff}, /* the largest that is not */
        {0x1.ffcp-15F, 0x0400}, /* 1023.5 · 2^-24: a tie */
        {0x1p-24F, 0x0001},     /* the smallest */
        {0x1p-25F, 0x0000},     /* half of it: a tie */
        {0x1.000002p-25F, 0x0001},
        {0x1.8p-24F, 0x0002}, /* 1.5 times it: a tie */
        {1.0e-30F, 0x0000},
    };
    check(YK_PRECISION_FP16, roundings, sizeof roundings / sizeof roundings[0]);
}

static void bfloats_are_rounded_to_the_nearest_and_ties_to_even(void **state)
{
    (void)state;
    static const struct rounding roundings[] = {
        {0.0F, 0x0000},
        {1.0F, 0x3f80},
        {0x1.01p0F, 0x3f80}, /* 1 + 2^-8: a tie, down to the even one */
        {0x1.03p0F, 0x3f82}, /* 1 + 3 · 2^-8: a tie, up to the even one */
        {0x1.010002p0F, 0x3f81},
        {0x1.ffp0F, 0x4000},
        {0x1.fep127F, 0x7f7f}, /* the largest */
        {0x1.fefffep127F, 0x7f7f},
        {0x1.fffffep127F, 0x7f80}, /* FLT_MAX: infinite */
        {INFINITY, 0x7f80},
        {0x1p-126F, 0x0080},
        {0x1p-133F, 0x0001}, /* the smallest */
        {0x1p-134F, 0x0000}, /* a tie */
        {0x1.8p-133F, 0x0002},
    };
    check(YK_PRECISION_BF16, roundings, sizeof roundings / sizeof roundings[0]);
}

static void what_is_not_a_number_stays_so(void **state)
{
    (void)state;
    /* The last has all its bits where a bfloat16 has none. */
    static const uint32_t patterns[] = {0x7fc00000U, 0xffc00000U, 0x7fffffffU, 0x7f800001U};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        const float value = yk_cpu_float_from_bits(patterns[i]);
        assert_true(
            isnan(yk_cpu_convert_bf16_value_to_fp32(yk_cpu_convert_fp32_value_to_bf16(value))));
        assert_true(
            isnan(yk_cpu_convert_fp16_value_to_fp32(yk_cpu_convert_fp32_value_to_fp16(value))));
    }
}

static double half_value(int pattern)
{
    const int exponent = pattern >> 10 & 31;
    const int fraction = pattern & 1023;
    const double size =
        exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    return (pattern & 0x8000) != 0 ? -size : size;
}

static void every_half_has_its_value_and_comes_back(void **state)
{
    (void)state;
    for (int pattern = 0; pattern <= 0xffff; pattern++) {
        const uint16_t stored = (uint16_t)pattern;
        float value = 0.0F;
        uint16_t back = 0;
        yk_cpu_convert_array_to_fp32(YK_PRECISION_FP16, &stored, 0, 1, &value);
        yk_cpu_convert_array_from_fp32(YK_PRECISION_FP16, &value, 1, &back, 0);
        if ((pattern & 0x7fff) > 0x7c00) {
            assert_true(isnan(value) && (back & 0x7fff) > 0x7c00);
        } else {
            assert_true((pattern & 0x7fff) == 0x7c00 ? isinf(value)
                                                     : (double)value == half_value(pattern));
            assert_int_equal(back, pattern);
        }
    }
}

static void every_bfloat_comes_back(void **state)
{
    (void)state;
    for (int pattern = 0; pattern <= 0xffff; pattern++) {
        const uint16_t stored = (uint16_t)pattern;
        float value = 0.0F;
        uint16_t back = 0;
        yk_cpu_convert_array_to_fp32(YK_PRECISION_BF16, &stored, 0, 1, &value);
        yk_cpu_convert_array_from_fp32(YK_PRECISION_BF16, &value, 1, &back, 0);
        assert_true(yk_cpu_float_to_bits(value) == (uint32_t)pattern << 16);
        if ((pattern & 0x7fff) > 0x7f80) {
            assert_true(isnan(value) && (back & 0x7fff) > 0x7f80);
        } else {
            assert_int_equal(back, pattern);
        }
    }
}

static void rows_are_read_and_written_from_a_place(void **state)
{
    (void)state;
    static const enum yk_precision types[] = {YK_PRECISION_FP32, YK_PRECISION_FP16,
                                              YK_PRECISION_BF16};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        const float from[3] = {1.5F, -2.0F, 0.25F};
        float to[2] = {0};
        float memory[8] = {0};
        yk_cpu_convert_array_from_fp32(types[i], from, 3, memory, 2);
        yk_cpu_convert_array_to_fp32(types[i], memory, 3, 2, to);
        assert_true(to[0] == -2.0F && to[1] == 0.25F);
        assert_true(yk_cpu_convert_element_to_fp32(types[i], memory, 1) == 0.0F);
        assert_true(yk_cpu_convert_element_to_fp32(types[i], memory, 2) == 1.5F);
        assert_true(yk_cpu_convert_element_to_fp32(types[i], memory, 5) == 0.0F);
        assert_true(yk_cpu_convert_element_to_fp32(
                        types[i], yk_precision_element_address(types[i], memory, 4), 0) == 0.25F);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_are_rounded_to_the_nearest_and_ties_to_even),
        cmocka_unit_test(bfloats_are_rounded_to_the_nearest_and_ties_to_even),
        cmocka_unit_test(what_is_not_a_number_stays_so),
        cmocka_unit_test(every_half_has_its_value_and_comes_back),
        cmocka_unit_test(every_bfloat_comes_back),
        cmocka_unit_test(rows_are_read_and_written_from_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
