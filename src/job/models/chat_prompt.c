#include "job/models/chat_prompt.h"

#include "base/file.h"
#include "base/json_node.h"
#include "data/instruction_form.h"
#include "tokenizer/chat/chat_encoder.h"
#include "tokenizer/chat/chat_template.h"
#include "tokenizer/tokenizer_encoder.h"

/* A list of messages is the "messages" of an object. */
static yk_status read_form(const struct yk_json *root, struct yk_instruction_form *form)
{
    if (!yk_json_is_array(root)) {
        YK_TRY(yk_instruction_form_read(root, true, form));
        return form->kind == YK_INSTRUCTION_CONVERSATION
                   ? YK_OK
                   : yk_fail(YK_ERROR_INPUT, "there must be \"messages\"");
    }
    struct yk_json *object = yk_json_node_new_object();
    YK_TRY_ALLOCATED(object);
    yk_status status = yk_json_node_set(object, "messages", root) ? YK_OK : yk_fail_out_of_memory();
    YK_IF_OK(yk_instruction_form_read(object, true, form));
    yk_json_destroy(object);
    return status;
}

static yk_status read_messages(const char *path, struct yk_instruction_form *form)
{
    struct yk_text text = {0};
    struct yk_json *root = NULL;
    yk_status status = yk_file_read_document(path, &text);
    if (status == YK_OK) {
        status = yk_json_parse(yk_text_chars(&text), text.length, &root);
        YK_IF_OK(read_form(root, form));
        status = yk_status_prefix_message(status, path);
    }
    yk_json_destroy(root);
    yk_text_free(&text);
    return status;
}

/* Puts what the system says before the messages of the form, and what the user says after them. */
static yk_status join(const struct yk_chat_prompt_request *request,
                      const struct yk_instruction_form *form, struct yk_chat_conversation *out)
{
    const struct yk_chat_conversation *given = &form->conversation;
    if (request->system) {
        YK_TRY(yk_chat_conversation_append_text(out, "system", request->system));
    }
    for (int64_t i = 0; i < yk_chat_conversation_count(given); i++) {
        YK_TRY(yk_chat_conversation_append(out, yk_json_array_at(given->messages, (size_t)i)));
    }
    if (request->prompt) {
        YK_TRY(yk_chat_conversation_append_text(out, "user", request->prompt));
    }
    YK_TRY(yk_chat_conversation_set(&out->tools, given->tools));
    YK_TRY(yk_chat_conversation_set(&out->documents, given->documents));
    return yk_chat_conversation_set(&out->variables, given->variables);
}

static yk_status make_conversation(const struct yk_chat_prompt_request *request,
                                   struct yk_chat_conversation *out)
{
    struct yk_instruction_form form = {0};
    struct yk_json *tools = NULL;
    yk_status status = YK_OK;
    if (request->messages) {
        status = read_messages(request->messages, &form);
    }
    YK_IF_OK(join(request, &form, out));
    YK_IF_OK(yk_chat_options_read_tools(&request->options, &tools));
    YK_IF_OK(yk_chat_conversation_set(&out->tools, tools));
    if (status == YK_OK && yk_chat_conversation_count(out) == 0) {
        status = yk_fail(YK_ERROR_INPUT, "%s holds no message", request->messages);
    }
    yk_json_destroy(tools);
    yk_instruction_form_free(&form);
    return status;
}

static yk_status encode(const struct yk_chat_template *chat, const struct yk_tokenizer *tokenizer,
                        const struct yk_chat_conversation *conversation, struct yk_token_ids *out)
{
    struct yk_chat_encoder encoder = {.chat = chat};
    struct yk_tokenizer_encoder *words = NULL;
    const struct yk_chat_encoder_request request = {.conversation = conversation, .prompt = true};
    YK_TRY(yk_tokenizer_encoder_create(tokenizer, &words));
    encoder.tokenizer = words;
    const yk_status status = yk_chat_encoder_encode(&encoder, &request);
    yk_token_ids_add_all(out, encoder.ids.items, status == YK_OK ? encoder.ids.count : 0);
    yk_chat_encoder_free(&encoder);
    yk_tokenizer_encoder_destroy(words);
    return status;
}

yk_status yk_chat_prompt_encode(const struct yk_chat_prompt_request *request,
                                struct yk_tokenizer *tokenizer, struct yk_token_ids *out,
                                int32_t *end)
{
    struct yk_chat_conversation conversation = {0};
    struct yk_chat_template_options options = {0};
    struct yk_json *variables = NULL;
    struct yk_chat_template *chat = NULL;
    yk_status status = yk_chat_options_apply_template(&request->options, tokenizer);
    YK_IF_OK(yk_chat_options_read_variables(&request->options, &variables));
    options.variables = variables;
    YK_IF_OK(yk_chat_template_open(tokenizer, &options, &chat));
    YK_IF_OK(make_conversation(request, &conversation));
    YK_IF_OK(encode(chat, tokenizer, &conversation, out));
    if (status == YK_OK) {
        const char *token = yk_chat_template_end_token(chat);
        *end = token ? yk_tokenizer_find_token_id(tokenizer, token) : -1;
    }
    yk_chat_template_close(chat);
    yk_chat_conversation_free(&conversation);
    yk_json_destroy(variables);
    return status;
}
