#include "support/files/recorded.h"
#include "support/files/word_tokenizer.h"
#include "support/support.h"

#include "data/instructions.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* [UNK] 0, <s> 1, </s> 2, <pad> 3, w0 4, w1 5 …; texts begin with <s>. */
static const char *const names[] = {"<s>", "</s>", "<pad>", NULL};

static struct yk_tokenizer *words;

static int open_words(void **state)
{
    (void)state;
    words = support_word_tokenizer(names, 20, "<s>");
    return 0;
}

static int close_words(void **state)
{
    (void)state;
    yk_tokenizer_destroy(words);
    return 0;
}

static struct yk_instructions_request plain_request(void)
{
    return (struct yk_instructions_request){.path = "a.jsonl", .tokenizer = words, .longest = 8};
}

static struct yk_instructions *read_with(const char *text,
                                         const struct yk_instructions_request *request)
{
    struct yk_instructions *instructions = NULL;
    assert_ok(yk_instructions_parse(text, strlen(text), request, &instructions));
    return instructions;
}

static struct yk_instructions *read_text(const char *text)
{
    const struct yk_instructions_request request = plain_request();
    return read_with(text, &request);
}

/* A list of numbers as JSON wrote it. */
static void assert_numbers(const struct yk_json *list, size_t index, int64_t expected)
{
    double value = -1;
    assert_true(yk_json_number_value(yk_json_array_at(list, index), &value));
    assert_int_equal(expected, (int64_t)value);
}

static void tokens_and_losses_are_those_of_hugging_face(void **state)
{
    (void)state;
    struct yk_json *root = recorded_read("data/fixtures/instructions.json");
    const char *file = yk_json_string_value(recorded_get(root, "tokenizer"));
    const struct yk_json *lines = recorded_get(root, "lines");
    struct yk_tokenizer *tokenizer = NULL;
    struct yk_text text = {0};
    assert_ok(yk_tokenizer_parse(file, strlen(file), "recorded", &tokenizer));
    for (size_t i = 0; i < yk_json_array_count(lines); i++) {
        yk_text_addf(&text, "%s%s\n", i % 2 ? "\n" : "",
                     yk_json_string_value(recorded_get(yk_json_array_at(lines, i), "text")));
    }
    struct yk_instructions_request request = plain_request();
    request.tokenizer = tokenizer;
    request.longest = 1000;
    struct yk_instructions *instructions = read_with(yk_text_chars(&text), &request);
    assert_true(yk_json_array_count(lines) > 10);
    assert_int_equal(instructions->count, yk_json_array_count(lines));
    for (size_t i = 0; i < yk_json_array_count(lines); i++) {
        const struct yk_instruction given = yk_instructions_at(instructions, (int64_t)i);
        const struct yk_json *ids = recorded_get(yk_json_array_at(lines, i), "ids");
        const struct yk_json *mask = recorded_get(yk_json_array_at(lines, i), "mask");
        assert_int_equal(given.count, yk_json_array_count(ids));
        for (size_t t = 0; t < yk_json_array_count(ids); t++) {
            assert_numbers(ids, t, given.tokens[t]);
            assert_numbers(mask, t, given.has_loss[t]);
        }
    }
    yk_instructions_close(instructions);
    yk_tokenizer_destroy(tokenizer);
    yk_text_free(&text);
    yk_json_destroy(root);
}

static void loss_is_on_the_completion_and_its_end(void **state)
{
    (void)state;
    static const int32_t tokens[] = {1, 4, 5, 6, 7, 2};
    static const bool bears[] = {false, false, false, true, true, true};
    struct yk_instructions *instructions =
        read_text("  \n{\"completion\": \"w2 w3\", \"prompt\": \"w0 w1\", \"other\": [1]}\r\n\t\n");
    const struct yk_instruction given = yk_instructions_at(instructions, 0);
    assert_int_equal(instructions->count, 1);
    assert_int_equal(given.count, 6);
    assert_int_equal(given.line, 2);
    assert_memory_equal(given.tokens, tokens, sizeof tokens);
    assert_memory_equal(given.has_loss, bears, sizeof bears);
    assert_int_equal(instructions->padding_id, 3);
    yk_instructions_close(instructions);
}

