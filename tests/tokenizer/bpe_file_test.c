#include "support/support.h"

#include "tokenizer/formats/bpe_file.h"
#include "tokenizer/tokenizer_encoder.h"

#include <string.h>

static void learn(const struct yk_bpe_file_preset *style, struct yk_text *out)
{
    static const char *const words[] = {"yoke", " yoke", " \"quoted\"", " back\\slash", "\n"};
    struct yk_word_counts *counts = NULL;
    struct yk_bpe_trainer_result result = {0};
    assert_ok(yk_word_counts_create(&counts));
    for (int i = 0; i < 20; i++) {
        const char *word = words[i % 5];
        assert_ok(yk_word_counts_add(counts, word, strlen(word)));
    }
    const struct yk_bpe_trainer_options lesson = {
        .words = counts,
        .specials = style->specials,
        .special_count = style->special_count,
        .token_count = 300,
    };
    assert_ok(yk_bpe_trainer_train(&lesson, &result));
    yk_bpe_file_append_contents(&result, style, out);
    assert_ok(yk_text_status(out));
    yk_bpe_trainer_result_free(&result);
    yk_word_counts_destroy(counts);
}

/* The names of the tokens that frame a text that has none. */
static void assert_frame(const char *style_name, const char *before, const char *behind)
{
    struct yk_text file = {0};
    struct yk_tokenizer *tokenizer = NULL;
    struct yk_tokenizer_encoder *encoder = NULL;
    struct yk_token_ids ids = {0};
    learn(yk_bpe_file_find_preset(style_name), &file);
    assert_ok(yk_tokenizer_parse(file.bytes, file.length, "learned", &tokenizer));
    assert_ok(yk_tokenizer_encoder_create(tokenizer, &encoder));
    assert_ok(
        yk_tokenizer_encoder_encode(encoder, " yoke", 5, "text", YK_ADD_SPECIAL_TOKENS_YES, &ids));
    int64_t at = 0;
    if (before) {
        assert_int_equal(ids.items[at++], yk_tokenizer_find_token_id(tokenizer, before));
    }
    assert_int_equal(ids.items[at++], yk_tokenizer_find_token_id(tokenizer, "\xc4\xa0yoke"));
    if (behind) {
        assert_int_equal(ids.items[at++], yk_tokenizer_find_token_id(tokenizer, behind));
    }
    assert_int_equal(ids.count, at);
    yk_token_ids_free(&ids);
    yk_tokenizer_encoder_destroy(encoder);
    yk_tokenizer_destroy(tokenizer);
    yk_text_free(&file);
}

static void each_style_frames_a_text_in_its_way(void **state)
{
    (void)state;
    assert_frame("pairs", "<s>", "</s>");
    assert_frame("llama3", "<|begin_of_text|>", NULL);
    assert_frame("bert", "[CLS]", "[SEP]");
    assert_frame("none", NULL, NULL);
}

static void a_text_comes_back_from_its_tokens(void **state)
{
    (void)state;
    static const char text[] =
        "\xed\x95\x9c yoke \"quoted\"\n back\\slash \x01\xf0\x9f\x98\x80 <s>";
    for (size_t i = 0; yk_bpe_file_preset_at(i); i++) {
        struct yk_text file = {0};
        struct yk_text back = {0};
        struct yk_tokenizer *tokenizer = NULL;
        struct yk_tokenizer_encoder *encoder = NULL;
        struct yk_token_ids ids = {0};
        learn(yk_bpe_file_preset_at(i), &file);
        assert_ok(yk_tokenizer_parse(file.bytes, file.length, "learned", &tokenizer));
        assert_ok(yk_tokenizer_encoder_create(tokenizer, &encoder));
        assert_ok(yk_tokenizer_encoder_encode(encoder, text, strlen(text), "text",
                                              YK_ADD_SPECIAL_TOKENS_NO, &ids));
        assert_ok(yk_tokenizer_decode(tokenizer, ids.items, ids.count, false, &back));
        assert_string_equal(yk_text_chars(&back), text);
        yk_token_ids_free(&ids);
        yk_tokenizer_encoder_destroy(encoder);
        yk_tokenizer_destroy(tokenizer);
        yk_text_free(&back);
        yk_text_free(&file);
    }
}

static void special_tokens_have_the_first_ids_and_their_roles(void **state)
{
    (void)state;
    struct yk_text file = {0};
    struct yk_tokenizer *tokenizer = NULL;
    learn(yk_bpe_file_find_preset("llama3"), &file);
    assert_ok(yk_tokenizer_parse(file.bytes, file.length, "learned", &tokenizer));
    /* 6, 256, and 22 merges that make each word one token: 3 and 1, 8, 10. */
    assert_int_equal(yk_tokenizer_vocabulary_size(tokenizer), 284);
    assert_int_equal(yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_BEGIN), 0);
    assert_int_equal(yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_END), 1);
    assert_int_equal(yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_PAD), 5);
    assert_int_equal(yk_tokenizer_find_token_id(tokenizer, "!"), 6);
    yk_tokenizer_destroy(tokenizer);
    yk_text_free(&file);
}

static void odd_names_of_special_tokens_are_escaped(void **state)
{
    (void)state;
    static const char *const names[] = {"a \"b\"\\\n\x1f"};
    struct yk_bpe_file_preset style = *yk_bpe_file_preset_at(0);
    struct yk_text file = {0};
    struct yk_tokenizer *tokenizer = NULL;
    style.specials = names;
    style.special_count = 1;
    style.prefix_token = names[0];
    style.suffix_token = NULL;
    learn(&style, &file);
    assert_non_null(strstr(file.bytes, "\"content\": \"a \\\"b\\\"\\\\\\u000a\\u001f\""));
    assert_ok(yk_tokenizer_parse(file.bytes, file.length, "learned", &tokenizer));
    assert_int_equal(yk_tokenizer_find_token_id(tokenizer, names[0]), 0);
    yk_tokenizer_destroy(tokenizer);
    yk_text_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_style_frames_a_text_in_its_way),
        cmocka_unit_test(a_text_comes_back_from_its_tokens),
        cmocka_unit_test(special_tokens_have_the_first_ids_and_their_roles),
        cmocka_unit_test(odd_names_of_special_tokens_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
