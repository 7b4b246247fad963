/*
 * JSON records: the JSON values of a file as unparsed bytes. The file has one value per line, or
 * one list whose elements are the values. The file is a list if its first character is "[";
 * white space and a byte order mark before it do not count. The elements of a list are not parsed;
 * only their boundaries are located. Records are immutable: any number of threads may use them.
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
    struct yk_lines *lines; /* one line per record; elements of a list are not zero-terminated */
    bool is_list;           /* the records are elements of a list; false means: they are lines */
};

/* Copies `length` bytes and splits the copy into records. `source` is the name of the text in error
 * messages. Fails if a list is not closed, has an empty element, or is followed by other text. */
yk_status yk_json_records_split(const char *bytes, size_t length, const char *source,
                                struct yk_json_records *out) YK_MUST_USE;

/* Accepts a struct that is {0}. */
void yk_json_records_free(struct yk_json_records *records);

/* Sets `*bytes` and `*length` to record `index`, without a byte order mark before the first one.
 * Returns false if the record is blank. */
bool yk_json_records_get(const struct yk_json_records *records, int64_t index, const char **bytes,
                         size_t *length);

/* Appends the location of a line of record `index`: "a.jsonl:3", or "a.json:17: element 3". `line`
 * is the number of the line within the record, from 0. */
void yk_json_records_describe_location(const struct yk_json_records *records, int64_t index,
                                       int64_t line, const char *source, struct yk_text *out);

/* Finds the first record in the first `length` bytes of a file. Returns false unless the record is
 * an object that ends within these bytes. Does not parse the members of the object. */
bool yk_json_records_find_first_object(const char *bytes, size_t length, const char **object,
                                       size_t *size);

/* Returns the length of the byte order mark at the beginning of `bytes`, or 0 if there is none. */
size_t yk_json_records_bom_length(const char *bytes, size_t length);

#endif
