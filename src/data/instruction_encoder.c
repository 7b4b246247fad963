#include "data/instruction_encoder.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

/* Whether the tokenizer adds a begin token is visible in the tokens of an empty text. */
static yk_status find_ends(struct yk_instruction_encoder *encoder)
{
    const int32_t begin_id = yk_tokenizer_find_role_id(encoder->tokenizer, YK_TOKEN_BEGIN);
    struct yk_token_ids frame = {0};
    const yk_status status = yk_tokenizer_encoder_encode(encoder->encoder, "", 0, "an empty text",
                                                         YK_ADD_SPECIAL_TOKENS_YES, &frame);
    const bool framed = status == YK_OK && frame.count > 0 && frame.items[0] == begin_id;
    encoder->begin_id = framed ? begin_id : -1;
    encoder->end_id = yk_tokenizer_find_role_id(encoder->tokenizer, YK_TOKEN_END);
    yk_token_ids_free(&frame);
    return status;
}

yk_status yk_instruction_encoder_open(const struct yk_tokenizer *tokenizer,
                                      const struct yk_instruction_encoder_options *options,
                                      struct yk_instruction_encoder *out)
{
    struct yk_instruction_encoder encoder = {
        .tokenizer = tokenizer,
        .has_template = yk_chat_template_is_in_files(tokenizer),
    };
    if (options) {
        encoder.options = *options;
    }
    YK_TRY(yk_tokenizer_encoder_create(tokenizer, &encoder.encoder));
    YK_TRY_OR_CLEAN_UP(find_ends(&encoder), yk_instruction_encoder_close(&encoder));
    *out = encoder;
    return YK_OK;
}

void yk_instruction_encoder_close(struct yk_instruction_encoder *encoder)
{
    yk_chat_encoder_free(&encoder->chat_encoder);
    yk_chat_template_close(encoder->chat);
    yk_tokenizer_encoder_destroy(encoder->encoder);
    yk_instruction_form_free(&encoder->form);
    yk_text_free(&encoder->text);
    yk_token_ids_free(&encoder->ids);
    *encoder = (struct yk_instruction_encoder){0};
}

static void mark_loss(struct yk_token_ids *ids, int64_t first)
{
    for (int64_t i = first; i < ids->count; i++) {
        ids->items[i] = ~ids->items[i];
    }
}

static yk_status add_text(struct yk_instruction_encoder *encoder, const char *text,
                          const char *source)
{
    yk_text_add(&encoder->text, text);
    return yk_tokenizer_encoder_encode(encoder->encoder, text, strlen(text), source,
                                       YK_ADD_SPECIAL_TOKENS_NO, &encoder->ids);
}

/* Adds the prompt and its completion, which is part of the loss. */
static yk_status add_completion(struct yk_instruction_encoder *encoder, const char *prompt,
                                const char *completion)
{
    struct yk_token_ids *ids = &encoder->ids;
    if (encoder->begin_id >= 0) {
        yk_token_ids_add(ids, encoder->begin_id);
    }
    YK_TRY(add_text(encoder, prompt, "the prompt"));
    const int64_t first = ids->count;
    YK_TRY(add_text(encoder, completion, "the completion"));
    encoder->is_faulty = ids->count == first;
    if (!encoder->is_faulty && encoder->end_id >= 0) {
        yk_token_ids_add(ids, encoder->end_id);
    }
    YK_TRY(yk_token_ids_status(ids));
    if (!encoder->is_faulty) {
        mark_loss(ids, first);
    }
    return yk_text_status(&encoder->text);
}

static yk_status add_prompt(struct yk_instruction_encoder *encoder)
{
    if (encoder->end_id < 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "the tokenizer has no token that ends a text, such as \"<|end_of_text|>\"; "
                       "use one that has");
    }
    return add_completion(encoder, yk_text_chars(&encoder->form.prompt), encoder->form.completion);
}

/* ---- conversations ---- */

static yk_status open_chat(struct yk_instruction_encoder *encoder)
{
    if (!encoder->chat) {
        YK_TRY(yk_chat_template_open(encoder->tokenizer, &encoder->options.chat, &encoder->chat));
        encoder->chat_encoder = (struct yk_chat_encoder){
            .chat = encoder->chat,
            .tokenizer = encoder->encoder,
        };
    }
    return YK_OK;
}

/* Whether there is something to learn: messages of the assistant, and none that says nothing. */
static bool has_answers(const struct yk_instruction_form *form)
{
    const struct yk_chat_conversation *conversation = &form->conversation;
    const int64_t count = yk_chat_conversation_count(conversation);
    bool answered = form->completion_index >= 0 && form->completion_index < count;
    for (int64_t i = 0; i < count; i++) {
        if (yk_chat_conversation_is_answer(conversation, i)) {
            if (yk_chat_conversation_is_empty_answer(conversation, i)) {
                return false;
            }
            answered = answered || form->completion_index < 0;
        }
    }
    return answered;
}

