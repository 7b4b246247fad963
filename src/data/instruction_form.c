#include "data/instruction_form.h"

#include "base/json_node.h"
#include "tokenizer/chat/chat_template.h"

#include <string.h>

void yk_instruction_form_free(struct yk_instruction_form *form)
{
    yk_chat_conversation_free(&form->conversation);
    yk_text_free(&form->prompt);
    *form = (struct yk_instruction_form){0};
}

static bool is_present(const struct yk_json *node)
{
    return node && !yk_json_is_null(node);
}

static yk_status fail_type(const char *key, const char *wanted, const struct yk_json *node)
{
    return node ? yk_fail(YK_ERROR_INPUT, "\"%s\" must be %s, not %s", key, wanted,
                          yk_json_type_name(node))
                : yk_fail(YK_ERROR_INPUT, "\"%s\" is missing", key);
}

static yk_status get_string(const struct yk_json *object, const char *key, const char **out)
{
    const struct yk_json *node = yk_json_get_member(object, key);
    *out = yk_json_string_value(node);
    return *out ? YK_OK : fail_type(key, "a string", node);
}

/* A member that may be missing or null is "". */
static yk_status get_optional_string(const struct yk_json *object, const char *key,
                                     const char **out)
{
    *out = "";
    return is_present(yk_json_get_member(object, key)) ? get_string(object, key, out) : YK_OK;
}

/* ---- conversations ---- */

/* ShareGPT's names of roles, and what they are called in templates. */
static const struct {
    const char *name;
    const char *role;
} share_roles[] = {
    {"system", "system"},          {"human", "user"},          {"user", "user"},
    {"gpt", "assistant"},          {"assistant", "assistant"}, {"chatgpt", "assistant"},
    {"model", "assistant"},        {"tool", "tool"},           {"observation", "tool"},
    {"function_response", "tool"},
};

static const char function_call[] = "function_call";

static const char *find_share_role(const char *name)
{
    for (size_t i = 0; i < sizeof share_roles / sizeof share_roles[0]; i++) {
        if (strcmp(name, share_roles[i].name) == 0) {
            return share_roles[i].role;
        }
    }
    return NULL;
}

/* {"type": "function", "function": call}; NULL: `call` is not the call of a function. */
static struct yk_json *wrap_call(const struct yk_json *call)
{
    if (!yk_json_string_value(yk_json_get_member(call, "name"))) {
        return NULL;
    }
    struct yk_json *wrapped = yk_json_node_new_object();
    if (wrapped && yk_json_node_set_new(wrapped, "type", yk_json_node_new_string("function", 8)) &&
        yk_json_node_set(wrapped, "function", call)) {
        return wrapped;
    }
    yk_json_destroy(wrapped);
    return NULL;
}

/* A list of the calls in `value`, a JSON text: one call, or a list of calls. NULL: it is neither.
 */
static struct yk_json *parse_calls(const char *value)
{
    struct yk_json *root = NULL;
    struct yk_json *calls = yk_json_node_new_array();
    bool made = calls && yk_json_parse(value, strlen(value), &root) == YK_OK;
    if (made && yk_json_is_array(root)) {
        made = yk_json_array_count(root) > 0;
        for (size_t i = 0; made && i < yk_json_array_count(root); i++) {
            made = yk_json_node_append_new(calls, wrap_call(yk_json_array_at(root, i)));
        }
    } else {
        made = made && yk_json_node_append_new(calls, wrap_call(root));
    }
    yk_json_destroy(root);
    if (!made) {
        yk_json_destroy(calls);
        return NULL;
    }
    return calls;
}

/* A call as a message with "tool_calls"; a value that is no call is what the assistant says. */
static yk_status append_call(struct yk_chat_conversation *conversation, const char *value)
{
    struct yk_json *calls = parse_calls(value);
    if (!calls) {
        return yk_chat_conversation_append_text(conversation, "assistant", value);
    }
    struct yk_json *message = yk_json_node_new_object();
    const bool made =
        message && yk_json_node_set_new(message, "role", yk_json_node_new_string("assistant", 9)) &&
        yk_json_node_set_new(message, "content", yk_json_node_new_string("", 0)) &&
        yk_json_node_set(message, "tool_calls", calls);
    const yk_status status =
        made ? yk_chat_conversation_append(conversation, message) : yk_fail_out_of_memory();
    yk_json_destroy(message);
    yk_json_destroy(calls);
    return status;
}

static yk_status append_share_message(struct yk_chat_conversation *conversation,
                                      const struct yk_json *message)
{
    const char *name = NULL;
    const char *value = NULL;
    YK_TRY(get_string(message, "from", &name));
    YK_TRY(get_string(message, "value", &value));
    const char *role = find_share_role(name);
    if (strcmp(name, function_call) == 0) {
        return append_call(conversation, value);
    }
    return role ? yk_chat_conversation_append_text(conversation, role, value)
                : yk_fail(YK_ERROR_INPUT,
                          "\"from\" is \"%.40s\"; it must be \"system\", \"human\", \"gpt\", "
                          "\"tool\", \"function_call\" or \"observation\"",
                          name);
}

