/* Conversations as transformers writes them: tests/oracle/make_conversation_fixtures.py records
 * what it makes of each line of data by templates of many kinds. */
#include "support/files/recorded.h"
#include "support/files/scratch.h"
#include "support/support.h"

#include "data/instruction_encoder.h"
#include "data/instructions.h"

#include <string.h>

static struct yk_json *recorded;

static int open_recorded(void **state)
{
    recorded = recorded_read("data/fixtures/conversations.json");
    return support_scratch_make(state);
}

static int close_recorded(void **state)
{
    yk_json_destroy(recorded);
    return support_scratch_drop(state);
}

static const struct yk_json *find_template(const char *name)
{
    const struct yk_json *templates = recorded_get(recorded, "templates");
    for (size_t i = 0; i < yk_json_array_count(templates); i++) {
        const struct yk_json *one = yk_json_array_at(templates, i);
        if (strcmp(yk_json_string_value(recorded_get(one, "name")), name) == 0) {
            return one;
        }
    }
    fail_msg("there is no template \"%s\"", name);
    return NULL;
}

/* A tokenizer in a folder with the files that a model has. */
static struct yk_tokenizer *open_tokenizer(const struct yk_json *template)
{
    struct yk_tokenizer *tokenizer = NULL;
    (void)support_scratch_write_text("tokenizer.json",
                                     yk_json_string_value(recorded_get(recorded, "tokenizer")));
    (void)support_scratch_write_text("tokenizer_config.json",
                                     yk_json_string_value(recorded_get(recorded, "config")));
    (void)support_scratch_write_text("chat_template.jinja",
                                     yk_json_string_value(recorded_get(template, "template")));
    assert_ok(yk_tokenizer_open(support_scratch_folder(), &tokenizer));
    return tokenizer;
}

static int32_t number_at(const struct yk_json *list, size_t index)
{
    double value = -1;
    assert_true(yk_json_number_value(yk_json_array_at(list, index), &value));
    return (int32_t)value;
}

/* Whether the recorded tokens and the marks of loss are those of the encoder. */
static bool has_tokens(const struct yk_json *expected, const struct yk_token_ids *given,
                       bool *is_marked)
{
    const struct yk_json *ids = recorded_get(expected, "ids");
    const struct yk_json *mask = recorded_get(expected, "mask");
    bool same = (size_t)given->count == yk_json_array_count(ids);
    *is_marked = false;
    for (size_t i = 0; same && i < yk_json_array_count(ids); i++) {
        const bool has_loss = number_at(mask, i) == 1;
        const int32_t id = number_at(ids, i);
        same = given->items[i] == (has_loss ? ~id : id);
        *is_marked = *is_marked || has_loss;
    }
    return same;
}

static void check_case(struct yk_instruction_encoder *encoder, const char *line,
                       const struct yk_json *expected, const char *name)
{
    const yk_status status = yk_instruction_encoder_encode(encoder, line, strlen(line));
    if (yk_json_get_member(expected, "refused")) {
        assert_int_equal(status, YK_ERROR_INPUT);
        assert_true(encoder->is_faulty);
        return;
    }
    bool is_marked = false;
    assert_ok(status);
    assert_string_equal(yk_text_chars(&encoder->text),
                        yk_json_string_value(recorded_get(expected, "rendered")));
    if (!has_tokens(expected, &encoder->ids, &is_marked)) {
        fail_msg("%s: the tokens or marks of %s differ", name, line);
    }
    assert_int_equal(encoder->is_faulty, !is_marked);
    assert_int_equal(encoder->is_unmarked, !is_marked);
}

static void texts_tokens_and_masks_are_those_of_transformers(void **state)
{
    (void)state;
    const struct yk_json *lines = recorded_get(recorded, "lines");
    const struct yk_json *templates = recorded_get(recorded, "templates");
    assert_true(yk_json_array_count(templates) >= 5);
    assert_true(yk_json_array_count(lines) >= 20);
    for (size_t t = 0; t < yk_json_array_count(templates); t++) {
        const struct yk_json *one = yk_json_array_at(templates, t);
        const struct yk_json *cases = recorded_get(one, "cases");
        struct yk_tokenizer *tokenizer = open_tokenizer(one);
        struct yk_instruction_encoder encoder = {0};
        assert_ok(yk_instruction_encoder_open(tokenizer, NULL, &encoder));
        assert_int_equal(yk_json_array_count(cases), yk_json_array_count(lines));
        for (size_t i = 0; i < yk_json_array_count(lines); i++) {
            check_case(&encoder, yk_json_string_value(yk_json_array_at(lines, i)),
                       yk_json_array_at(cases, i), yk_json_string_value(recorded_get(one, "name")));
        }
        yk_instruction_encoder_close(&encoder);
        yk_tokenizer_destroy(tokenizer);
    }
}

#define SYSTEM                                                                                     \
    "{\"messages\": [{\"role\": \"system\", \"content\": \"a\"}, {\"role\": \"user\", "            \
    "\"content\": \"b\"}, {\"role\": \"assistant\", \"content\": \"c\"}]}\n"
#define PLAIN                                                                                      \
    "{\"messages\": [{\"role\": \"user\", \"content\": \"b\"}, {\"role\": \"assistant\", "         \
    "\"content\": \"c\"}]}\n"

