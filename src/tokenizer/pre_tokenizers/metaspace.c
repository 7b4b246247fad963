#include "tokenizer/pre_tokenizers/stage.h"

#include <string.h>

enum {
    SHOWN_BYTES = 60 /* of a name in messages */
};

static yk_status read_scheme(const struct yk_json *node, enum yk_prepend_scheme *out)
{
    static const char *const names[] = {
        [YK_PREPEND_ALWAYS] = "always", [YK_PREPEND_FIRST] = "first", [YK_PREPEND_NEVER] = "never"};
    const struct yk_json *member = yk_json_get_member(node, "prepend_scheme");
    const char *name = yk_json_string_value(member);
    bool prefix = true;
    *out = YK_PREPEND_ALWAYS;
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (enum yk_prepend_scheme)i;
            name = NULL;
        }
    }
    if (name || (member && !yk_json_string_value(member))) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"prepend_scheme\" of Metaspace must be \"always\", \"first\" or "
                       "\"never\", not \"%.*s\"",
                       SHOWN_BYTES, name ? name : yk_json_type_name(member));
    }
    /* Old files have a flag instead. */
    (void)yk_json_boolean_value(yk_json_get_member(node, "add_prefix_space"), &prefix);
    if (!prefix && !member) {
        *out = YK_PREPEND_NEVER;
    }
    if (!prefix && *out != YK_PREPEND_NEVER) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"add_prefix_space\" of Metaspace is false, which does not agree with its "
                       "\"prepend_scheme\"");
    }
    return YK_OK;
}

static yk_status read_metaspace(const struct yk_json *node, struct yk_pre_tokenizer_stage *out)
{
    const char *replacement = yk_json_string_value(yk_json_get_member(node, "replacement"));
    const size_t length = replacement ? strlen(replacement) : 0;
    const struct yk_json *split = yk_json_get_member(node, "split");
    uint32_t character = 0;
    if (length == 0 || yk_utf8_decode(replacement, length, &character) != length) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"replacement\" of Metaspace must be a string of one character");
    }
    memcpy(out->replacement, replacement, length);
    out->replacement_length = length;
    out->split = true;
    if (split && !yk_json_is_null(split) && !yk_json_boolean_value(split, &out->split)) {
        return yk_fail(YK_ERROR_INPUT, "\"split\" of Metaspace must be true or false");
    }
    return read_scheme(node, &out->scheme);
}

static bool begins_with_replacement(const struct yk_pre_tokenizer_stage *stage,
                                    const struct yk_aligned_segment *segment)
{
    const bool space = segment->bytes[0] == ' ';
    return space || (segment->length >= stage->replacement_length &&
                     memcmp(segment->bytes, stage->replacement, stage->replacement_length) == 0);
}

/* Does what replace_spaces() does, for segments without origins. */
static size_t replace_untracked_spaces(const struct yk_pre_tokenizer_stage *stage,
                                       const struct yk_aligned_segment *segment,
                                       struct yk_aligned_text *buffer)
{
    struct yk_text *text = &buffer->text;
    const size_t start =
        segment->start_bytes < segment->length ? segment->start_bytes : segment->length;
    yk_text_add_replacing(text, segment->bytes, start, ' ', stage->replacement,
                          stage->replacement_length);
    const size_t start_bytes = start > 0 ? text->length : 0;
    yk_text_add_replacing(text, segment->bytes + start, segment->length - start, ' ',
                          stage->replacement, stage->replacement_length);
    return start_bytes;
}

/* Writes the segment to the buffer, with the replacement for each space and, depending on the
 * scheme, before everything else. Returns how many of the first bytes are at the start of the
 * source. */
static size_t replace_spaces(const struct yk_pre_tokenizer_stage *stage,
                             const struct yk_aligned_segment *segment,
                             struct yk_aligned_text *buffer)
{
    static const struct yk_token_span none = {0};
    const bool prepended =
        !begins_with_replacement(stage, segment) &&
        (stage->scheme == YK_PREPEND_ALWAYS ||
         (stage->scheme == YK_PREPEND_FIRST && yk_aligned_text_segment_is_at_start(segment)));
    size_t start_bytes = 0;
    if (prepended) {
        yk_aligned_text_add(buffer, stage->replacement, stage->replacement_length,
                            segment->origins ? segment->origins[0] : none);
    }
    if (!segment->origins) {
        return replace_untracked_spaces(stage, segment, buffer);
    }
    for (size_t at = 0; at < segment->length;) {
        const char *space = memchr(segment->bytes + at, ' ', segment->length - at);
        const size_t end = space ? (size_t)(space - segment->bytes) : segment->length;
        if (at < segment->start_bytes) {
            const size_t whole = end < segment->start_bytes ? end : segment->start_bytes;
            start_bytes = buffer->text.length + whole - at;
        }
        yk_aligned_text_add_segment(buffer, segment, at, end);
        at = end;
        if (space) {
            yk_aligned_text_add(buffer, stage->replacement, stage->replacement_length,
                                segment->origins ? segment->origins[at] : none);
            start_bytes = at < segment->start_bytes ? buffer->text.length : start_bytes;
            at++;
        }
    }
    return start_bytes;
}

/* The next replacement from `from` on, or the end. */
static size_t find_replacement(const struct yk_pre_tokenizer_stage *stage,
                               const struct yk_aligned_segment *text, size_t from)
{
    const char first = stage->replacement[0];
    const size_t length = stage->replacement_length;
    while (text->length - from >= length) {
        const char *found = memchr(text->bytes + from, first, text->length - from);
        if (!found) {
            break;
        }
        from = (size_t)(found - text->bytes);
        if (text->length - from >= length && memcmp(found, stage->replacement, length) == 0) {
            return from;
        }
        from++;
    }
    return text->length;
}

static yk_status run_metaspace(const struct yk_pre_tokenizer_stage *stage,
                               const struct yk_pre_tokenizer_context *context,
                               const struct yk_aligned_segment *segment)
{
    struct yk_aligned_text *buffer = &context->buffers[0];
    yk_aligned_text_clear(buffer, context->tracked);
    const size_t start_bytes = replace_spaces(stage, segment, buffer);
    YK_TRY(yk_aligned_text_status(buffer));
    struct yk_aligned_segment text = yk_aligned_text_get_segment(buffer);
    text.start_bytes = start_bytes;
    if (!stage->split) {
        return context->emit(context, &text);
    }
    /* Each replacement begins a segment. */
    size_t begin = 0;
    while (begin < text.length) {
        const size_t end = find_replacement(stage, &text, begin + 1);
        YK_TRY(yk_pre_tokenizer_emit(context, &text, begin, end));
        begin = end;
    }
    return YK_OK;
}

const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_metaspace = {
    .type = "Metaspace", .read = read_metaspace, .run = run_metaspace};
