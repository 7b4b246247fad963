#include "base/text.h"

#include "base/number.h"
#include "base/units.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPLACED_AT_ONCE = 1 << 12 /* bytes */
};

void yk_text_free(struct yk_text *text)
{
    free(text->bytes);
    *text = (struct yk_text){0};
}

yk_status yk_text_status(const struct yk_text *text)
{
    return text->failed ? yk_fail_out_of_memory() : YK_OK;
}

const char *yk_text_chars(const struct yk_text *text)
{
    return text->bytes ? text->bytes : "";
}

yk_status yk_text_move_to_arena(struct yk_text *text, struct yk_arena *arena, const char **out)
{
    yk_status status = yk_text_status(text);
    if (status == YK_OK) {
        *out = yk_arena_copy_text(arena, yk_text_chars(text), text->length);
        status = *out ? YK_OK : yk_fail_out_of_memory();
    }
    yk_text_free(text);
    return status;
}

bool yk_text_reserve(struct yk_text *text, size_t more)
{
    if (text->failed) {
        return false;
    }
    size_t needed = 0;
    if (__builtin_add_overflow(text->length + 1, more, &needed)) {
        text->failed = true;
        return false;
    }
    if (needed <= text->capacity) {
        return true;
    }
    size_t capacity = text->capacity ? text->capacity : 64;
    while (capacity < needed) {
        capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
    }
    char *bytes = realloc(text->bytes, capacity);
    if (!bytes) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void yk_text_add_bytes(struct yk_text *text, const char *bytes, size_t length)
{
    if (!yk_text_reserve(text, length)) {
        return;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

/* Writes a block of text with `to` for each byte `from`. Returns the end of what was written. */
static char *write_replacing(char *out, const char *bytes, size_t length, char from, const char *to,
                             size_t to_length)
{
    for (size_t i = 0; i < length; i++) {
        *out = bytes[i];
        if (bytes[i] == from) {
            memcpy(out, to, to_length);
        }
        out += bytes[i] == from ? to_length : 1;
    }
    return out;
}

void yk_text_add_replacing(struct yk_text *text, const char *bytes, size_t length, char from,
                           const char *to, size_t to_length)
{
    for (size_t done = 0; done < length; done += REPLACED_AT_ONCE) {
        const size_t left = length - done;
        const size_t block = left < REPLACED_AT_ONCE ? left : REPLACED_AT_ONCE;
        if (!yk_text_reserve(text, block * (to_length + 1))) {
            return;
        }
        const char *end =
            write_replacing(text->bytes + text->length, bytes + done, block, from, to, to_length);
        text->length = (size_t)(end - text->bytes);
        text->bytes[text->length] = '\0';
    }
}

void yk_text_add(struct yk_text *text, const char *words)
{
    yk_text_add_bytes(text, words, strlen(words));
}

void yk_text_add_repeated(struct yk_text *text, const char *words, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        yk_text_add(text, words);
    }
}

void yk_text_trim_end(struct yk_text *text)
{
    while (text->length > 0 && text->bytes[text->length - 1] == ' ') {
        text->bytes[--text->length] = '\0';
    }
}

void yk_text_addf(struct yk_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    yk_text_addv(text, format, arguments);
    va_end(arguments);
}

void yk_text_addv(struct yk_text *text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0) {
        text->failed = true;
    } else if (yk_text_reserve(text, (size_t)length)) {
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void yk_text_add_number(struct yk_text *text, double value)
{
    char digits[YK_NUMBER_BUFFER_SIZE];
    yk_number_format(value, digits);
    yk_text_add(text, digits);
}

/* Adds `bytes` with all control characters escaped, except those in `kept`. */
static void add_escaped(struct yk_text *text, const char *bytes, size_t length, const char *kept)
{
    size_t begin = 0; /* of the bytes that are not added yet */
    for (size_t i = 0; i < length; i++) {
        const size_t control = yk_utf8_control_character_length(bytes + i, length - i);
        if (control == 0 || (bytes[i] && strchr(kept, bytes[i]))) {
            continue;
        }
        yk_text_add_bytes(text, bytes + begin, i - begin);
        yk_text_addf(text, control == 1 ? "\\x%02x" : "\\u%04x",
                     (unsigned)(unsigned char)bytes[i + control - 1]);
        i += control - 1;
        begin = i + 1;
    }
    yk_text_add_bytes(text, bytes + begin, length - begin);
}

void yk_text_add_escaped_controls(struct yk_text *text, const char *bytes, size_t length)
{
    add_escaped(text, bytes, length, "\n\t");
}

void yk_text_add_escaped_line(struct yk_text *text, const char *words)
{
    add_escaped(text, words, strlen(words), "");
}

void yk_text_add_json_string(struct yk_text *text, const char *words)
{
    static const char *const escapes[UCHAR_MAX + 1] = {
        ['"'] = "\\\"", ['\\'] = "\\\\", ['\n'] = "\\n", ['\t'] = "\\t", ['<'] = "\\u003c",
    };
    yk_text_add(text, "\"");
    for (const char *c = words; *c; c++) {
        const size_t control = yk_utf8_control_character_length(c, c[1] ? 2 : 1);
        if (escapes[(unsigned char)*c]) {
            yk_text_add(text, escapes[(unsigned char)*c]);
        } else if (control == 0) {
            yk_text_add_bytes(text, c, 1);
        } else {
            c += control - 1;
            yk_text_addf(text, "\\u%04x", (unsigned)(unsigned char)*c);
        }
    }
    yk_text_add(text, "\"");
}

void yk_text_add_xml_escaped(struct yk_text *text, const char *words)
{
    yk_text_add_xml_escaped_bytes(text, words, strlen(words));
}

void yk_text_add_folded(struct yk_text *text, const char *words, size_t column, size_t indent,
                        size_t width)
{
    bool first = true;
    while (*words) {
        const size_t length = strcspn(words, " ");
        if (!first && column + 1 + length > width) {
            yk_text_add(text, "\n");
            yk_text_add_repeated(text, " ", indent);
            column = indent;
        } else if (!first) {
            yk_text_add(text, " ");
            column++;
        }
        yk_text_add_bytes(text, words, length);
        column += length;
        words += length + (words[length] == ' ');
        first = false;
    }
    yk_text_add(text, "\n");
}

void yk_text_add_xml_escaped_bytes(struct yk_text *text, const char *bytes, size_t length)
{
    static const char *const escapes[UCHAR_MAX + 1] = {
        ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;", ['\''] = "&#39;",
    };
    for (const char *c = bytes; c < bytes + length; c++) {
        if (escapes[(unsigned char)*c]) {
            yk_text_add(text, escapes[(unsigned char)*c]);
        } else if ((unsigned char)*c < 0x20 && *c != '\t' && *c != '\n') {
            /* XML 1.0 forbids control characters other than tab and newline, even escaped. */
            yk_text_add(text, "\xef\xbf\xbd");
        } else {
            yk_text_add_bytes(text, c, 1);
        }
    }
}

/* Decodes one character and returns its length in bytes. A byte that is not UTF-8 counts as one
 * character. */
static size_t decode(const char *words, uint32_t *out)
{
    const size_t used = yk_utf8_decode(words, strnlen(words, YK_UTF8_MAX_BYTES), out);
    if (used == 0) {
        *out = (unsigned char)words[0];
    }
    return used > 0 ? used : 1;
}

static size_t columns_of(uint32_t character)
{
    const bool combining = character >= 0x300 && character < 0x370;
    const bool wide = (character >= 0x1100 && character < 0x1160) ||
                      (character >= 0x2e80 && character < 0xa4d0) ||
                      (character >= 0xac00 && character < 0xd7a4) ||
                      (character >= 0xf900 && character < 0xfb00) ||
                      (character >= 0xfe30 && character < 0xfe70) ||
                      (character >= 0xff00 && character < 0xff61) ||
                      (character >= 0x1f300 && character < 0x1f650) ||
                      (character >= 0x20000 && character < 0x3fffe);
    return combining ? 0 : wide ? 2 : 1;
}

size_t yk_text_display_width(const char *words)
{
    size_t columns = 0;
    while (*words) {
        uint32_t character = 0;
        words += decode(words, &character);
        columns += columns_of(character);
    }
    return columns;
}

size_t yk_text_fitting_prefix_length(const char *words, size_t columns)
{
    size_t used = 0;
    size_t length = 0;
    while (words[length]) {
        uint32_t character = 0;
        const size_t bytes = decode(words + length, &character);
        used += columns_of(character);
        if (used > columns) {
            break;
        }
        length += bytes;
    }
    return length;
}

bool yk_text_ends_with(const char *words, const char *suffix)
{
    const size_t length = strlen(words);
    const size_t wanted = strlen(suffix);
    return length > wanted && strcmp(words + length - wanted, suffix) == 0;
}

yk_status yk_text_fail_invalid_utf8(const char *source, struct yk_utf8_position place, char byte)
{
    if (byte == '\0') {
        return yk_fail(YK_ERROR_INPUT, "%s:%" PRId64 ":%" PRId64 ": a zero byte: this is no text",
                       source, place.line, place.column);
    }
    return yk_fail(YK_ERROR_INPUT,
                   "%s:%" PRId64 ":%" PRId64 ": byte 0x%02x is not UTF-8; convert the text first",
                   source, place.line, place.column, (unsigned)(unsigned char)byte);
}

/* From here on, only the exponent and two decimals are shown. */
#define HUGE_PERPLEXITY 1e6
#define MAX_SECONDS 1e15

const char *yk_text_plural_suffix(int64_t count)
{
    return count == 1 ? "" : "s";
}

void yk_text_add_duration(double seconds, struct yk_text *out)
{
    if (!(seconds >= 59.5)) {
        yk_text_add(out, YK_UNITS_FORMAT_TEMPORARY(seconds, YK_UNIT_SECONDS));
        return;
    }
    const int64_t all = (int64_t)fmin(round(seconds), MAX_SECONDS);
    if (all < 3600) {
        yk_text_addf(out, "%" PRId64 "min %" PRId64 "s", all / 60, all % 60);
    } else {
        yk_text_addf(out, "%" PRId64 "h %" PRId64 "min", all / 3600, all % 3600 / 60);
    }
}

void yk_text_add_perplexity(double loss, int decimals, struct yk_text *out)
{
    const double perplexity = exp(loss);
    if (perplexity < HUGE_PERPLEXITY) {
        yk_text_addf(out, "%.*f", decimals, perplexity);
    } else if (isfinite(perplexity) || !isfinite(loss)) {
        yk_text_addf(out, "%.2e", perplexity);
    } else {
        /* exp(loss) = 10^(loss / ln 10), which overflows a double. */
        const double digits = loss / log(10);
        yk_text_addf(out, "%.2fe+%.0f", pow(10, digits - floor(digits)), floor(digits));
    }
}