/* Without a begin token and without a prompt, nothing is there to tell the first token from. */
static void the_first_token_bears_no_loss(void **state)
{
    (void)state;
    static const bool bears[] = {false, true, true};
    struct yk_tokenizer *bare = support_word_tokenizer(names, 20, NULL);
    struct yk_instructions_request request = plain_request();
    request.tokenizer = bare;
    struct yk_instructions *instructions =
        read_with("{\"completion\": \"w2 w3\", \"prompt\": \"\"}", &request);
    const struct yk_instruction given = yk_instructions_at(instructions, 0);
    assert_int_equal(given.count, 3);
    assert_memory_equal(given.has_loss, bears, sizeof bears);
    yk_instructions_close(instructions);
    yk_tokenizer_destroy(bare);
}

/* A text of its own bears loss from its first token to its end. */
static void a_text_bears_loss_as_a_whole(void **state)
{
    (void)state;
    static const int32_t tokens[] = {1, 6, 7, 2};
    static const bool bears[] = {false, true, true, true};
    struct yk_instructions *instructions = read_text("{\"text\": \"w2 w3\"}");
    const struct yk_instruction given = yk_instructions_at(instructions, 0);
    assert_int_equal(given.count, 4);
    assert_memory_equal(given.tokens, tokens, sizeof tokens);
    assert_memory_equal(given.has_loss, bears, sizeof bears);
    yk_instructions_close(instructions);
}

#define GOOD "{\"prompt\": \"w0\", \"completion\": \"w1\"}\n"

static void a_byte_order_mark_begins_the_file_and_no_line(void **state)
{
    (void)state;
    struct yk_instructions *marked = read_text("\xef\xbb\xbf" GOOD GOOD);
    struct yk_instructions *bare = read_text(GOOD GOOD);
    const struct yk_instruction first = yk_instructions_at(marked, 0);
    const struct yk_instruction expected = yk_instructions_at(bare, 0);
    assert_int_equal(marked->count, 2);
    assert_int_equal(first.count, expected.count);
    assert_memory_equal(first.tokens, expected.tokens,
                        (size_t)expected.count * sizeof *expected.tokens);
    yk_instructions_close(marked);
    yk_instructions_close(bare);
    marked = read_text("\xef\xbb\xbf\n" GOOD);
    assert_int_equal(marked->count, 1);
    yk_instructions_close(marked);
}

#define FORMS                                                                                      \
    "\"messages\", \"conversations\", \"prompt\" and \"completion\", \"instruction\" and "         \
    "\"output\", or \"text\""
#define NO_TEMPLATE                                                                                \
    "the model has no chat template: neither is there a chat_template.jinja beside its tokenizer " \
    "nor a \"chat_template\" in its tokenizer_config.json; name one by --chat-template FILE"

