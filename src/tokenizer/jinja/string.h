/*
 * String: what Python's strings can do. Positions and lengths are counted in characters (code
 * points). Slices share the bytes of the string they were cut from.
 */
#ifndef YK_TOKENIZER_JINJA_STRING_H
#define YK_TOKENIZER_JINJA_STRING_H

#include "tokenizer/jinja/value.h"

#include "base/text.h"

/* Decodes the character at the beginning of `bytes`, which are valid UTF-8 and not empty, and
 * returns its length in bytes. */
size_t yk_jinja_string_decode(const char *bytes, uint32_t *out);

/* Appends a character. */
void yk_jinja_string_add_character(struct yk_text *text, uint32_t character);

/* Returns the index of the byte where a character begins. */
size_t yk_jinja_string_offset(const struct yk_jinja_string *string, int64_t character);

/* Makes the string of the bytes from `begin` to `end`. */
yk_status yk_jinja_string_slice_bytes(struct yk_jinja_run *run,
                                      const struct yk_jinja_string *string, size_t begin,
                                      size_t end, struct yk_jinja_value *out) YK_MUST_USE;

/* Makes the string of `count` characters from `start` on, in steps of `step`. */
yk_status yk_jinja_string_slice(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                int64_t start, int64_t step, int64_t count,
                                struct yk_jinja_value *out) YK_MUST_USE;

enum yk_jinja_strip {
    YK_JINJA_STRIP_LEFT = 1,
    YK_JINJA_STRIP_RIGHT = 2,
    YK_JINJA_STRIP_BOTH = 3
};

/* Strips the characters in `characters`, or white space if `characters` is NULL. */
yk_status yk_jinja_string_strip(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                const struct yk_jinja_string *characters, enum yk_jinja_strip sides,
                                struct yk_jinja_value *out) YK_MUST_USE;

/* Sets `*out` to the index of the byte of the first occurrence at or after byte `from`, or to
 * SIZE_MAX. */
yk_status yk_jinja_string_find(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                               const struct yk_jinja_string *part, size_t from,
                               size_t *out) YK_MUST_USE;
/* Sets `*out` to the index of the byte of the last occurrence that ends at or before byte `end`, or
 * to SIZE_MAX. */
yk_status yk_jinja_string_find_last(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                    const struct yk_jinja_string *part, size_t end,
                                    size_t *out) YK_MUST_USE;

/* Splits at `separator`, or at white space if `separator` is NULL, at most `max` times (-1: no
 * limit), from the left or from the right. */
yk_status yk_jinja_string_split(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                const struct yk_jinja_string *separator, int64_t max,
                                bool from_right, struct yk_jinja_value *out) YK_MUST_USE;

yk_status yk_jinja_string_split_lines(struct yk_jinja_run *run,
                                      const struct yk_jinja_string *string, bool keep_ends,
                                      struct yk_jinja_value *out) YK_MUST_USE;

/* Replaces at most `max` occurrences (-1: no limit). */
yk_status yk_jinja_string_replace(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                  const struct yk_jinja_string *old,
                                  const struct yk_jinja_string *new, int64_t max,
                                  struct yk_jinja_value *out) YK_MUST_USE;

/* Makes a string that consists of `count` times the string. */
yk_status yk_jinja_string_repeat(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                 int64_t count, struct yk_jinja_value *out) YK_MUST_USE;

enum yk_jinja_alignment {
    YK_JINJA_ALIGN_LEFT,
    YK_JINJA_ALIGN_RIGHT,
    YK_JINJA_ALIGN_CENTER
};

/* Makes the string with so many of the character `fill` around it that it has `width` characters.
 * A string that has as many is returned as it is. */
yk_status yk_jinja_string_pad(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                              int64_t width, const struct yk_jinja_string *fill,
                              enum yk_jinja_alignment alignment,
                              struct yk_jinja_value *out) YK_MUST_USE;

/* Makes the string of a finished text, and frees the text. */
yk_status yk_jinja_string_from_text(struct yk_jinja_run *run, struct yk_text *text,
                                    struct yk_jinja_value *out) YK_MUST_USE;

#endif
