#include "tokenizer/unicode.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <utf8proc.h>

enum {
    STACK_CHARACTERS =
        256, /* characters of a normal form that fit on the stack; longer ones use the heap */
    MAX_DECOMPOSED = YK_UNICODE_MAX_DECOMPOSED
};

bool yk_unicode_is_space(uint32_t character)
{
    if (character < 0x80) {
        return character == ' ' || (character >= '\t' && character <= '\r');
    }
    return character == 0x85 || character == 0xa0 || character == 0x1680 ||
           (character >= 0x2000 && character <= 0x200a) || character == 0x2028 ||
           character == 0x2029 || character == 0x202f || character == 0x205f || character == 0x3000;
}

bool yk_unicode_is_in_category(uint32_t character, enum yk_unicode_category kind)
{
    const struct yk_unicode_range_list *class = &yk_unicode_category_ranges[kind];
    size_t low = 0;
    size_t high = class->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (class->ranges[middle].last < character) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < class->count && class->ranges[low].first <= character;
}

int32_t yk_unicode_script(uint32_t character)
{
    const struct yk_unicode_script_range_list *scripts = &yk_unicode_script_ranges;
    size_t low = 0;
    size_t high = scripts->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (scripts->ranges[middle].last < character) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < scripts->count && scripts->ranges[low].first <= character
               ? scripts->ranges[low].script
               : YK_UNICODE_ANY_SCRIPT;
}

int32_t yk_unicode_lowercase_character(uint32_t character, uint32_t out[YK_UNICODE_MAX_LOWERCASE])
{
    enum {
        CAPITAL_I_WITH_DOT = 0x130,
        DOT_ABOVE = 0x307
    };
    if (character == CAPITAL_I_WITH_DOT) {
        out[0] = 'i';
        out[1] = DOT_ABOVE;
        return 2;
    }
    out[0] = (uint32_t)utf8proc_tolower((utf8proc_int32_t)character);
    return 1;
}

static utf8proc_option_t options_of(enum yk_unicode_normal_form form)
{
    static const int options[] = {
        [YK_UNICODE_NFC] = UTF8PROC_STABLE | UTF8PROC_COMPOSE,
        [YK_UNICODE_NFD] = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE,
        [YK_UNICODE_NFKC] = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT,
        [YK_UNICODE_NFKD] = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT,
    };
    return (utf8proc_option_t)options[form];
}

