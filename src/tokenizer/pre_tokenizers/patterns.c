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
    out->pattern = yk_text_pattern_of_class(is_space, 0);
    return YK_OK;
}

static yk_status read_punctuation(const struct yk_json *node, struct yk_pre_tokenizer_stage *out)
{
    out->behaviour = YK_SPLIT_ISOLATED;
    out->pattern = yk_text_pattern_of_class(is_punctuation, 0);
    return yk_json_get_member(node, "behavior")
               ? read_behaviour(node, "Punctuation", &out->behaviour)
               : YK_OK;
}

static yk_status read_digits(const struct yk_json *node, struct yk_pre_tokenizer_stage *out)
{
    bool individual = false;
    YK_TRY(yk_json_get_bool(node, "individual_digits", &individual));
    out->behaviour = individual ? YK_SPLIT_ISOLATED : YK_SPLIT_CONTIGUOUS;
    out->pattern = yk_text_pattern_of_class(is_numeric, 0);
    return YK_OK;
}

static yk_status read_delimiter(const struct yk_json *node, struct yk_pre_tokenizer_stage *out)
{
    const char *delimiter = yk_json_string_value(yk_json_get_member(node, "delimiter"));
    const size_t length = delimiter ? strlen(delimiter) : 0;
    uint32_t character = 0;
    if (length == 0 || yk_utf8_decode(delimiter, length, &character) != length) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"delimiter\" of CharDelimiterSplit must be a string of one character");
    }
    out->behaviour = YK_SPLIT_REMOVED;
    out->pattern = yk_text_pattern_of_class(is_same, character);
    return YK_OK;
}

/* The segments that a pattern makes: matches and what is between them, in order. A segment is kept
 * back as long as the next one may still be merged with it. */
struct segments {
    const struct yk_pre_tokenizer_context *context;
    const struct yk_aligned_segment *text;
    enum yk_split_behaviour behaviour;
    bool has_last;
    bool last_is_match;
    size_t last_begin;
    size_t last_end;
};

static yk_status flush(struct segments *segments)
{
    const bool has_last = segments->has_last;
    segments->has_last = false;
    return has_last ? yk_pre_tokenizer_emit(segments->context, segments->text, segments->last_begin,
                                            segments->last_end)
                    : YK_OK;
}

/* Whether the next segment continues the last one. */
static bool is_merged(const struct segments *segments, bool is_match)
{
    switch (segments->behaviour) {
    case YK_SPLIT_CONTIGUOUS:
        return is_match == segments->last_is_match;
    case YK_SPLIT_MERGED_WITH_PREVIOUS:
        return is_match && !segments->last_is_match;
    case YK_SPLIT_MERGED_WITH_NEXT:
        return !is_match && segments->last_is_match;
    default:
        return false;
    }
}

static yk_status add_segment(struct segments *segments, size_t begin, size_t end, bool is_match)
{
    if (segments->behaviour == YK_SPLIT_ISOLATED || segments->behaviour == YK_SPLIT_REMOVED) {
        return is_match && segments->behaviour == YK_SPLIT_REMOVED
                   ? YK_OK
                   : yk_pre_tokenizer_emit(segments->context, segments->text, begin, end);
    }
    if (segments->has_last && is_merged(segments, is_match)) {
        segments->last_end = end;
    } else {
        YK_TRY(flush(segments));
        segments->has_last = true;
        segments->last_begin = begin;
        segments->last_end = end;
    }
    segments->last_is_match = is_match;
    return YK_OK;
}

yk_status yk_pre_tokenizer_run_pattern(const struct yk_pre_tokenizer_stage *stage,
                                       const struct yk_pre_tokenizer_context *context,
                                       const struct yk_aligned_segment *segment)
{
    struct segments segments = {.context = context, .text = segment, .behaviour = stage->behaviour};
    struct yk_text_pattern_search search;
    size_t done = 0;
    YK_TRY(yk_text_pattern_begin(&stage->pattern, context->regex, segment->bytes, segment->length,
                                 &context->buffers[YK_PRE_TOKENIZER_BUFFERS - 1].text, &search));
    while (true) {
        YK_TRY(yk_text_pattern_find_next(&search));
        const size_t begin = search.found ? search.begin : segment->length;
        if (begin > done) {
            YK_TRY(add_segment(&segments, done, begin, stage->invert));
        }
        if (!search.found) {
            return flush(&segments);
        }
        YK_TRY(add_segment(&segments, search.begin, search.end, !stage->invert));
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
