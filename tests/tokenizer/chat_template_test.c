#include "support/files/scratch.h"
#include "support/files/word_tokenizer.h"
#include "support/support.h"

#include "tokenizer/chat/chat_template.h"

#include <string.h>

static const char *const names[] = {"<s>", "</s>", NULL};
static const char *const llama3_names[] = {"<|begin_of_text|>", "<|start_header_id|>",
                                           "<|end_header_id|>", "<|eot_id|>", NULL};

/* Writes a tokenizer of words into the folder of the test and opens it with the files beside it. */
static struct yk_tokenizer *open_with_files(const char *const *tokens)
{
    struct yk_tokenizer *words = support_word_tokenizer(tokens, 2, NULL);
    struct yk_tokenizer *tokenizer = NULL;
    struct yk_text text = {0};
    yk_tokenizer_append_file_contents(words, &text);
    (void)support_scratch_write("tokenizer.json", yk_text_chars(&text), text.length);
    yk_text_free(&text);
    yk_tokenizer_destroy(words);
    assert_ok(yk_tokenizer_open(support_scratch_folder(), &tokenizer));
    return tokenizer;
}

static void assert_renders(const struct yk_tokenizer *tokenizer,
                           const struct yk_chat_conversation *conversation, bool prompt,
                           const char *expected)
{
    struct yk_chat_template *chat = NULL;
    struct yk_jinja_output output = {0};
    const struct yk_chat_template_range range = {
        .messages = yk_chat_conversation_count(conversation), .prompt = prompt};
    assert_ok(yk_chat_template_open(tokenizer, NULL, &chat));
    assert_ok(yk_chat_template_render(chat, conversation, range, &output));
    assert_string_equal(yk_text_chars(&output.text), expected);
    yk_jinja_output_free(&output);
    yk_chat_template_close(chat);
}

static struct yk_chat_conversation greet(void)
{
    struct yk_chat_conversation conversation = {0};
    assert_ok(yk_chat_conversation_append_text(&conversation, "user", "\n w0 w1 "));
    return conversation;
}

static void special_tokens_of_llama_3_are_enough(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer = open_with_files(llama3_names);
    struct yk_chat_conversation conversation = greet();
    assert_false(yk_chat_template_is_in_files(tokenizer));
    assert_renders(tokenizer, &conversation, true,
                   "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nw0 w1<|eot_id|>"
                   "<|start_header_id|>assistant<|end_header_id|>\n\n");
    yk_chat_conversation_free(&conversation);
    yk_tokenizer_destroy(tokenizer);
}

static void a_missing_template_is_refused(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer = open_with_files(names);
    struct yk_chat_template *chat = NULL;
    assert_fails(
        yk_chat_template_open(tokenizer, NULL, &chat), YK_ERROR_INPUT,
        "the model has no chat template: neither is there a chat_template.jinja beside its "
        "tokenizer nor a \"chat_template\" in its tokenizer_config.json; name one by "
        "--chat-template FILE");
    yk_tokenizer_destroy(tokenizer);
}

static void a_file_goes_before_the_config(void **state)
{
    (void)state;
    struct yk_chat_conversation conversation = greet();
    (void)support_scratch_write_text("tokenizer_config.json",
                                     "{\"chat_template\": \"config\", \"eos_token\": \"<e>\"}");
    struct yk_tokenizer *tokenizer = open_with_files(names);
    assert_true(yk_chat_template_is_in_files(tokenizer));
    assert_renders(tokenizer, &conversation, false, "config");
    yk_tokenizer_destroy(tokenizer);
    (void)support_scratch_write_text("chat_template.jinja", "file{{ eos_token }}");
    tokenizer = open_with_files(names);
    assert_renders(tokenizer, &conversation, false, "file<e>");
    assert_ok(yk_tokenizer_read_chat_template(
        tokenizer, support_scratch_write_text("other.jinja", "other{{ bos_token }}")));
    assert_renders(tokenizer, &conversation, false, "other");
    yk_chat_conversation_free(&conversation);
    yk_tokenizer_destroy(tokenizer);
}

