#include "tokenizer/post_processor.h"

#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    MAX_DEPTH = 16,            /* of nested sequences */
    MAX_SPECIAL_IDS = 1 << 16, /* on each side of a text */
    SHOWN_BYTES = 60           /* of a name in messages */
};

void yk_post_processor_free(struct yk_post_processor *processor)
{
    yk_token_ids_free(&processor->prefix);
    yk_token_ids_free(&processor->suffix);
}

static yk_status read_id(const struct yk_json *node, int32_t limit, int32_t *out)
{
    double number = 0;
    if (!yk_json_number_value(node, &number) || number != trunc(number) || !(number >= 0) ||
        number >= limit) {
        return yk_fail(YK_ERROR_INPUT, "an id must be a whole number from 0 to %" PRId32,
                       limit - 1);
    }
    *out = (int32_t)number;
    return YK_OK;
}

/* Adds the ids of a special token of a template. */
static yk_status add_special(const struct yk_json *template, const char *name, int32_t limit,
                             struct yk_token_ids *out)
{
    const struct yk_json *tokens = yk_json_get_member(template, "special_tokens");
    const struct yk_json *ids = yk_json_get_member(yk_json_get_member(tokens, name), "ids");
    if (!yk_json_is_array(ids)) {
        return yk_fail(YK_ERROR_INPUT, "\"%.*s\" is not among the \"special_tokens\"", SHOWN_BYTES,
                       name);
    }
    for (size_t i = 0; i < yk_json_array_count(ids); i++) {
        int32_t id = 0;
        YK_TRY(read_id(yk_json_array_at(ids, i), limit, &id));
        if (out->count == MAX_SPECIAL_IDS) {
            return yk_fail(YK_ERROR_INPUT, "\"single\" adds more than %d ids to a side of a text",
                           MAX_SPECIAL_IDS);
        }
        yk_token_ids_add(out, id);
    }
    return yk_token_ids_status(out);
}

/* [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}, …]: the text occurs exactly once.
 */
static yk_status read_template(const struct yk_json *node, int32_t limit,
                               struct yk_post_processor *out)
{
    const struct yk_json *parts = yk_json_get_member(node, "single");
    bool text = false;
    for (size_t i = 0; i < yk_json_array_count(parts); i++) {
        const struct yk_json *part = yk_json_array_at(parts, i);
        const char *special = yk_json_string_value(
            yk_json_get_member(yk_json_get_member(part, "SpecialToken"), "id"));
        const char *sequence =
            yk_json_string_value(yk_json_get_member(yk_json_get_member(part, "Sequence"), "id"));
        if (special) {
            YK_TRY(add_special(node, special, limit, text ? &out->suffix : &out->prefix));
        } else if (sequence && strcmp(sequence, "A") == 0 && !text) {
            text = true;
        } else {
            return yk_fail(YK_ERROR_INPUT,
                           "\"single\" must be a list of special tokens and, once, the text");
        }
    }
    if (!text) {
        return yk_fail(YK_ERROR_INPUT, "\"single\" must be a list with the text, {\"Sequence\": "
                                       "{\"id\": \"A\"}}, in it");
    }
    return YK_OK;
}

/* {"cls": ["[CLS]", 101], "sep": ["[SEP]", 102]}. */
static yk_status read_ends(const struct yk_json *node, int32_t limit, struct yk_post_processor *out)
{
    int32_t first = 0;
    int32_t last = 0;
    YK_TRY(read_id(yk_json_array_at(yk_json_get_member(node, "cls"), 1), limit, &first));
    YK_TRY(read_id(yk_json_array_at(yk_json_get_member(node, "sep"), 1), limit, &last));
    yk_token_ids_add(&out->prefix, first);
    yk_token_ids_add(&out->suffix, last);
    YK_TRY(yk_token_ids_status(&out->prefix));
    return yk_token_ids_status(&out->suffix);
}

/* Reads the options of ByteLevel and RobertaProcessing. */
static yk_status read_trim(const struct yk_json *node, struct yk_post_processor *out)
{
    bool trim = true;
    bool prefix = true;
    YK_TRY(yk_json_get_bool(node, "trim_offsets", &trim));
    YK_TRY(yk_json_get_bool(node, "add_prefix_space", &prefix));
    if (!trim) {
        return YK_OK;
    }
    if (out->trim_count == YK_POST_PROCESSOR_MAX_TRIMS) {
        return yk_fail(YK_ERROR_INPUT, "more than %d that trim offsets",
                       YK_POST_PROCESSOR_MAX_TRIMS);
    }
    out->keeps_first_space[out->trim_count++] = prefix;
    return YK_OK;
}

