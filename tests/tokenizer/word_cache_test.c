#include "support/support.h"

#include "tokenizer/models/word_cache.h"

#include <stdio.h>
#include <string.h>

static void words_are_found_again_with_all_their_tokens(void **state)
{
    (void)state;
    static const int32_t tokens[] = {7, 8, 9, 10, 11};
    struct yk_word_cache *cache = NULL;
    struct yk_token_ids ids = {0};
    assert_ok(yk_word_cache_create(&cache));
    for (int count = 1; count <= 5; count++) {
        char word[16];
        (void)snprintf(word, sizeof word, "w%d", count);
        assert_false(yk_word_cache_find(cache, word, 2, &ids));
        yk_word_cache_store(cache, word, 2, tokens, count);
        ids.count = 0;
        assert_true(yk_word_cache_find(cache, word, 2, &ids));
        assert_int_equal(ids.count, count);
        assert_memory_equal(ids.items, tokens, (size_t)count * sizeof *tokens);
        ids.count = 0;
    }
    assert_false(yk_word_cache_find(cache, "w", 1, &ids));
    yk_token_ids_free(&ids);
    yk_word_cache_destroy(cache);
}

static void words_of_every_length_are_kept_apart(void **state)
{
    (void)state;
    char word[YK_WORD_CACHE_MAX_BYTES];
    struct yk_word_cache *cache = NULL;
    struct yk_token_ids ids = {0};
    memset(word, 'x', sizeof word);
    assert_ok(yk_word_cache_create(&cache));
    for (int32_t length = 1; length <= YK_WORD_CACHE_MAX_BYTES; length++) {
        assert_false(yk_word_cache_find(cache, word, (size_t)length, &ids));
        yk_word_cache_store(cache, word, (size_t)length, &length, 1);
    }
    for (int32_t length = 1; length <= YK_WORD_CACHE_MAX_BYTES; length++) {
        ids.count = 0;
        assert_true(yk_word_cache_find(cache, word, (size_t)length, &ids));
        assert_int_equal(ids.count, 1);
        assert_int_equal(ids.items[0], length);
    }
    yk_token_ids_free(&ids);
    yk_word_cache_destroy(cache);
}

/* Words of each length in which one byte differs from the others. */
static void words_that_differ_in_one_byte_are_kept_apart(void **state)
{
    (void)state;
    enum {
        LONGEST = 100
    };
    char word[LONGEST];
    struct yk_word_cache *cache = NULL;
    struct yk_token_ids ids = {0};
    assert_ok(yk_word_cache_create(&cache));
    for (int round = 0; round < 2; round++) {
        for (int32_t length = 1; length <= LONGEST; length++) {
            for (int32_t place = 0; place < length; place++) {
                const int32_t id = length * LONGEST + place;
                memset(word, 'x', sizeof word);
                word[place] = 'y';
                ids.count = 0;
                assert_int_equal(yk_word_cache_find(cache, word, (size_t)length, &ids), round);
                assert_int_equal(ids.count, round);
                assert_true(round == 0 || ids.items[0] == id);
                if (round == 0) {
                    yk_word_cache_store(cache, word, (size_t)length, &id, 1);
                }
            }
        }
    }
    yk_token_ids_free(&ids);
    yk_word_cache_destroy(cache);
}

/* Words of 32 bytes whose products of the hash are 0, so that their places are those of their last
 * bytes, which agree in the lower half: few of them are kept, and none is confused with another. */
static void words_made_to_collide_are_not_all_kept(void **state)
{
    (void)state;
    enum {
        WORDS = 1000
    };
    static const uint64_t pi = UINT64_C(0x243f6a8885a308d3);
    static const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    struct yk_word_cache *cache = NULL;
    struct yk_token_ids ids = {0};
    int found = 0;
    assert_ok(yk_word_cache_create(&cache));
    for (int round = 0; round < 2; round++) {
        for (int32_t i = 0; i < WORDS; i++) {
            const uint64_t word[4] = {pi ^ (4 * sizeof(uint64_t)), 7, 7 ^ golden ^ pi,
                                      (uint64_t)i << 32};
            ids.count = 0;
            if (yk_word_cache_find(cache, (const char *)word, sizeof word, &ids)) {
                assert_int_equal(ids.count, 1);
                assert_int_equal(ids.items[0], i);
                found++;
            } else {
                yk_word_cache_store(cache, (const char *)word, sizeof word, &i, 1);
            }
        }
    }
    assert_in_range(found, 1, WORDS / 10);
    yk_token_ids_free(&ids);
    yk_word_cache_destroy(cache);
}

