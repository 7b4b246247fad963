#include "support/support.h"

#include "base/utf8.h"
#include "tokenizer/regex.h"
#include "tokenizer/unicode.h"

#include <stdlib.h>
#include <string.h>

/* Where the first match must be; −1: there must be none. */
static void check(const char *pattern, bool literal, const char *text, long begin, long end)
{
    struct yk_regex *made = NULL;
    struct yk_regex_workspace *workspace = NULL;
    bool found = false;
    size_t given[2] = {0};
    assert_ok(yk_regex_create(pattern, strlen(pattern), literal, &made));
    assert_ok(yk_regex_workspace_create(&workspace));
    assert_ok(yk_regex_find(made, workspace, text, strlen(text), 0, &found, &given[0], &given[1]));
    assert_int_equal(found, begin >= 0);
    if (found) {
        assert_int_equal(given[0], begin);
        assert_int_equal(given[1], end);
    }
    yk_regex_workspace_destroy(workspace);
    yk_regex_destroy(made);
}

/* What Split(Regex(…)) of Hugging Face's tokenizers 0.23 finds. */
static void classes_are_those_of_oniguruma(void **state)
{
    (void)state;
    check("\\s", false,
          "a\xc2\x85"
          "b",
          1, 3);
    check("\\s", false, "\xe3\x80\x80", 0, 3);
    check("\\s", false, "\xe1\xa0\x8e", -1, -1); /* U+180E */
    check("[\\s]", false, "\xe1\xa0\x8e", -1, -1);
    check("[^\\S]", false, "\xe1\xa0\x8e ", 3, 4);
    check("\\S", false, "\xe1\xa0\x8e", 0, 3);
    check("\\w", false, "\xcc\x81", 0, 2); /* U+0301 */
    check("\\W", false, "\xcc\x81-", 2, 3);
    check("[\\w]", false, "-\xe2\x80\xbf", 1, 4);               /* U+203F */
    check("\\p{Han}", false, "\xe3\x88\xba\xe4\xb8\x80", 3, 6); /* U+323A is shared */
    check("\\P{Han}", false, "\xe4\xb8\x80\xe3\x88\xba", 3, 6);
    check("\\p{^L}", false, "a1", 1, 2);
    check("^b$", false, "a\nb\nc", 2, 3);
    check("(?i:'s)", false, "'\xc5\xbf", 0, 3); /* U+017F */
    check("[]a]", false, "]", 0, 1);
    check("[^]a]", false, "]ab", 2, 3);
    check("\\h", false, "xyzF", 3, 4);
    check("\\w", false, "\xc2\xb2", 0, 2); /* U+00B2 */
    check("[\\w]", false, "\xc2\xb2", -1, -1);
    check("[[:alpha:]_]+", false, "1a_", 1, 3);
    check("\\b", false, "\xe0\xbc\x8b-", -1, -1); /* U+0F0B */
    check("\\Bb", false, "b ab", 3, 4);
}

/* "\\s+" is searched for without PCRE2, "[\\s]+" with it. */
static void white_space_is_the_same_inside_and_outside_of_brackets(void **state)
{
    (void)state;
    static const char *const patterns[] = {"\\s+", "[\\s]+"};
    struct yk_regex *regexes[2] = {0};
    struct yk_regex_workspace *workspace = NULL;
    assert_ok(yk_regex_workspace_create(&workspace));
    for (int i = 0; i < 2; i++) {
        assert_ok(yk_regex_create(patterns[i], strlen(patterns[i]), false, &regexes[i]));
    }
    for (uint32_t character = 1; character <= 0x10ffff; character++) {
        char text[2 * YK_UTF8_MAX_BYTES + 4] = "ab";
        size_t length = 2 + yk_utf8_encode(character, text + 2);
        bool found[2] = {false, false};
        size_t begin[2] = {0};
        size_t end[2] = {0};
        if (character >= 0xd800 && character <= 0xdfff) {
            continue;
        }
        text[length++] = character % 2 ? ' ' : 'c';
        length += yk_utf8_encode(character, text + length);
        for (int i = 0; i < 2; i++) {
            assert_ok(yk_regex_find(regexes[i], workspace, text, length, 1, &found[i], &begin[i],
                                    &end[i]));
        }
        assert_int_equal(found[0], found[1]);
        assert_true(!found[0] || (begin[0] == begin[1] && end[0] == end[1]));
    }
    yk_regex_destroy(regexes[0]);
    yk_regex_destroy(regexes[1]);
    yk_regex_workspace_destroy(workspace);
}

static void sets_inside_brackets_are_those_of_oniguruma(void **state)
{
    (void)state;
    check("[a[b]]", false, "xb", 1, 2);
    check("[^(\\s|[.,!])]+", false, " a|b,c", 1, 2);
    check("[a-z&&[^aeiou]]+", false, "aeibcd", 3, 6);
    check("[^a-z&&[aeiou]]", false, "ex", 1, 2);
    check("[\\W]", false, "a-", 1, 2);
    check("[a\\W]+", false, "b-a", 1, 3);
    check("[\\p{L}&&[^\\p{Han}]]+", false,
          "\xe4\xb8\xad"
          "abc",
          3, 6);
    check("[[^a]b]", false, "ab", 1, 2);
    check("[^\\W\\d]", false, "1-a", 2, 3);
}

