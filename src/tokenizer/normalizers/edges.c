#include "tokenizer/normalizers/step.h"

#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static yk_status read_strip(const struct yk_json *node, struct yk_normalizer_step *out)
{
    out->left = true;
    out->right = true;
    YK_TRY(yk_json_get_bool(node, "strip_left", &out->left));
    return yk_json_get_bool(node, "strip_right", &out->right);
}

static yk_status apply_strip(const struct yk_normalizer_step *step,
                             const struct yk_normalizer_context *context,
                             const struct yk_aligned_segment *from, struct yk_aligned_text *to)
{
    (void)context;
    size_t begin = 0;
    size_t end = from->length;
    uint32_t character = 0;
    while (step->left && begin < end) {
        const size_t used = yk_utf8_decode(from->bytes + begin, end - begin, &character);
        if (used == 0 || !yk_unicode_is_space(character)) {
            break;
        }
        begin += used;
    }
    while (step->right && end > begin) {
        const size_t previous = yk_utf8_previous_character_start(from->bytes, end);
        if (yk_utf8_decode(from->bytes + previous, end - previous, &character) == 0 ||
            !yk_unicode_is_space(character)) {
            break;
        }
        end = previous;
    }
    yk_aligned_text_add_segment(to, from, begin, end);
    return yk_aligned_text_status(to);
}

static yk_status read_prepend(const struct yk_json *node, struct yk_normalizer_step *out)
{
    const struct yk_json *content = yk_json_get_member(node, "prepend");
    const char *text = yk_json_string_value(content);
    if (!text) {
        return yk_fail(YK_ERROR_INPUT, "\"prepend\" of Prepend is %s; it must be a string",
                       yk_json_type_name(content));
    }
    out->content = strdup(text);
    YK_TRY_ALLOCATED(out->content);
    return YK_OK;
}

/* What is put before a text has the origin of the text's first character. */
static yk_status apply_prepend(const struct yk_normalizer_step *step,
                               const struct yk_normalizer_context *context,
                               const struct yk_aligned_segment *from, struct yk_aligned_text *to)
{
    (void)context;
    if (from->length > 0) {
        yk_aligned_text_add(to, step->content, strlen(step->content),
                            to->tracked ? from->origins[0] : (struct yk_token_span){0});
    }
    yk_aligned_text_add_segment(to, from, 0, from->length);
    return yk_aligned_text_status(to);
}

const struct yk_normalizer_step_kind yk_normalizer_strip = {
    .type = "Strip", .read = read_strip, .apply = apply_strip, .changes_ascii = true};
const struct yk_normalizer_step_kind yk_normalizer_prepend = {
    .type = "Prepend", .read = read_prepend, .apply = apply_prepend, .changes_ascii = true};