static void too_long_words_and_words_of_no_tokens_are_not_kept(void **state)
{
    (void)state;
    char word[YK_WORD_CACHE_MAX_BYTES + 1];
    static const int32_t tokens[] = {1};
    struct yk_word_cache *cache = NULL;
    struct yk_token_ids ids = {0};
    memset(word, 'x', sizeof word);
    assert_ok(yk_word_cache_create(&cache));
    assert_false(yk_word_cache_find(cache, word, sizeof word, &ids));
    yk_word_cache_store(cache, word, sizeof word, tokens, 1);
    assert_false(yk_word_cache_find(cache, word, sizeof word, &ids));
    assert_false(yk_word_cache_find(cache, "a", 1, &ids));
    yk_word_cache_store(cache, "a", 1, tokens, 0);
    assert_false(yk_word_cache_find(cache, "a", 1, &ids));
    assert_int_equal(ids.count, 0);
    yk_word_cache_destroy(cache);
}

/* More words than there is room for: it forgets, but never gives one word's tokens for another's.
 */
static void a_full_cache_begins_anew(void **state)
{
    (void)state;
    enum {
        WORDS = 100 * 1000
    };
    struct yk_word_cache *cache = NULL;
    struct yk_token_ids ids = {0};
    int found = 0;
    assert_ok(yk_word_cache_create(&cache));
    for (int i = 0; i < WORDS; i++) {
        char word[64];
        const int length = snprintf(word, sizeof word, "%*d", i % 3 ? 1 : 50, i);
        const int32_t tokens[] = {i, i + 1, i + 2, i + 3};
        assert_false(yk_word_cache_find(cache, word, (size_t)length, &ids));
        yk_word_cache_store(cache, word, (size_t)length, tokens, 1 + i % 4);
    }
    for (int i = 0; i < WORDS; i++) {
        char word[64];
        const int length = snprintf(word, sizeof word, "%*d", i % 3 ? 1 : 50, i);
        ids.count = 0;
        if (yk_word_cache_find(cache, word, (size_t)length, &ids)) {
            assert_int_equal(ids.count, 1 + i % 4);
            assert_int_equal(ids.items[ids.count - 1], i + i % 4);
            found++;
        }
    }
    assert_in_range(found, 1, WORDS / 2);
    yk_token_ids_free(&ids);
    yk_word_cache_destroy(cache);
}

/* Long words rarely occur again: a text full of them must not cost the short ones their place. */
static void long_words_do_not_remove_short_words(void **state)
{
    (void)state;
    enum {
        LONG_WORDS = 50 * 1000
    };
    static const int32_t tokens[] = {7, 8, 9, 10, 11};
    struct yk_word_cache *cache = NULL;
    struct yk_token_ids ids = {0};
    assert_ok(yk_word_cache_create(&cache));
    assert_false(yk_word_cache_find(cache, "short", 5, &ids));
    yk_word_cache_store(cache, "short", 5, tokens, 5);
    for (int i = 0; i < LONG_WORDS; i++) {
        char word[64];
        const int length = snprintf(word, sizeof word, "%60d", i);
        assert_false(yk_word_cache_find(cache, word, (size_t)length, &ids));
        yk_word_cache_store(cache, word, (size_t)length, tokens, 4);
    }
    assert_true(yk_word_cache_find(cache, "short", 5, &ids));
    assert_int_equal(ids.count, 5);
    assert_memory_equal(ids.items, tokens, sizeof tokens);
    yk_token_ids_free(&ids);
    yk_word_cache_destroy(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_found_again_with_all_their_tokens),
        cmocka_unit_test(words_of_every_length_are_kept_apart),
        cmocka_unit_test(words_that_differ_in_one_byte_are_kept_apart),
        cmocka_unit_test(words_made_to_collide_are_not_all_kept),
        cmocka_unit_test(too_long_words_and_words_of_no_tokens_are_not_kept),
        cmocka_unit_test(a_full_cache_begins_anew),
        cmocka_unit_test(long_words_do_not_remove_short_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
