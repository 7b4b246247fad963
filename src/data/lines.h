/*
 * Lines: the lines of a UTF-8 text. A line ends with LF or CR LF, which is not part of the line;
 * the last line may have no line ending. Zero bytes are an error, so that each line is a C string.
 * Lines are immutable: any number of threads may read them.
 */
#ifndef YK_DATA_LINES_H
#define YK_DATA_LINES_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct yk_lines {
    char *bytes;        /* the text, with a zero at the end of each line */
    const char **items; /* (count) zero-terminated strings in `bytes` */
    size_t *lengths;    /* (count) lengths in bytes, without the zero */
    int64_t count;
};

/* Reads a file. The path "-" means a file with the name "-", not standard input. */
yk_status yk_lines_read_file(const char *path, struct yk_lines **out) YK_MUST_USE;

/* Reads a file, or standard input if the path is NULL or "-". Sets `*source` to the name of the
 * input for error messages. */
yk_status yk_lines_read_file_or_stdin(const char *path, const char **source,
                                      struct yk_lines **out) YK_MUST_USE;

/* Copies `length` bytes and splits the copy into lines. `source` is the name of the text in error
 * messages. Fails if the text is not UTF-8; the message contains the line number. */
yk_status yk_lines_split(const char *bytes, size_t length, const char *source,
                         struct yk_lines **out) YK_MUST_USE;

/* Copies `length` bytes and allocates `count` items. The caller writes the items. */
yk_status yk_lines_create_unsplit(const char *bytes, size_t length, int64_t count,
                                  struct yk_lines **out) YK_MUST_USE;

/* Returns `part` · `count`, rounded up, as the index of a line. `part` is a fraction from 0 to 1.
 * If one range of lines ends at a fraction and another range begins at the same fraction, the
 * ranges neither overlap nor leave a gap. */
int64_t yk_lines_index_at_fraction(int64_t count, double part);

void yk_lines_destroy(struct yk_lines *lines);

#endif
