#include "tokenizer/pre_tokenizers/stage.h"

#include "tokenizer/unicode.h"

#include <string.h>

enum {
    SHOWN_BYTES = 60 /* of a name in messages */
};

static yk_status read_behaviour(const struct yk_json *node, const char *type,
                                enum yk_split_behaviour *out)
{
    static const char *const names[] = {
        [YK_SPLIT_REMOVED] = "Removed",
        [YK_SPLIT_ISOLATED] = "Isolated",
        [YK_SPLIT_MERGED_WITH_PREVIOUS] = "MergedWithPrevious",
        [YK_SPLIT_MERGED_WITH_NEXT] = "MergedWithNext",
        [YK_SPLIT_CONTIGUOUS] = "Contiguous",
    };
    const char *name = yk_json_string_value(yk_json_get_member(node, "behavior"));
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (enum yk_split_behaviour)i;
            return YK_OK;
        }
    }
    return yk_fail(YK_ERROR_INPUT,
                   "the behavior \"%.*s\" of %s is not supported; it must be \"Removed\", "
                   "\"Isolated\", \"MergedWithPrevious\", \"MergedWithNext\" or \"Contiguous\"",
                   SHOWN_BYTES, name ? name : "", type);
}

static yk_status read_split(const struct yk_json *node, struct yk_pre_tokenizer_stage *out)
{
    YK_TRY(yk_json_get_bool(node, "invert", &out->invert));
    YK_TRY(read_behaviour(node, "Split", &out->behaviour));
    YK_TRY(yk_text_pattern_read_regex(node, "Split", &out->regex));
    out->pattern.regex = out->regex;
    return YK_OK;
}

static bool is_space(uint32_t character, uint32_t argument)
{
    (void)argument;
    return yk_unicode_is_space(character);
}

static bool is_punctuation(uint32_t character, uint32_t argument)
{
    (void)argument;
    return yk_unicode_is_in_category(character, YK_UNICODE_PUNCTUATION);
}

static bool is_numeric(uint32_t character, uint32_t argument)
{
    (void)argument;
    return yk_unicode_is_in_category(character, YK_UNICODE_NUMERIC);
}

static bool is_same(uint32_t character, uint32_t argument)
{
    return character == argument;
}

static yk_status read_whitespace(const struct yk_json *node, struct yk_pre_tokenizer_stage *out)
{
    /* \w of Rust's regular expressions has these two beside Oniguruma's. */
    static const char words[] = "[\\w\\x{200c}\\x{200d}]+|[^\\w\\s\\x{200c}\\x{200d}]+";
    (void)node;
    out->behaviour = YK_SPLIT_REMOVED;
    out->invert = true;
    YK_TRY(yk_regex_create(words, strlen(words), false, &out->regex));
    out->pattern.regex = out->regex;
    return YK_OK;
}

static yk_status read_whitespace_split(const struct yk_json *node,
                                       struct yk_pre_tokenizer_stage *out)
{
    (void)node;
    out->behaviour = YK_SPLIT_REMOVED;
    out->pattern.matches = is_space;
    return YK_OK;
}

static yk_status read_punctuation(const struct yk_json *node, struct yk_pre_tokenizer_stage *out)
{
    out->behaviour = YK_SPLIT_ISOLATED;
    out->pattern.matches = is_punctuation;
    return yk_json_get_member(node, "behavior")
               ? read_behaviour(node, "Punctuation", &out->behaviour)
               : YK_OK;
}

static yk_status read_digits(const struct yk_json *node, struct yk_pre_tokenizer_stage *out)
{
    bool individual = false;
    YK_TRY(yk_json_get_bool(node, "individual_digits", &individual));
    out->behaviour = individual ? YK_SPLIT_ISOLATED : YK_SPLIT_CONTIGUOUS;
    out->pattern.matches = is_numeric;
    return YK_OK;
}

