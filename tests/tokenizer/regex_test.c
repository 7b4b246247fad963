#include "support/support.h"

#include "base/utf8.h"
#include "tokenizer/regex/regex.h"
#include "tokenizer/regex/text_pattern.h"
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

enum {
    MAX_SEGMENTS = 24
};

/* A pattern, a text and the segments into which the matches cut it. */
struct segments_case {
    const char *pattern;
    const char *text;
    const char *segments[MAX_SEGMENTS];
};

/* Checks that the next segment of `text` is the one from `begin` to `end`. */
static const char *const *check_segment(const struct segments_case *expected, size_t begin,
                                        size_t end, const char *const *segment)
{
    if (begin == end) {
        return segment;
    }
    if (!*segment || strlen(*segment) != end - begin ||
        memcmp(*segment, expected->text + begin, end - begin) != 0) {
        fail_msg("%s cuts \"%.*s\" out of \"%s\"", expected->pattern, (int)(end - begin),
                 expected->text + begin, expected->text);
    }
    return segment + 1;
}

static void check_segments(const struct segments_case *expected)
{
    struct yk_regex *made = NULL;
    struct yk_regex_workspace *workspace = NULL;
    struct yk_text buffer = {0};
    struct yk_text_pattern_search search;
    const size_t length = strlen(expected->text);
    const char *const *segment = expected->segments;
    size_t done = 0;
    assert_ok(yk_regex_create(expected->pattern, strlen(expected->pattern), false, &made));
    assert_ok(yk_regex_workspace_create(&workspace));
    assert_ok(yk_text_pattern_begin(&(struct yk_text_pattern){.regex = made}, workspace,
                                    expected->text, length, &buffer, &search));
    do {
        assert_ok(yk_text_pattern_find_next(&search));
        segment = check_segment(expected, done, search.found ? search.begin : length, segment);
        if (search.found) {
            segment = check_segment(expected, search.begin, search.end, segment);
            done = search.end;
        }
    } while (search.found);
    assert_null(*segment);
    yk_text_free(&buffer);
    yk_regex_workspace_destroy(workspace);
    yk_regex_destroy(made);
}

