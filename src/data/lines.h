/*
 * Lines: a text of one sentence a line. Lines end with LF or CR LF, the last one with either or
 * with nothing; the ends are not part of them. All of it is UTF-8 without zero bytes, so that a
 * line is also a C string. Lines do not change once they are read: any number of threads may use
 * them.
 */
#ifndef YK_DATA_LINES_H
#define YK_DATA_LINES_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct yk_lines {
    char *bytes;        /* the text, with zeros in place of the ends of lines */
    const char **items; /* `count` of them, each with a terminating zero, in `bytes` */
    size_t *lengths;    /* of them in bytes, without the zero */
    int64_t count;
};

/* Of a file; the path "-" is not special. */
yk_status yk_lines_read(const char *path, struct yk_lines **out) YK_MUST_USE;

/* Of a file, or of standard input where the path is NULL or "-"; `*source` is what to call it. */
yk_status yk_lines_read_input(const char *path, const char **source,
                              struct yk_lines **out) YK_MUST_USE;

/* Of a copy of `length` bytes; `source` is what messages call them. What is no text is refused by
 * its line. */
yk_status yk_lines_split(const char *bytes, size_t length, const char *source,
                         struct yk_lines **out) YK_MUST_USE;

/* The first of so many lines behind this part of them, from 0 to 1: the same wherever one part ends
 * and another begins. */
int64_t yk_lines_boundary(int64_t count, double part);

void yk_lines_destroy(struct yk_lines *lines);

#endif