/* Named templates are in files of a folder, or in a list; the list is also how they are kept. */
static void tools_have_a_template_of_their_own(void **state)
{
    (void)state;
    static const char list[] = "{\"chat_template\": [{\"name\": \"default\", \"template\": "
                               "\"plain\"}, {\"name\": \"tool_use\", \"template\": \"tools\"}]}";
    static const char tools[] = "[{}]";
    struct yk_chat_conversation conversation = greet();
    struct yk_json *root = NULL;
    assert_ok(yk_json_parse(tools, strlen(tools), &root));
    for (int i = 0; i < 2; i++) {
        if (i == 0) {
            (void)support_scratch_write_text("tokenizer_config.json", list);
        } else {
            (void)support_scratch_write_text("tokenizer_config.json", "{\"bos_token\": \"<s>\"}");
            (void)support_scratch_write_text("chat_template.jinja", "plain");
            (void)support_scratch_write_text("additional_chat_templates/tool_use.jinja", "tools");
        }
        struct yk_tokenizer *tokenizer = open_with_files(names);
        assert_renders(tokenizer, &conversation, false, "plain");
        assert_ok(yk_chat_conversation_set(&conversation.tools, root));
        assert_renders(tokenizer, &conversation, false, "tools");
        yk_json_destroy(conversation.tools);
        conversation.tools = NULL;
        yk_tokenizer_destroy(tokenizer);
    }
    yk_json_destroy(root);
    yk_chat_conversation_free(&conversation);
}

static void a_broken_template_for_tools_only_matters_with_tools(void **state)
{
    (void)state;
    static const char tools[] = "[{}]";
    struct yk_chat_conversation conversation = greet();
    struct yk_chat_template *chat = NULL;
    struct yk_jinja_output output = {0};
    struct yk_json *root = NULL;
    (void)support_scratch_write_text(
        "tokenizer_config.json",
        "{\"chat_template\": [{\"name\": \"tool_use\", \"template\": "
        "\"{% if %}\"}, {\"name\": \"default\", \"template\": \"plain\"}]}");
    struct yk_tokenizer *tokenizer = open_with_files(names);
    assert_renders(tokenizer, &conversation, false, "plain");
    assert_ok(yk_json_parse(tools, strlen(tools), &root));
    assert_ok(yk_chat_conversation_set(&conversation.tools, root));
    assert_ok(yk_chat_template_open(tokenizer, NULL, &chat));
    assert_int_equal(yk_chat_template_render(chat, &conversation,
                                             (struct yk_chat_template_range){.messages = 1},
                                             &output),
                     YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "tokenizer_config.json: line 1: "));
    yk_chat_template_close(chat);
    yk_json_destroy(root);
    yk_chat_conversation_free(&conversation);
    yk_tokenizer_destroy(tokenizer);
}

static void special_tokens_come_from_the_files_or_the_tokenizer(void **state)
{
    (void)state;
    struct yk_chat_conversation conversation = greet();
    (void)support_scratch_write_text("chat_template.jinja",
                                     "{{ bos_token }} {{ eos_token }} {{ image_token }}");
    struct yk_tokenizer *tokenizer = open_with_files(names);
    assert_renders(tokenizer, &conversation, false, "<s> </s> ");
    yk_tokenizer_destroy(tokenizer);
    (void)support_scratch_write_text("special_tokens_map.json", "{\"bos_token\": \"<m>\"}");
    (void)support_scratch_write_text("tokenizer_config.json",
                                     "{\"bos_token\": {\"content\": \"<b>\"}, \"eos_token\": null, "
                                     "\"image_token\": \"<i>\"}");
    tokenizer = open_with_files(names);
    assert_renders(tokenizer, &conversation, false, "<m>  <i>");
    yk_tokenizer_destroy(tokenizer);
    (void)support_scratch_write_text(
        "tokenizer_config.json",
        "{\"bos_token\": {\"content\": \"<b>\"}, \"added_tokens_decoder\": {}}");
    tokenizer = open_with_files(names);
    assert_renders(tokenizer, &conversation, false, "<b>  ");
    yk_tokenizer_destroy(tokenizer);
    yk_chat_conversation_free(&conversation);
}

