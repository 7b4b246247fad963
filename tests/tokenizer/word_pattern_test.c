#include "support/support.h"

#include "base/random.h"
#include "base/text.h"
#include "tokenizer/regex/regex.h"
#include "tokenizer/regex/word_pattern.h"

#include <string.h>

static const char *const expressions[] = {yk_word_pattern_gpt2, yk_word_pattern_llama3,
                                          yk_word_pattern_qwen2, yk_word_pattern_gpt4o};

enum {
    PATTERNS = sizeof expressions / sizeof *expressions
};

/* The patterns, and the same regular expressions for PCRE2, which stand in a group. */
struct fixture {
    const struct yk_word_pattern *patterns[PATTERNS];
    struct yk_regex *regexes[PATTERNS];
    struct yk_regex_workspace *workspace;
};

static void set_up(struct fixture *fixture)
{
    assert_ok(yk_regex_workspace_create(&fixture->workspace));
    for (int i = 0; i < PATTERNS; i++) {
        struct yk_text group = {0};
        fixture->patterns[i] = yk_word_pattern_find(expressions[i], strlen(expressions[i]));
        assert_non_null(fixture->patterns[i]);
        yk_text_addf(&group, "(?:%s)", expressions[i]);
        assert_null(yk_word_pattern_find(group.bytes, group.length));
        assert_ok(yk_regex_create(group.bytes, group.length, false, &fixture->regexes[i]));
        yk_text_free(&group);
    }
}

static void tear_down(struct fixture *fixture)
{
    for (int i = 0; i < PATTERNS; i++) {
        yk_regex_destroy(fixture->regexes[i]);
    }
    yk_regex_workspace_destroy(fixture->workspace);
}

/* Checks each word of a text. All words must be found without PCRE2 if the text is ASCII. */
static void check_words(const struct fixture *fixture, int pattern, const struct yk_text *text,
                        bool ascii)
{
    for (size_t at = 0; at < text->length;) {
        bool found = false;
        size_t begin = 0;
        size_t end = 0;
        assert_ok(yk_regex_find(fixture->regexes[pattern], fixture->workspace, text->bytes,
                                text->length, at, &found, &begin, &end));
        assert_true(found);
        assert_int_equal(begin, at);
        const size_t given =
            yk_word_pattern_match(fixture->patterns[pattern], text->bytes, text->length, at);
        if (given != end && (ascii || given != 0)) {
            fail_msg("%s ends the word at %zu of \"%.*s\" at %zu, not at %zu", expressions[pattern],
                     at, (int)text->length, text->bytes, given, end);
        }
        at = end;
    }
}

/* Against PCRE2, on each text of up to four of these characters. */
static void short_texts_have_the_words_that_pcre2_finds(void **state)
{
    (void)state;
    static const char *const characters[] = {"'", "s",  "L", "r", "e",  "1",
                                             " ", "\n", "/", "-", "\t", "\u00e9"};
    enum {
        CHARACTERS = sizeof characters / sizeof *characters,
        TEXTS = CHARACTERS * CHARACTERS * CHARACTERS * CHARACTERS
    };
    struct fixture fixture = {0};
    struct yk_text text = {0};
    set_up(&fixture);
    for (int number = 0; number < TEXTS; number++) {
        bool ascii = true;
        text.length = 0;
        for (int digits = number; digits > 0; digits /= CHARACTERS) {
            yk_text_add(&text, characters[digits % CHARACTERS]);
            ascii = ascii && digits % CHARACTERS < CHARACTERS - 1;
        }
        for (int i = 0; i < PATTERNS; i++) {
            check_words(&fixture, i, &text, ascii);
        }
    }
    yk_text_free(&text);
    tear_down(&fixture);
}

/* Against PCRE2, on texts with each ASCII character and some others. */
static void long_texts_have_the_words_that_pcre2_finds(void **state)
{
    (void)state;
    static const char *const others[] = {"\u00a0", "\u017f", "\u2028", "\u4e2d",
                                         "\u0301", "\u0661", "\u20ac", "\U0001f600"};
    static const char *const parts[] = {"  ", "\r\n", "'re", "'LL", "123", "Word", "can't", "=="};
    struct fixture fixture = {0};
    struct yk_text text = {0};
    struct yk_random random = yk_random_from_seed(7);
    set_up(&fixture);
    for (int round = 0; round < 20 * 1000; round++) {
        const bool ascii = yk_random_below(&random, 2) == 0;
        const int64_t count = yk_random_below(&random, 30);
        text.length = 0;
        for (int64_t i = 0; i < count; i++) {
            const char byte = (char)yk_random_below(&random, 0x80);
            const int64_t kind = yk_random_below(&random, ascii ? 5 : 6);
            if (kind < 3) {
                yk_text_add_bytes(&text, &byte, 1);
            } else {
                yk_text_add(&text, kind < 5 ? parts[yk_random_below(&random, 8)]
                                            : others[yk_random_below(&random, 8)]);
            }
        }
        check_words(&fixture, round % PATTERNS, &text, ascii);
    }
    yk_text_free(&text);
    tear_down(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_texts_have_the_words_that_pcre2_finds),
        cmocka_unit_test(long_texts_have_the_words_that_pcre2_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