static void malformed_lines_are_refused_by_their_number(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *message;
    } cases[] = {
        {"{\"prompt\": \"w0\", \"completion\": }",
         "a.jsonl:3: column 32: broken JSON: unexpected token"},
        {"[1]", "a.jsonl:3: it must be an object with " FORMS},
        {"w0", "a.jsonl:3: it must be an object with " FORMS},
        {"{\"texts\": \"w0\"}", "a.jsonl:3: there must be " FORMS},
        {"{\"text\": [\"w0\"]}", "a.jsonl:3: \"text\" must be a string, not a list"},
        {"{\"prompt\": [], \"completion\": \"w0\"}",
         "a.jsonl:3: \"completion\" must be a list, not a string"},
        {"{\"instruction\": \"w0\", \"output\": \"w1\", \"system\": \"w2\"}",
         "a.jsonl:3: \"system\" has no place in a prompt without a chat template; name one by "
         "--chat-template FILE"},
        {"{\"messages\": [], \"tools\": {}}", "a.jsonl:3: \"tools\" must be a list, not an object"},
        {"{\"messages\": [], \"tools\": \"[\"}",
         "a.jsonl:3: \"tools\": line 1, column 1: broken JSON: ']' expected near end of file"},
        {"{\"messages\": [], \"documents\": 1}",
         "a.jsonl:3: \"documents\" must be a list, not a number"},
        {"{\"messages\": [], \"chat_template_kwargs\": []}",
         "a.jsonl:3: \"chat_template_kwargs\" must be an object, not a list"},
        {"{\"messages\": [], \"chat_template_kwargs\": {\"messages\": []}}",
         "a.jsonl:3: \"chat_template_kwargs\": \"messages\" cannot be set; it follows from the "
         "conversation"},
        {"{\"messages\": [], \"chat_template_kwargs\": {\"tools\": 5}}",
         "a.jsonl:3: \"chat_template_kwargs\": \"tools\" must be a list, not a number"},
        {"{\"conversations\": [{\"from\": \"robot\", \"value\": \"w0\"}]}",
         "a.jsonl:3: message 1: \"from\" is \"robot\"; it must be \"system\", \"human\", \"gpt\", "
         "\"tool\", \"function_call\" or \"observation\""},
        {"{\"conversations\": [{\"from\": \"human\"}]}",
         "a.jsonl:3: message 1: \"value\" is missing"},
        {"{\"prompt\": \"w0\"}", "a.jsonl:3: \"completion\" is missing"},
        {"{\"completion\": \"w0\"}", "a.jsonl:3: \"prompt\" is missing"},
        {"{\"prompt\": 1, \"completion\": \"w0\"}",
         "a.jsonl:3: \"prompt\" must be a string, not a number"},
        {"{\"instruction\": \"w0\"}", "a.jsonl:3: \"output\" is missing"},
        {"{\"instruction\": \"w0\", \"output\": \"w1\", \"input\": {}}",
         "a.jsonl:3: \"input\" must be a string, not an object"},
        {"{\"messages\": \"w0\"}", "a.jsonl:3: \"messages\" must be a list, not a string"},
        {"{\"messages\": []}", "a.jsonl:3: " NO_TEMPLATE},
        {"{\"prompt\": \"w0\\u0000\", \"completion\": \"w1\"}",
         "a.jsonl:3: column 21: \\u0000 is not allowed in a string"},
        {"{\"prompt\": \"w0\", \"prompt\": \"w1\"}", "a.jsonl:3: column 25: duplicate object key"},
        {"{\n \"prompt\": \"w0\",\n \"completion\": \"w1\"\n}",
         "a.jsonl:3: column 1: broken JSON: string or '}' expected near end of file; the object "
         "does "
         "not end in its line, but each line must be one object of its own"},
        {"\xef\xbb\xbf{\"prompt\": \"w0\", \"completion\": \"w1\"}",
         "a.jsonl:3: the line begins with a byte order mark (U+FEFF), which only the beginning of "
         "a file may have; remove it"},
        {"\xff", "a.jsonl:3:1: byte 0xff is not UTF-8; convert the text first"},
    };
    struct yk_instructions_request request = plain_request();
    request.skip_faulty = true; /* changes nothing for these */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct yk_instructions *instructions = NULL;
        struct yk_text text = {0};
        yk_text_addf(&text, GOOD "\n%s\n" GOOD, cases[i].line);
        assert_fails(
            yk_instructions_parse(yk_text_chars(&text), text.length, &request, &instructions),
            YK_ERROR_INPUT, cases[i].message);
        assert_null(instructions);
        yk_text_free(&text);
    }
}

