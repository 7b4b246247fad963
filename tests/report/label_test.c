#include "report/label.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void expect_number(double value, const char *words)
{
    char label[YK_NUMBER_BUFFER_SIZE];
    yk_label_format_number(value, label);
    assert_string_equal(label, words);
}

static void numbers_keep_about_six_digits(void **state)
{
    (void)state;
    expect_number(0, "0");
    expect_number(80, "80");
    expect_number(-2.5, "-2.5");
    expect_number(82.0 / 3, "27.3333");
    expect_number(1234567.8, "1234568");
    expect_number(0.1 + 0.2, "0.3");
    expect_number(1e-7, "1e-07");
    expect_number(1e18, "1e+18");
}

static void counts_have_commas(void **state)
{
    (void)state;
    char label[YK_NUMBER_BUFFER_SIZE];
    yk_label_format_count(999, label);
    assert_string_equal(label, "999");
    yk_label_format_count(1000, label);
    assert_string_equal(label, "1,000");
    yk_label_format_count(-1234567, label);
    assert_string_equal(label, "-1,234,567");
    yk_label_format_count(-123, label);
    assert_string_equal(label, "-123");
}

static void speeds_have_three_digits_or_more(void **state)
{
    (void)state;
    assert_string_equal(YK_LABEL_SPEED(12345.4), "12,345");
    assert_string_equal(YK_LABEL_SPEED(67.94), "67.9");
    assert_string_equal(YK_LABEL_SPEED(2.3144), "2.31");
    assert_string_equal(YK_LABEL_SPEED(0), "0.00");
}

static void percentages_survive_an_empty_whole(void **state)
{
    (void)state;
    char label[YK_NUMBER_BUFFER_SIZE];
    yk_label_format_percent(1, 8, label);
    assert_string_equal(label, "12.5%");
    yk_label_format_percent(0, 0, label);
    assert_string_equal(label, "0.0%");
}

static void steps_are_one_two_or_five(void **state)
{
    (void)state;
    assert_true(yk_label_choose_axis_step(80, 8) == 10);
    assert_true(yk_label_choose_axis_step(80, 7) == 20);
    assert_true(yk_label_choose_axis_step(80, 2) == 50);
    assert_true(yk_label_choose_axis_step(1, 1) == 1);
    assert_float_equal(yk_label_choose_axis_step(0.03, 3), 0.01, 1e-12);
}

static void units_of_nothing_and_of_no_number_are_words(void **state)
{
    (void)state;
    char label[YK_UNITS_BUFFER_SIZE];
    yk_label_format_with_unit(0.0032, YK_UNIT_SECONDS, label);
    assert_string_equal(label, "3.20ms");
    yk_label_format_with_unit(0, YK_UNIT_BYTES, label);
    assert_string_equal(label, "0");
    yk_label_format_with_unit(0.3 - 0.1 - 0.2, YK_UNIT_SECONDS, label);
    assert_string_equal(label, "0");
    yk_label_format_with_unit(NAN, YK_UNIT_SECONDS, label);
    assert_string_equal(label, "none");
    yk_label_format_with_unit(INFINITY, YK_UNIT_SECONDS, label);
    assert_string_equal(label, "none");
}

static void expect_cut(const char *words, double pixels, const char *expected)
{
    struct yk_text text = {0};
    yk_label_add_truncated_xml(&text, words, pixels);
    assert_string_equal(yk_text_chars(&text), expected);
    yk_text_free(&text);
}

/* A column takes 6.7 pixels; a Korean syllable takes two columns. */
static void words_are_cut_to_the_room_there_is(void **state)
{
    (void)state;
    expect_cut("a<b", 3 * 6.7, "a&lt;b");
    expect_cut("a<bc", 3 * 6.7, "a&lt;\xe2\x80\xa6");
    expect_cut("\xea\xb0\x80\xeb\x82\x98", 3.5 * 6.7, "\xea\xb0\x80\xe2\x80\xa6");
    expect_cut("abc", 0, "\xe2\x80\xa6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_keep_about_six_digits),
        cmocka_unit_test(counts_have_commas),
        cmocka_unit_test(speeds_have_three_digits_or_more),
        cmocka_unit_test(percentages_survive_an_empty_whole),
        cmocka_unit_test(steps_are_one_two_or_five),
        cmocka_unit_test(units_of_nothing_and_of_no_number_are_words),
        cmocka_unit_test(words_are_cut_to_the_room_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
