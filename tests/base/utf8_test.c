#include "support/support.h"

#include "base/utf8.h"

#include <string.h>

static void characters_of_every_length_are_read_and_written(void **state)
{
    (void)state;
    /* The examples of RFC 3629, section 7, and the ends of each length. */
    static const struct {
        const char *bytes;
        uint32_t character;
    } known[] = {
        {"A", 0x41},
        {"\x7f", 0x7f},
        {"\xc2\x80", 0x80},
        {"\xdf\xbf", 0x7ff},
        {"\xe0\xa0\x80", 0x800},
        {"\xe2\x89\xa2", 0x2262},
        {"\xed\x95\x9c", 0xd55c},
        {"\xed\x9f\xbf", 0xd7ff},
        {"\xee\x80\x80", 0xe000},
        {"\xef\xbf\xbf", 0xffff},
        {"\xf0\x90\x80\x80", 0x10000},
        {"\xf0\xa3\x8e\xb4", 0x233b4},
        {"\xf4\x8f\xbf\xbf", 0x10ffff},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t length = strlen(known[i].bytes);
        uint32_t character = 0;
        char bytes[YK_UTF8_MAX_BYTES];
        assert_int_equal(yk_utf8_decode(known[i].bytes, length, &character), length);
        assert_int_equal(character, known[i].character);
        assert_int_equal(yk_utf8_encode(character, bytes), length);
        assert_memory_equal(bytes, known[i].bytes, length);
        for (size_t less = 0; less < length; less++) {
            assert_int_equal(yk_utf8_decode(known[i].bytes, less, &character), 0);
        }
    }
}

static void bytes_that_are_no_utf8_are_refused(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "\x80",             /* goes on with nothing */
        "\xbf",             /* the same */
        "\xc0\x80",         /* zero, too long */
        "\xc1\xbf",         /* too long */
        "\xe0\x9f\xbf",     /* too long */
        "\xf0\x8f\xbf\xbf", /* too long */
        "\xed\xa0\x80",     /* half of a surrogate pair */
        "\xed\xbf\xbf",     /* the other half */
        "\xf4\x90\x80\x80", /* beyond U+10FFFF */
        "\xf8\x88\x80\x80", /* five bytes */
        "\xff",             /* never a byte of UTF-8 */
        "\xc3(",            /* the second byte does not go on */
        "\xe2\x82(",        /* the third does not */
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        uint32_t character = 0;
        assert_int_equal(yk_utf8_decode(broken[i], strlen(broken[i]), &character), 0);
    }
}

static void text_is_valid_up_to_a_broken_byte_or_a_zero(void **state)
{
    (void)state;
    assert_int_equal(yk_utf8_valid_prefix_length("caf\xc3\xa9", 5), 5);
    assert_int_equal(yk_utf8_valid_prefix_length("caf\xc3\xa9", 4), 3);
    assert_int_equal(yk_utf8_valid_prefix_length("ca\xff\xc3\xa9", 5), 2);
    assert_int_equal(yk_utf8_valid_prefix_length("ab\0c", 4), 2);
    assert_int_equal(yk_utf8_valid_prefix_length("", 0), 0);
}

/* Whole eights of ASCII are checked at once. */
static void the_first_broken_byte_or_zero_is_found_wherever_it_is(void **state)
{
    (void)state;
    static const char broken[] = {'\0', '\x80', '\xff'};
    char text[40];
    for (size_t length = 1; length < sizeof text; length++) {
        for (size_t at = 0; at < length; at++) {
            for (size_t i = 0; i < sizeof broken; i++) {
                memset(text, at % 2 ? '\x01' : '\x7f', length);
                assert_int_equal(yk_utf8_valid_prefix_length(text, length), length);
                text[at] = broken[i];
                assert_int_equal(yk_utf8_valid_prefix_length(text, length), at);
            }
        }
    }
}

static void places_count_lines_and_characters(void **state)
{
    (void)state;
    const char text[] = "ab\n\xc3\xa9x\n";
    struct yk_utf8_position place = yk_utf8_position_of_byte(text, 0);
    assert_true(place.line == 1 && place.column == 1);
    place = yk_utf8_position_of_byte(text, 2);
    assert_true(place.line == 1 && place.column == 3);
    place = yk_utf8_position_of_byte(text, 5);
    assert_true(place.line == 2 && place.column == 2);
    place = yk_utf8_position_of_byte(text, 7);
    assert_true(place.line == 3 && place.column == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_of_every_length_are_read_and_written),
        cmocka_unit_test(bytes_that_are_no_utf8_are_refused),
        cmocka_unit_test(text_is_valid_up_to_a_broken_byte_or_a_zero),
        cmocka_unit_test(the_first_broken_byte_or_zero_is_found_wherever_it_is),
        cmocka_unit_test(places_count_lines_and_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
