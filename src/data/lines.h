/*
 * Lines: the lines of a UTF-8 text. A line ends with LF or CR LF, which is not part of it; the last
 * line may end without. Zero bytes are an error, so that each line is a C string. Lines are
 * immutable: any number of threads may read them.
 */
#ifndef YK_DATA_LINES_H
#define YK_DATA_LINES_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct yk_lines {
    char *bytes;        /* the text, with a zero at the end of each line */
    const char **items; /* (count) zero-terminated strings in `bytes` */
    size_t *lengths;    /* (count) in bytes, without the zero */
    int64_t count;
};

/* Reads a file. The path "-" is a file of that name. */
yk_status yk_lines_read(const char *path, struct yk_lines **out) YK_MUST_USE;

/* Reads a file, or standard input if the path is NULL or "-". `*source` is its name for messages.
 */
yk_status yk_lines_read_input(const char *path, const char **source,
                              struct yk_lines **out) YK_MUST_USE;

/* Splits a copy of `length` bytes. Error messages call it `source`. Text that is not UTF-8 is an
 * error that names the line. */
yk_status yk_lines_split(const char *bytes, size_t length, const char *source,
                         struct yk_lines **out) YK_MUST_USE;

/* Copies `length` bytes, with room for `count` items, which the caller then writes. */
yk_status yk_lines_create(const char *bytes, size_t length, int64_t count,
                          struct yk_lines **out) YK_MUST_USE;

/* The index of the first line after the fraction `part` (0 to 1) of `count` lines. The end of one
 * part is exactly the beginning of the next. */
int64_t yk_lines_index_at_fraction(int64_t count, double part);

void yk_lines_destroy(struct yk_lines *lines);

#endif