static void malformed_messages_are_refused_by_their_number(void **state)
{
    (void)state;
    static const char *const chat_names[] = {"<|begin_of_text|>", "<|start_header_id|>",
                                             "<|end_header_id|>", "<|eot_id|>", NULL};
    static const struct {
        const char *messages;
        const char *message;
    } cases[] = {
        {"{\"role\": \"user\"}", "a.jsonl:1: message 1: \"content\" is missing"},
        {"{\"role\": \"user\", \"content\": \"\"}, 7",
         "a.jsonl:1: message 2: it must be an object, not a number"},
        {"{\"content\": \"\"}", "a.jsonl:1: message 1: \"role\" is missing"},
        {"{\"role\": \"user\", \"content\": null}", "a.jsonl:1: message 1: \"content\" is missing"},
        {"{\"role\": \"user\", \"content\": 7}",
         "a.jsonl:1: message 1: \"content\" must be a string or a list, not a number"},
        {"{\"role\": 7, \"content\": \"\"}",
         "a.jsonl:1: message 1: \"role\" must be a string, not a number"},
        {"{\"role\": \"tool\", \"content\": \"w0\"}",
         "a.jsonl:1: the chat template of Llama 3: line 4: the template refuses the conversation: "
         "the role of a message must be system, user or assistant, not tool"},
        {"{\"role\": \"user\", \"content\": \"w0\"}",
         "a.jsonl:1: there is no answer to learn, or an empty one; write it, or leave such lines "
         "out by --faulty skip"},
        {"",
         "a.jsonl:1: there is no answer to learn, or an empty one; write it, or leave such lines "
         "out by --faulty skip"},
        {"{\"role\": \"assistant\", \"content\": \" \\n\"}",
         "a.jsonl:1: there is no answer to learn, or an empty one; write it, or leave such lines "
         "out by --faulty skip"},
    };
    struct yk_tokenizer *tokenizer = support_word_tokenizer(chat_names, 4, NULL);
    struct yk_instructions_request request = plain_request();
    request.tokenizer = tokenizer;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct yk_instructions *instructions = NULL;
        struct yk_text text = {0};
        yk_text_addf(&text, "{\"messages\": [%s]}", cases[i].messages);
        assert_fails(
            yk_instructions_parse(yk_text_chars(&text), text.length, &request, &instructions),
            YK_ERROR_INPUT, cases[i].message);
        yk_text_free(&text);
    }
    yk_tokenizer_destroy(tokenizer);
}

static void assert_same(const struct yk_instructions *list, const struct yk_instructions *lines)
{
    assert_int_equal(list->count, lines->count);
    for (int64_t i = 0; i < lines->count; i++) {
        const struct yk_instruction given = yk_instructions_at(list, i);
        const struct yk_instruction expected = yk_instructions_at(lines, i);
        assert_int_equal(given.count, expected.count);
        assert_int_equal(given.line, expected.line);
        assert_memory_equal(given.tokens, expected.tokens,
                            (size_t)expected.count * sizeof *expected.tokens);
        assert_memory_equal(given.has_loss, expected.has_loss,
                            (size_t)expected.count * sizeof *expected.has_loss);
    }
}

/* What stands in strings is no border of an element, nor is what stands in other members. */
static void a_list_gives_what_its_elements_give_as_lines(void **state)
{
    (void)state;
    static const char *const objects[] = {
        "{\"prompt\": \"w0\", \"completion\": \"w1\"}",
        "{\"prompt\": \"w0 ],[ \\\" } w1\", \"completion\": \"w2\\\\\"}",
        "{\"prompt\": \"w3\", \"completion\": \"w4\", \"other\": [[1, {\"a\": \"]\"}], 2]}",
        "{\"instruction\": \"w5\", \"input\": \"w6\", \"output\": \"w7\"}",
        "{\"completion\": \"w8\", \"prompt\": \"\"}",
    };
    enum {
        COUNT = sizeof objects / sizeof objects[0]
    };
    static const char *const between[] = {",", " ,\n\n  ", "\r\n,\t"};
    static const double parts[][2] = {{0, 0}, {0, 0.5}, {0.5, 1}, {0.2, 0.4}};
    for (size_t b = 0; b < 3; b++) {
        struct yk_text lines = {0};
        struct yk_text list = {0};
        yk_text_add(&list, b == 1 ? "\xef\xbb\xbf \n[ " : "[");
        for (int i = 0; i < COUNT; i++) {
            yk_text_addf(&lines, "%s\n", objects[i]);
            yk_text_addf(&list, "%s%s", i > 0 ? between[b] : "", objects[i]);
        }
        yk_text_add(&list, b == 1 ? "\n]\n" : "]");
        for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
            struct yk_instructions_request request = plain_request();
            request.longest = 100;
            request.from = parts[p][0];
            request.until = parts[p][1];
            struct yk_instructions *expected = read_with(yk_text_chars(&lines), &request);
            struct yk_instructions *given = read_with(yk_text_chars(&list), &request);
            assert_same(given, expected);
            yk_instructions_close(given);
            yk_instructions_close(expected);
        }
        yk_text_free(&lines);
        yk_text_free(&list);
    }
}

