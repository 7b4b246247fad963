#include "support/support.h"

#include "base/json_node.h"
#include "tokenizer/chat/chat_conversation.h"

#include <string.h>

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
        const char *trimmed =
            yk_chat_conversation_trim_white_space(cases[i].text, strlen(cases[i].text), &length);
        assert_int_equal(length, strlen(cases[i].trimmed));
        assert_memory_equal(trimmed, cases[i].trimmed, length);
    }
}

static void append(struct yk_chat_conversation *conversation, const char *message)
{
    struct yk_json *root = NULL;
    assert_ok(yk_json_parse(message, strlen(message), &root));
    assert_ok(yk_chat_conversation_append(conversation, root));
    yk_json_destroy(root);
}

/* As transformers.utils.chat_template_utils passes messages on. */
static void messages_are_what_transformers_passes_to_a_template(void **state)
{
    (void)state;
    static const struct {
        const char *message;
        const char *passed;
    } cases[] = {
        {"{\"role\": \"a\", \"content\": null, \"x\": [1]}", "{\"role\": \"a\", \"x\": [1]}"},
        {"{\"role\": \"a\", \"reasoning\": \"r\"}",
         "{\"thinking\": \"r\", \"role\": \"a\", \"reasoning\": \"r\", \"reasoning_content\": "
         "\"r\"}"},
        {"{\"role\": \"a\", \"reasoning_content\": \"r\", \"thinking\": \"t\"}",
         "{\"thinking\": \"t\", \"role\": \"a\", \"reasoning_content\": \"r\"}"},
        {"{\"thinking\": \"t\", \"role\": \"a\", \"reasoning_content\": null}",
         "{\"thinking\": \"t\", \"role\": \"a\", \"reasoning_content\": \"t\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct yk_chat_conversation conversation = {0};
        struct yk_json *expected = NULL;
        struct yk_text given_text = {0};
        struct yk_text expected_text = {0};
        append(&conversation, cases[i].message);
        assert_ok(yk_json_parse(cases[i].passed, strlen(cases[i].passed), &expected));
        yk_json_node_append_text(yk_json_array_at(conversation.messages, 0), &given_text);
        yk_json_node_append_text(expected, &expected_text);
        assert_string_equal(yk_text_chars(&given_text), yk_text_chars(&expected_text));
        yk_text_free(&given_text);
        yk_text_free(&expected_text);
        yk_json_destroy(expected);
        yk_chat_conversation_free(&conversation);
    }
}

static void an_answer_says_something_by_words_calls_or_thoughts(void **state)
{
    (void)state;
    static const struct {
        const char *message;
        bool is_empty;
    } cases[] = {
        {"{\"role\": \"assistant\", \"content\": \" x \"}", false},
        {"{\"role\": \"assistant\", \"content\": \" \\n\"}", true},
        {"{\"role\": \"assistant\", \"content\": []}", true},
        {"{\"role\": \"assistant\", \"content\": [{}]}", false},
        {"{\"role\": \"assistant\", \"content\": \"\", \"tool_calls\": [{}]}", false},
        {"{\"role\": \"assistant\", \"thinking\": \"x\"}", false},
    };
    struct yk_chat_conversation conversation = {0};
    assert_ok(yk_chat_conversation_append_text(&conversation, "user", ""));
    assert_false(yk_chat_conversation_is_answer(&conversation, 0));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        append(&conversation, cases[i].message);
        const int64_t index = yk_chat_conversation_count(&conversation) - 1;
        assert_true(yk_chat_conversation_is_answer(&conversation, index));
        assert_int_equal(yk_chat_conversation_is_empty_answer(&conversation, index),
                         cases[i].is_empty);
    }
    yk_chat_conversation_free(&conversation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_space_is_that_of_python),
        cmocka_unit_test(messages_are_what_transformers_passes_to_a_template),
        cmocka_unit_test(an_answer_says_something_by_words_calls_or_thoughts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