static yk_status append_list(struct yk_chat_conversation *conversation, const struct yk_json *list,
                             const char *key)
{
    YK_TRY(yk_json_check_is_array(list, key));
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        const struct yk_json *message = yk_json_array_at(list, i);
        const yk_status status =
            yk_json_get_member(message, "from") && !yk_json_get_member(message, "role")
                ? append_share_message(conversation, message)
                : yk_chat_conversation_append(conversation, message);
        if (status != YK_OK) {
            return yk_fail(status, "message %zu: %s", i + 1, yk_status_message());
        }
    }
    return YK_OK;
}

/* Tools are a list, or the text of one. */
static yk_status read_tools(const struct yk_json *node, struct yk_json **out)
{
    const char *text = yk_json_string_value(node);
    if (!is_present(node) || (text && text[strspn(text, " \t\r\n")] == '\0')) {
        return YK_OK;
    }
    if (!text) {
        return yk_json_is_array(node) ? yk_chat_conversation_set(out, node)
                                      : fail_type("tools", "a list", node);
    }
    struct yk_json *parsed = NULL;
    yk_status status = yk_json_parse(text, strlen(text), &parsed);
    if (status == YK_OK && !yk_json_is_array(parsed)) {
        status = fail_type("tools", "a list", parsed);
    }
    YK_IF_OK(yk_chat_conversation_set(out, parsed));
    yk_json_destroy(parsed);
    return status == YK_ERROR_INPUT ? yk_status_prefix_message(status, "\"tools\"") : status;
}

/* A list is a member of the object; `variables` may have it if the object does not. */
static const struct yk_json *find_list(const struct yk_json *root, const struct yk_json *variables,
                                       const char *key)
{
    const struct yk_json *node = yk_json_get_member(root, key);
    return is_present(node) ? node : yk_json_get_member(variables, key);
}

static yk_status read_variables(const struct yk_json *root,
                                struct yk_chat_conversation *conversation)
{
    const struct yk_json *variables = yk_json_get_member(root, "chat_template_kwargs");
    if (is_present(variables) && !yk_json_is_object(variables)) {
        return fail_type("chat_template_kwargs", "an object", variables);
    }
    YK_TRY(yk_status_prefix_message(yk_chat_template_check_variables(variables),
                                    "\"chat_template_kwargs\""));
    const struct yk_json *documents = find_list(root, variables, "documents");
    if (is_present(documents) && !yk_json_is_array(documents)) {
        return fail_type("documents", "a list", documents);
    }
    YK_TRY(read_tools(find_list(root, variables, "tools"), &conversation->tools));
    YK_TRY(yk_chat_conversation_set(&conversation->documents, documents));
    return yk_chat_conversation_set(&conversation->variables, variables);
}

static yk_status append_system(const struct yk_json *root,
                               struct yk_chat_conversation *conversation)
{
    const char *system = NULL;
    YK_TRY(get_optional_string(root, "system", &system));
    return system[0] ? yk_chat_conversation_append_text(conversation, "system", system) : YK_OK;
}

static bool begins_with_system(const struct yk_json *list)
{
    const struct yk_json *first = yk_json_array_at(list, 0);
    const struct yk_json *role = yk_json_get_member(first, "role");
    const char *name = yk_json_string_value(role ? role : yk_json_get_member(first, "from"));
    return name && strcmp(name, "system") == 0;
}

static yk_status read_messages(const struct yk_json *root, const char *key,
                               struct yk_instruction_form *out)
{
    const struct yk_json *list = yk_json_get_member(root, key);
    if (!begins_with_system(list)) {
        YK_TRY(append_system(root, &out->conversation));
    }
    YK_TRY(append_list(&out->conversation, list, key));
    return read_variables(root, &out->conversation);
}

/* ---- prompts and completions ---- */

static yk_status read_completion(const struct yk_json *root, struct yk_instruction_form *out)
{
    const struct yk_json *prompt = yk_json_get_member(root, "prompt");
    const char *text = NULL;
    if (yk_json_is_array(prompt)) {
        out->kind = YK_INSTRUCTION_CONVERSATION;
        YK_TRY(append_list(&out->conversation, prompt, "prompt"));
        out->completion_index = yk_chat_conversation_count(&out->conversation);
        YK_TRY(
            append_list(&out->conversation, yk_json_get_member(root, "completion"), "completion"));
        return read_variables(root, &out->conversation);
    }
    out->kind = YK_INSTRUCTION_COMPLETION;
    YK_TRY(get_string(root, "prompt", &text));
    YK_TRY(get_string(root, "completion", &out->completion));
    yk_text_add(&out->prompt, text);
    return yk_text_status(&out->prompt);
}

/* ---- Alpaca ---- */

struct alpaca {
    const char *instruction;
    const char *input;
    const char *output;
};