/* Recorded from Split(Regex(…), "isolated") of tokenizers 0.23.2. */
static void syntax_is_that_of_oniguruma(void **state)
{
    (void)state;
    static const struct segments_case cases[] = {
        {"\\p{N}{1,3}+", "1234567a", {"1234567", "a"}},
        {"a{2}?b", "aab b aaab", {"aab", " ", "b", " a", "aab"}},
        {"a{1,2}?", "aaab", {"a", "a", "a", "b"}},
        {"a{2}+b", "aaaab ab", {"aaaab", " ab"}},
        {"a{,2}b", "aaab", {"a", "aab"}},
        {"a{,}", "aa{,}", {"a", "a{,}"}},
        {"x{1", "xx{1", {"x", "x{1"}},
        {"a**b", "aab b", {"aab", " ", "b"}},
        {"a+*b", "aab b", {"aab", " ", "b"}},
        {"a+?b??", "aab", {"a", "a", "b"}},
        {"(?:ab?)?+b", "abb", {"abb"}},
        {"a++a", "aaab", {"aaab"}},
        {"a?+a", "aab", {"aa", "b"}},
        {"(a?)*+b", "aab b", {"aab", " ", "b"}},
        {"(?x) a+ + b", "aab a+b", {"aab", " a+b"}},
        {"\\v", "a\013\014b", {"a", "\013", "\014b"}},
        {"(?m).+", "a\nb", {"a\nb"}},
        {"(?-m).+", "a\nb", {"a", "\n", "b"}},
        {"a(?i)b|c", "aB C c ac", {"aB", " C c ", "ac"}},
        {"(?i:a)b", "Ab AB", {"Ab", " AB"}},
        {"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
         "'S '\u017f 'LL 'Ve",
         {"'S", " ", "'\u017f", " ", "'LL", " ", "'Ve"}},
        {"(?i)[^\\s\\p{L}\\p{N}]+", "K\u0345! a", {"K\u0345", "!", " a"}},
        {"(?i)k", "K\u212a", {"K", "\u212a"}},
        {"\\u00e9\\x41\\x{4e00}", "\u00e9A\u4e00", {"\u00e9A\u4e00"}},
        {"\\p{Alnum}+", "a1\u00e9-_", {"a1\u00e9", "-_"}},
        {"\\p{Punct}", "a$!", {"a$", "!"}},
        {"\\p{Word}+", "a\u00b2-_", {"a\u00b2", "-", "_"}},
        {"\\p{^l}", "a1", {"a", "1"}},
        {"\\p{White Space}", "a b", {"a", " ", "b"}},
        {"[\\p{Upper}\\p{Digit}]+", "Ab1", {"A", "b", "1"}},
        {"a(?#(\\))b", "ab a", {"ab", " a"}},
        {"(?x)a # [\n b [ #]", "ab#ab a", {"ab#", "ab ", "a"}},
        {"(?<year>\\d+)-(\\d)", "12-3-4", {"12-3", "-4"}},
        {"a\\Kb", "abab", {"a", "b", "a", "b"}},
        {"\\R", "a\r\nb\302\205", {"a", "\r\n", "b", "\302\205"}},
        {"\\P{L}*\\P{N}", "-a1", {"-a", "1"}},
        {"\\P{L}*\\P{N}-", "-!-a", {"-!-", "a"}},
        {"[a-c-e]+", "ab-de", {"ab-", "d", "e"}},
        {"[\\d-]+", "1-2a", {"1-2", "a"}},
        {"[--/]+", "-./,", {"-./", ","}},
        {"[\\v\\a-\\e]", "\013\014\034", {"\013", "\014", "\034"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_segments(&cases[i]);
    }
}

/* Recorded in the same way. */
static void patterns_of_common_tokenizers_cut_the_same_segments(void **state)
{
    (void)state;
    static const struct segments_case cases[] = {
        /* GPT-2 */
        {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
         "I'LL pay  12345\u20ac to Zo\u00eb's\r\n\n _foo_ \u4e2d\u6587!",
         {"I", "'", "LL", " pay", " ", " 12345", "\u20ac", " to", " Zo\u00eb", "'s", "\r\n\n", " _",
          "foo", "_", " \u4e2d\u6587", "!"}},
        /* cl100k / Llama 3 */
        {"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
         "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
         "I'LL pay  12345\u20ac to Zo\u00eb's\r\n\n _foo_ \u4e2d\u6587!",
         {"I", "'LL", " pay", " ", " ", "123", "45", "\u20ac", " to", " Zo\u00eb", "'s", "\r\n\n",
          " _", "foo", "_", " \u4e2d\u6587", "!"}},
        /* cl100k with possessive */
        {"'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| "
         "?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s",
         "I'LL pay  12345\u20ac to Zo\u00eb's\r\n\n _foo_ \u4e2d\u6587!",
         {"I", "'LL", " pay", " ", " ", "12345", "\u20ac", " to", " Zo\u00eb", "'s", "\r\n\n", " _",
          "foo", "_", " \u4e2d\u6587", "!"}},
        /* o200k */
        {"[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"
         "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+"
         "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| "
         "?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
         "I'LL pay  12345\u20ac to Zo\u00eb's\r\n\n _foo_ \u4e2d\u6587!",
         {"I'LL", " pay", " ", " ", "123", "45", "\u20ac", " to", " Zo\u00eb's", "\r\n\n", " _",
          "foo", "_", " \u4e2d\u6587", "!"}},
        /* Qwen2 */
        {"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
         "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
         "I'LL pay  12345\u20ac to Zo\u00eb's\r\n\n _foo_ \u4e2d\u6587!",
         {"I",   "'LL", " pay",          " ",   " ",         "1",  "2",      "3",
          "4",   "5",   "\u20ac",        " to", " Zo\u00eb", "'s", "\r\n\n", " _",
          "foo", "_",   " \u4e2d\u6587", "!"}},
        /* DeepSeek */
        {"[!\\\"#$%&'()*+,\\-./"
         ":;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| "
         "?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
         "I'LL pay  12345\u20ac to Zo\u00eb's\r\n\n _foo_ \u4e2d\u6587!",
         {"I", "'LL", " pay", " ", " ", "12345", "\u20ac", " to", " Zo\u00eb", "'s", "\r\n\n", " _",
          "foo", "_", " \u4e2d\u6587", "!"}},
        /* DeepSeek 2 */
        {"[\u4e00-\u9fa5\\u3040-\u309f\u30a0-\u30ff]+",
         "I'LL pay  12345\u20ac to Zo\u00eb's\r\n\n _foo_ \u4e2d\u6587!",
         {"I'LL pay  12345\u20ac to Zo\u00eb's\r\n\n _foo_ ", "\u4e2d\u6587", "!"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_segments(&cases[i]);
    }
}

/* A pattern and why it cannot be used. */
struct refused_case {
    const char *pattern;
    const char *reason;
};

static void check_refused(const struct refused_case *expected)
{
    struct yk_regex *made = NULL;
    struct yk_text message = {0};
    yk_text_addf(&message, "the pattern \"%s\" cannot be used: %s", expected->pattern,
                 expected->reason);
    assert_fails(yk_regex_create(expected->pattern, strlen(expected->pattern), false, &made),
                 YK_ERROR_INPUT, message.bytes);
    assert_null(made);
    yk_text_free(&message);
}

/* Those that Regex(…) of tokenizers 0.23.2 refuses too. PCRE2 accepts many of them. */
static void patterns_that_are_wrong_are_refused(void **state)
{
    (void)state;
    static const struct refused_case cases[] = {
        {"(", "a group has no closing parenthesis"},
        {"[a[b]", "a set has no closing bracket"},
        {"[a[:foo:]]", "it has a class in [: and :] that is not known"},
        {"(*ACCEPT)", "a quantifier has nothing to repeat"},
        {"(*UTF)a", "a quantifier has nothing to repeat"},
        {"(?C1)a", "it has a group or option that is not known"},
        {"(?s).", "it has a group or option that is not known"},
        {"(?P<n>a)", "it has a group or option that is not known"},
        {"(?|a|b)", "it has a group or option that is not known"},
        {"(a)(?1)", "it has a group or option that is not known"},
        {"(?<n>a)(b)\\1", "it has an escape that is not known"},
        {"\\p{L&}", "it has a property that is not known"},
        {"\\p{Xan}", "it has a property that is not known"},
        {"\\p{Script=Han}", "it has a property that is not known"},
        {"(?R)", "it has a group or option that is not known"},
        {"(?&n)", "it has a group or option that is not known"},
        {"a)", "a closing parenthesis has no opening one"},
        {"*a", "a quantifier has nothing to repeat"},
        {"a|+", "a quantifier has nothing to repeat"},
        {"^*", "a quantifier follows something that cannot be repeated"},
        {"(?=a)?b", "a quantifier follows something that cannot be repeated"},
        {"[a-\\d]", "a range ends with a class"},
        {"[\\d-z]", "a range begins with a class"},
        {"[b-a]", "a range ends before it begins"},
        {"[]", "a set has no closing bracket"},
        {"\\2(a)", "it has an escape that is not known"},
        {"\\u12", "the number of a character is not valid"},
        {"(?)a", "it has a group or option that is not known"},
        {"a\\", "it ends after a backslash"},
        {"(?#", "a comment has no end"},
        {"(?i", "it has a group or option that is not known"},
        {"[[:Alpha:]]", "it has a class in [: and :] that is not known"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_refused(&cases[i]);
    }
}

/* Those that tokenizers 0.23.2 accepts, but that PCRE2 might match in another way. */
static void patterns_that_pcre2_understands_in_another_way_are_refused(void **state)
{
    (void)state;
    static const struct refused_case cases[] = {
        {"a\\C", "it has an escape that is not known"},
        {"\\Qa.\\E", "it has an escape that is not known"},
        {"\\pL", "\\p and \\P must be followed by {"},
        {"(a)\\g{1}", "it has an escape that is not known"},
        {"(?i)stra\u00dfe",
         "(?i) applies to letters that one character can stand for, as \u00df for ss"},
        {"(?i)ss", "(?i) applies to letters that one character can stand for, as \u00df for ss"},
        {"(?i)\\p{Lu}", "(?i) applies to a class of capital or small letters"},
        {"(?i)[\\p{L}]", "(?i) applies to a class with letters inside brackets"},
        {"(.)\\1", "it has an escape that is not known"},
        {"(?:ab){1}+", "a quantifier follows {1}"},
        {"(?:a?){2}", "something that may be empty is repeated a number of times"},
        {"b(?>a|)b", "what is in (?> and ) may be empty"},
        {"[^[^\\D\\H]]", "a negated set inside a set has a negated class"},
        {"a{3,2}", "a quantifier's first number is larger than its second"},
        {"a{0}b", "a quantifier repeats something no times"},
        {"(?~a)", "it has a group or option that is not known"},
        {"\\X", "it has an escape that is not known"},
        {"(a\\K)", "it has an escape that is not known"},
        {"\\xe3\\x80\\x80", "\\x must be less than 80, or use braces"},

    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_refused(&cases[i]);
    }
}

static void a_literal_is_looked_for_as_it_is(void **state)
{
    (void)state;
    check("a.c\\s", true, "abc a.c\\s", 4, 9);
    check("a.c\\s", true, "abc ", -1, -1);
}

static void a_pattern_that_tries_too_many_ways_is_given_up(void **state)
{
    (void)state;
    static const char pattern[] = "(a+)+(a+)+(a+)+b(?=c)";
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
        cmocka_unit_test(syntax_is_that_of_oniguruma),
        cmocka_unit_test(patterns_of_common_tokenizers_cut_the_same_segments),
        cmocka_unit_test(patterns_that_are_wrong_are_refused),
        cmocka_unit_test(patterns_that_pcre2_understands_in_another_way_are_refused),
        cmocka_unit_test(a_pattern_that_tries_too_many_ways_is_given_up),
        cmocka_unit_test(a_pattern_whose_steps_are_long_or_many_is_given_up),
        cmocka_unit_test(matches_of_little_time_each_are_given_up_together),
        cmocka_unit_test(long_texts_are_no_reason_to_give_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
