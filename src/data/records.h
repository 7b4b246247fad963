/*
 * Records: the JSON values of a file, as bytes that are still to be parsed: one a line, or the
 * elements of one list. A file whose first character is "[" is a list; a byte order mark may be in
 * front. Only the borders of elements are looked for, so a list takes no more memory than lines do.
 * Records do not change once they are split: any number of threads may use them.
 */
#ifndef YK_DATA_RECORDS_H
#define YK_DATA_RECORDS_H

#include "base/status.h"
#include "base/text.h"
#include "data/lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_records {
    struct yk_lines *lines; /* where each is a line; else NULL */
    char *bytes;            /* where they are elements of a list: the text */
    const char **items;     /* (count) */
    size_t *lengths;        /* (count) in bytes */
    int64_t count;
};

/* Of a copy of `length` bytes; `source` is what messages call them. A list that does not end, or
 * has something behind it or nothing between two commas, is refused. */
yk_status yk_records_split(const char *bytes, size_t length, const char *source,
                           struct yk_records *out) YK_MUST_USE;

/* Also of one that is {0}. */
void yk_records_free(struct yk_records *records);

/* Adds where the line of a record is that is so many below its first: "a.jsonl:3", or
 * "a.json:17: element 3". */
void yk_records_describe_location(const struct yk_records *records, int64_t index, int64_t line,
                                  const char *source, struct yk_text *out);

/* The first record of a file of which `bytes` are the beginning, where it is an object that ends
 * within them. Its members are not parsed. */
bool yk_records_first_object(const char *bytes, size_t length, const char **object, size_t *size);

/* How long a byte order mark at the very beginning is: 0 where there is none. */
size_t yk_records_byte_order_mark(const char *bytes, size_t length);

#endif
