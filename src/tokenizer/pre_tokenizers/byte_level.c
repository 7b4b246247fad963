#include "tokenizer/pre_tokenizers/stage.h"

#include "tokenizer/byte_level.h"
#include "tokenizer/regex/word_pattern.h"

#include <string.h>

static yk_status read_byte_level(const struct yk_json *node, struct yk_pre_tokenizer_stage *out)
{
    bool use_pattern = true;
    out->prefix_space = true;
    out->behaviour = YK_SPLIT_ISOLATED;
    YK_TRY(yk_json_get_bool(node, "add_prefix_space", &out->prefix_space));
    YK_TRY(yk_json_get_bool(node, "use_regex", &use_pattern));
    if (use_pattern) {
        YK_TRY(yk_regex_create(yk_word_pattern_gpt2, strlen(yk_word_pattern_gpt2), false,
                               &out->regex));
        out->pattern.regex = out->regex;
    }
    return YK_OK;
}

/* Does what add_characters() does, for segments without origins. */
static size_t add_untracked_characters(const struct yk_aligned_segment *segment,
                                       struct yk_text *out)
{
    const size_t start =
        segment->start_bytes < segment->length ? segment->start_bytes : segment->length;
    yk_byte_level_encode_bytes(segment->bytes, start, out);
    const size_t start_bytes = out->length;
    yk_byte_level_encode_bytes(segment->bytes + start, segment->length - start, out);
    return start_bytes;
}

/* Writes the characters that represent the bytes of a segment. All of them have the origin of the
 * character that the byte belongs to. Returns how many of the first bytes are at the start of the
 * source. */
static size_t add_characters(const struct yk_aligned_segment *segment, struct yk_aligned_text *out)
{
    size_t start_bytes = 0;
    if (!segment->origins) {
        return add_untracked_characters(segment, &out->text);
    }
    for (size_t i = 0; i < segment->length; i++) {
        char bytes[YK_UTF8_MAX_BYTES];
        const size_t length = yk_utf8_encode(
            yk_byte_level_character_of_byte((unsigned char)segment->bytes[i]), bytes);
        yk_aligned_text_add(out, bytes, length, segment->origins[i]);
        start_bytes += i < segment->start_bytes ? length : 0;
    }
    return start_bytes;
}

/* Emits a word as characters that represent its bytes. */
static yk_status emit_characters(const struct yk_pre_tokenizer_context *context,
                                 const struct yk_aligned_segment *segment)
{
    const struct yk_pre_tokenizer_context *outer = context->argument;
    struct yk_aligned_text *buffer = &context->buffers[1];
    yk_aligned_text_clear(buffer, context->tracked);
    const size_t start_bytes = add_characters(segment, buffer);
    YK_TRY(yk_aligned_text_status(buffer));
    struct yk_aligned_segment converted = yk_aligned_text_get_segment(buffer);
    converted.start_bytes = start_bytes;
    return outer->emit(outer, &converted);
}

static yk_status run_byte_level(const struct yk_pre_tokenizer_stage *stage,
                                const struct yk_pre_tokenizer_context *context,
                                const struct yk_aligned_segment *segment)
{
    struct yk_aligned_segment text = *segment;
    if (stage->prefix_space && segment->bytes[0] != ' ') {
        struct yk_aligned_text *buffer = &context->buffers[0];
        yk_aligned_text_clear(buffer, context->tracked);
        yk_aligned_text_add(buffer, " ", 1,
                            segment->origins ? segment->origins[0] : (struct yk_token_span){0});
        yk_aligned_text_add_segment(buffer, segment, 0, segment->length);
        YK_TRY(yk_aligned_text_status(buffer));
        text = yk_aligned_text_get_segment(buffer);
        text.start_bytes = segment->start_bytes > 0 ? segment->start_bytes + 1 : 0;
    }
    if (stage->keep_bytes) {
        return stage->regex ? yk_pre_tokenizer_run_pattern(stage, context, &text)
                            : context->emit(context, &text);
    }
    struct yk_pre_tokenizer_context inner = *context;
    inner.emit = emit_characters;
    inner.argument = context;
    return stage->regex ? yk_pre_tokenizer_run_pattern(stage, &inner, &text)
                        : inner.emit(&inner, &text);
}

const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_byte_level = {
    .type = "ByteLevel", .read = read_byte_level, .run = run_byte_level};
