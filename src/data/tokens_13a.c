#include "data/tokens_13a.h"

#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * The rules are regular expressions in sacreBLEU, over code points. Bytes do as well: what is
 * matched and moved is ASCII, and "anything but a digit" beside it may be the one byte of a longer
 * character that is next to it.
 *
 * Each rule reads all of the text and writes it anew, at most GROWTH times as long.
 */
enum {
    GROWTH = 3 /* one character becomes itself between two spaces */
};

typedef size_t (*rule)(const char *in, size_t length, char *out);

void yk_bleu_tokens_free(struct yk_bleu_tokens *tokens)
{
    free(tokens->words);
    free(tokens->spare);
    *tokens = (struct yk_bleu_tokens){0};
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_point(char c)
{
    return c == '.' || c == ',';
}

/* ASCII punctuation and the space, but for ' , - and the full stop: [\{-\~\[-\` -\&\(-\+\:-\@\/] */
static bool stands_alone(char c)
{
    return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
           (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

/* How many bytes the white space at the beginning of `bytes` takes, of that which Python's
 * str.isspace() knows; 0: it is none. */
static size_t space_length(const char *bytes, size_t length)
{
    const unsigned char first = (unsigned char)bytes[0];
    uint32_t c = 0;
    if (first < 0x80) {
        return first == ' ' || (first >= 0x09 && first <= 0x0d) || (first >= 0x1c && first <= 0x1f);
    }
    const size_t taken = yk_utf8_decode(bytes, length, &c);
    return taken > 0 && yk_unicode_is_space(c) ? taken : 0;
}

/* The length without white space at the end. */
static size_t stripped_length(const char *bytes, size_t length)
{
    while (length > 0) {
        size_t at = length - 1;
        while (at > 0 && length - at < YK_UTF8_MAX_BYTES &&
               ((unsigned char)bytes[at] & 0xc0) == 0x80) {
            at--;
        }
        if (space_length(bytes + at, length - at) != length - at) {
            break;
        }
        length = at;
    }
    return length;
}

static size_t set_apart(const char *in, size_t length, char *out)
{
    size_t written = 0;
    for (size_t i = 0; i < length; i++) {
        const bool alone = stands_alone(in[i]);
        if (alone) {
            out[written++] = ' ';
        }
        out[written++] = in[i];
        if (alone) {
            out[written++] = ' ';
        }
    }
    return written;
}

/* ([^0-9])([\.,]) becomes "\1 \2 ". */
static size_t set_points_apart_after_others(const char *in, size_t length, char *out)
{
    size_t written = 0;
    for (size_t i = 0; i < length; i++) {
        out[written++] = in[i];
        if (!is_digit(in[i]) && i + 1 < length && is_point(in[i + 1])) {
            out[written++] = ' ';
            out[written++] = in[++i];
            out[written++] = ' ';
        }
    }
    return written;
}

/* ([\.,])([^0-9]) becomes " \1 \2". */
static size_t set_points_apart_before_others(const char *in, size_t length, char *out)
{
    size_t written = 0;
    for (size_t i = 0; i < length; i++) {
        const bool apart = is_point(in[i]) && i + 1 < length && !is_digit(in[i + 1]);
        if (apart) {
            out[written++] = ' ';
        }
        out[written++] = in[i];
        if (apart) {
            out[written++] = ' ';
            out[written++] = in[++i];
        }
    }
    return written;
}

/* ([0-9])(-) becomes "\1 \2 ". */
static size_t set_hyphens_apart(const char *in, size_t length, char *out)
{
    size_t written = 0;
    for (size_t i = 0; i < length; i++) {
        out[written++] = in[i];
        if (is_digit(in[i]) && i + 1 < length && in[i + 1] == '-') {
            out[written++] = ' ';
            out[written++] = in[++i];
            out[written++] = ' ';
        }
    }
    return written;
}

static size_t space_words(const char *in, size_t length, char *out)
{
    size_t written = 0;
    bool inside = false;
    for (size_t i = 0; i < length;) {
        const size_t space = space_length(in + i, length - i);
        if (space == 0) {
            if (!inside && written > 0) {
                out[written++] = ' ';
            }
            out[written++] = in[i];
        }
        inside = space == 0;
        i += space ? space : 1;
    }
    return written;
}

/* Makes the spare room hold what a rule makes of `length` bytes. */
static yk_status reserve(struct yk_bleu_tokens *tokens, size_t length)
{
    if (length > (SIZE_MAX - 1) / GROWTH) {
        return yk_fail_out_of_memory();
    }
    const size_t needed = GROWTH * length + 1;
    if (tokens->spare_capacity < needed) {
        char *bytes = realloc(tokens->spare, needed);
        if (!bytes) {
            return yk_fail_out_of_memory();
        }
        tokens->spare = bytes;
        tokens->spare_capacity = needed;
    }
    return YK_OK;
}

/* What was written into the spare room is the text from now on. */
static void turn_over(struct yk_bleu_tokens *tokens, size_t length)
{
    char *const bytes = tokens->words;
    const size_t capacity = tokens->capacity;
    tokens->words = tokens->spare;
    tokens->capacity = tokens->spare_capacity;
    tokens->spare = bytes;
    tokens->spare_capacity = capacity;
    tokens->words[length] = '\0';
    tokens->length = length;
}

/* Puts `with`, or nothing where it is zero, in place of `what` from left to right, as str.replace()
 * does. */
static void replace(struct yk_bleu_tokens *tokens, const char *what, char with)
{
    const size_t what_length = strlen(what);
    char *from = tokens->words;
    char *to = tokens->words;
    char *const end = tokens->words + tokens->length;
    char *found = NULL;
    while ((found = memmem(from, (size_t)(end - from), what, what_length))) {
        memmove(to, from, (size_t)(found - from));
        to += found - from;
        if (with != '\0') {
            *to++ = with;
        }
        from = found + what_length;
    }
    memmove(to, from, (size_t)(end - from));
    tokens->length = (size_t)(to - tokens->words) + (size_t)(end - from);
    tokens->words[tokens->length] = '\0';
}

static void undo_markup(struct yk_bleu_tokens *tokens)
{
    replace(tokens, "<skipped>", '\0');
    replace(tokens, "-\n", '\0');
    replace(tokens, "\n", ' ');
    /* In this order, so that "&amp;lt;" ends as "<". */
    replace(tokens, "&quot;", '"');
    replace(tokens, "&amp;", '&');
    replace(tokens, "&lt;", '<');
    replace(tokens, "&gt;", '>');
}

yk_status yk_bleu_tokens_split(const char *sentence, size_t length, struct yk_bleu_tokens *tokens)
{
    static const rule rules[] = {set_apart, set_points_apart_after_others,
                                 set_points_apart_before_others, set_hyphens_apart, space_words};
    const size_t stripped = stripped_length(sentence, length);
    /* The rules see a space at both ends. */
    YK_TRY(reserve(tokens, stripped + 2));
    tokens->spare[0] = ' ';
    memcpy(tokens->spare + 1, sentence, stripped);
    tokens->spare[stripped + 1] = ' ';
    turn_over(tokens, stripped + 2);
    undo_markup(tokens);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        YK_TRY(reserve(tokens, tokens->length));
        turn_over(tokens, rules[i](tokens->words, tokens->length, tokens->spare));
    }
    return YK_OK;
}