static void a_conversation_is_a_chat_in_other_words(void **state)
{
    (void)state;
    static const char *const chat_names[] = {"<|begin_of_text|>", "<|start_header_id|>",
                                             "<|end_header_id|>", "<|eot_id|>", NULL};
    struct yk_tokenizer *tokenizer = support_word_tokenizer(chat_names, 4, NULL);
    struct yk_instructions_request request = plain_request();
    request.tokenizer = tokenizer;
    request.longest = 100;
    struct yk_instructions *expected = read_with(
        "{\"messages\": [{\"role\": \"system\", \"content\": \"w0\"}, {\"role\": \"user\", "
        "\"content\": \"w1\"}, {\"role\": \"assistant\", \"content\": \"w2\"}]}",
        &request);
    struct yk_instructions *given = read_with(
        "{\"conversations\": [{\"from\": \"system\", \"value\": \"w0\"}, {\"from\": \"human\", "
        "\"value\": \"w1\"}, {\"from\": \"gpt\", \"value\": \"w2\"}]}",
        &request);
    assert_same(given, expected);
    yk_instructions_close(given);
    yk_instructions_close(expected);
    yk_tokenizer_destroy(tokenizer);
}

#define ONE "{\"prompt\": \"w0\", \"completion\": \"w1\"}"

static void json_that_is_no_instructions_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"[1, 2]", "a.json:1: element 1: it must be an object with " FORMS},
        {"[" ONE ",\n\"w0\"]", "a.json:2: element 2: it must be an object with " FORMS},
        {"[\n" ONE ",\n[]]", "a.json:3: element 2: it must be an object with " FORMS},
        {"[" ONE ", {\"texts\": \"w0\"}]", "a.json:1: element 2: there must be " FORMS},
        {"[" ONE ",\n{\"prompt\": \"w0\"}]", "a.json:2: element 2: \"completion\" is missing"},
        {"[" ONE ",\n{\"prompt\":\n \"w0\",\n \"completion\": }]",
         "a.json:4: element 2: column 16: broken JSON: unexpected token"},
        {"[" ONE ", {\"prompt\": \"w0\", \"completion\": \"\"}]",
         "a.json:1: element 2: there is no answer to learn, or an empty one; write it, or leave "
         "such lines out by --faulty skip"},
        {"[]", "a.json contains no instructions"},
        {"[" ONE, "a.json: line 1, column 37: broken JSON: ']' expected near end of file"},
        {"[" ONE "]\n" ONE, "a.json: line 2, column 1: broken JSON: end of file expected"},
        {"[" ONE ",\n]", "a.json: line 2, column 1: broken JSON: unexpected token"},
        {"[" ONE ",,\n" ONE "]", "a.json: line 1, column 39: broken JSON: unexpected token"},
        {"{\n \"data\": [\n  " ONE "\n ]\n}\n",
         "a.json: one object over several lines is no data to train on: there must be a list of "
         "objects, or one object a line, each with " FORMS
         "; plain text has another name, such as .txt"},
        {"{\"data\": []}", "a.json:1: there must be " FORMS},
    };
    struct yk_instructions_request request = plain_request();
    request.path = "a.json";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct yk_instructions *instructions = NULL;
        assert_fails(
            yk_instructions_parse(cases[i].text, strlen(cases[i].text), &request, &instructions),
            YK_ERROR_INPUT, cases[i].message);
        assert_null(instructions);
    }
}

