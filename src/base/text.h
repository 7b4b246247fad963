/*
 * Text: a growing string. Initialize a text with {0} and free it with yk_text_free(). If memory is
 * exhausted, `failed` is set and further additions do nothing. To detect this, the caller calls
 * yk_text_status() once at the end. Only one thread at a time may use a text.
 */
#ifndef YK_BASE_TEXT_H
#define YK_BASE_TEXT_H

#include "base/arena.h"
#include "base/status.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_text {
    char *bytes; /* zero-terminated; NULL means: nothing was added */
    size_t length;
    size_t capacity;
    bool failed;
    /* The text is formatted for a terminal: it contains colours, and text from files is already
     * escaped. */
    bool coloured;
};

void yk_text_free(struct yk_text *text);

/* Fails if memory was exhausted in any addition. */
yk_status yk_text_status(const struct yk_text *text) YK_MUST_USE;

/* Returns the characters, or "" if nothing was added. */
const char *yk_text_chars(const struct yk_text *text);

/* Ensures capacity for `more` additional characters and the terminating zero. For callers that
 * write to `bytes` themselves. Returns false if memory is exhausted. */
bool yk_text_reserve(struct yk_text *text, size_t more);

void yk_text_add(struct yk_text *text, const char *words);
void yk_text_add_bytes(struct yk_text *text, const char *bytes, size_t length);
/* Appends bytes with `to` for each byte `from`. */
void yk_text_add_replacing(struct yk_text *text, const char *bytes, size_t length, char from,
                           const char *to, size_t to_length);
void yk_text_add_repeated(struct yk_text *text, const char *words, size_t times);
void yk_text_addf(struct yk_text *text, const char *format, ...) YK_PRINTF_LIKE(2, 3);

void yk_text_addv(struct yk_text *text, const char *format, va_list arguments) YK_PRINTF_LIKE(2, 0);

/* Moves the text into the arena: copies the characters and frees `text`. Fails if memory was
 * exhausted in any addition. */
yk_status yk_text_move_to_arena(struct yk_text *text, struct yk_arena *arena,
                                const char **out) YK_MUST_USE;

/* Removes spaces at the end. */
void yk_text_trim_end(struct yk_text *text);

/* Appends the shortest decimal that parses to the same double, without an exponent if possible. */
void yk_text_add_number(struct yk_text *text, double value);

/* Appends a JSON string with quotes and escapes. Writes '<' as \u003c, so that the string is safe
 * inside a <script> element. */
void yk_text_add_json_string(struct yk_text *text, const char *words);

/* Appends bytes and writes control characters, except newline and tab, as visible escapes: "\x1b",
 * or "\u009b" for a character of two bytes. */
void yk_text_add_escaped_controls(struct yk_text *text, const char *bytes, size_t length);

/* Does the same as yk_text_add_escaped_controls(), but escapes newlines and tabs too. */
void yk_text_add_escaped_line(struct yk_text *text, const char *words);

/* Appends a string and escapes the special characters of XML and HTML. The result is valid in
 * content and in attributes. */
void yk_text_add_xml_escaped(struct yk_text *text, const char *words);
void yk_text_add_xml_escaped_bytes(struct yk_text *text, const char *bytes, size_t length);

/* Appends `words` and a newline. Breaks lines at spaces, so that each line is at most `width`
 * columns wide. `column` is the width of what the first line already contains. All other lines
 * begin with `indent` spaces. */
void yk_text_add_folded(struct yk_text *text, const char *words, size_t column, size_t indent,
                        size_t width);

/* Returns the width of a UTF-8 string on a terminal, in columns. A wide East Asian character takes
 * two columns. */
size_t yk_text_display_width(const char *words);

/* Returns the length in bytes of the longest prefix that consists of whole characters and takes at
 * most `columns` columns on a terminal. */
size_t yk_text_fitting_prefix_length(const char *words, size_t columns);

/* Returns whether `words` ends with `suffix` and is longer than `suffix`. */
bool yk_text_ends_with(const char *words, const char *suffix);

/* Fails. The error message says that `byte`, at the position `place` of `source`, is a zero byte or
 * is not UTF-8. */
yk_status yk_text_fail_invalid_utf8(const char *source, struct yk_utf8_position place,
                                    char byte) YK_MUST_USE;

/* Returns "" if `count` is 1, otherwise "s". */
const char *yk_text_plural_suffix(int64_t count);

/* Appends a duration such as "850ms", "42.1s", "3min 7s" or "2h 15min". */
void yk_text_add_duration(double seconds, struct yk_text *out);

/* Appends the perplexity of a loss (e^loss) with `decimals` decimals. Huge perplexities are written
 * in exponential notation. */
void yk_text_add_perplexity(double loss, int decimals, struct yk_text *out);

#endif
