#include "tokenizer/pre_tokenizers/stage.h"

#include "tokenizer/unicode.h"

#include <stdint.h>

enum part {
    PART_SPACE,
    PART_PUNCTUATION,
    PART_WORD
};

static enum part ascii_part(unsigned char c)
{
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
        return PART_SPACE;
    }
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c < ' ' || c == 0x7f;
    return word ? PART_WORD : PART_PUNCTUATION;
}

/* The class and the length of the first character. Bytes that are not UTF-8 count as letters. */
static enum part part_at(const char *text, size_t length, size_t *used)
{
    uint32_t character = 0;
    if ((unsigned char)text[0] < 0x80) {
        *used = 1;
        return ascii_part((unsigned char)text[0]);
    }
    *used = yk_utf8_decode(text, length, &character);
    if (*used == 0) {
        *used = 1;
        return PART_WORD;
    }
    if (yk_unicode_is_space(character)) {
        return PART_SPACE;
    }
    return yk_unicode_is_in_category(character, YK_UNICODE_PUNCTUATION) ? PART_PUNCTUATION
                                                                        : PART_WORD;
}

/* White space separates words and is removed; each punctuation character is a word. */
static yk_status run_bert(const struct yk_pre_tokenizer_stage *stage,
                          const struct yk_pre_tokenizer_context *context,
                          const struct yk_aligned_segment *segment)
{
    (void)stage;
    const char *text = segment->bytes;
    const size_t length = segment->length;
    size_t used = 0;
    for (size_t at = 0; at < length;) {
        const size_t begin = at;
        const enum part part = part_at(text + at, length - at, &used);
        at += used;
        while (part == PART_WORD && at < length &&
               part_at(text + at, length - at, &used) == PART_WORD) {
            at += used;
        }
        if (part != PART_SPACE) {
            YK_TRY(yk_pre_tokenizer_emit(context, segment, begin, at));
        }
    }
    return YK_OK;
}

/* Splits where the script changes. Characters of any script continue the segment; those before the
 * first character with a script are removed. */
static yk_status run_unicode_scripts(const struct yk_pre_tokenizer_stage *stage,
                                     const struct yk_pre_tokenizer_context *context,
                                     const struct yk_aligned_segment *segment)
{
    (void)stage;
    int32_t last = YK_UNICODE_ANY_SCRIPT;
    size_t begin = 0;
    for (size_t at = 0; at < segment->length;) {
        uint32_t character = 0;
        const size_t used = yk_utf8_decode(segment->bytes + at, segment->length - at, &character);
        const int32_t script = used ? yk_unicode_script(character) : YK_UNICODE_ANY_SCRIPT;
        if (script != YK_UNICODE_ANY_SCRIPT && script != last) {
            if (last != YK_UNICODE_ANY_SCRIPT) {
                YK_TRY(yk_pre_tokenizer_emit(context, segment, begin, at));
            }
            begin = at;
            last = script;
        }
        at += used ? used : 1;
    }
    return last == YK_UNICODE_ANY_SCRIPT
               ? YK_OK
               : yk_pre_tokenizer_emit(context, segment, begin, segment->length);
}

static yk_status read_fixed_length(const struct yk_json *node, struct yk_pre_tokenizer_stage *out)
{
    out->length = 5; /* the default of Hugging Face's tokenizers */
    return yk_json_get_integer(node, "length", 1, INT32_MAX, &out->length);
}

static yk_status run_fixed_length(const struct yk_pre_tokenizer_stage *stage,
                                  const struct yk_pre_tokenizer_context *context,
                                  const struct yk_aligned_segment *segment)
{
    size_t begin = 0;
    int64_t count = 0;
    for (size_t at = 0; at < segment->length;) {
        uint32_t ignored = 0;
        const size_t used = yk_utf8_decode(segment->bytes + at, segment->length - at, &ignored);
        at += used ? used : 1;
        if (++count == stage->length) {
            YK_TRY(yk_pre_tokenizer_emit(context, segment, begin, at));
            begin = at;
            count = 0;
        }
    }
    return yk_pre_tokenizer_emit(context, segment, begin, segment->length);
}

const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_bert = {.type = "BertPreTokenizer",
                                                                  .run = run_bert};
const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_unicode_scripts = {
    .type = "UnicodeScripts", .run = run_unicode_scripts};
const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_fixed_length = {
    .type = "FixedLength", .read = read_fixed_length, .run = run_fixed_length};
