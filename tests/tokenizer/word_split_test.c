#include "support/support.h"

#include "tokenizer/word_split.h"

#include <string.h>

/* clang-format off */
struct sample {
    const char *text;
    size_t length;
    const char *const *words; /* up to NULL */
};

/* Hugging Face's BertPreTokenizer. */
static const struct sample cases[] = {
#include "word_split_cases.inc"
};
/* clang-format on */

static void check(const struct sample *sample)
{
    size_t at = 0;
    size_t begin = 0;
    size_t end = 0;
    const char *const *word = sample->words;
    while (yk_word_split_next(sample->text, sample->length, &at, &begin, &end)) {
        assert_non_null(*word);
        assert_int_equal(end - begin, strlen(*word));
        assert_memory_equal(sample->text + begin, *word, end - begin);
        word++;
    }
    assert_null(*word);
    assert_int_equal(at, sample->length);
    assert_false(yk_word_split_next(sample->text, sample->length, &at, &begin, &end));
}

static void texts_of_all_scripts_are_cut_as_hugging_face_cuts_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (!memchr(cases[i].text, 0, cases[i].length)) {
            check(&cases[i]);
        }
    }
}

static void a_zero_is_a_part_of_a_word(void **state)
{
    (void)state;
    /* BertPreTokenizer().pre_tokenize_str("a\0b c") has the words "a\0b" and "c". */
    static const char text[] = "a\0b c";
    size_t at = 0;
    size_t begin = 0;
    size_t end = 0;
    assert_true(yk_word_split_next(text, 5, &at, &begin, &end));
    assert_int_equal(begin, 0);
    assert_int_equal(end, 3);
    assert_true(yk_word_split_next(text, 5, &at, &begin, &end));
    assert_int_equal(begin, 4);
    assert_int_equal(end, 5);
    assert_false(yk_word_split_next(text, 5, &at, &begin, &end));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_all_scripts_are_cut_as_hugging_face_cuts_them),
        cmocka_unit_test(a_zero_is_a_part_of_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
