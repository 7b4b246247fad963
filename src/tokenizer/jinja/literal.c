#include "tokenizer/jinja/literal.h"

#include "tokenizer/jinja/string.h"

#include "base/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

static yk_status fail(int32_t line, const char *what)
{
    return yk_fail(YK_ERROR_INPUT, "line %d: %s", (int)line, what);
}

/* Returns the length of digits of a base, which may be separated by single underscores. */
static size_t digits_length(const char *bytes, int base)
{
    size_t length = 0;
    for (;;) {
        const size_t separator = length > 0 && bytes[length] == '_';
        const char digit[] = {bytes[length + separator], '\0'};
        char *end = NULL;
        if (!isxdigit((unsigned char)digit[0])) {
            return length;
        }
        (void)strtol(digit, &end, base);
        if (*end != '\0') {
            return length;
        }
        length += separator + 1;
    }
}

/* Returns the length of a float at the beginning of `bytes`, or 0 if there is none. */
static size_t float_length(const char *bytes)
{
    size_t length = digits_length(bytes, 10);
    bool is_float = false;
    if (length == 0) {
        return 0;
    }
    if (bytes[length] == '.') {
        const size_t decimals = digits_length(bytes + length + 1, 10);
        is_float = decimals > 0;
        length += decimals > 0 ? decimals + 1 : 0;
    }
    if (bytes[length] == 'e' || bytes[length] == 'E') {
        const size_t sign = bytes[length + 1] == '+' || bytes[length + 1] == '-';
        const size_t digits = digits_length(bytes + length + 1 + sign, 10);
        is_float = is_float || digits > 0;
        length += digits > 0 ? 1 + sign + digits : 0;
    }
    return is_float ? length : 0;
}

/* Copies digits, but no underscores. */
static yk_status copy_digits(const char *bytes, size_t length, struct yk_arena *arena,
                             const char **out)
{
    char *copy = yk_arena_copy_text(arena, bytes, length);
    YK_TRY_ALLOCATED(copy);
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != '_') {
            copy[used++] = bytes[i];
        }
    }
    copy[used] = '\0';
    *out = copy;
    return YK_OK;
}

static yk_status read_integer(const char *bytes, struct yk_arena *arena, struct yk_jinja_token *out)
{
    const char *digits = NULL;
    const char letter = (char)tolower((unsigned char)bytes[1]);
    int base = bytes[0] != '0' ? 10
               : letter == 'x' ? 16
               : letter == 'o' ? 8
               : letter == 'b' ? 2
                               : 1;
    size_t prefix = base > 1 && base != 10 ? 2 : 0;
    size_t length = base > 1 ? digits_length(bytes + prefix, base) : 0;
    if (length == 0) { /* zeros only */
        base = 10;
        prefix = 0;
        while (bytes[length] == '0' || (bytes[length] == '_' && bytes[length + 1] == '0')) {
            length++;
        }
    }
    YK_TRY(copy_digits(bytes + prefix, length, arena, &digits));
    errno = 0;
    const long long value = strtoll(digits, NULL, base);
    if (errno != 0) {
        return fail(out->line, "an integer is too large: integers have 64 bits here");
    }
    out->kind = YK_JINJA_TOKEN_INTEGER;
    out->bytes = bytes;
    out->length = prefix + length;
    out->as.integer = value;
    return YK_OK;
}

yk_status yk_jinja_literal_read_number(const char *bytes, bool after_dot, struct yk_arena *arena,
                                       struct yk_jinja_token *out)
{
    const size_t length = after_dot ? 0 : float_length(bytes);
    const char *digits = NULL;
    if (length == 0) {
        return read_integer(bytes, arena, out);
    }
    YK_TRY(copy_digits(bytes, length, arena, &digits));
    out->kind = YK_JINJA_TOKEN_FLOAT;
    out->bytes = bytes;
    out->length = length;
    out->as.number = strtod(digits, NULL);
    return YK_OK;
}

