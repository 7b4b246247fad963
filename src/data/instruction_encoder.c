#include "data/instruction_encoder.h"

#include "base/json.h"
#include "data/json_records.h"

#include <stdlib.h>
#include <string.h>

/* Whether the tokenizer adds a begin token is visible in the tokens of an empty text. */
static yk_status find_ends(struct yk_instruction_encoder *encoder)
{
    const int32_t begin_id = yk_tokenizer_find_role_id(encoder->tokenizer, YK_TOKEN_BEGIN);
    struct yk_token_ids frame = {0};
    const yk_status status = yk_tokenizer_encode(encoder->encoder, "", 0, "an empty text",
                                                 YK_ADD_SPECIAL_TOKENS_YES, &frame);
    const bool framed = status == YK_OK && frame.count > 0 && frame.items[0] == begin_id;
    encoder->begin_id = framed ? begin_id : -1;
    encoder->end_id = yk_tokenizer_find_role_id(encoder->tokenizer, YK_TOKEN_END);
    yk_token_ids_free(&frame);
    return status;
}

yk_status yk_instruction_encoder_open(const struct yk_tokenizer *tokenizer,
                                      struct yk_instruction_encoder *out)
{
    struct yk_instruction_encoder encoder = {.tokenizer = tokenizer};
    YK_TRY(yk_tokenizer_encoder_create(tokenizer, &encoder.encoder));
    YK_TRY_OR_CLEAN_UP(find_ends(&encoder), yk_instruction_encoder_close(&encoder));
    *out = encoder;
    return YK_OK;
}

void yk_instruction_encoder_close(struct yk_instruction_encoder *encoder)
{
    yk_chat_template_close(&encoder->chat);
    yk_tokenizer_encoder_destroy(encoder->encoder);
    yk_text_free(&encoder->text);
    *encoder = (struct yk_instruction_encoder){0};
}

static yk_status get_string(const struct yk_json *object, const char *key, const char **out)
{
    const struct yk_json *node = yk_json_get_member(object, key);
    *out = yk_json_string_value(node);
    if (*out) {
        return YK_OK;
    }
    if (!node) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is missing", key);
    }
    return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a string, not %s", key, yk_json_type_name(node));
}

static void mark_loss(struct yk_token_ids *ids, int64_t first)
{
    for (int64_t i = first; i < ids->count; i++) {
        ids->items[i] = ~ids->items[i];
    }
}

static yk_status add_completion(struct yk_instruction_encoder *encoder, const char *prompt,
                                const char *completion, struct yk_token_ids *out)
{
    const int64_t before = out->count;
    if (encoder->end_id < 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "the tokenizer has no token that ends a text, such as \"<|end_of_text|>\"; "
                       "use one that has");
    }
    if (encoder->begin_id >= 0) {
        yk_token_ids_add(out, encoder->begin_id);
    }
    YK_TRY(yk_tokenizer_encode(encoder->encoder, prompt, strlen(prompt), "the prompt",
                               YK_ADD_SPECIAL_TOKENS_NO, out));
    const int64_t first = out->count;
    YK_TRY(yk_tokenizer_encode(encoder->encoder, completion, strlen(completion), "the completion",
                               YK_ADD_SPECIAL_TOKENS_NO, out));
    if (out->count == first) {
        out->count = before;
        return YK_OK;
    }
    yk_token_ids_add(out, encoder->end_id);
    YK_TRY(yk_token_ids_status(out));
    mark_loss(out, first > before ? first : before + 1);
    return YK_OK;
}

static yk_status add_prompt(struct yk_instruction_encoder *encoder, const struct yk_json *root,
                            struct yk_token_ids *out)
{
    const char *prompt = NULL;
    const char *completion = NULL;
    YK_TRY(get_string(root, "prompt", &prompt));
    YK_TRY(get_string(root, "completion", &completion));
    return add_completion(encoder, prompt, completion, out);
}

static yk_status add_alpaca(struct yk_instruction_encoder *encoder, const struct yk_json *root,
                            struct yk_token_ids *out)
{
    struct yk_text *text = &encoder->text;
    const char *instruction = NULL;
    const char *input = "";
    const char *output = NULL;
    YK_TRY(get_string(root, "instruction", &instruction));
    YK_TRY(get_string(root, "output", &output));
    if (yk_json_get_member(root, "input") && !yk_json_is_null(yk_json_get_member(root, "input"))) {
        YK_TRY(get_string(root, "input", &input));
    }
    text->length = 0;
    yk_text_addf(text,
                 "Below is an instruction that describes a task%s. Write a response that "
                 "appropriately completes the request.\n\n### Instruction:\n",
                 input[0] ? ", paired with an input that provides further context" : "");
    yk_text_add(text, instruction);
    if (input[0]) {
        yk_text_add(text, "\n\n### Input:\n");
        yk_text_add(text, input);
    }
    yk_text_add(text, "\n\n### Response:");
    YK_TRY(yk_text_status(text));
    return add_completion(encoder, yk_text_chars(text), output, out);
}

/* The JSON keys and role names of a chat: OpenAI's, and ShareGPT's. */
struct dialect {
    const char *messages;
    const char *role;
    const char *content;
    const char *user;
    const char *assistant;
};

static const struct dialect messages_dialect = {"messages", "role", "content", "user", "assistant"};
static const struct dialect share_dialect = {"conversations", "from", "value", "human", "gpt"};

