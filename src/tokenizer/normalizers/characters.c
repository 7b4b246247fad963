#include "tokenizer/normalizers/step.h"

#include "base/utf8.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/unicode.h"

#include <stdint.h>
#include <string.h>

enum {
    MAX_CHANGED = YK_UTF8_MAX_BYTES /* characters that one becomes: one for each byte */
};

/* Writes what a character becomes and returns the number of characters, which may be 0. */
typedef int32_t (*character_change)(uint32_t character, uint32_t out[MAX_CHANGED]);

static int32_t clean(uint32_t character, uint32_t out[MAX_CHANGED])
{
    out[0] = yk_unicode_is_space(character) ? ' ' : character;
    return yk_unicode_is_in_category(character, YK_UNICODE_DROPPED) ? 0 : 1;
}

static int32_t space_ideographs(uint32_t character, uint32_t out[MAX_CHANGED])
{
    out[0] = character;
    if (!yk_unicode_is_in_category(character, YK_UNICODE_IDEOGRAPH)) {
        return 1;
    }
    out[0] = ' ';
    out[1] = character;
    out[2] = ' ';
    return 3;
}

static int32_t strip_nonspacing(uint32_t character, uint32_t out[MAX_CHANGED])
{
    out[0] = character;
    return yk_unicode_is_in_category(character, YK_UNICODE_NONSPACING_MARK) ? 0 : 1;
}

static int32_t strip_marks(uint32_t character, uint32_t out[MAX_CHANGED])
{
    out[0] = character;
    return yk_unicode_is_in_category(character, YK_UNICODE_MARK) ? 0 : 1;
}

static int32_t lower(uint32_t character, uint32_t out[MAX_CHANGED])
{
    return yk_unicode_lowercase_character(character, out);
}

static int32_t to_byte_level(uint32_t character, uint32_t out[MAX_CHANGED])
{
    char bytes[YK_UTF8_MAX_BYTES];
    const size_t length = yk_utf8_encode(character, bytes);
    for (size_t i = 0; i < length; i++) {
        out[i] = yk_byte_level_character_of_byte((unsigned char)bytes[i]);
    }
    return (int32_t)length;
}

struct range {
    uint32_t first;
    uint32_t last;
};