/* Recorded from tokenizers 0.23.2. */
static void posix_classes_are_those_of_oniguruma(void **state)
{
    (void)state;
    check("[[:punct:]]", false, "a$", 1, 2);
    check("[[:punct:]]", false, "a\u20ac", 1, 4);
    check("[^[:punct:]]", false, "$a", 1, 2);
    check("[[:^punct:]]", false, "+a", 1, 2);
    check("[a[:^alpha:]]+", false, "ba1", 1, 3);
    check("[[:alpha:]&&[:^upper:]]+", false, "Aab1", 1, 3);
    check("[^[:^alpha:][:upper:]]", false, "1Aa", 2, 3);
    check("[[:graph:]]", false, " \ue000", 1, 4);
    check("[[:print:]]", false, "\u180e", 0, 3);
    check("[[:blank:]]", false, "\u180e\t", 3, 4);
    check("[[:lower:]]", false, "A\u02b0", 1, 3);
    check("[[:alpha:]]", false, "\u0302\u0363", 2, 4);
    check("[:a:]", false, "b:", 1, 2);
    check("[.a.]", false, "b.", 1, 2);
    check("[[=a=]]+", false, "b=a", 1, 3);
}

/* The characters of a class, alone and negated, that are the same in all versions of Unicode since
 * 14: their number and the sum of their code points. */
static void count_class(const char *name, int64_t *number, int64_t *sum)
{
    enum {
        CHARACTERS = 0x20000
    };
    struct yk_regex *regexes[2] = {0};
    struct yk_regex_workspace *workspace = NULL;
    assert_ok(yk_regex_workspace_create(&workspace));
    for (int i = 0; i < 2; i++) {
        struct yk_text pattern = {0};
        yk_text_addf(&pattern, "[[:%s%s:]]", i == 0 ? "" : "^", name);
        assert_ok(yk_regex_create(pattern.bytes, pattern.length, false, &regexes[i]));
        yk_text_free(&pattern);
    }
    *number = 0;
    *sum = 0;
    for (uint32_t character = 1; character < CHARACTERS; character++) {
        char text[YK_UTF8_MAX_BYTES];
        const size_t length = yk_utf8_encode(character, text);
        bool found[2] = {false, false};
        size_t begin = 0;
        size_t end = 0;
        if ((character >= 0xd800 && character <= 0xdfff) ||
            yk_unicode_older_equivalent(character) != character) {
            continue;
        }
        for (int i = 0; i < 2; i++) {
            assert_ok(
                yk_regex_find(regexes[i], workspace, text, length, 0, &found[i], &begin, &end));
        }
        assert_true(found[0] != found[1]);
        *number += found[0];
        *sum += found[0] ? character : 0;
    }
    yk_regex_destroy(regexes[0]);
    yk_regex_destroy(regexes[1]);
    yk_regex_workspace_destroy(workspace);
}

/* Recorded from tokenizers 0.23.2. */
static void posix_classes_have_the_members_of_oniguruma(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t number;
        int64_t sum;
    } classes[] = {
        {"alnum", 68282, 3186808830}, {"alpha", 67622, 3156002260}, {"ascii", 127, 8128},
        {"blank", 18, 124942},        {"cntrl", 64, 5215},          {"digit", 660, 30806570},
        {"graph", 84929, 4220526914}, {"lower", 2476, 107949556},   {"print", 84946, 4220651847},
        {"punct", 8560, 555357956},   {"space", 25, 141586},        {"upper", 1951, 95541008},
        {"word", 69148, 3230602675},  {"xdigit", 22, 1527},
    };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        int64_t number = 0;
        int64_t sum = 0;
        count_class(classes[i].name, &number, &sum);
        if (number != classes[i].number || sum != classes[i].sum) {
            fail_msg("[:%s:] has %lld characters with the sum %lld", classes[i].name,
                     (long long)number, (long long)sum);
        }
    }
}

static void a_literal_is_looked_for_as_it_is(void **state)
{
    (void)state;
    check("a.c\\s", true, "abc a.c\\s", 4, 9);
    check("a.c\\s", true, "abc ", -1, -1);
}

static void patterns_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        const char *message;
    } broken[] = {
        {"(", "the pattern \"(\" cannot be used: missing closing parenthesis"},
        {"[a[b]", "a set in the pattern \"[a[b]\" has no closing bracket"},
        {"[a[:foo:]]", "[:foo:] in a pattern is not a class of characters"},
        {"a\\C", "the pattern \"a\\C\" cannot be used: using \\C is disabled by the application"},
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct yk_regex *made = NULL;
        assert_fails(yk_regex_create(broken[i].pattern, strlen(broken[i].pattern), false, &made),
                     YK_ERROR_INPUT, broken[i].message);
        assert_null(made);
    }
}