/* A document may be 64 MiB long; data may be longer. Here 65 MiB of empty lines follow a record. */
static void data_may_be_longer_than_a_document(void **state)
{
    (void)state;
    enum {
        LENGTH = 65 << 20
    };
    char path[] = "/tmp/yoke-instructions-XXXXXX.jsonl";
    const int descriptor = mkstemps(path, 6);
    assert_true(descriptor >= 0);
    char *lines = malloc(LENGTH);
    assert_non_null(lines);
    memset(lines, '\n', LENGTH);
    memcpy(lines, ONE, sizeof ONE - 1);
    assert_int_equal(write(descriptor, lines, LENGTH), LENGTH);
    assert_int_equal(close(descriptor), 0);
    free(lines);
    struct yk_instructions_request request = plain_request();
    struct yk_instructions *instructions = NULL;
    request.path = path;
    assert_ok(yk_instructions_open(&request, &instructions));
    assert_int_equal(instructions->count, 1);
    yk_instructions_close(instructions);
    assert_int_equal(unlink(path), 0);
}

static void a_missing_template_or_end_token_is_named(void **state)
{
    (void)state;
    static const char *const chat_names[] = {"<|begin_of_text|>", "<|start_header_id|>",
                                             "<|end_header_id|>", NULL};
    static const char text[] = "{\"messages\": [{\"role\": \"assistant\", \"content\": \"w0\"}]}";
    static const char prompt[] = GOOD;
    struct yk_tokenizer *tokenizer = support_word_tokenizer(chat_names, 4, NULL);
    struct yk_instructions_request request = plain_request();
    struct yk_instructions *instructions = NULL;
    request.tokenizer = tokenizer;
    assert_fails(yk_instructions_parse(text, strlen(text), &request, &instructions), YK_ERROR_INPUT,
                 "a.jsonl:1: " NO_TEMPLATE);
    assert_fails(yk_instructions_parse(prompt, strlen(prompt), &request, &instructions),
                 YK_ERROR_INPUT,
                 "a.jsonl:1: the tokenizer has no token that ends a text, such as "
                 "\"<|end_of_text|>\"; use one that has");
    yk_tokenizer_destroy(tokenizer);
}

/* <s>, the words and </s>: 8 tokens are allowed. */
static const char mixed[] = "{\"prompt\": \"w0 w1 w2\", \"completion\": \"w3 w4 w5\"}\n"    /* 8 */
                            "{\"prompt\": \"w0 w1 w2\", \"completion\": \"w3 w4 w5 w6\"}\n" /* 9 */
                            "{\"prompt\": \"w0\", \"completion\": \"\"}\n"
                            "{\"prompt\": \"w0 w1 w2 w3 w4 w5\", \"completion\": \"w6\"}\n" /* 9 */
                            "{\"prompt\": \"w0 w1 w2 w3 w4 w5 w6\", \"completion\": \"w6\"}\n";

static void faulty_lines_are_refused(void **state)
{
    (void)state;
    const struct yk_instructions_request request = plain_request();
    static const char empty[] = "\n\n" GOOD "{\"prompt\": \"w0\", \"completion\": \"\"}\n";
    struct yk_instructions *instructions = NULL;
    assert_fails(yk_instructions_parse(mixed, strlen(mixed), &request, &instructions),
                 YK_ERROR_INPUT,
                 "a.jsonl:2: 9 tokens, but there may be 8 at most; shorten it, or leave such lines "
                 "out by --faulty skip");
    assert_fails(yk_instructions_parse(empty, strlen(empty), &request, &instructions),
                 YK_ERROR_INPUT,
                 "a.jsonl:4: there is no answer to learn, or an empty one; write it, or leave such "
                 "lines out by --faulty skip");
    assert_fails(yk_instructions_parse("\n", 1, &request, &instructions), YK_ERROR_INPUT,
                 "a.jsonl contains no instructions");
    yk_instructions_close(NULL);
}

