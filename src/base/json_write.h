/*
 * JSON writer: appends a JSON document to a text, one member or element per call. The writer adds
 * the commas.
 *
 * A writer is a plain struct that does not own its text. Initialized with {.text = text}, it writes
 * `{"a":1,"b":2}`. If .spaced is true, it writes `{"a": 1, "b": 2}`. If the text already contains
 * the beginning of an object or array with members, set .needs_comma. The argument `key` is NULL
 * for an element of an array and for the document itself. Only one thread at a time may use a
 * writer.
 */
#ifndef YK_BASE_JSON_WRITE_H
#define YK_BASE_JSON_WRITE_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_json_writer {
    struct yk_text *text; /* not owned */
    bool spaced;          /* write a space after every colon and comma */
    bool needs_comma;     /* the next member or element needs a comma before it */
    /* If greater than 0, every member and element begins on a new line with this number of spaces.
     * May be changed at any time. */
    int32_t line_indent;
    bool newline_pending; /* a new line with `indent` spaces will be written next */
    int32_t indent;       /* only used if newline_pending is true */
};

/* Begins a new line with `indent` spaces before the next member, element or closing bracket. */
void yk_json_write_newline(struct yk_json_writer *writer, int32_t indent);

/* Begins a yoke document: an object with the members "yoke": 1 (the version of the format) and
 * "kind". yk_json_write_end_yoke_document() ends the object and adds a newline. */
void yk_json_write_begin_yoke_document(struct yk_json_writer *writer, const char *kind);
yk_status yk_json_write_end_yoke_document(struct yk_json_writer *writer) YK_MUST_USE;

void yk_json_write_begin_object(struct yk_json_writer *writer, const char *key);
void yk_json_write_end_object(struct yk_json_writer *writer);

/* Begins an object that is an element of an array, on a new line with `indent` spaces. */
void yk_json_write_begin_object_on_new_line(struct yk_json_writer *writer, int32_t indent);

void yk_json_write_begin_array(struct yk_json_writer *writer, const char *key);
void yk_json_write_end_array(struct yk_json_writer *writer);

/* Writes a string, or null if `words` is NULL. */
void yk_json_write_string(struct yk_json_writer *writer, const char *key, const char *words);

void yk_json_write_integer(struct yk_json_writer *writer, const char *key, int64_t value);

/* Writes the shortest decimal that parses to the same double, or null if `value` is not finite. */
void yk_json_write_number(struct yk_json_writer *writer, const char *key, double value);

/* Both write an array of numbers. */
void yk_json_write_integers(struct yk_json_writer *writer, const char *key, const int64_t *values,
                            int64_t count);
void yk_json_write_numbers(struct yk_json_writer *writer, const char *key, const double *values,
                           int64_t count);

void yk_json_write_bool(struct yk_json_writer *writer, const char *key, bool value);
void yk_json_write_null(struct yk_json_writer *writer, const char *key);

/* Writes `json`, a complete JSON value, without changes. */
void yk_json_write_raw(struct yk_json_writer *writer, const char *key, const char *json);

/* Begins a member or an element. The caller then appends its value to the text. */
void yk_json_write_key(struct yk_json_writer *writer, const char *key);

#endif
