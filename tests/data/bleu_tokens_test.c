#include "support/support.h"

#include "data/bleu.h"

#include <string.h>

static void assert_cut(const char *sentence, const char *expected)
{
    struct yk_bleu_tokens tokens = {0};
    assert_ok(yk_bleu_tokens_split(sentence, strlen(sentence), &tokens));
    assert_string_equal(tokens.words.bytes, expected);
    assert_int_equal(tokens.words.length, strlen(expected));
    yk_bleu_tokens_free(&tokens);
}

static void punctuation_stands_alone(void **state)
{
    (void)state;
    assert_cut("(Hello, world!)", "( Hello , world ! )");
    assert_cut("a_b/c@d", "a _ b / c @ d");
    assert_cut("don't stop-gap", "don't stop-gap");
}

static void points_between_digits_stay(void **state)
{
    (void)state;
    assert_cut("1,250.50", "1,250.50");
    assert_cut("In 2024.", "In 2024 .");
    assert_cut(".5 x.5", ". 5 x . 5");
    assert_cut("a,b", "a , b");
}

static void hyphens_behind_digits_stand_alone(void **state)
{
    (void)state;
    assert_cut("10-12 A-4 -3", "10 - 12 A-4 -3");
}

static void entities_are_undone_in_one_order(void **state)
{
    (void)state;
    assert_cut("AT&amp;T", "AT & T");
    assert_cut("&amp;lt;", "<");
    assert_cut("&lt;&amp;gt;", "< >");
    assert_cut("&amp;quot;", "& quot ;");
    assert_cut("a <skipped> b", "a b");
    assert_cut("hy-\nphen line\nnext", "hyphen line next");
}

static void white_space_of_unicode_ends_words(void **state)
{
    (void)state;
    assert_cut("a\xc2\xa0"
               "b\xe3\x80\x80"
               "c\x1c"
               "d\xe2\x80\xa8"
               "e \t\xe2\x80\x83 ",
               "a b c d e");
    /* The zero-width space is no white space. */
    assert_cut("a\xe2\x80\x8b"
               "b",
               "a\xe2\x80\x8b"
               "b");
    assert_cut(" \t\xe3\x80\x80", "");
    assert_cut("", "");
}

static void bytes_that_are_no_utf8_are_parts_of_words(void **state)
{
    (void)state;
    assert_cut("a\xff,\xe3\x80 b\xc2", "a\xff , \xe3\x80 b\xc2");
}

/* One struct serves sentences of any length, longer or shorter than the one before. */
static void tokens_serve_one_sentence_after_another(void **state)
{
    (void)state;
    struct yk_bleu_tokens tokens = {0};
    assert_ok(yk_bleu_tokens_split("((((((((", 8, &tokens));
    assert_string_equal(tokens.words.bytes, "( ( ( ( ( ( ( (");
    assert_ok(yk_bleu_tokens_split("a.", 2, &tokens));
    assert_string_equal(tokens.words.bytes, "a .");
    assert_ok(yk_bleu_tokens_split("", 0, &tokens));
    assert_string_equal(tokens.words.bytes, "");
    yk_bleu_tokens_free(&tokens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(punctuation_stands_alone),
        cmocka_unit_test(points_between_digits_stay),
        cmocka_unit_test(hyphens_behind_digits_stand_alone),
        cmocka_unit_test(entities_are_undone_in_one_order),
        cmocka_unit_test(white_space_of_unicode_ends_words),
        cmocka_unit_test(bytes_that_are_no_utf8_are_parts_of_words),
        cmocka_unit_test(tokens_serve_one_sentence_after_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
