/*
 * Text: a string that grows. It starts as {0} and is freed by yk_text_free(). Running out of memory
 * is remembered in `failed` and reported once by yk_text_status(), so that writers need not check
 * every line. One thread at a time.
 */
#ifndef YK_BASE_TEXT_H
#define YK_BASE_TEXT_H

#include "base/arena.h"
#include "base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_text {
    char *bytes; /* zero-terminated once anything was added; NULL before */
    size_t length;
    size_t capacity;
    bool failed;
    bool coloured; /* ready for a terminal: its writer escaped what others wrote, and coloured it */
};

void yk_text_free(struct yk_text *text);

/* YK_OK, or out of memory if any addition failed. */
yk_status yk_text_status(const struct yk_text *text) YK_MUST_USE;

/* The characters so far; "" when nothing was added. */
const char *yk_text_chars(const struct yk_text *text);

void yk_text_add(struct yk_text *text, const char *words);
void yk_text_add_bytes(struct yk_text *text, const char *bytes, size_t length);
void yk_text_add_repeated(struct yk_text *text, const char *words, size_t times);
void yk_text_addf(struct yk_text *text, const char *format, ...) YK_PRINTF(2, 3);

void yk_text_addv(struct yk_text *text, const char *format, va_list arguments) YK_PRINTF(2, 0);

/* Copies the text, unless it failed, into the arena, and frees it. */
yk_status yk_text_move(struct yk_text *text, struct yk_arena *arena, const char **out) YK_MUST_USE;

/* Removes spaces at the end. */
void yk_text_trim(struct yk_text *text);

/* The shortest decimal that reads back as the same double, without an exponent where it can be. */
void yk_text_add_number(struct yk_text *text, double value);

/* "…" with JSON escapes; also safe inside a <script> element: '<' is written as \u003c. */
void yk_text_add_json(struct yk_text *text, const char *words);

/* Control characters, except newline and tab, as visible escapes: "\x1b", or "\u009b" for a
 * character of two bytes. Everything else is added as it is. */
void yk_text_add_printable(struct yk_text *text, const char *bytes, size_t length);

/* The same with newlines and tabs escaped too: what others wrote stays within its line. */
void yk_text_add_line(struct yk_text *text, const char *words);

/* Escaped for XML and HTML, in content and in attributes. */
void yk_text_add_xml(struct yk_text *text, const char *words);

/* How many columns a UTF-8 string takes on a terminal: wide East Asian characters take two. */
size_t yk_text_columns(const char *words);

/* The length in bytes of the longest prefix of whole characters that takes at most `columns`. */
size_t yk_text_prefix(const char *words, size_t columns);

/* "s" behind what there are several of. */
const char *yk_text_plural(int64_t count);

/* "850ms", "42.1s", "3min 7s", "2h 15min". */
void yk_text_add_duration(double seconds, struct yk_text *out);

/* The perplexity of a loss, with so many decimals unless it is huge. */
void yk_text_add_perplexity(double loss, int decimals, struct yk_text *out);

#endif