static void a_pattern_that_tries_too_many_ways_is_given_up(void **state)
{
    (void)state;
    static const char pattern[] = "(a+)+(a+)+(a+)+b\\1";
    char text[60];
    struct yk_regex *made = NULL;
    struct yk_regex_workspace *workspace = NULL;
    bool found = false;
    size_t begin = 0;
    size_t end = 0;
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = 'b'; /* or the library sees that there is none */
    assert_ok(yk_regex_create(pattern, strlen(pattern), false, &made));
    assert_ok(yk_regex_workspace_create(&workspace));
    assert_fails(yk_regex_find(made, workspace, text, sizeof text, 0, &found, &begin, &end),
                 YK_ERROR_INPUT,
                 "the tokenizer's pattern that cuts words takes too long on this text");
    yk_regex_workspace_destroy(workspace);
    yk_regex_destroy(made);
}

/* With n letters, a*a*a*b takes n³/6 steps from the first of them, and a*a*b half of n² from each:
 * 13 thousand million in both cases, many of which the library does not count. */
static void a_pattern_whose_steps_are_long_or_many_is_given_up(void **state)
{
    (void)state;
    enum {
        LETTERS = 4300
    };
    static const char *const patterns[] = {"a*a*a*b", "a*a*b"};
    char text[LETTERS + 2];
    memset(text, 'a', LETTERS);
    text[LETTERS] = 'c';
    text[LETTERS + 1] = 'b';
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct yk_regex *made = NULL;
        struct yk_regex_workspace *workspace = NULL;
        bool found = false;
        size_t begin = 0;
        size_t end = 0;
        assert_ok(yk_regex_create(patterns[i], strlen(patterns[i]), false, &made));
        assert_ok(yk_regex_workspace_create(&workspace));
        /* Few letters are searched, and the match behind them is found. */
        assert_ok(
            yk_regex_find(made, workspace, text, sizeof text, LETTERS - 100, &found, &begin, &end));
        assert_true(found);
        assert_int_equal(begin, LETTERS + 1);
        assert_int_equal(end, LETTERS + 2);
        assert_fails(yk_regex_find(made, workspace, text, sizeof text, 0, &found, &begin, &end),
                     YK_ERROR_INPUT,
                     "the tokenizer's pattern that cuts words takes too long on this text");
        yk_regex_workspace_destroy(workspace);
        yk_regex_destroy(made);
    }
}

/* Every match of (?:a*b|a) goes over all letters that are left before it takes one of them. */
static void matches_of_little_time_each_are_given_up_together(void **state)
{
    (void)state;
    enum {
        LETTERS = 1000 * 1000
    };
    static const char pattern[] = "(?:a*b|a)";
    struct yk_regex *made = NULL;
    struct yk_regex_workspace *workspace = NULL;
    bool found = true;
    size_t begin = 0;
    size_t end = 0;
    char *text = malloc(LETTERS);
    yk_status status = YK_OK;
    assert_non_null(text);
    memset(text, 'a', LETTERS);
    assert_ok(yk_regex_create(pattern, strlen(pattern), false, &made));
    assert_ok(yk_regex_workspace_create(&workspace));
    while (status == YK_OK && found) {
        status = yk_regex_find(made, workspace, text, LETTERS, end, &found, &begin, &end);
    }
    assert_int_equal(status, YK_ERROR_INPUT);
    assert_in_range(end, 1, LETTERS - 1);
    yk_regex_workspace_destroy(workspace);
    yk_regex_destroy(made);
    free(text);
}

/* Steps back over a million spaces stay within the limits. */
static void long_texts_are_no_reason_to_give_up(void **state)
{
    (void)state;
    enum {
        SPACES = 1000 * 1000
    };
    static const char pattern[] = "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
    struct yk_regex *made = NULL;
    struct yk_regex_workspace *workspace = NULL;
    bool found = false;
    size_t begin = 0;
    size_t end = 0;
    char *text = malloc(SPACES + 1);
    assert_non_null(text);
    memset(text, ' ', SPACES);
    text[SPACES] = 'x';
    assert_ok(yk_regex_create(pattern, strlen(pattern), false, &made));
    assert_ok(yk_regex_workspace_create(&workspace));
    assert_ok(yk_regex_find(made, workspace, text, SPACES + 1, 0, &found, &begin, &end));
    assert_true(found);
    assert_int_equal(begin, 0);
    assert_int_equal(end, SPACES - 1);
    yk_regex_workspace_destroy(workspace);
    yk_regex_destroy(made);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_those_of_oniguruma),
        cmocka_unit_test(white_space_is_the_same_inside_and_outside_of_brackets),
        cmocka_unit_test(sets_inside_brackets_are_those_of_oniguruma),
        cmocka_unit_test(posix_classes_are_those_of_oniguruma),
        cmocka_unit_test(posix_classes_have_the_members_of_oniguruma),
        cmocka_unit_test(a_literal_is_looked_for_as_it_is),
        cmocka_unit_test(patterns_that_cannot_be_are_refused),
        cmocka_unit_test(a_pattern_that_tries_too_many_ways_is_given_up),
        cmocka_unit_test(a_pattern_whose_steps_are_long_or_many_is_given_up),
        cmocka_unit_test(matches_of_little_time_each_are_given_up_together),
        cmocka_unit_test(long_texts_are_no_reason_to_give_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
