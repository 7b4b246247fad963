#include "support/support.h"

#include "base/text.h"

#include <string.h>

static void a_new_text_is_empty(void **state)
{
    (void)state;
    struct yk_text text = {0};
    assert_string_equal(yk_text_chars(&text), "");
    assert_ok(yk_text_status(&text));
    yk_text_free(&text);
}

static void additions_follow_each_other(void **state)
{
    (void)state;
    struct yk_text text = {0};
    yk_text_add(&text, "a");
    yk_text_addf(&text, "%d%s", 12, "b");
    yk_text_add_repeated(&text, "-+", 3);
    yk_text_add_bytes(&text, "xyz", 2);
    yk_text_add_number(&text, 0.1);
    assert_string_equal(yk_text_chars(&text), "a12b-+-+-+xy0.1");
    assert_int_equal(text.length, strlen(text.bytes));
    yk_text_free(&text);
    assert_null(text.bytes);
}

static void a_byte_is_replaced_wherever_it_is(void **state)
{
    (void)state;
    struct yk_text text = {0};
    yk_text_add_replacing(&text, " a  b ", 6, ' ', "\xe2\x96\x81", 3);
    assert_string_equal(yk_text_chars(&text), "\xe2\x96\x81"
                                              "a\xe2\x96\x81\xe2\x96\x81"
                                              "b\xe2\x96\x81");
    assert_int_equal(text.length, 14);
    yk_text_add_replacing(&text, "x-y-", 4, '-', "", 0);
    yk_text_add_replacing(&text, "", 0, '-', "+", 1);
    assert_string_equal(yk_text_chars(&text) + 14, "xy");
    yk_text_free(&text);
}

static void a_byte_is_replaced_in_long_texts_too(void **state)
{
    (void)state;
    enum {
        LENGTH = 10000
    };
    static const char *const replacements[] = {"", "\xe2\x96\x81"};
    char long_text[LENGTH];
    char expected[LENGTH * 3];
    memset(long_text, ' ', LENGTH);
    for (size_t i = 0; i < LENGTH; i++) {
        if (i % 5 != 0 && i % 4096 > 1 && i % 4096 != 4095) {
            long_text[i] = "abcdefg"[i % 7];
        }
    }
    for (size_t k = 0; k < 2; k++) {
        struct yk_text text = {0};
        const size_t unit = strlen(replacements[k]);
        size_t length = 0;
        for (size_t i = 0; i < LENGTH; i++) {
            const bool replaced = long_text[i] == ' ';
            memcpy(expected + length, replaced ? replacements[k] : &long_text[i],
                   replaced ? unit : 1);
            length += replaced ? unit : 1;
        }
        yk_text_add_replacing(&text, long_text, LENGTH, ' ', replacements[k], unit);
        assert_ok(yk_text_status(&text));
        assert_int_equal(text.length, length);
        assert_memory_equal(text.bytes, expected, length);
        assert_int_equal(text.bytes[length], '\0');
        yk_text_free(&text);
    }
}

static void it_grows_far_beyond_its_first_room(void **state)
{
    (void)state;
    struct yk_text text = {0};
    for (int i = 0; i < 10000; i++) {
        yk_text_addf(&text, "%05d", i);
    }
    assert_ok(yk_text_status(&text));
    assert_int_equal(text.length, 50000);
    assert_memory_equal(text.bytes + 6170, "01234", 5);
    yk_text_free(&text);
}

static void json_strings_are_escaped(void **state)
{
    (void)state;
    struct yk_text text = {0};
    yk_text_add_json_string(&text, "a\"b\\c\n\t\x01</script>\x7f\xc3\xbc");
    assert_string_equal(yk_text_chars(&text),
                        "\"a\\\"b\\\\c\\n\\t\\u0001\\u003c/script>\\u007f\xc3\xbc\"");
    yk_text_free(&text);
}