static bool is_within(uint32_t character, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (character >= ranges[i].first && character <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

/* The rules that SentencePiece's "nmt" normalization adds to NFKC. */
static int32_t nmt(uint32_t character, uint32_t out[MAX_CHANGED])
{
    static const struct range removed[] = {{0x1, 0x8},   {0xb, 0xb},   {0xe, 0x1f},
                                           {0x7f, 0x7f}, {0x8f, 0x8f}, {0x9f, 0x9f}};
    static const struct range spaces[] = {
        {0x9, 0xa},       {0xc, 0xd},       {0x1680, 0x1680}, {0x200b, 0x200f},
        {0x2028, 0x2029}, {0x2581, 0x2581}, {0xfeff, 0xfeff}, {0xfffd, 0xfffd},
    };
    out[0] = is_within(character, spaces, sizeof spaces / sizeof *spaces) ? ' ' : character;
    return is_within(character, removed, sizeof removed / sizeof *removed) ? 0 : 1;
}

/* The length of the ASCII prefix of a text. */
static size_t ascii_length(const char *text, size_t length)
{
    size_t at = 0;
    uint64_t eight = 0;
    for (; at + sizeof eight <= length; at += sizeof eight) {
        memcpy(&eight, text + at, sizeof eight);
        if (eight & UINT64_C(0x8080808080808080)) {
            break;
        }
    }
    while (at < length && (unsigned char)text[at] < 0x80) {
        at++;
    }
    return at;
}

/* Changes ASCII text in place and returns the new length. */
typedef size_t (*ascii_change)(char *bytes, size_t length);

static size_t lower_ascii(char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        bytes[i] = (char)(bytes[i] + (bytes[i] >= 'A' && bytes[i] <= 'Z' ? 'a' - 'A' : 0));
    }
    return length;
}

static size_t clean_ascii(char *bytes, size_t length)
{
    size_t kept = 0;
    for (size_t i = 0; i < length; i++) {
        const bool space = bytes[i] == '\t' || bytes[i] == '\n' || bytes[i] == '\r';
        const char c = bytes[i];
        bytes[kept] = c;
        if (space) {
            bytes[kept] = ' ';
        }
        kept += space || (c >= ' ' && c < 0x7f);
    }
    return kept;
}

/* Appends ASCII text, which `ascii` changes; NULL means: it stays as it is. */
static void add_ascii(ascii_change ascii, const char *bytes, size_t length, struct yk_text *out)
{
    const size_t start = out->length;
    yk_text_add_bytes(out, bytes, length);
    if (ascii && !out->failed && length > 0) {
        out->length = start + ascii(out->bytes + start, length);
        out->bytes[out->length] = '\0';
    }
}

/* Changes each character. `ascii` does the same for untracked ASCII text if `has_ascii`. */
static yk_status change_all(character_change change, bool has_ascii, ascii_change ascii,
                            const struct yk_aligned_segment *from, struct yk_aligned_text *to)
{
    for (size_t at = 0; at < from->length;) {
        if (!to->tracked && has_ascii) {
            const size_t length = ascii_length(from->bytes + at, from->length - at);
            add_ascii(ascii, from->bytes + at, length, &to->text);
            at += length;
            if (at == from->length) {
                break;
            }
        }
        uint32_t character = 0;
        uint32_t changed[MAX_CHANGED];
        const size_t used = yk_utf8_decode(from->bytes + at, from->length - at, &character);
        if (used == 0) {
            return yk_fail(YK_ERROR_INPUT, "the text is not UTF-8; convert it first");
        }
        const int32_t count = change(character, changed);
        for (int32_t i = 0; i < count; i++) {
            char bytes[YK_UTF8_MAX_BYTES];
            const size_t length = yk_utf8_encode(changed[i], bytes);
            yk_aligned_text_add(to, bytes, length,
                                to->tracked ? from->origins[at] : (struct yk_token_span){0});
        }
        at += used;
    }
    return yk_aligned_text_status(to);
}

/* Defines the function of a kind that changes each character. */
#define DEFINE_APPLY(name, change, has_ascii, ascii)                                               \
    static yk_status name(const struct yk_normalizer_step *step,                                   \
                          const struct yk_normalizer_context *context,                             \
                          const struct yk_aligned_segment *from, struct yk_aligned_text *to)       \
    {                                                                                              \
        (void)step;                                                                                \
        (void)context;                                                                             \
        return change_all(change, has_ascii, ascii, from, to);                                     \
    }

DEFINE_APPLY(apply_lower, lower, true, lower_ascii)
DEFINE_APPLY(apply_strip_marks, strip_marks, true, NULL)
DEFINE_APPLY(apply_strip_nonspacing, strip_nonspacing, true, NULL)
DEFINE_APPLY(apply_clean, clean, true, clean_ascii)
DEFINE_APPLY(apply_space_ideographs, space_ideographs, true, NULL)
DEFINE_APPLY(apply_nmt, nmt, false, NULL)
DEFINE_APPLY(apply_byte_level, to_byte_level, false, NULL)

const struct yk_normalizer_step_kind yk_normalizer_lowercase = {
    .type = "Lowercase", .apply = apply_lower, .changes_ascii = true};
const struct yk_normalizer_step_kind yk_normalizer_strip_accents = {.type = "StripAccents",
                                                                    .apply = apply_strip_marks};
const struct yk_normalizer_step_kind yk_normalizer_strip_nonspacing = {.apply =
                                                                           apply_strip_nonspacing};
const struct yk_normalizer_step_kind yk_normalizer_clean = {.apply = apply_clean,
                                                            .changes_ascii = true};
const struct yk_normalizer_step_kind yk_normalizer_space_ideographs = {.apply =
                                                                           apply_space_ideographs};
const struct yk_normalizer_step_kind yk_normalizer_nmt = {
    .type = "Nmt", .apply = apply_nmt, .changes_ascii = true};
const struct yk_normalizer_step_kind yk_normalizer_byte_level = {
    .type = "ByteLevel", .apply = apply_byte_level, .changes_ascii = true};