static void broken_files_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        const char *message;
    } cases[] = {
        {"{", "tokenizer_config.json: line 1, column 1: broken JSON: "},
        {"[]", "tokenizer_config.json: it must be an object, not a list"},
        {"{\"added_tokens_decoder\": [], \"chat_template\": \"x\"}",
         "tokenizer_config.json: \"added_tokens_decoder\" must be an object, not a list"},
        {"{\"chat_template\": 7}",
         "tokenizer_config.json: a chat template must be a string, not a number"},
        {"{\"chat_template\": []}",
         "tokenizer_config.json: none of its chat templates is called \"default\"; "},
        {"{\"chat_template\": \"{% if %}\"}", "tokenizer_config.json: line 1: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct yk_chat_template *chat = NULL;
        (void)support_scratch_write_text("tokenizer_config.json", cases[i].config);
        struct yk_tokenizer *tokenizer = open_with_files(names); /* other uses need no template */
        assert_int_equal(yk_chat_template_open(tokenizer, NULL, &chat), YK_ERROR_INPUT);
        if (!strstr(yk_status_message(), cases[i].message)) {
            fail_msg("\"%s\" does not contain \"%s\"", yk_status_message(), cases[i].message);
        }
        yk_tokenizer_destroy(tokenizer);
    }
}

static void variables_are_json_or_strings(void **state)
{
    (void)state;
    struct yk_json *object = NULL;
    bool flag = true;
    double number = 0;
    assert_ok(yk_chat_template_parse_variables("a=false,b=x y,c=-2.5,d=\"7\",e=", &object));
    assert_true(yk_json_boolean_value(yk_json_get_member(object, "a"), &flag) && !flag);
    assert_string_equal(yk_json_string_value(yk_json_get_member(object, "b")), "x y");
    assert_true(yk_json_number_value(yk_json_get_member(object, "c"), &number) && number == -2.5);
    assert_string_equal(yk_json_string_value(yk_json_get_member(object, "d")), "7");
    assert_string_equal(yk_json_string_value(yk_json_get_member(object, "e")), "");
    yk_json_destroy(object);
    assert_ok(yk_chat_template_parse_variables(" {\"a\": [1, 2]}", &object));
    assert_int_equal(yk_json_array_count(yk_json_get_member(object, "a")), 2);
    yk_json_destroy(object);
    assert_fails(yk_chat_template_parse_variables("a", &object), YK_ERROR_USAGE,
                 "\"a\" is neither a JSON object nor a name and a value, such as "
                 "enable_thinking=false");
    assert_int_equal(yk_chat_template_parse_variables("{", &object), YK_ERROR_USAGE);
    assert_fails(yk_chat_template_parse_variables("a=1,messages=2", &object), YK_ERROR_USAGE,
                 "\"messages\" cannot be set; it follows from the conversation");
    assert_fails(yk_chat_template_parse_variables("{\"tools\": 5}", &object), YK_ERROR_USAGE,
                 "\"tools\" must be a list, not a number");
    assert_fails(yk_chat_template_parse_variables("documents={}", &object), YK_ERROR_USAGE,
                 "\"documents\" must be a list, not an object");
    assert_ok(yk_chat_template_parse_variables("tools=null", &object)); /* Python's None */
    yk_json_destroy(object);
    assert_ok(
        yk_chat_template_parse_variables("a=[1, \"],\\\",\"],b={\"c\": [2, 3]},d=4", &object));
    assert_int_equal(yk_json_array_count(yk_json_get_member(object, "a")), 2);
    assert_int_equal(yk_json_array_count(yk_json_get_member(yk_json_get_member(object, "b"), "c")),
                     2);
    assert_true(yk_json_number_value(yk_json_get_member(object, "d"), &number) && number == 4);
    yk_json_destroy(object);
}

#define IN_SCRATCH(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(special_tokens_of_llama_3_are_enough),
        IN_SCRATCH(a_missing_template_is_refused),
        IN_SCRATCH(a_file_goes_before_the_config),
        IN_SCRATCH(tools_have_a_template_of_their_own),
        IN_SCRATCH(a_broken_template_for_tools_only_matters_with_tools),
        IN_SCRATCH(special_tokens_come_from_the_files_or_the_tokenizer),
        IN_SCRATCH(broken_files_are_named),
        cmocka_unit_test(variables_are_json_or_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