static yk_status read_delimiter(const struct yk_json *node, struct yk_pre_tokenizer_stage *out)
{
    const char *delimiter = yk_json_string_value(yk_json_get_member(node, "delimiter"));
    const size_t length = delimiter ? strlen(delimiter) : 0;
    if (length == 0 || yk_utf8_decode(delimiter, length, &out->pattern.argument) != length) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"delimiter\" of CharDelimiterSplit must be a string of one character");
    }
    out->behaviour = YK_SPLIT_REMOVED;
    out->pattern.matches = is_same;
    return YK_OK;
}

/* The pieces that a pattern makes: matches and what is between them, in order. A piece is kept back
 * as long as the next one may still be merged with it. */
struct pieces {
    const struct yk_pre_tokenizer_context *context;
    const struct yk_aligned_piece *text;
    enum yk_split_behaviour behaviour;
    bool has_last;
    bool last_is_match;
    size_t last_begin;
    size_t last_end;
};

static yk_status flush(struct pieces *pieces)
{
    const bool has_last = pieces->has_last;
    pieces->has_last = false;
    return has_last ? yk_pre_tokenizer_emit(pieces->context, pieces->text, pieces->last_begin,
                                            pieces->last_end)
                    : YK_OK;
}

/* Whether the next piece continues the last one. */
static bool is_merged(const struct pieces *pieces, bool is_match)
{
    switch (pieces->behaviour) {
    case YK_SPLIT_CONTIGUOUS:
        return is_match == pieces->last_is_match;
    case YK_SPLIT_MERGED_WITH_PREVIOUS:
        return is_match && !pieces->last_is_match;
    case YK_SPLIT_MERGED_WITH_NEXT:
        return !is_match && pieces->last_is_match;
    default:
        return false;
    }
}

static yk_status add_piece(struct pieces *pieces, size_t begin, size_t end, bool is_match)
{
    if (pieces->behaviour == YK_SPLIT_ISOLATED || pieces->behaviour == YK_SPLIT_REMOVED) {
        return is_match && pieces->behaviour == YK_SPLIT_REMOVED
                   ? YK_OK
                   : yk_pre_tokenizer_emit(pieces->context, pieces->text, begin, end);
    }
    if (pieces->has_last && is_merged(pieces, is_match)) {
        pieces->last_end = end;
    } else {
        YK_TRY(flush(pieces));
        pieces->has_last = true;
        pieces->last_begin = begin;
        pieces->last_end = end;
    }
    pieces->last_is_match = is_match;
    return YK_OK;
}

yk_status yk_pre_tokenizer_run_pattern(const struct yk_pre_tokenizer_stage *stage,
                                       const struct yk_pre_tokenizer_context *context,
                                       const struct yk_aligned_piece *piece)
{
    struct pieces pieces = {.context = context, .text = piece, .behaviour = stage->behaviour};
    struct yk_text_pattern_search search;
    size_t done = 0;
    YK_TRY(yk_text_pattern_begin(&stage->pattern, context->regex, piece->bytes, piece->length,
                                 &context->buffers[YK_PRE_TOKENIZER_BUFFERS - 1].text, &search));
    while (true) {
        YK_TRY(yk_text_pattern_find_next(&search));
        const size_t begin = search.found ? search.begin : piece->length;
        if (begin > done) {
            YK_TRY(add_piece(&pieces, done, begin, stage->invert));
        }
        if (!search.found) {
            return flush(&pieces);
        }
        YK_TRY(add_piece(&pieces, search.begin, search.end, !stage->invert));
        done = search.end;
    }
}

const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_split_stage = {
    .type = "Split", .read = read_split, .run = yk_pre_tokenizer_run_pattern};
const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_whitespace = {
    .type = "Whitespace", .read = read_whitespace, .run = yk_pre_tokenizer_run_pattern};
const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_whitespace_split = {
    .type = "WhitespaceSplit", .read = read_whitespace_split, .run = yk_pre_tokenizer_run_pattern};
const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_punctuation = {
    .type = "Punctuation", .read = read_punctuation, .run = yk_pre_tokenizer_run_pattern};
const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_digits = {
    .type = "Digits", .read = read_digits, .run = yk_pre_tokenizer_run_pattern};
const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_delimiter = {
    .type = "CharDelimiterSplit", .read = read_delimiter, .run = yk_pre_tokenizer_run_pattern};