/* Gemma's template has no turn for the system. */
static void a_conversation_that_the_template_refuses_is_faulty(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer = open_tokenizer(find_template("gemma"));
    struct yk_instructions_request request = {
        .path = "a.jsonl", .tokenizer = tokenizer, .longest = 100};
    struct yk_instructions *instructions = NULL;
    static const char text[] = PLAIN SYSTEM PLAIN;
    assert_int_equal(yk_instructions_parse(text, strlen(text), &request, &instructions),
                     YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "a.jsonl:2: "));
    assert_non_null(strstr(yk_status_message(), "System role not supported"));
    request.skip_faulty = true;
    assert_ok(yk_instructions_parse(text, strlen(text), &request, &instructions));
    assert_int_equal(instructions->count, 2);
    assert_int_equal(instructions->skipped, 1);
    yk_instructions_close(instructions);
    yk_tokenizer_destroy(tokenizer);
}

static void a_mask_that_is_empty_is_named_by_its_line(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer = open_tokenizer(find_template("unmarked"));
    const struct yk_instructions_request request = {
        .path = "a.jsonl", .tokenizer = tokenizer, .longest = 100};
    struct yk_instructions *instructions = NULL;
    static const char text[] = "\n" PLAIN;
    assert_fails(yk_instructions_parse(text, strlen(text), &request, &instructions), YK_ERROR_INPUT,
                 "a.jsonl:2: the chat template writes no token of the assistant's that could be "
                 "learned; correct the template and, if it has some, its {% generation %} blocks, "
                 "or leave such lines out by --faulty skip");
    yk_tokenizer_destroy(tokenizer);
}

/* Appends a conversation of so many questions, each with an answer. */
static void add_long_conversation(int questions, struct yk_text *out)
{
    yk_text_add(out, "{\"messages\": [");
    for (int i = 0; i < questions; i++) {
        yk_text_addf(out,
                     "%s{\"role\": \"user\", \"content\": \"b\"}, "
                     "{\"role\": \"assistant\", \"content\": \"c\"}",
                     i > 0 ? ", " : "");
    }
    yk_text_add(out, "]}");
}

/* Two renderings for each answer are quadratic in their number. */
static void a_conversation_of_thousands_of_messages_needs_marks_in_the_template(void **state)
{
    (void)state;
    enum {
        FEW = 100,
        MANY = 5000
    };
    struct yk_tokenizer *tokenizer = open_tokenizer(find_template("mistral"));
    struct yk_instruction_encoder encoder = {0};
    struct yk_text line = {0};
    int64_t learned = 0;
    assert_ok(yk_instruction_encoder_open(tokenizer, NULL, &encoder));
    add_long_conversation(FEW, &line);
    assert_ok(yk_instruction_encoder_encode(&encoder, yk_text_chars(&line), line.length));
    for (int64_t i = 0; i < encoder.ids.count; i++) {
        learned += encoder.ids.items[i] < 0;
    }
    assert_int_equal(learned, 2 * FEW); /* "c" and the end of the turn */
    line.length = 0;
    add_long_conversation(MANY, &line);
    assert_fails(yk_instruction_encoder_encode(&encoder, yk_text_chars(&line), line.length),
                 YK_ERROR_INPUT,
                 "the conversation is too long to find its answers by rendering its beginnings; "
                 "shorten it, or mark answers by {% generation %} blocks in the chat template");
    assert_true(encoder.is_faulty);
    yk_instruction_encoder_close(&encoder);
    yk_tokenizer_destroy(tokenizer);
    tokenizer = open_tokenizer(find_template("llama"));
    assert_ok(yk_instruction_encoder_open(tokenizer, NULL, &encoder));
    assert_ok(yk_instruction_encoder_encode(&encoder, yk_text_chars(&line), line.length));
    assert_false(encoder.is_faulty);
    yk_instruction_encoder_close(&encoder);
    yk_tokenizer_destroy(tokenizer);
    yk_text_free(&line);
}

static void variables_change_what_is_written(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer = open_tokenizer(find_template("qwen3"));
    struct yk_json *variables = NULL;
    struct yk_instruction_encoder encoder = {0};
    static const char line[] = "{\"messages\": [{\"role\": \"user\", \"content\": \"b\"}]}";
    assert_ok(yk_chat_template_parse_variables("enable_thinking=false,style=x", &variables));
    const struct yk_instruction_encoder_options options = {.chat = {.variables = variables},
                                                           .prompt = true};
    assert_ok(yk_instruction_encoder_open(tokenizer, &options, &encoder));
    assert_ok(yk_instruction_encoder_encode(&encoder, line, strlen(line)));
    assert_string_equal(yk_text_chars(&encoder.text),
                        "<|im_start|>user\nb<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>"
                        "\n\n");
    assert_true(encoder.is_faulty); /* it has no answer */
    yk_instruction_encoder_close(&encoder);
    yk_json_destroy(variables);
    yk_tokenizer_destroy(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_tokens_and_masks_are_those_of_transformers),
        cmocka_unit_test(a_conversation_that_the_template_refuses_is_faulty),
        cmocka_unit_test(a_mask_that_is_empty_is_named_by_its_line),
        cmocka_unit_test(a_conversation_of_thousands_of_messages_needs_marks_in_the_template),
        cmocka_unit_test(variables_change_what_is_written),
    };
    return cmocka_run_group_tests(tests, open_recorded, close_recorded);
}
