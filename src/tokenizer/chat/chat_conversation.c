#include "tokenizer/chat/chat_conversation.h"

#include "base/json_node.h"
#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <string.h>

static const char *const reasoning_names[] = {"reasoning_content", "thinking", "reasoning"};

void yk_chat_conversation_free(struct yk_chat_conversation *conversation)
{
    yk_json_destroy(conversation->messages);
    yk_json_destroy(conversation->tools);
    yk_json_destroy(conversation->documents);
    yk_json_destroy(conversation->variables);
    *conversation = (struct yk_chat_conversation){0};
}

yk_status yk_chat_conversation_set(struct yk_json **member, const struct yk_json *value)
{
    if (value && !yk_json_is_null(value)) {
        yk_json_destroy(*member);
        *member = yk_json_node_share(value);
    }
    return YK_OK;
}

const char *yk_chat_conversation_trim_white_space(const char *text, size_t length,
                                                  size_t *out_length)
{
    size_t first = length;
    size_t end = 0;
    for (size_t at = 0; at < length;) {
        uint32_t character = 0;
        const size_t used = yk_utf8_decode(text + at, length - at, &character);
        const size_t bytes = used > 0 ? used : 1;
        if (used == 0 || !yk_unicode_is_python_space(character)) {
            first = at < first ? at : first;
            end = at + bytes;
        }
        at += bytes;
    }
    *out_length = end > first ? end - first : 0;
    return text + (end > first ? first : length);
}

static bool is_missing(const struct yk_json *value)
{
    return !value || yk_json_is_null(value);
}

static yk_status check_message(const struct yk_json *message)
{
    const struct yk_json *role = yk_json_get_member(message, "role");
    const struct yk_json *content = yk_json_get_member(message, "content");
    struct yk_json_member_iterator member = {0};
    bool says = false; /* by another member than "role" */
    if (!yk_json_is_object(message)) {
        return yk_fail(YK_ERROR_INPUT, "it must be an object, not %s", yk_json_type_name(message));
    }
    if (!yk_json_string_value(role)) {
        return role ? yk_fail(YK_ERROR_INPUT, "\"role\" must be a string, not %s",
                              yk_json_type_name(role))
                    : yk_fail(YK_ERROR_INPUT, "\"role\" is missing");
    }
    while (yk_json_next_member(message, &member)) {
        says = says || (strcmp(member.name, "role") != 0 && !yk_json_is_null(member.value));
    }
    if (!says) {
        return yk_fail(YK_ERROR_INPUT, "\"content\" is missing");
    }
    if (!is_missing(content) && !yk_json_string_value(content) && !yk_json_is_array(content)) {
        return yk_fail(YK_ERROR_INPUT, "\"content\" must be a string or a list, not %s",
                       yk_json_type_name(content));
    }
    return YK_OK;
}

static const struct yk_json *find_reasoning(const struct yk_json *message)
{
    for (size_t i = 0; i < sizeof reasoning_names / sizeof reasoning_names[0]; i++) {
        const struct yk_json *value = yk_json_get_member(message, reasoning_names[i]);
        if (!is_missing(value)) {
            return value;
        }
    }
    return NULL;
}

static struct yk_json *copy_message(const struct yk_json *message)
{
    const struct yk_json *reasoning = find_reasoning(message);
    struct yk_json_member_iterator member = {0};
    struct yk_json *copy = yk_json_node_new_object();
    bool made = copy && (!reasoning || yk_json_node_set(copy, "thinking", reasoning));
    while (made && yk_json_next_member(message, &member)) {
        made = yk_json_is_null(member.value) || yk_json_node_set(copy, member.name, member.value);
    }
    made = made && (!reasoning || yk_json_node_set(copy, "reasoning_content", reasoning));
    if (!made) {
        yk_json_destroy(copy);
        return NULL;
    }
    return copy;
}

static yk_status append_node(struct yk_chat_conversation *conversation, struct yk_json *message)
{
    if (!conversation->messages) {
        conversation->messages = yk_json_node_new_array();
    }
    return conversation->messages && yk_json_node_append_new(conversation->messages, message)
               ? YK_OK
               : yk_fail_out_of_memory();
}

yk_status yk_chat_conversation_append(struct yk_chat_conversation *conversation,
                                      const struct yk_json *message)
{
    YK_TRY(check_message(message));
    return append_node(conversation, copy_message(message));
}

yk_status yk_chat_conversation_append_text(struct yk_chat_conversation *conversation,
                                           const char *role, const char *content)
{
    struct yk_json *message = yk_json_node_new_object();
    const bool made =
        message &&
        yk_json_node_set_new(message, "role", yk_json_node_new_string(role, strlen(role))) &&
        yk_json_node_set_new(message, "content", yk_json_node_new_string(content, strlen(content)));
    if (!made) {
        yk_json_destroy(message);
        return yk_fail_out_of_memory();
    }
    return append_node(conversation, message);
}

int64_t yk_chat_conversation_count(const struct yk_chat_conversation *conversation)
{
    return (int64_t)yk_json_array_count(conversation->messages);
}

static const struct yk_json *message_at(const struct yk_chat_conversation *conversation,
                                        int64_t index)
{
    return yk_json_array_at(conversation->messages, (size_t)index);
}

bool yk_chat_conversation_is_answer(const struct yk_chat_conversation *conversation, int64_t index)
{
    const struct yk_json *role = yk_json_get_member(message_at(conversation, index), "role");
    return strcmp(yk_json_string_value(role), "assistant") == 0;
}

bool yk_chat_conversation_is_empty_answer(const struct yk_chat_conversation *conversation,
                                          int64_t index)
{
    static const char *const others[] = {"tool_calls", "function_call", "reasoning_content"};
    const struct yk_json *message = message_at(conversation, index);
    const struct yk_json *content = yk_json_get_member(message, "content");
    const char *text = yk_json_string_value(content);
    size_t length = 0;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (yk_json_get_member(message, others[i])) {
            return false;
        }
    }
    if (text) {
        (void)yk_chat_conversation_trim_white_space(text, strlen(text), &length);
    }
    return text ? length == 0 : yk_json_array_count(content) == 0;
}
