#include "tokenizer/chat_template.h"

#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <string.h>

static const char begin_name[] = "<|begin_of_text|>";
static const char header_name[] = "<|start_header_id|>";
static const char header_end_name[] = "<|end_header_id|>";
static const char turn_end_name[] = "<|eot_id|>";

static const char *const role_names[YK_CHAT_ROLE_COUNT] = {
    [YK_CHAT_SYSTEM] = "system",
    [YK_CHAT_USER] = "user",
    [YK_CHAT_ASSISTANT] = "assistant",
};

bool yk_chat_template_find_role(const char *name, enum yk_chat_role *out)
{
    for (int i = 0; i < YK_CHAT_ROLE_COUNT; i++) {
        if (strcmp(name, role_names[i]) == 0) {
            *out = (enum yk_chat_role)i;
            return true;
        }
    }
    return false;
}

/* Whether Python's str.isspace() is true: Unicode white space, and the separators of ASCII. */
static bool is_space(uint32_t character)
{
    return yk_unicode_is_space(character) || (character >= 0x1c && character <= 0x1f);
}

const char *yk_chat_template_trim_white_space(const char *text, size_t *length)
{
    const size_t whole = strlen(text);
    size_t first = whole;
    size_t end = 0;
    for (size_t at = 0; at < whole;) {
        uint32_t character = 0;
        const size_t used = yk_utf8_decode(text + at, whole - at, &character);
        const size_t bytes = used > 0 ? used : 1;
        if (used == 0 || !is_space(character)) {
            first = at < first ? at : first;
            end = at + bytes;
        }
        at += bytes;
    }
    *length = end > first ? end - first : 0;
    return text + (end > first ? first : whole);
}

/* Checks that the token exists and that the encoder recognizes it in a text. */
static yk_status check_token(const struct yk_tokenizer *tokenizer,
                             struct yk_tokenizer_encoder *encoder, const char *name)
{
    const int32_t id = yk_tokenizer_find_token_id(tokenizer, name);
    struct yk_token_ids found = {0};
    yk_status status = YK_OK;
    if (id >= 0) {
        status = yk_tokenizer_encode(encoder, name, strlen(name), name, YK_ADD_SPECIAL_TOKENS_NO,
                                     &found);
    }
    if (status == YK_OK && (found.count != 1 || found.items[0] != id)) {
        status = yk_fail(YK_ERROR_INPUT,
                         "the tokenizer has no special token %s, which messages are written with; "
                         "use one that was made for chats, or prompts and completions",
                         name);
    }
    yk_token_ids_free(&found);
    return status;
}

static yk_status make_header(struct yk_chat_template *chat, int role)
{
    struct yk_text *text = &chat->text;
    text->length = 0;
    yk_text_addf(text, "%s%s%s\n\n", header_name, role_names[role], header_end_name);
    YK_TRY(yk_text_status(text));
    return yk_tokenizer_encode(chat->encoder, yk_text_chars(text), text->length, role_names[role],
                               YK_ADD_SPECIAL_TOKENS_NO, &chat->headers[role]);
}

static yk_status fill(struct yk_chat_template *chat, const struct yk_tokenizer *tokenizer)
{
    YK_TRY(check_token(tokenizer, chat->encoder, begin_name));
    YK_TRY(check_token(tokenizer, chat->encoder, header_name));
    YK_TRY(check_token(tokenizer, chat->encoder, header_end_name));
    YK_TRY(check_token(tokenizer, chat->encoder, turn_end_name));
    for (int role = 0; role < YK_CHAT_ROLE_COUNT; role++) {
        YK_TRY(make_header(chat, role));
    }
    return YK_OK;
}

yk_status yk_chat_template_open(const struct yk_tokenizer *tokenizer,
                                struct yk_tokenizer_encoder *encoder, struct yk_chat_template *out)
{
    struct yk_chat_template chat = {.encoder = encoder,
                                    .begin_id = yk_tokenizer_find_token_id(tokenizer, begin_name)};
    YK_TRY_OR_CLEAN_UP(fill(&chat, tokenizer), yk_chat_template_close(&chat));
    *out = chat;
    return YK_OK;
}

void yk_chat_template_close(struct yk_chat_template *chat)
{
    for (int role = 0; role < YK_CHAT_ROLE_COUNT; role++) {
        yk_token_ids_free(&chat->headers[role]);
    }
    yk_text_free(&chat->text);
    *chat = (struct yk_chat_template){0};
}

void yk_chat_template_append_begin_token(const struct yk_chat_template *chat,
                                         struct yk_token_ids *out)
{
    yk_token_ids_add(out, chat->begin_id);
}

void yk_chat_template_append_header_tokens(const struct yk_chat_template *chat,
                                           enum yk_chat_role role, struct yk_token_ids *out)
{
    yk_token_ids_add_all(out, chat->headers[role].items, chat->headers[role].count);
}

yk_status yk_chat_template_encode_message(struct yk_chat_template *chat, enum yk_chat_role role,
                                          const char *content, const char *source,
                                          struct yk_token_ids *out, int64_t *first)
{
    struct yk_text *text = &chat->text;
    const struct yk_token_ids *header = &chat->headers[role];
    const int64_t before = out->count;
    size_t length = 0;
    const char *trimmed = yk_chat_template_trim_white_space(content, &length);
    text->length = 0;
    yk_text_addf(text, "%s%s%s\n\n", header_name, role_names[role], header_end_name);
    yk_text_add_bytes(text, trimmed, length);
    yk_text_add(text, turn_end_name);
    YK_TRY(yk_text_status(text));
    /* The special tokens at both ends separate the tokens of a message from those of its
     * neighbours. The content is encoded together with the header, because a tokenizer may merge
     * across their boundary. */
    YK_TRY(yk_tokenizer_encode(chat->encoder, yk_text_chars(text), text->length, source,
                               YK_ADD_SPECIAL_TOKENS_NO, out));
    int64_t same = 0;
    while (same < header->count && before + same < out->count &&
           out->items[before + same] == header->items[same]) {
        same++;
    }
    *first = before + same;
    return YK_OK;
}
