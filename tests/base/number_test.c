#include "support/support.h"

#include "base/number.h"

#include <float.h>
#include <string.h>

static bool reads(const char *word)
{
    double value = 0;
    return yk_number_parse(word, strlen(word), &value);
}

static void decimal_numbers_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        double value;
    } cases[] = {{"0", 0},         {"12", 12},  {"-3.5", -3.5}, {"+2", 2},    {"1e3", 1e3},
                 {"1.5E-2", .015}, {".5", 0.5}, {"5.", 5},      {"0.1", 0.1}, {"007", 7}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double value = -1;
        assert_true(yk_number_parse(cases[i].word, strlen(cases[i].word), &value));
        assert_true(value == cases[i].value);
    }
}

static void what_is_no_finite_decimal_number_is_refused(void **state)
{
    (void)state;
    static const char *const words[] = {"",   " 1",  "1 ",  "0x10", "inf", "nan", "1e999", "1,5",
                                        "1e", "--1", "1-2", "e5",   ".",   "+",   "1_0",   "1.2.3"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        assert_false(reads(words[i]));
    }
}

static void only_the_given_characters_count(void **state)
{
    (void)state;
    double value = 0;
    assert_true(yk_number_parse("12345", 2, &value));
    assert_true(value == 12);
    assert_false(yk_number_parse("1\0002", 3, &value));
    assert_false(yk_number_parse("12\000", 3, &value));
}

static void a_word_of_any_length_is_handled(void **state)
{
    (void)state;
    char digits[1000];
    memset(digits, '0', sizeof digits);
    double value = 0;
    assert_true(yk_number_parse(digits, 300, &value));
    assert_false(yk_number_parse(digits, sizeof digits, &value));
    int64_t integer = 0;
    assert_false(yk_number_parse_integer(digits, sizeof digits, &integer));
}

static void integers_are_read_to_both_ends_of_their_range(void **state)
{
    (void)state;
    int64_t value = 0;
    assert_true(yk_number_parse_integer("9223372036854775807", 19, &value));
    assert_true(value == INT64_MAX);
    assert_true(yk_number_parse_integer("-9223372036854775808", 20, &value));
    assert_true(value == INT64_MIN);
    assert_false(yk_number_parse_integer("9223372036854775808", 19, &value));
    assert_false(yk_number_parse_integer("1.0", 3, &value));
    assert_false(yk_number_parse_integer("1e3", 3, &value));
    assert_false(yk_number_parse_integer(" 1", 2, &value));
    assert_false(yk_number_parse_integer("", 0, &value));
    assert_false(yk_number_parse_integer("0x1", 3, &value));
}

static void numbers_are_written_as_short_as_they_can_be(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *word;
    } cases[] = {{0, "0"},
                 {-0.0, "0"},
                 {80, "80"},
                 {0.1, "0.1"},
                 {1.0 / 3, "0.3333333333333333"},
                 {-2.5, "-2.5"},
                 {123456789, "123456789"},
                 {1e15, "1e+15"},
                 {1e-7, "1e-07"},
                 {0.1 + 0.2, "0.30000000000000004"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[YK_NUMBER_BUFFER_SIZE];
        yk_number_format(cases[i].value, out);
        assert_string_equal(out, cases[i].word);
    }
}

static void a_written_number_reads_back_as_the_same(void **state)
{
    (void)state;
    static const double values[] = {DBL_MAX, DBL_MIN, 5e-324, 9007199254740993.0, 1e22, 1.1e-300};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char out[YK_NUMBER_BUFFER_SIZE];
        double value = 0;
        yk_number_format(values[i], out);
        assert_true(yk_number_parse(out, strlen(out), &value));
        assert_true(value == values[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimal_numbers_are_read),
        cmocka_unit_test(what_is_no_finite_decimal_number_is_refused),
        cmocka_unit_test(only_the_given_characters_count),
        cmocka_unit_test(a_word_of_any_length_is_handled),
        cmocka_unit_test(integers_are_read_to_both_ends_of_their_range),
        cmocka_unit_test(numbers_are_written_as_short_as_they_can_be),
        cmocka_unit_test(a_written_number_reads_back_as_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
