#include "support/support.h"

#include "base/text.h"
#include "tokenizer/models/wordpiece.h"

#include <string.h>

/* clang-format off */
struct word {
    const char *word;
    int32_t count;
    const int32_t *ids;
};

struct options {
    const char *json;
    const struct word *words; /* up to one without a word */
};

static const char *const vocabulary[] = {
#include "wordpiece_vocabulary.inc"
};

/* Hugging Face's WordPiece with that vocabulary. */
static const struct options cases[] = {
#include "wordpiece_cases.inc"
};
/* clang-format on */

static int make_map(void **state)
{
    struct yk_token_map *map = NULL;
    assert_ok(yk_token_map_create(&map));
    for (size_t i = 0; i < sizeof vocabulary / sizeof vocabulary[0]; i++) {
        assert_ok(yk_token_map_add(map, vocabulary[i], strlen(vocabulary[i]), (int64_t)i));
    }
    *state = map;
    return 0;
}

static int destroy_map(void **state)
{
    yk_token_map_destroy(*state);
    return 0;
}

static yk_status read_wordpiece(const char *json, const struct yk_token_map *map,
                                struct yk_wordpiece **out)
{
    struct yk_json *model = NULL;
    assert_ok(yk_json_parse(json, strlen(json), &model));
    const yk_status status = yk_wordpiece_from_json(model, map, out);
    yk_json_destroy(model);
    return status;
}

static void check(const struct yk_wordpiece *wordpiece, const struct word *word)
{
    struct yk_token_ids ids = {0};
    yk_token_ids_add(&ids, 99);
    assert_ok(yk_wordpiece_encode(wordpiece, word->word, strlen(word->word), &ids, NULL));
    assert_ok(yk_token_ids_status(&ids));
    assert_int_equal(ids.count, word->count + 1);
    assert_int_equal(ids.items[0], 99);
    for (int32_t i = 0; i < word->count; i++) {
        assert_int_equal(ids.items[i + 1], word->ids[i]);
    }
    yk_token_ids_free(&ids);
}

static void words_become_the_tokens_that_hugging_face_gives(void **state)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct yk_wordpiece *wordpiece = NULL;
        assert_ok(read_wordpiece(cases[i].json, *state, &wordpiece));
        for (const struct word *word = cases[i].words; word->word; word++) {
            check(wordpiece, word);
        }
        yk_wordpiece_destroy(wordpiece);
    }
}

static void a_word_has_at_most_a_hundred_characters_unless_the_file_says_otherwise(void **state)
{
    /* "aff" and 97 or 98 times "##f". */
    struct yk_wordpiece *wordpiece = NULL;
    struct yk_text word = {0};
    struct yk_token_ids ids = {0};
    assert_ok(read_wordpiece("{}", *state, &wordpiece));
    yk_text_add(&word, "aff");
    yk_text_add_repeated(&word, "f", 97);
    assert_ok(yk_wordpiece_encode(wordpiece, word.bytes, word.length, &ids, NULL));
    assert_int_equal(ids.count, 98);
    yk_text_add(&word, "f");
    assert_ok(yk_wordpiece_encode(wordpiece, word.bytes, word.length, &ids, NULL));
    assert_int_equal(ids.count, 99);
    assert_int_equal(ids.items[98], 1);
    yk_token_ids_free(&ids);
    yk_text_free(&word);
    yk_wordpiece_destroy(wordpiece);
}

static void a_broken_model_is_refused(void **state)
{
    struct yk_wordpiece *wordpiece = NULL;
    assert_fails(read_wordpiece("{\"unk_token\": 1}", *state, &wordpiece), YK_ERROR_INPUT,
                 "WordPiece: \"unk_token\" is a number; it must be a string");
    assert_int_equal(read_wordpiece("{\"max_input_chars_per_word\": -1}", *state, &wordpiece),
                     YK_ERROR_INPUT);
}

static void a_token_too_long_for_any_word_is_refused(void **state)
{
    struct yk_text token = {0};
    struct yk_wordpiece *wordpiece = NULL;
    yk_text_add_repeated(&token, "x", 1025);
    assert_ok(yk_token_map_add(*state, token.bytes, token.length, 50));
    assert_fails(
        read_wordpiece("{}", *state, &wordpiece), YK_ERROR_INPUT,
        "WordPiece: the token \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\xe2\x80\xa6\" has 1025 bytes; "
        "at most 1024 are known");
    yk_text_free(&token);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(words_become_the_tokens_that_hugging_face_gives, make_map,
                                        destroy_map),
        cmocka_unit_test_setup_teardown(
            a_word_has_at_most_a_hundred_characters_unless_the_file_says_otherwise, make_map,
            destroy_map),
        cmocka_unit_test_setup_teardown(a_broken_model_is_refused, make_map, destroy_map),
        cmocka_unit_test_setup_teardown(a_token_too_long_for_any_word_is_refused, make_map,
                                        destroy_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