/* Adds the normal form of a text. `buffer` is large enough. */
static yk_status normalize_into(const char *text, size_t length, utf8proc_option_t options,
                                utf8proc_int32_t *buffer, size_t room, struct yk_text *out)
{
    utf8proc_ssize_t count =
        utf8proc_decompose((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length, buffer,
                           (utf8proc_ssize_t)room, options);
    if (count >= 0 && (options & UTF8PROC_COMPOSE)) {
        count = utf8proc_normalize_utf32(buffer, count, options);
    }
    if (count < 0) {
        return yk_fail(YK_ERROR_INPUT, "the text is not UTF-8; convert it first");
    }
    for (utf8proc_ssize_t i = 0; i < count; i++) {
        char bytes[YK_UTF8_MAX_BYTES];
        yk_text_add_bytes(out, bytes, yk_utf8_encode((uint32_t)buffer[i], bytes));
    }
    return YK_OK;
}

static yk_status normalize_segment(const char *text, size_t length,
                                   enum yk_unicode_normal_form form, struct yk_text *out)
{
    const utf8proc_option_t options = options_of(form);
    utf8proc_int32_t few[STACK_CHARACTERS];
    if (length <= STACK_CHARACTERS / MAX_DECOMPOSED) {
        return normalize_into(text, length, options, few, STACK_CHARACTERS, out);
    }
    const size_t room = length * MAX_DECOMPOSED;
    utf8proc_int32_t *many =
        length <= SIZE_MAX / MAX_DECOMPOSED / sizeof *many ? malloc(room * sizeof *many) : NULL;
    YK_TRY_ALLOCATED(many);
    const yk_status status = normalize_into(text, length, options, many, room, out);
    free(many);
    return status;
}

yk_status yk_unicode_normalize(const char *text, size_t length, enum yk_unicode_normal_form form,
                               struct yk_text *out)
{
    /* ASCII is its own normal form, but its last character may combine with the next one.
     * Everything before that character is copied. */
    for (size_t at = 0; at < length;) {
        size_t end = at;
        while (end < length && (unsigned char)text[end] < 0x80) {
            end++;
        }
        const size_t copied = end < length && end > at ? end - 1 : end;
        yk_text_add_bytes(out, text + at, copied - at);
        at = copied;
        while (end < length && (unsigned char)text[end] >= 0x80) {
            end++;
        }
        if (end > at) {
            YK_TRY(normalize_segment(text + at, end - at, form, out));
        }
        at = end;
    }
    return yk_text_status(out);
}

int32_t yk_unicode_decompose_character(uint32_t character, bool compatible,
                                       uint32_t out[YK_UNICODE_MAX_DECOMPOSED])
{
    utf8proc_int32_t parts[YK_UNICODE_MAX_DECOMPOSED];
    int boundary = 0;
    const utf8proc_ssize_t count = utf8proc_decompose_char(
        (utf8proc_int32_t)character, parts, YK_UNICODE_MAX_DECOMPOSED,
        options_of(compatible ? YK_UNICODE_NFKD : YK_UNICODE_NFD), &boundary);
    out[0] = character;
    if (count < 1 || count > YK_UNICODE_MAX_DECOMPOSED) {
        return 1;
    }
    for (utf8proc_ssize_t i = 0; i < count; i++) {
        out[i] = (uint32_t)parts[i];
    }
    return (int32_t)count;
}

int32_t yk_unicode_combining_class(uint32_t character)
{
    return utf8proc_get_property((utf8proc_int32_t)character)->combining_class;
}

uint32_t yk_unicode_compose_pair(uint32_t first, uint32_t second)
{
    utf8proc_int32_t pair[] = {(utf8proc_int32_t)first, (utf8proc_int32_t)second};
    return utf8proc_normalize_utf32(pair, 2, options_of(YK_UNICODE_NFC)) == 1 ? (uint32_t)pair[0]
                                                                              : 0;
}

bool yk_unicode_is_grapheme_boundary(uint32_t before, uint32_t after, int32_t *state)
{
    return utf8proc_grapheme_break_stateful((utf8proc_int32_t)before, (utf8proc_int32_t)after,
                                            state);
}

enum {
    CAPITAL_SIGMA = 0x3a3,
    FINAL_SIGMA = 0x3c2,
    END_OF_CASED_SCRIPTS = 0x590, /* Latin, Greek, Cyrillic and Armenian are below this */
    GREEK_EXTENDED = 0x1f00,
    END_OF_GREEK_EXTENDED = 0x2000
};

/* Approximates the property Case_Ignorable for Greek text. */
static bool is_ignorable(uint32_t c)
{
    static const uint32_t signs[] = {'\'',  '.',   ':',    '^',    '`',    0xa8,
                                     0xad,  0xaf,  0xb4,   0xb7,   0xb8,   0x384,
                                     0x385, 0x387, 0x2018, 0x2019, 0x2024, 0x2027};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (c == signs[i]) {
            return true;
        }
    }
    return yk_unicode_is_in_category(c, YK_UNICODE_NONSPACING_MARK);
}

/* Approximates the property Cased for the scripts that occur with Greek. */
static bool is_cased(uint32_t c)
{
    if (c < 0x80) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }
    const bool script = (c >= 0xc0 && c < END_OF_CASED_SCRIPTS && c != 0xd7 && c != 0xf7) ||
                        c == 0xaa || c == 0xb5 || c == 0xba ||
                        (c >= GREEK_EXTENDED && c < END_OF_GREEK_EXTENDED);
    return script && !yk_unicode_is_in_category(c, YK_UNICODE_PUNCTUATION) &&
           !yk_unicode_is_in_category(c, YK_UNICODE_MARK);
}

/* Whether the next character that is not ignorable is a cased letter. */
static bool letter_follows(const char *text, size_t length, size_t at)
{
    while (at < length) {
        uint32_t c = 0;
        const size_t used = yk_utf8_decode(text + at, length - at, &c);
        if (used == 0 || !is_ignorable(c)) {
            return used > 0 && is_cased(c);
        }
        at += used;
    }
    return false;
}

static void add_character(uint32_t character, struct yk_text *out)
{
    uint32_t small[YK_UNICODE_MAX_LOWERCASE];
    char bytes[YK_UTF8_MAX_BYTES];
    const int32_t count = yk_unicode_lowercase_character(character, small);
    for (int32_t i = 0; i < count; i++) {
        yk_text_add_bytes(out, bytes, yk_utf8_encode(small[i], bytes));
    }
}

void yk_unicode_lowercase_text(const char *text, size_t length, struct yk_text *out)
{
    bool after_letter = false;
    for (size_t at = 0; at < length;) {
        uint32_t c = 0;
        const size_t used = yk_utf8_decode(text + at, length - at, &c);
        if (used == 0) {
            yk_text_add_bytes(out, text + at, 1);
            after_letter = false;
            at++;
            continue;
        }
        at += used;
        if (c == CAPITAL_SIGMA && after_letter && !letter_follows(text, length, at)) {
            c = FINAL_SIGMA;
        }
        add_character(c, out);
        after_letter = is_cased(c) || (after_letter && is_ignorable(c));
    }
}
