/*
 * JSON records: the JSON values of a file as unparsed bytes: one value per line, or the elements of
 * one list. A file whose first character is "[" is a list; a byte order mark may precede it. Only
 * the boundaries of the elements are located, so a list takes no more memory than lines do. Records
 * are immutable: any number of threads may use them.
 */
#ifndef YK_DATA_JSON_RECORDS_H
#define YK_DATA_JSON_RECORDS_H

#include "base/status.h"
#include "base/text.h"
#include "data/lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_json_records {
    struct yk_lines *lines; /* one for each record; those of a list are not zero-terminated */
    bool is_list;           /* the records are the elements of a list; else each is a line */
};

/* Splits a copy of `length` bytes. Error messages call it `source`. Fails if a list is not closed,
 * has an empty element, or is followed by other text. */
yk_status yk_json_records_split(const char *bytes, size_t length, const char *source,
                                struct yk_json_records *out) YK_MUST_USE;

/* Accepts a struct that is {0}. */
void yk_json_records_free(struct yk_json_records *records);

/* Adds the location of line `line` (from 0) of record `index`: "a.jsonl:3", or
 * "a.json:17: element 3". */
void yk_json_records_describe_location(const struct yk_json_records *records, int64_t index,
                                       int64_t line, const char *source, struct yk_text *out);

/* Finds the first record in the first `length` bytes of a file. Returns false unless it is an
 * object that ends within these bytes. Does not parse its members. */
bool yk_json_records_first_object(const char *bytes, size_t length, const char **object,
                                  size_t *size);

/* The length of a byte order mark at the beginning of `bytes`; 0 if there is none. */
size_t yk_json_records_byte_order_mark(const char *bytes, size_t length);

#endif