static void json_escapes_controls_of_two_bytes(void **state)
{
    (void)state;
    struct yk_text text = {0};
    yk_text_add_json_string(&text, "\xc2\x9b\xc2\xa0\xc2");
    assert_string_equal(yk_text_chars(&text), "\"\\u009b\xc2\xa0\xc2\"");
    yk_text_free(&text);
}

/* ECMA-48: CSI is ESC [ or the C1 character U+009B, OSC is U+009D. */
static void control_characters_become_visible(void **state)
{
    (void)state;
    static const char words[] = "a\tb\n\x1b[2J\r\x7f\xc2\x9b\xc2\x9f\xc2\xa0\xc3\x9b\xc2";
    struct yk_text text = {0};
    yk_text_add_escaped_controls(&text, words, strlen(words));
    assert_string_equal(yk_text_chars(&text),
                        "a\tb\n\\x1b[2J\\x0d\\x7f\\u009b\\u009f\xc2\xa0\xc3\x9b\xc2");
    yk_text_free(&text);
    yk_text_add_escaped_controls(&text, "a\0b", 3);
    assert_string_equal(yk_text_chars(&text), "a\\x00b");
    yk_text_free(&text);
    yk_text_add_escaped_line(&text, "a\tb\nc");
    assert_string_equal(yk_text_chars(&text), "a\\x09b\\x0ac");
    yk_text_free(&text);
}

static void xml_is_escaped_and_control_characters_are_replaced(void **state)
{
    (void)state;
    struct yk_text text = {0};
    yk_text_add_xml_escaped(&text, "<a b=\"c\" & 'd'>\x01\t\n");
    assert_string_equal(yk_text_chars(&text),
                        "&lt;a b=&quot;c&quot; &amp; &#39;d&#39;&gt;\xef\xbf\xbd\t\n");
    yk_text_free(&text);
}

static void columns_count_what_a_terminal_shows(void **state)
{
    (void)state;
    assert_int_equal(yk_text_display_width(""), 0);
    assert_int_equal(yk_text_display_width("heft"), 4);
    assert_int_equal(yk_text_display_width("\xc3\xbc"), 1);         /* u with dots */
    assert_int_equal(yk_text_display_width("u\xcc\x88"), 1);        /* u and combining dots */
    assert_int_equal(yk_text_display_width("\xe4\xb8\xad"), 2);     /* a Chinese character */
    assert_int_equal(yk_text_display_width("\xf0\x9f\x98\x80"), 2); /* a face */
}

static void columns_of_broken_utf8_stay_within_the_string(void **state)
{
    (void)state;
    assert_true(yk_text_display_width("\xf0\x9f") <= 2);
    assert_true(yk_text_display_width("\xff") <= 1);
    assert_true(yk_text_fitting_prefix_length("ab\xe4\xb8", 10) <= 4);
}

static void a_prefix_never_splits_a_character(void **state)
{
    (void)state;
    assert_int_equal(yk_text_fitting_prefix_length("abc", 2), 2);
    assert_int_equal(yk_text_fitting_prefix_length("abc", 9), 3);
    assert_int_equal(yk_text_fitting_prefix_length("a\xe4\xb8\xad", 2), 1);
    assert_int_equal(yk_text_fitting_prefix_length("a\xe4\xb8\xad", 3), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_text_is_empty),
        cmocka_unit_test(additions_follow_each_other),
        cmocka_unit_test(a_byte_is_replaced_wherever_it_is),
        cmocka_unit_test(a_byte_is_replaced_in_long_texts_too),
        cmocka_unit_test(it_grows_far_beyond_its_first_room),
        cmocka_unit_test(json_strings_are_escaped),
        cmocka_unit_test(json_escapes_controls_of_two_bytes),
        cmocka_unit_test(control_characters_become_visible),
        cmocka_unit_test(xml_is_escaped_and_control_characters_are_replaced),
        cmocka_unit_test(columns_count_what_a_terminal_shows),
        cmocka_unit_test(columns_of_broken_utf8_stay_within_the_string),
        cmocka_unit_test(a_prefix_never_splits_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
