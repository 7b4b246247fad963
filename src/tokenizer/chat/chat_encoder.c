#include "tokenizer/chat/chat_encoder.h"

#include <stdlib.h>

void yk_chat_encoder_free(struct yk_chat_encoder *encoder)
{
    yk_jinja_output_free(&encoder->rendered);
    yk_token_ids_free(&encoder->ids);
    yk_chat_mask_free_answers(&encoder->parts);
    yk_token_spans_free(&encoder->spans);
    free(encoder->answers);
    *encoder = (struct yk_chat_encoder){0};
}

static yk_status grow(struct yk_chat_encoder *encoder)
{
    const int64_t count = encoder->ids.count;
    if (count <= encoder->answer_capacity) {
        return YK_OK;
    }
    bool *answers = realloc(encoder->answers, (size_t)count * 2 * sizeof *answers);
    YK_TRY_ALLOCATED(answers);
    encoder->answers = answers;
    encoder->answer_capacity = count * 2;
    return YK_OK;
}

static yk_status mark(struct yk_chat_encoder *encoder,
                      const struct yk_chat_encoder_request *request)
{
    const struct yk_chat_mask_request mask = {
        .chat = encoder->chat,
        .conversation = request->conversation,
        .whole = &encoder->rendered,
        .completion = request->completion,
    };
    YK_TRY(yk_chat_mask_find_answers(&mask, &encoder->parts));
    YK_TRY(grow(encoder));
    yk_chat_mask_mark_tokens(&encoder->parts, &encoder->rendered.text, encoder->spans.items,
                             encoder->ids.count, encoder->answers);
    return YK_OK;
}

yk_status yk_chat_encoder_encode(struct yk_chat_encoder *encoder,
                                 const struct yk_chat_encoder_request *request)
{
    static const char source[] = "the conversation";
    const struct yk_text *text = &encoder->rendered.text;
    const struct yk_chat_template_range range = {
        .messages = yk_chat_conversation_count(request->conversation),
        .prompt = request->prompt,
    };
    encoder->ids.count = 0;
    encoder->spans.count = 0;
    YK_TRY(
        yk_chat_template_render(encoder->chat, request->conversation, range, &encoder->rendered));
    if (request->text_only) {
        return YK_OK;
    }
    if (!request->mask) { /* places take time */
        return yk_tokenizer_encoder_encode(encoder->tokenizer, yk_text_chars(text), text->length,
                                           source, YK_ADD_SPECIAL_TOKENS_NO, &encoder->ids);
    }
    YK_TRY(yk_tokenizer_encoder_encode_with_offsets(encoder->tokenizer, yk_text_chars(text),
                                                    text->length, source, YK_ADD_SPECIAL_TOKENS_NO,
                                                    &encoder->ids, &encoder->spans));
    return mark(encoder, request);
}
