#include "support/support.h"

#include "base/units.h"

#include <math.h>

static double read_ok(const char *word, enum yk_unit unit)
{
    double value = NAN;
    assert_ok(yk_units_parse(word, unit, &value));
    return value;
}

static void sizes_count_in_thousands_or_in_1024s(void **state)
{
    (void)state;
    assert_true(read_ok("24GiB", YK_UNIT_BYTES) == 24 * 1073741824.0);
    assert_true(read_ok("24GB", YK_UNIT_BYTES) == 24e9);
    assert_true(read_ok("1.5 KiB", YK_UNIT_BYTES) == 1536);
    assert_true(read_ok("7B", YK_UNIT_BYTES) == 7);
}

static void bandwidths_count_bytes_or_bits(void **state)
{
    (void)state;
    assert_true(read_ok("32GB/s", YK_UNIT_BYTES_PER_S) == 32e9);
    assert_true(read_ok("10GbE", YK_UNIT_BYTES_PER_S) == 1.25e9);
    assert_true(read_ok("100Gbit/s", YK_UNIT_BYTES_PER_S) == 12.5e9);
}

static void times_and_rates_are_read(void **state)
{
    (void)state;
    assert_true(fabs(read_ok("10us", YK_UNIT_SECONDS) - 1e-5) < 1e-20);
    assert_true(read_ok("2min", YK_UNIT_SECONDS) == 120);
    assert_true(read_ok("1e3s", YK_UNIT_SECONDS) == 1000);
    assert_true(read_ok("91.1TFLOPS", YK_UNIT_FLOPS) == 91.1e12);
}

static void a_number_with_no_unit_is_refused(void **state)
{
    (void)state;
    double value = 0;
    assert_fails(yk_units_parse("10", YK_UNIT_SECONDS, &value), YK_ERROR_INPUT,
                 "\"10\" has no unit; write a time like 10us");
}

static void a_unit_of_another_kind_is_refused(void **state)
{
    (void)state;
    double value = 0;
    assert_fails(yk_units_parse("24GiB", YK_UNIT_BYTES_PER_S, &value), YK_ERROR_INPUT,
                 "\"24GiB\": no bandwidth has the unit \"GiB\"; write it like 32GB/s");
}

static void what_is_no_number_is_refused(void **state)
{
    (void)state;
    double value = 0;
    assert_fails(yk_units_parse("fast", YK_UNIT_BYTES_PER_S, &value), YK_ERROR_INPUT,
                 "\"fast\" is not a bandwidth; write it like 32GB/s");
    assert_int_equal(yk_units_parse("", YK_UNIT_BYTES, &value), YK_ERROR_INPUT);
    assert_int_equal(yk_units_parse("1e999B", YK_UNIT_BYTES, &value), YK_ERROR_INPUT);
    assert_fails(yk_units_parse("1e300TiB", YK_UNIT_BYTES, &value), YK_ERROR_INPUT,
                 "\"1e300TiB\" is too large");
}

static void values_are_written_with_a_prefix_that_suits(void **state)
{
    (void)state;
    static const struct {
        double value;
        enum yk_unit unit;
        const char *word;
    } cases[] = {
        {1.5 * 1073741824, YK_UNIT_BYTES, "1.50GiB"},
        {0, YK_UNIT_BYTES, "0B"},
        {512, YK_UNIT_BYTES, "512B"},
        {12e9, YK_UNIT_BYTES_PER_S, "12GB/s"},
        {1.25e9, YK_UNIT_BYTES_PER_S, "1.25GB/s"},
        {3.2e-3, YK_UNIT_SECONDS, "3.20ms"},
        {0.0123, YK_UNIT_SECONDS, "12.3ms"},
        {123.4, YK_UNIT_SECONDS, "123s"},
        {91.1e12, YK_UNIT_FLOPS, "91.1TFLOPS"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[YK_UNITS_BUFFER_SIZE];
        yk_units_format(cases[i].value, cases[i].unit, out);
        assert_string_equal(out, cases[i].word);
    }
}

static void every_double_fits_the_room_for_words(void **state)
{
    (void)state;
    char out[YK_UNITS_BUFFER_SIZE];
    yk_units_format(1.7e308, YK_UNIT_BYTES_PER_S, out);
    yk_units_format(-1.7e308, YK_UNIT_SECONDS, out);
    yk_units_format(NAN, YK_UNIT_BYTES, out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_count_in_thousands_or_in_1024s),
        cmocka_unit_test(bandwidths_count_bytes_or_bits),
        cmocka_unit_test(times_and_rates_are_read),
        cmocka_unit_test(a_number_with_no_unit_is_refused),
        cmocka_unit_test(a_unit_of_another_kind_is_refused),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(values_are_written_with_a_prefix_that_suits),
        cmocka_unit_test(every_double_fits_the_room_for_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