static void faulty_lines_are_left_out_where_it_is_wished(void **state)
{
    (void)state;
    struct yk_text text = {0};
    struct yk_instructions_request request = plain_request();
    request.skip_faulty = true;
    struct yk_instructions *instructions = read_with(mixed, &request);
    const struct yk_instruction_totals totals = yk_instructions_compute_totals(instructions);
    assert_int_equal(totals.instructions, 1);
    assert_int_equal(totals.skipped, 4);
    assert_int_equal(totals.tokens, 8);
    assert_int_equal(totals.loss_tokens, 4);
    assert_int_equal(totals.longest, 8);
    yk_instructions_describe(instructions, &text);
    assert_string_equal(yk_text_chars(&text),
                        "1 instructions, 8 tokens, 4 with loss, 4 left out, 0 cut off");
    yk_text_free(&text);
    yk_instructions_close(instructions);
}

/* Of the last line nothing that bears loss would be left: <s> and 7 words of the prompt. */
static void long_lines_are_cut_off_where_it_is_wished(void **state)
{
    (void)state;
    static const int32_t second[] = {1, 4, 5, 6, 7, 8, 9, 10};
    static const int32_t third[] = {1, 4, 5, 6, 7, 8, 9, 10};
    static const bool third_bears[] = {false, false, false, false, false, false, false, true};
    struct yk_instructions_request request = plain_request();
    struct yk_instructions *instructions = NULL;
    request.skip_faulty = true;
    request.cut_long = true;
    instructions = read_with(mixed, &request);
    const struct yk_instruction_totals totals = yk_instructions_compute_totals(instructions);
    assert_int_equal(totals.instructions, 3);
    assert_int_equal(totals.skipped, 2);
    assert_int_equal(totals.cut, 2);
    assert_int_equal(totals.loss_tokens, 4 + 4 + 1);
    const struct yk_instruction one = yk_instructions_at(instructions, 1);
    const struct yk_instruction two = yk_instructions_at(instructions, 2);
    assert_int_equal(one.line, 2);
    assert_int_equal(two.line, 4);
    assert_int_equal(one.count, 8);
    assert_int_equal(two.count, 8);
    assert_memory_equal(one.tokens, second, sizeof second);
    assert_memory_equal(two.tokens, third, sizeof third);
    assert_memory_equal(two.has_loss, third_bears, sizeof third_bears);
    yk_instructions_close(instructions);
    request.skip_faulty = false;
    assert_fails(yk_instructions_parse(mixed, strlen(mixed), &request, &instructions),
                 YK_ERROR_INPUT,
                 "a.jsonl:3: there is no answer to learn, or an empty one; write it, or leave such "
                 "lines out by --faulty skip");
    const char *last = strstr(mixed, "{\"prompt\": \"w0 w1 w2 w3 w4 w5 w6\"");
    assert_fails(yk_instructions_parse(last, strlen(last), &request, &instructions), YK_ERROR_INPUT,
                 "a.jsonl:1: 10 tokens, but there may be 8 at most, and no answer is within them; "
                 "shorten it, or leave such lines out by --faulty skip");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_and_losses_are_those_of_hugging_face),
        cmocka_unit_test(loss_is_on_the_completion_and_its_end),
        cmocka_unit_test(the_first_token_bears_no_loss),
        cmocka_unit_test(a_text_bears_loss_as_a_whole),
        cmocka_unit_test(a_byte_order_mark_begins_the_file_and_no_line),
        cmocka_unit_test(malformed_lines_are_refused_by_their_number),
        cmocka_unit_test(malformed_messages_are_refused_by_their_number),
        cmocka_unit_test(a_list_gives_what_its_elements_give_as_lines),
        cmocka_unit_test(a_conversation_is_a_chat_in_other_words),
        cmocka_unit_test(json_that_is_no_instructions_is_refused),
        cmocka_unit_test(data_may_be_longer_than_a_document),
        cmocka_unit_test(a_missing_template_or_end_token_is_named),
        cmocka_unit_test(faulty_lines_are_refused),
        cmocka_unit_test(faulty_lines_are_left_out_where_it_is_wished),
        cmocka_unit_test(long_lines_are_cut_off_where_it_is_wished),
    };
    return cmocka_run_group_tests(tests, open_words, close_words);
}
