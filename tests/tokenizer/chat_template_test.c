#include "support/files/word_tokenizer.h"
#include "support/support.h"

#include "tokenizer/chat_template.h"

#include <string.h>

/* [UNK] 0, <|begin_of_text|> 1, <|start_header_id|> 2, <|end_header_id|> 3, <|eot_id|> 4, w0 5 …;
 * the roles are no words of it. What Llama 3's own tokens are, the test of instructions shows. */
static const char *const names[] = {"<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>",
                                    "<|eot_id|>", NULL};

static void messages_follow_their_headers(void **state)
{
    (void)state;
    static const int32_t expected[] = {1, 2, 0, 3, 5, 6, 4, 2, 0, 3, 4, 2, 0, 3};
    struct yk_tokenizer *tokenizer = support_word_tokenizer(names, 5, "<|begin_of_text|>");
    struct yk_tokenizer_encoder *encoder = NULL;
    struct yk_chat_template chat = {0};
    struct yk_token_ids ids = {0};
    int64_t first = 0;
    assert_ok(yk_tokenizer_encoder_create(tokenizer, &encoder));
    assert_ok(yk_chat_template_open(tokenizer, encoder, &chat));
    yk_chat_template_append_begin_token(&chat, &ids);
    assert_ok(
        yk_chat_template_encode_message(&chat, YK_CHAT_USER, "\n w0 w1 ", "test", &ids, &first));
    assert_int_equal(first, 4);
    assert_ok(yk_chat_template_encode_message(&chat, YK_CHAT_ASSISTANT, "", "test", &ids, &first));
    assert_int_equal(first, 10);
    yk_chat_template_append_header_tokens(&chat, YK_CHAT_ASSISTANT, &ids);
    assert_int_equal(ids.count, sizeof expected / sizeof expected[0]);
    assert_memory_equal(ids.items, expected, sizeof expected);
    yk_token_ids_free(&ids);
    yk_chat_template_close(&chat);
    yk_chat_template_close(&chat);
    yk_tokenizer_encoder_destroy(encoder);
    yk_tokenizer_destroy(tokenizer);
}

static void roles_have_the_names_of_files(void **state)
{
    (void)state;
    enum yk_chat_role role = YK_CHAT_USER;
    assert_true(yk_chat_template_find_role("system", &role));
    assert_int_equal(role, YK_CHAT_SYSTEM);
    assert_true(yk_chat_template_find_role("assistant", &role));
    assert_int_equal(role, YK_CHAT_ASSISTANT);
    assert_true(yk_chat_template_find_role("user", &role));
    assert_int_equal(role, YK_CHAT_USER);
    assert_false(yk_chat_template_find_role("User", &role));
    assert_false(yk_chat_template_find_role("", &role));
}

/* Each is what Python's str.strip() makes of it. */
static void white_space_is_that_of_python(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *trimmed;
    } cases[] = {
        {"", ""},
        {" \t\r\n\v\f", ""},
        {"a", "a"},
        {" a b ", "a b"},
        {"\x1c\x1d\x1e\x1f"
         "a\x1c",
         "a"},
        {"\xc2\x85\xc2\xa0"
         "a\xc2\xa0",
         "a"}, /* U+0085, U+00A0 */
        {"\xe1\x9a\x80\xe2\x80\x80\xe2\x80\x8a\xe3\x81\x82",
         "\xe3\x81\x82"}, /* U+1680, U+2000, … */
        {"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\x9f\xe3\x80\x80", ""},
        {"\xe2\x80\x8b a", "\xe2\x80\x8b a"}, /* a space of no width is none */
        {"\xef\xbb\xbf", "\xef\xbb\xbf"},     /* nor is a mark of the order of bytes */
        {"\x1b\x08", "\x1b\x08"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t length = 0;
        const char *trimmed = yk_chat_template_trim_white_space(cases[i].text, &length);
        assert_int_equal(length, strlen(cases[i].trimmed));
        assert_memory_equal(trimmed, cases[i].trimmed, length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_follow_their_headers),
        cmocka_unit_test(roles_have_the_names_of_files),
        cmocka_unit_test(white_space_is_that_of_python),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
