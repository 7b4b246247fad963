#include "support/support.h"

#include "tokenizer/pre_tokenizer.h"

#include <string.h>

/* clang-format off */
struct sample {
    const char *text;
    size_t length;
    const char *const *words; /* up to NULL */
};

/* Hugging Face's BertPreTokenizer. */
static const struct sample cases[] = {
#include "bert_words_cases.inc"
};
/* clang-format on */

static yk_status compare_word(void *argument, const struct yk_aligned_segment *word)
{
    const char *const **next = argument;
    assert_non_null(**next);
    assert_int_equal(word->length, strlen(**next));
    assert_memory_equal(word->bytes, **next, word->length);
    (*next)++;
    return YK_OK;
}

static struct yk_pre_tokenizer *read_bert(void)
{
    static const char text[] = "{\"type\": \"BertPreTokenizer\"}";
    struct yk_json *node = NULL;
    struct yk_pre_tokenizer *bert = NULL;
    assert_ok(yk_json_parse(text, strlen(text), &node));
    assert_ok(yk_pre_tokenizer_from_json(node, YK_BYTE_LEVEL_WORDS_AS_BYTES, &bert));
    yk_json_destroy(node);
    return bert;
}

static void bert_cuts_texts_of_all_scripts_as_hugging_face_does(void **state)
{
    (void)state;
    struct yk_pre_tokenizer *bert = read_bert();
    struct yk_pre_tokenizer_workspace workspace = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const *word = cases[i].words;
        if (!memchr(cases[i].text, 0, cases[i].length)) {
            const struct yk_aligned_segment segment = {.bytes = cases[i].text,
                                                       .length = cases[i].length};
            assert_ok(yk_pre_tokenizer_split(bert, &workspace, &segment, compare_word, &word));
            assert_null(*word);
        }
    }
    yk_pre_tokenizer_workspace_free(&workspace);
    yk_pre_tokenizer_destroy(bert);
}

static yk_status add_length(void *argument, const struct yk_aligned_segment *word)
{
    yk_text_addf(argument, "%zu ", word->length);
    return YK_OK;
}

static void to_bert_a_zero_is_a_part_of_a_word(void **state)
{
    (void)state;
    struct yk_pre_tokenizer *bert = read_bert();
    struct yk_pre_tokenizer_workspace workspace = {0};
    struct yk_text lengths = {0};
    /* BertPreTokenizer().pre_tokenize_str("a\0b c") has the words "a\0b" and "c". */
    const struct yk_aligned_segment segment = {.bytes = "a\0b c", .length = 5};
    assert_ok(yk_pre_tokenizer_split(bert, &workspace, &segment, add_length, &lengths));
    yk_pre_tokenizer_workspace_free(&workspace);
    assert_string_equal(yk_text_chars(&lengths), "3 1 ");
    yk_text_free(&lengths);
    yk_pre_tokenizer_destroy(bert);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bert_cuts_texts_of_all_scripts_as_hugging_face_does),
        cmocka_unit_test(to_bert_a_zero_is_a_part_of_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
