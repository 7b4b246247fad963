/*
 * JSON writer: writes a JSON document into a text, one member or element per call, with the commas.
 *
 * It is a plain struct that does not own its text. {.text = text} writes `{"a":1,"b":2}`; with
 * .spaced it writes `{"a": 1, "b": 2}`. Set .follows to continue an object or array that has
 * members already. `key` is NULL for an element of an array and for the document itself. One thread
 * at a time.
 */
#ifndef YK_BASE_JSON_WRITE_H
#define YK_BASE_JSON_WRITE_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_json_writer {
    struct yk_text *text; /* not owned */
    bool spaced;          /* a space after every colon and comma */
    bool follows;         /* what is written next needs a comma in front */
    int32_t lines;        /* above 0: every member and element begins on a new line, after so many
                             spaces; may be changed at any time */
    bool breaks;          /* what is written next begins on a new line … */
    int32_t indent;       /* … after so many spaces */
};

/* What is written next, a member, an element or a closing bracket, begins on a new line. */
void yk_json_write_line(struct yk_json_writer *writer, int32_t indent);

/* A yoke document: an object with "yoke", the version of the format, and its "kind". Its end adds a
 * newline. */
void yk_json_write_begin_document(struct yk_json_writer *writer, const char *kind);
yk_status yk_json_write_end_document(struct yk_json_writer *writer) YK_MUST_USE;

void yk_json_write_begin_object(struct yk_json_writer *writer, const char *key);
void yk_json_write_end_object(struct yk_json_writer *writer);

/* Begins an object that is an element of an array, on a new line. */
void yk_json_write_begin_row(struct yk_json_writer *writer, int32_t indent);

void yk_json_write_begin_array(struct yk_json_writer *writer, const char *key);
void yk_json_write_end_array(struct yk_json_writer *writer);

/* NULL is written as null. */
void yk_json_write_string(struct yk_json_writer *writer, const char *key, const char *words);

void yk_json_write_integer(struct yk_json_writer *writer, const char *key, int64_t value);

/* The shortest decimal that reads back as the same double; null where `value` is not finite. */
void yk_json_write_number(struct yk_json_writer *writer, const char *key, double value);

void yk_json_write_bool(struct yk_json_writer *writer, const char *key, bool value);
void yk_json_write_null(struct yk_json_writer *writer, const char *key);

/* `json` is a whole JSON value. */
void yk_json_write_raw(struct yk_json_writer *writer, const char *key, const char *json);

/* Begins a member or an element: the caller then adds its value to the text. */
void yk_json_write_key(struct yk_json_writer *writer, const char *key);

#endif