static yk_status read_node(const struct yk_json *node, int32_t limit, int32_t depth, bool *found,
                           struct yk_post_processor *out)
{
    const char *type = yk_json_string_value(yk_json_get_member(node, "type"));
    const struct yk_json *list = yk_json_get_member(node, "processors");
    if (!type) {
        return yk_fail(YK_ERROR_INPUT, "this must be an object with a \"type\"");
    }
    if (strcmp(type, "ByteLevel") == 0) {
        return read_trim(node, out);
    }
    if (depth == MAX_DEPTH) {
        return yk_fail(YK_ERROR_INPUT, "more than %d post-processors inside each other", MAX_DEPTH);
    }
    if (strcmp(type, "Sequence") == 0 && yk_json_is_array(list)) {
        for (size_t i = 0; i < yk_json_array_count(list); i++) {
            YK_TRY(read_node(yk_json_array_at(list, i), limit, depth + 1, found, out));
        }
        return YK_OK;
    }
    if (*found) {
        return yk_fail(YK_ERROR_INPUT, "%.*s after another is not supported", SHOWN_BYTES, type);
    }
    *found = true;
    if (strcmp(type, "TemplateProcessing") == 0) {
        return read_template(node, limit, out);
    }
    if (strcmp(type, "BertProcessing") == 0) {
        return read_ends(node, limit, out);
    }
    if (strcmp(type, "RobertaProcessing") == 0) {
        YK_TRY(read_trim(node, out));
        return read_ends(node, limit, out);
    }
    return yk_fail(YK_ERROR_INPUT, "\"%.*s\" is not supported", SHOWN_BYTES, type);
}

yk_status yk_post_processor_from_json(const struct yk_json *node, int32_t limit,
                                      struct yk_post_processor *out)
{
    bool found = false;
    if (!node || yk_json_is_null(node)) {
        return YK_OK;
    }
    return yk_status_prefix_message(read_node(node, limit, 0, &found, out), "post_processor");
}

/* "Ġ" represents a space in byte-level vocabularies. */
static bool is_space(uint32_t character)
{
    enum {
        BYTE_LEVEL_SPACE = 0x120
    };
    return character == BYTE_LEVEL_SPACE || yk_unicode_is_space(character);
}

static int64_t count_leading_spaces(const char *token, size_t length)
{
    int64_t count = 0;
    for (size_t at = 0; at < length; count++) {
        uint32_t character = 0;
        const size_t used = yk_utf8_decode(token + at, length - at, &character);
        if (used == 0 || !is_space(character)) {
            break;
        }
        at += used;
    }
    return count;
}

static int64_t count_trailing_spaces(const char *token, size_t length)
{
    int64_t count = 0;
    for (size_t end = length; end > 0; count++) {
        uint32_t character = 0;
        const size_t begin = yk_utf8_previous_character_start(token, end);
        if (yk_utf8_decode(token + begin, end - begin, &character) == 0 || !is_space(character)) {
            break;
        }
        end = begin;
    }
    return count;
}

/* Moves the beginning of a span to the right, at most to its end. */
static void trim_left(const char *text, int64_t characters, struct yk_token_span *span)
{
    for (; characters > 0 && span->begin < span->end; characters--) {
        do {
            span->begin++;
        } while (span->begin < span->end && ((unsigned char)text[span->begin] & 0xc0) == 0x80);
    }
}

/* Moves the end of a span to the left, at most to its beginning. Does nothing if the text has
 * fewer characters before the end. */
static void trim_right(const char *text, int64_t characters, struct yk_token_span *span)
{
    size_t end = span->end;
    for (int64_t i = 0; i < characters; i++) {
        if (end == 0) {
            return;
        }
        end = yk_utf8_previous_character_start(text, end);
    }
    span->end = end > span->begin ? end : span->begin;
}

void yk_post_processor_trim_span(const struct yk_post_processor *processor, const char *token,
                                 size_t token_length, int64_t index, const char *text,
                                 struct yk_token_span *span)
{
    for (int32_t i = 0; i < processor->trim_count; i++) {
        const int64_t leading = count_leading_spaces(token, token_length);
        const bool first = index == 0 || span->begin == 0;
        if (!(first && processor->keeps_first_space[i] && leading == 1)) {
            trim_left(text, leading, span);
        }
        trim_right(text, count_trailing_spaces(token, token_length), span);
    }
}