static yk_status find_role(const struct dialect *dialect, const char *name, enum yk_chat_role *out)
{
    const char *common = strcmp(name, dialect->user) == 0        ? "user"
                         : strcmp(name, dialect->assistant) == 0 ? "assistant"
                                                                 : name;
    return yk_chat_template_find_role(common, out)
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT,
                         "\"%s\" is \"%.40s\"; it must be \"system\", \"%s\" or \"%s\"",
                         dialect->role, name, dialect->user, dialect->assistant);
}

static yk_status add_message(struct yk_instruction_encoder *encoder, const struct dialect *dialect,
                             const struct yk_json *message, struct yk_token_ids *out,
                             bool *answered, bool *empty)
{
    const char *name = NULL;
    const char *content = NULL;
    enum yk_chat_role role = YK_CHAT_USER;
    int64_t first = 0;
    if (!yk_json_is_object(message)) {
        return yk_fail(YK_ERROR_INPUT, "it must be an object, not %s", yk_json_type_name(message));
    }
    YK_TRY(get_string(message, dialect->role, &name));
    YK_TRY(get_string(message, dialect->content, &content));
    YK_TRY(find_role(dialect, name, &role));
    YK_TRY(
        yk_chat_template_encode_message(&encoder->chat, role, content, "the message", out, &first));
    if (role == YK_CHAT_ASSISTANT) {
        size_t length = 0;
        (void)yk_chat_template_trim_white_space(content, &length);
        *empty = *empty || length == 0;
        *answered = true;
        mark_loss(out, first);
    }
    return YK_OK;
}

static yk_status add_messages(struct yk_instruction_encoder *encoder, const struct dialect *dialect,
                              const struct yk_json *root, struct yk_token_ids *out)
{
    const struct yk_json *messages = yk_json_get_member(root, dialect->messages);
    const int64_t before = out->count;
    const size_t count = yk_json_array_count(messages);
    bool answered = false;
    bool empty = false;
    YK_TRY(yk_json_check_is_array(messages, dialect->messages));
    if (!encoder->chat.encoder) {
        YK_TRY(yk_chat_template_open(encoder->tokenizer, encoder->encoder, &encoder->chat));
    }
    yk_chat_template_append_begin_token(&encoder->chat, out);
    for (size_t i = 0; i < count; i++) {
        const yk_status status =
            add_message(encoder, dialect, yk_json_array_at(messages, i), out, &answered, &empty);
        if (status != YK_OK) {
            return yk_fail(status, "message %zu: %s", i + 1, yk_status_message());
        }
    }
    if (!answered || empty) {
        out->count = before;
    }
    return YK_OK;
}

bool yk_instruction_encoder_supports_object(const char *bytes, size_t length)
{
    struct yk_json *root = NULL;
    if (yk_json_parse(bytes, length, &root) != YK_OK) {
        return false;
    }
    const bool has =
        yk_json_is_array(yk_json_get_member(root, messages_dialect.messages)) ||
        yk_json_is_array(yk_json_get_member(root, share_dialect.messages)) ||
        (yk_json_get_member(root, "prompt") && yk_json_get_member(root, "completion")) ||
        (yk_json_get_member(root, "instruction") && yk_json_get_member(root, "output"));
    yk_json_destroy(root);
    return has;
}

static yk_status add_form(struct yk_instruction_encoder *encoder, const struct yk_json *root,
                          struct yk_token_ids *out)
{
    static const struct dialect *const dialects[] = {&messages_dialect, &share_dialect};
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
        if (yk_json_get_member(root, dialects[i]->messages)) {
            return add_messages(encoder, dialects[i], root, out);
        }
    }
    if (yk_json_get_member(root, "prompt") || yk_json_get_member(root, "completion")) {
        return add_prompt(encoder, root, out);
    }
    if (yk_json_get_member(root, "instruction") || yk_json_get_member(root, "output")) {
        return add_alpaca(encoder, root, out);
    }
    return yk_fail(YK_ERROR_INPUT, "there must be " YK_INSTRUCTION_SUPPORTED_KEYS_TEXT);
}

static size_t count_space(const char *bytes, size_t length)
{
    size_t count = 0;
    while (count < length && strchr(" \t\r\n", bytes[count]) && bytes[count] != '\0') {
        count++;
    }
    return count;
}

/* Removes the line from a parser's message, "line 2, column 3: …", and stores it in
 * `encoder->fault`: the caller counts lines in the file. */
static yk_status split_location(struct yk_instruction_encoder *encoder, yk_status broken)
{
    static const char start[] = "line ";
    const char *message = yk_status_message();
    if (strncmp(message, start, strlen(start)) != 0) {
        return broken;
    }
    char *end = NULL;
    const long number = strtol(message + strlen(start), &end, 10);
    encoder->fault = number - 1;
    return yk_fail(broken, "%s", end + strspn(end, ", "));
}

yk_status yk_instruction_encoder_encode(struct yk_instruction_encoder *encoder, const char *bytes,
                                        size_t length, struct yk_token_ids *out)
{
    const size_t first = count_space(bytes, length);
    encoder->fault = 0;
    if (yk_json_records_bom_length(bytes, length) > 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "the line begins with a byte order mark (U+FEFF), which only "
                       "the beginning of a file may have; remove it");
    }
    if (first == length || bytes[first] != '{') {
        return yk_fail(YK_ERROR_INPUT,
                       "it must be an object with " YK_INSTRUCTION_SUPPORTED_KEYS_TEXT);
    }
    struct yk_json *root = NULL;
    const yk_status broken = yk_json_parse(bytes, length, &root);
    if (broken != YK_OK) {
        return split_location(encoder, broken);
    }
    const yk_status status = add_form(encoder, root, out);
    yk_json_destroy(root);
    return status;
}
