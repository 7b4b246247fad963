#include "tokenizer/normalizers/step.h"

#include "tokenizer/regex/text_pattern.h"

#include <string.h>

static yk_status read_replace(const struct yk_json *node, struct yk_normalizer_step *out)
{
    const struct yk_json *content = yk_json_get_member(node, "content");
    const char *text = yk_json_string_value(content);
    if (!text) {
        return yk_fail(YK_ERROR_INPUT, "\"content\" of Replace is %s; it must be a string",
                       yk_json_type_name(content));
    }
    YK_TRY(yk_text_pattern_read_regex(node, "Replace", &out->pattern));
    out->content = strdup(text);
    YK_TRY_ALLOCATED(out->content);
    return YK_OK;
}

/* What replaces a match has the origin of the last character of the match. An empty match at the
 * beginning has none. */
static yk_status apply_replace(const struct yk_normalizer_step *step,
                               const struct yk_normalizer_context *context,
                               const struct yk_aligned_segment *from, struct yk_aligned_text *to)
{
    const size_t content_length = strlen(step->content);
    size_t length = 0;
    const char *literal = yk_regex_get_literal(step->pattern, &length);
    if (literal && length == 1 && !to->tracked &&
        from->length <= context->max_bytes / (content_length + 1)) {
        yk_text_add_replacing(&to->text, from->bytes, from->length, literal[0], step->content,
                              content_length);
        return yk_aligned_text_status(to);
    }
    const struct yk_text_pattern pattern = {.regex = step->pattern};
    struct yk_text_pattern_search search;
    size_t done = 0;
    YK_TRY(yk_text_pattern_begin(&pattern, context->regex, from->bytes, from->length,
                                 context->buffer, &search));
    while (true) {
        YK_TRY(yk_text_pattern_find_next(&search));
        if (to->text.length > context->max_bytes) {
            return yk_fail(YK_ERROR_INPUT, "Replace makes the text longer than %zu bytes",
                           context->max_bytes);
        }
        yk_aligned_text_add_segment(to, from, done, search.found ? search.begin : from->length);
        if (!search.found) {
            return yk_aligned_text_status(to);
        }
        struct yk_token_span origin = {.begin = context->source_begin,
                                       .end = context->source_begin};
        if (to->tracked && search.end > 0) {
            origin = from->origins[search.end - 1];
        }
        yk_aligned_text_add(to, step->content, content_length, origin);
        done = search.end;
    }
}

const struct yk_normalizer_step_kind yk_normalizer_replace = {
    .type = "Replace", .read = read_replace, .apply = apply_replace, .changes_ascii = true};
