/*
 * Text: a growing string. It is initialized with {0} and freed by yk_text_free(). If memory is
 * exhausted, `failed` is set and further additions do nothing; yk_text_status() reports it once at
 * the end. One thread at a time may use a text.
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
    char *bytes; /* zero-terminated; NULL if nothing was added */
    size_t length;
    size_t capacity;
    bool failed;
    bool coloured; /* formatted for a terminal: contains colours, and text from files is already
                      escaped */
};

void yk_text_free(struct yk_text *text);

/* Fails if memory was exhausted in any addition. */
yk_status yk_text_status(const struct yk_text *text) YK_MUST_USE;

/* The characters, or "" if nothing was added. */
const char *yk_text_chars(const struct yk_text *text);

/* Ensures capacity for `more` characters and the terminating zero, for a caller that writes to
 * `bytes` itself. Returns false if memory is exhausted. */
bool yk_text_reserve(struct yk_text *text, size_t more);

void yk_text_add(struct yk_text *text, const char *words);
void yk_text_add_bytes(struct yk_text *text, const char *bytes, size_t length);
void yk_text_add_repeated(struct yk_text *text, const char *words, size_t times);
void yk_text_addf(struct yk_text *text, const char *format, ...) YK_PRINTF(2, 3);

void yk_text_addv(struct yk_text *text, const char *format, va_list arguments) YK_PRINTF(2, 0);

/* Moves the text into the arena: copies it and frees `text`. Fails if memory was exhausted. */
yk_status yk_text_move_to_arena(struct yk_text *text, struct yk_arena *arena,
                                const char **out) YK_MUST_USE;

/* Removes spaces at the end. */
void yk_text_trim_end(struct yk_text *text);

/* Appends the shortest decimal that parses to the same double, without an exponent if possible. */
void yk_text_add_number(struct yk_text *text, double value);

/* Appends a JSON string with quotes and escapes. '<' is written as \u003c, so that it is safe
 * inside a <script> element. */
void yk_text_add_json_string(struct yk_text *text, const char *words);

/* Appends bytes with control characters, except newline and tab, as visible escapes: "\x1b", or
 * "\u009b" for a character of two bytes. */
void yk_text_add_printable(struct yk_text *text, const char *bytes, size_t length);

/* The same, and escapes newlines and tabs too. */
void yk_text_add_escaped_line(struct yk_text *text, const char *words);

/* Appends a string with escapes for XML and HTML, for content and attributes. */
void yk_text_add_xml_escaped(struct yk_text *text, const char *words);

/* The width of a UTF-8 string on a terminal, in columns. Wide East Asian characters take two. */
size_t yk_text_display_width(const char *words);

/* The length in bytes of the longest prefix of whole characters that takes at most `columns`
 * columns. */
size_t yk_text_prefix_length(const char *words, size_t columns);

/* Whether `words` ends with `suffix` and is longer. */
bool yk_text_ends_with(const char *words, const char *suffix);

/* "s" unless `count` is 1, else "". */
const char *yk_text_plural_suffix(int64_t count);

/* Appends "850ms", "42.1s", "3min 7s" or "2h 15min". */
void yk_text_add_duration(double seconds, struct yk_text *out);

/* Appends the perplexity of a loss with `decimals` decimals, or in exponential notation if it is
 * huge. */
void yk_text_add_perplexity(double loss, int decimals, struct yk_text *out);

#endif