static yk_status add_conversation(struct yk_instruction_encoder *encoder)
{
    struct yk_instruction_form *form = &encoder->form;
    struct yk_chat_encoder *chat = &encoder->chat_encoder;
    YK_TRY(open_chat(encoder));
    if (!form->conversation.tools) {
        YK_TRY(yk_chat_conversation_set(&form->conversation.tools, encoder->options.tools));
    }
    if (yk_chat_conversation_count(&form->conversation) == 0) {
        encoder->is_faulty = true;
        return YK_OK;
    }
    const bool learned =
        !encoder->options.no_mask && !encoder->options.text_only && has_answers(form);
    const struct yk_chat_encoder_request request = {
        .conversation = &form->conversation,
        .prompt = encoder->options.prompt,
        .text_only = encoder->options.text_only,
        .mask = learned,
        .completion = form->completion_index,
    };
    encoder->is_faulty = true; /* if it fails */
    YK_TRY(yk_chat_encoder_encode(chat, &request));
    for (int64_t i = 0; i < chat->ids.count; i++) {
        const bool has_loss = learned && chat->answers[i];
        yk_token_ids_add(&encoder->ids, has_loss ? ~chat->ids.items[i] : chat->ids.items[i]);
        encoder->is_faulty = encoder->is_faulty && !has_loss;
    }
    encoder->is_unmarked = learned && encoder->is_faulty;
    yk_text_add_bytes(&encoder->text, yk_text_chars(&chat->rendered.text),
                      chat->rendered.text.length);
    YK_TRY(yk_token_ids_status(&encoder->ids));
    return yk_text_status(&encoder->text);
}

/* ---- all forms ---- */

static yk_status add_form(struct yk_instruction_encoder *encoder, const struct yk_json *root)
{
    YK_TRY(yk_instruction_form_read(root, encoder->has_template, &encoder->form));
    switch (encoder->form.kind) {
    case YK_INSTRUCTION_COMPLETION:
        return add_prompt(encoder);
    case YK_INSTRUCTION_TEXT:
        return add_completion(encoder, "", encoder->form.text);
    default:
        return add_conversation(encoder);
    }
}

bool yk_instruction_encoder_supports_object(const char *bytes, size_t length)
{
    struct yk_json *root = NULL;
    if (yk_json_parse(bytes, length, &root) != YK_OK) {
        return false;
    }
    const bool supported = yk_instruction_form_is_supported(root);
    yk_json_destroy(root);
    return supported;
}

static size_t count_space(const char *bytes, size_t length)
{
    size_t count = 0;
    while (count < length && strchr(" \t\r\n", bytes[count]) && bytes[count] != '\0') {
        count++;
    }
    return count;
}

/* Whether the text is JSON that yoke does not accept, such as a string with a zero character. */
static bool is_json(const char *bytes, size_t length)
{
    struct yk_json *root = NULL;
    const bool parsed = yk_json_parse_foreign(bytes, length, &root) == YK_OK;
    yk_json_destroy(root);
    return parsed;
}

/* Removes the line from a parser's message, "line 2, column 3: broken JSON: …", and stores it in
 * `encoder->fault`: the caller counts lines in the file. JSON that is refused is not called broken.
 */
static yk_status explain_failure(struct yk_instruction_encoder *encoder, const char *bytes,
                                 size_t length, yk_status refused)
{
    static const char start[] = "line ";
    static const char broken[] = "broken JSON: ";
    struct yk_text message = {0};
    yk_text_add(&message, yk_status_message()); /* parsing may replace it */
    YK_TRY(yk_text_status(&message));
    const char *rest = yk_text_chars(&message);
    if (strncmp(rest, start, strlen(start)) == 0) {
        char *end = NULL;
        encoder->fault = strtol(rest + strlen(start), &end, 10) - 1;
        rest = end + strspn(end, ", ");
    }
    const char *reason = is_json(bytes, length) ? strstr(rest, broken) : NULL;
    const yk_status status =
        reason ? yk_fail(refused, "%.*s%s", (int)(reason - rest), rest, reason + strlen(broken))
               : yk_fail(refused, "%s", rest);
    yk_text_free(&message);
    return status;
}

yk_status yk_instruction_encoder_encode(struct yk_instruction_encoder *encoder, const char *bytes,
                                        size_t length)
{
    const size_t first = count_space(bytes, length);
    encoder->fault = 0;
    encoder->is_faulty = false;
    encoder->is_unmarked = false;
    encoder->is_unfinished = false;
    encoder->ids.count = 0;
    encoder->text.length = 0;
    if (yk_json_records_bom_length(bytes, length) > 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "the line begins with a byte order mark (U+FEFF), which only "
                       "the beginning of a file may have; remove it");
    }
    if (first == length || bytes[first] != '{') {
        return yk_fail(YK_ERROR_INPUT, "it must be an object with " YK_INSTRUCTION_FORM_KEYS_TEXT);
    }
    struct yk_json *root = NULL;
    const yk_status refused = yk_json_parse(bytes, length, &root);
    if (refused != YK_OK) {
        const char *object = NULL;
        size_t size = 0;
        encoder->is_unfinished = !yk_json_records_find_first_object(bytes, length, &object, &size);
        return refused == YK_ERROR_INPUT ? explain_failure(encoder, bytes, length, refused)
                                         : refused;
    }
    const yk_status status = add_form(encoder, root);
    yk_json_destroy(root);
    return status;
}

yk_status yk_instruction_encoder_locate_failure(const struct yk_instruction_encoder *encoder,
                                                const struct yk_json_records *records,
                                                int64_t index, const char *path, yk_status status)
{
    struct yk_text place = {0};
    if (encoder->is_unfinished && !records->is_list) {
        yk_text_addf(&place, "%s", yk_status_message());
        status = yk_fail(status,
                         "%s; the object does not end in its line, but each line must be one "
                         "object of its own",
                         yk_text_chars(&place));
        place.length = 0;
    }
    yk_json_records_describe_location(records, index, encoder->fault, path, &place);
    status = yk_status_prefix_message(status, yk_text_chars(&place));
    yk_text_free(&place);
    return status;
}