/* Reads `count` hexadecimal digits, as in \x41. Returns the bytes that were used, or 0. */
static size_t read_hexadecimal(const char *bytes, size_t count, uint32_t *out)
{
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isxdigit((unsigned char)bytes[i])) {
            return 0;
        }
        const int digit = tolower((unsigned char)bytes[i]);
        *out = *out * 16 + (uint32_t)(isdigit(digit) ? digit - '0' : digit - 'a' + 10);
    }
    return count;
}

static yk_status add_numbered(int32_t line, const char *bytes, size_t count, struct yk_text *text,
                              size_t *used)
{
    uint32_t character = 0;
    if (read_hexadecimal(bytes + 1, count, &character) == 0 ||
        character >= YK_UTF8_CODE_POINT_COUNT || (character >= 0xd800 && character < 0xe000)) {
        return fail(line, "a string has an escape such as \\x or \\u that is no character");
    }
    yk_jinja_string_add_character(text, character);
    *used = count + 1;
    return YK_OK;
}

/* Adds what the escape at `bytes`, directly behind the backslash, means. */
static yk_status add_escape(int32_t line, const char *bytes, struct yk_text *text, size_t *used)
{
    static const char letters[] = "\\'\"abfnrtv";
    static const char meanings[] = "\\'\"\a\b\f\n\r\t\v";
    uint32_t character = 0;
    const char *letter = strchr(letters, bytes[0]);
    *used = 1;
    if (letter && *letter) {
        yk_text_add_bytes(text, &meanings[letter - letters], 1);
    } else if (bytes[0] >= '0' && bytes[0] <= '7') {
        for (*used = 0; *used < 3 && bytes[*used] >= '0' && bytes[*used] <= '7'; ++*used) {
            character = character * 8 + (uint32_t)(bytes[*used] - '0');
        }
        yk_jinja_string_add_character(text, character);
    } else if (bytes[0] == 'x' || bytes[0] == 'u' || bytes[0] == 'U') {
        return add_numbered(line, bytes, bytes[0] == 'x' ? 2 : bytes[0] == 'u' ? 4 : 8, text, used);
    } else if (bytes[0] == 'N') {
        return fail(line, "\\N in a string is not supported; write the character itself");
    } else if ((unsigned char)bytes[0] >= 0x80) {
        /* jinja2 writes the character as an escape first, whose backslash is then escaped */
        *used = yk_jinja_string_decode(bytes, &character);
        yk_text_addf(text,
                     character < 0x100     ? "\\x%02x"
                     : character < 0x10000 ? "\\u%04x"
                                           : "\\U%08x",
                     (unsigned)character);
    } else if (bytes[0] != '\n') {
        yk_text_add(text, "\\");
        yk_text_add_bytes(text, bytes, 1);
    }
    return YK_OK;
}

static yk_status resolve_escapes(int32_t line, const char *bytes, size_t length,
                                 struct yk_text *text)
{
    for (size_t at = 0; at < length;) {
        const char *backslash = memchr(bytes + at, '\\', length - at);
        const size_t plain = backslash ? (size_t)(backslash - bytes) - at : length - at;
        size_t used = 0;
        yk_text_add_bytes(text, bytes + at, plain);
        at += plain;
        if (at < length) {
            YK_TRY(add_escape(line, bytes + at + 1, text, &used));
            at += used + 1;
        }
    }
    return yk_text_status(text);
}

yk_status yk_jinja_literal_read_string(const char *bytes, size_t length, struct yk_arena *arena,
                                       struct yk_jinja_token *out)
{
    struct yk_text text = {0};
    YK_TRY_OR_CLEAN_UP(resolve_escapes(out->line, bytes, length, &text), yk_text_free(&text));
    const size_t resolved = text.length;
    const char *copy = yk_arena_copy_text(arena, yk_text_chars(&text), resolved);
    yk_text_free(&text);
    YK_TRY_ALLOCATED(copy);
    out->kind = YK_JINJA_TOKEN_STRING;
    out->bytes = copy;
    out->length = resolved;
    return YK_OK;
}
