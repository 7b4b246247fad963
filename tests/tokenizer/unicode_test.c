#include "support/support.h"

#include "tokenizer/unicode.h"

static void spaces_are_those_with_the_property_white_space(void **state)
{
    (void)state;
    /* Unicode's PropList.txt has 25 of them. */
    int32_t count = 0;
    for (uint32_t c = 0; c < 0x110000; c++) {
        count += yk_unicode_is_space(c);
    }
    assert_int_equal(count, 25);
    assert_true(yk_unicode_is_space(0x0b));
    assert_true(yk_unicode_is_space(0x85));
    assert_true(yk_unicode_is_space(0x3000));
    assert_false(yk_unicode_is_space(0x200b));
    assert_false(yk_unicode_is_space(0x180e));
}

static void classes_hold_what_hugging_face_counts(void **state)
{
    (void)state;
    static const struct {
        enum yk_unicode_category kind;
        uint32_t inside;
        uint32_t outside;
    } cases[] = {
        {YK_UNICODE_DROPPED, 0x00, '\n'},
        {YK_UNICODE_DROPPED, 0xfffd, 0xfffc},
        {YK_UNICODE_DROPPED, 0x200b, 0x200a},
        {YK_UNICODE_DROPPED, 0xe000, 0x0378},
        {YK_UNICODE_PUNCTUATION, '$', 'a'},
        {YK_UNICODE_PUNCTUATION, 0x3002, 0x20ac},
        {YK_UNICODE_PUNCTUATION, '~', 0x7f},
        {YK_UNICODE_NONSPACING_MARK, 0x0300, 0x0903},
        {YK_UNICODE_MARK, 0x0903, 'e'},
        {YK_UNICODE_MARK, 0x20dd, 0x20f1},
        {YK_UNICODE_IDEOGRAPH, 0x4e00, 0xac00},
        {YK_UNICODE_IDEOGRAPH, 0x2f800, 0x3042},
        {YK_UNICODE_IDEOGRAPH, 0x2ceaf, 0x10ffff},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(yk_unicode_is_in_category(cases[i].inside, cases[i].kind));
        assert_false(yk_unicode_is_in_category(cases[i].outside, cases[i].kind));
    }
}

static void small_letters_are_those_of_each_character_alone(void **state)
{
    (void)state;
    uint32_t out[YK_UNICODE_MAX_LOWERCASE];
    assert_int_equal(yk_unicode_lowercase_character('A', out), 1);
    assert_int_equal(out[0], 'a');
    assert_int_equal(yk_unicode_lowercase_character(0x1e9e, out), 1); /* the capital sharp s */
    assert_int_equal(out[0], 0xdf);
    assert_int_equal(yk_unicode_lowercase_character(0x3a3, out),
                     1); /* sigma, also at the end of a word */
    assert_int_equal(out[0], 0x3c3);
    assert_int_equal(yk_unicode_lowercase_character(0x130, out), 2); /* SpecialCasing.txt */
    assert_int_equal(out[0], 'i');
    assert_int_equal(out[1], 0x307);
}

static void normal_forms_are_those_of_the_annex(void **state)
{
    (void)state;
    /* UAX #15, table 5: the sequence of long s with dots (U+1E9B U+0323). */
    static const char *const forms[] = {
        [YK_UNICODE_NFC] = "\xe1\xba\x9b\xcc\xa3",
        [YK_UNICODE_NFD] = "\xc5\xbf\xcc\xa3\xcc\x87",
        [YK_UNICODE_NFKC] = "\xe1\xb9\xa9",
        [YK_UNICODE_NFKD] = "s\xcc\xa3\xcc\x87",
    };
    for (int form = YK_UNICODE_NFC; form <= YK_UNICODE_NFKD; form++) {
        struct yk_text text = {0};
        assert_ok(yk_unicode_normalize("\xe1\xba\x9b\xcc\xa3", 5, form, &text));
        assert_string_equal(yk_text_chars(&text), forms[form]);
        yk_text_free(&text);
    }
}

/* Unicode Standard Annex #29, rules GB4 and GB9; Control are also reserved characters that are not
 * shown (Default_Ignorable_Code_Point), such as U+FFF6. */
static void clusters_end_behind_reserved_controls(void **state)
{
    (void)state;
    static const struct {
        uint32_t before;
        uint32_t after;
        bool boundary;
    } pairs[] = {
        {'a', 0x5c2, false},     {0x200c, 0x5c2, false}, {0x1, 0x5c2, true},
        {0x2065, 0x5c2, true},   {0xfff0, 0x5c2, true},  {0xfff6, 0x200c, true},
        {0xfff8, 0x301, true},   {0xfffd, 0x301, false}, {0xe0000, 0x301, true},
        {0xe0080, 0x301, true},  {0xe0fff, 0x301, true}, {0xe1000, 0x301, false},
        {0xe0020, 0x301, false}, {'a', 0xe0100, false},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        int32_t joined = 0;
        assert_int_equal(yk_unicode_is_grapheme_boundary(pairs[i].before, pairs[i].after, &joined),
                         pairs[i].boundary);
    }
}

static void the_longest_decomposition_has_room(void **state)
{
    (void)state;
    /* U+FDFA becomes 18 characters, 33 bytes. */
    struct yk_text salutations = {0};
    struct yk_text text = {0};
    yk_text_add_repeated(&salutations, "\xef\xb7\xba", 50);
    assert_ok(yk_unicode_normalize(salutations.bytes, 9, YK_UNICODE_NFKD, &text));
    assert_int_equal(text.length, 3 * 33);
    assert_ok(yk_unicode_normalize(salutations.bytes, salutations.length, YK_UNICODE_NFKD, &text));
    assert_int_equal(text.length, 53 * 33);
    yk_text_free(&text);
    yk_text_free(&salutations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces_are_those_with_the_property_white_space),
        cmocka_unit_test(classes_hold_what_hugging_face_counts),
        cmocka_unit_test(small_letters_are_those_of_each_character_alone),
        cmocka_unit_test(normal_forms_are_those_of_the_annex),
        cmocka_unit_test(clusters_end_behind_reserved_controls),
        cmocka_unit_test(the_longest_decomposition_has_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