/* "history" is a list of pairs: what was asked, and what was answered. */
static yk_status append_history(const struct yk_json *history,
                                struct yk_chat_conversation *conversation)
{
    if (!is_present(history)) {
        return YK_OK;
    }
    YK_TRY(yk_json_check_is_array(history, "history"));
    for (size_t i = 0; i < yk_json_array_count(history); i++) {
        const struct yk_json *pair = yk_json_array_at(history, i);
        const char *question = yk_json_string_value(yk_json_array_at(pair, 0));
        const char *answer = yk_json_string_value(yk_json_array_at(pair, 1));
        if (!question || !answer || yk_json_array_count(pair) != 2) {
            return yk_fail(YK_ERROR_INPUT,
                           "\"history\": element %zu must be a list of two strings, a question "
                           "and its answer",
                           i + 1);
        }
        YK_TRY(yk_chat_conversation_append_text(conversation, "user", question));
        YK_TRY(yk_chat_conversation_append_text(conversation, "assistant", answer));
    }
    return YK_OK;
}

static yk_status read_alpaca_as_chat(const struct yk_json *root, const struct alpaca *alpaca,
                                     struct yk_instruction_form *out)
{
    struct yk_chat_conversation *conversation = &out->conversation;
    YK_TRY(append_system(root, conversation));
    YK_TRY(append_history(yk_json_get_member(root, "history"), conversation));
    yk_text_add(&out->prompt, alpaca->instruction);
    if (alpaca->input[0]) {
        yk_text_addf(&out->prompt, "%s%s", alpaca->instruction[0] ? "\n" : "", alpaca->input);
    }
    YK_TRY(yk_text_status(&out->prompt));
    YK_TRY(yk_chat_conversation_append_text(conversation, "user", yk_text_chars(&out->prompt)));
    YK_TRY(yk_chat_conversation_append_text(conversation, "assistant", alpaca->output));
    return read_variables(root, conversation);
}

static yk_status read_alpaca_as_prompt(const struct yk_json *root, const struct alpaca *alpaca,
                                       struct yk_instruction_form *out)
{
    struct yk_text *text = &out->prompt;
    const char *system = NULL;
    YK_TRY(get_optional_string(root, "system", &system));
    const bool has_history = yk_json_array_count(yk_json_get_member(root, "history")) > 0;
    if (system[0] || has_history) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"%s\" has no place in a prompt without a chat template; name one by "
                       "--chat-template FILE",
                       system[0] ? "system" : "history");
    }
    out->kind = YK_INSTRUCTION_COMPLETION;
    out->completion = alpaca->output;
    yk_text_addf(text,
                 "Below is an instruction that describes a task%s. Write a response that "
                 "appropriately completes the request.\n\n### Instruction:\n",
                 alpaca->input[0] ? ", paired with an input that provides further context" : "");
    yk_text_add(text, alpaca->instruction);
    if (alpaca->input[0]) {
        yk_text_add(text, "\n\n### Input:\n");
        yk_text_add(text, alpaca->input);
    }
    yk_text_add(text, "\n\n### Response:");
    return yk_text_status(text);
}

static yk_status read_alpaca(const struct yk_json *root, bool has_template,
                             struct yk_instruction_form *out)
{
    struct alpaca alpaca = {0};
    YK_TRY(get_string(root, "instruction", &alpaca.instruction));
    YK_TRY(get_string(root, "output", &alpaca.output));
    YK_TRY(get_optional_string(root, "input", &alpaca.input));
    return has_template ? read_alpaca_as_chat(root, &alpaca, out)
                        : read_alpaca_as_prompt(root, &alpaca, out);
}

/* ---- all forms ---- */

static const char *const list_keys[] = {"messages", "conversations"};

bool yk_instruction_form_is_supported(const struct yk_json *root)
{
    for (size_t i = 0; i < sizeof list_keys / sizeof list_keys[0]; i++) {
        if (yk_json_is_array(yk_json_get_member(root, list_keys[i]))) {
            return true;
        }
    }
    return (yk_json_get_member(root, "prompt") && yk_json_get_member(root, "completion")) ||
           (yk_json_get_member(root, "instruction") && yk_json_get_member(root, "output")) ||
           yk_json_string_value(yk_json_get_member(root, "text"));
}

yk_status yk_instruction_form_read(const struct yk_json *root, bool has_template,
                                   struct yk_instruction_form *out)
{
    yk_chat_conversation_free(&out->conversation);
    out->prompt.length = 0;
    out->kind = YK_INSTRUCTION_CONVERSATION;
    out->completion_index = -1;
    for (size_t i = 0; i < sizeof list_keys / sizeof list_keys[0]; i++) {
        if (yk_json_get_member(root, list_keys[i])) {
            return read_messages(root, list_keys[i], out);
        }
    }
    if (yk_json_get_member(root, "prompt") || yk_json_get_member(root, "completion")) {
        return read_completion(root, out);
    }
    if (yk_json_get_member(root, "instruction") || yk_json_get_member(root, "output")) {
        return read_alpaca(root, has_template, out);
    }
    if (yk_json_get_member(root, "text")) {
        out->kind = YK_INSTRUCTION_TEXT;
        return get_string(root, "text", &out->text);
    }
    return yk_fail(YK_ERROR_INPUT, "there must be " YK_INSTRUCTION_FORM_KEYS_TEXT);
}
