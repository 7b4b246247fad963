#include "support/support.h"

#include "tokenizer/models/word_counts.h"

#include <stdio.h>
#include <string.h>

static void words_are_counted_in_the_order_they_come(void **state)
{
    (void)state;
    static const char *const words[] = {"a", "b", "a", "", "ab", "a", ""};
    static const struct {
        const char *word;
        int64_t times;
    } expected[] = {{"a", 3}, {"b", 1}, {"", 2}, {"ab", 1}};
    struct yk_word_counts *counts = NULL;
    assert_ok(yk_word_counts_create(&counts));
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        assert_ok(yk_word_counts_add(counts, words[i], strlen(words[i])));
    }
    assert_int_equal(yk_word_counts_distinct_count(counts), 4);
    for (int32_t i = 0; i < 4; i++) {
        const struct yk_word_count word = yk_word_counts_get_word(counts, i);
        assert_int_equal(word.length, strlen(expected[i].word));
        assert_memory_equal(word.word, expected[i].word, word.length);
        assert_int_equal(word.times, expected[i].times);
    }
    yk_word_counts_destroy(counts);
}

static void bytes_of_all_kinds_make_words(void **state)
{
    (void)state;
    struct yk_word_counts *counts = NULL;
    assert_ok(yk_word_counts_create(&counts));
    assert_ok(yk_word_counts_add(counts, "a\0b", 3));
    assert_ok(yk_word_counts_add(counts, "a\0c", 3));
    assert_ok(yk_word_counts_add(counts, "\xff", 1));
    assert_ok(yk_word_counts_add(counts, "a\0b", 3));
    assert_int_equal(yk_word_counts_distinct_count(counts), 3);
    assert_int_equal(yk_word_counts_get_word(counts, 0).times, 2);
    yk_word_counts_destroy(counts);
}

static void many_words_are_distinguished(void **state)
{
    (void)state;
    enum {
        MANY = 20000 /* the table grows several times */
    };
    struct yk_word_counts *counts = NULL;
    char word[16];
    assert_ok(yk_word_counts_create(&counts));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) {
            const int length = snprintf(word, sizeof word, "%d", i);
            assert_ok(yk_word_counts_add(counts, word, (size_t)length));
        }
    }
    assert_int_equal(yk_word_counts_distinct_count(counts), MANY);
    for (int i = 0; i < MANY; i++) {
        const struct yk_word_count there = yk_word_counts_get_word(counts, i);
        const int length = snprintf(word, sizeof word, "%d", i);
        assert_int_equal(there.length, length);
        assert_memory_equal(there.word, word, there.length);
        assert_int_equal(there.times, 2);
    }
    yk_word_counts_destroy(counts);
}

/* A word takes its bytes and 32 more: length, place, count and hash. */
static void words_beyond_the_limit_are_refused(void **state)
{
    (void)state;
    struct yk_word_counts *counts = NULL;
    assert_ok(yk_word_counts_create(&counts));
    yk_word_counts_set_max_bytes(counts, 2 * (32 + 3));
    assert_ok(yk_word_counts_add(counts, "one", 3));
    assert_ok(yk_word_counts_add(counts, "two", 3));
    assert_ok(yk_word_counts_add(counts, "one", 3));
    assert_fails(
        yk_word_counts_add(counts, "three", 5), YK_ERROR_INPUT,
        "more than 2 different words, for which there is not enough memory; use less text");
    assert_int_equal(yk_word_counts_distinct_count(counts), 2);
    yk_word_counts_destroy(counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_counted_in_the_order_they_come),
        cmocka_unit_test(bytes_of_all_kinds_make_words),
        cmocka_unit_test(many_words_are_distinguished),
        cmocka_unit_test(words_beyond_the_limit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
