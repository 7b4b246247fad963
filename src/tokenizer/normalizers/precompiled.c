#include "tokenizer/normalizers/step.h"

#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <stdint.h>
#include <string.h>

enum {
    MAX_WHOLE_BYTES = 5 /* of a grapheme cluster that is looked up as a whole */
};

static yk_status read_precompiled(const struct yk_json *node, struct yk_normalizer_step *out)
{
    const struct yk_json *map = yk_json_get_member(node, "precompiled_charsmap");
    const char *text = yk_json_string_value(map);
    if (!text) {
        return yk_fail(YK_ERROR_INPUT, "\"precompiled_charsmap\" is %s; it must be a string",
                       yk_json_type_name(map));
    }
    return yk_status_prefix_message(yk_precompiled_map_create_from_base64(text, &out->map),
                                    "precompiled_charsmap");
}

/* The output. The last character is kept back, because its change may still grow. */
struct output {
    struct yk_aligned_transform transform;
    bool has_last;
    uint32_t last;
    int32_t last_change;
};

static void flush(struct output *out)
{
    if (out->has_last) {
        yk_aligned_text_add_transformed(&out->transform, out->last, out->last_change);
    }
    out->has_last = false;
}

static void add_character(struct output *out, uint32_t character, int32_t change)
{
    flush(out);
    out->has_last = true;
    out->last = character;
    out->last_change = change;
}

static int32_t count_characters(const char *bytes, size_t length)
{
    int32_t count = 0;
    for (size_t i = 0; i < length; i++) {
        count += ((unsigned char)bytes[i] & 0xc0) != 0x80;
    }
    return count;
}

/*
 * Replaces some characters. The new characters replace the old ones one by one. If there are more
 * new ones, the last of them are inserted. If there are fewer, the last character removes the rest;
 * this may be a character from before, and at the beginning of a text there is none to do so.
 */
static void replace(struct output *out, const char *old, size_t old_length, const char *new,
                    size_t new_length)
{
    const int32_t old_count = count_characters(old, old_length);
    int32_t new_count = 0;
    for (size_t at = 0; at < new_length;) {
        uint32_t character = 0;
        const size_t used = yk_utf8_decode(new + at, new_length - at, &character);
        add_character(out, character, new_count >= old_count ? 1 : 0);
        new_count++;
        at += used ? used : 1;
    }
    if (new_count < old_count && out->has_last) {
        out->last_change += new_count - old_count;
    }
}

/* Adds one grapheme cluster. */
static void add_cluster(const struct yk_precompiled_map *map, struct output *out, const char *bytes,
                        size_t length)
{
    const char *new = NULL;
    size_t new_length = 0;
    if (length <= MAX_WHOLE_BYTES &&
        yk_precompiled_map_find(map, bytes, length, &new, &new_length)) {
        replace(out, bytes, length, new, new_length);
        return;
    }
    for (size_t at = 0; at < length;) {
        uint32_t character = 0;
        const size_t used = yk_utf8_decode(bytes + at, length - at, &character);
        if (yk_precompiled_map_find(map, bytes + at, used, &new, &new_length)) {
            replace(out, bytes + at, used, new, new_length);
        } else {
            add_character(out, character, 0);
        }
        at += used ? used : 1;
    }
}

/* The end of the ASCII characters from `at` on that stay as they are. The last one before another
 * character is left out: it may form a grapheme cluster with what follows. */
static size_t unchanged_ascii_end(const struct yk_precompiled_map *map,
                                  const struct yk_aligned_segment *from, size_t at)
{
    while (at < from->length) {
        const unsigned char byte = (unsigned char)from->bytes[at];
        const bool alone = at + 1 == from->length || (unsigned char)from->bytes[at + 1] < 0x80;
        if (byte >= 0x80 || byte == '\r' || !alone || yk_precompiled_map_changes_ascii(map, byte)) {
            break;
        }
        at++;
    }
    return at;
}

/* Returns the end of the grapheme cluster that begins at `at`, or `at` if the text is not UTF-8. */
static size_t cluster_end(const struct yk_aligned_segment *from, size_t at)
{
    uint32_t before = 0;
    int32_t state = 0;
    size_t used = yk_utf8_decode(from->bytes + at, from->length - at, &before);
    while (used > 0) {
        at += used;
        uint32_t after = 0;
        used = at < from->length ? yk_utf8_decode(from->bytes + at, from->length - at, &after) : 0;
        if (used > 0 && yk_unicode_is_grapheme_boundary(before, after, &state)) {
            break;
        }
        before = after;
    }
    return at;
}

static yk_status apply_precompiled(const struct yk_normalizer_step *step,
                                   const struct yk_normalizer_context *context,
                                   const struct yk_aligned_segment *from,
                                   struct yk_aligned_text *to)
{
    (void)context;
    struct output out = {.transform = {.from = from, .to = to}};
    for (size_t at = 0; at < from->length;) {
        const size_t plain_end = to->tracked ? at : unchanged_ascii_end(step->map, from, at);
        if (plain_end > at) {
            flush(&out);
            yk_text_add_bytes(&to->text, from->bytes + at, plain_end - at);
            at = plain_end;
            continue;
        }
        const size_t end = cluster_end(from, at);
        if (end == at) {
            return yk_fail(YK_ERROR_INPUT, "the text is not UTF-8; convert it first");
        }
        add_cluster(step->map, &out, from->bytes + at, end - at);
        at = end;
    }
    flush(&out);
    return yk_aligned_text_status(to);
}

const struct yk_normalizer_step_kind yk_normalizer_precompiled = {.type = "Precompiled",
                                                                  .read = read_precompiled,
                                                                  .apply = apply_precompiled,
                                                                  .changes_ascii = true};
