/*
 * Words: the numbers of a plain text, line by line, with messages that give line and column.
 *
 * '#' begins a comment that lasts to the end of its line. A cursor is a plain struct that points
 * into the text; copying it is how one looks ahead. One thread at a time.
 */
#ifndef YK_GRAPH_SCANNER_H
#define YK_GRAPH_SCANNER_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_graph_scanner {
    const char *next; /* the first character not yet looked at */
    const char *end;
    const char *line_start;
    int64_t line; /* counted from 1 */
};

struct yk_graph_scanner yk_graph_scanner_start(const char *text, size_t length);

/* Skips spaces, line ends and comments up to the next word; false when there is none. */
bool yk_graph_scanner_has_more(struct yk_graph_scanner *words);

/* Skips the rest of the line. */
void yk_graph_scanner_skip_line(struct yk_graph_scanner *words);

/* The next word of this line as a finite number; `what` it is goes into messages. */
yk_status yk_graph_scanner_number(struct yk_graph_scanner *words, const char *what,
                                  double *out) YK_MUST_USE;

/* The next word of this line as an integer from `least` to `most`. */
yk_status yk_graph_scanner_integer(struct yk_graph_scanner *words, const char *what, int64_t least,
                                   int64_t most, int64_t *out) YK_MUST_USE;

/* Fails when a word is left on this line. */
yk_status yk_graph_scanner_end_line(struct yk_graph_scanner *words) YK_MUST_USE;

/* Passes `status` on; a failure's sentence gets "line L: " in front, L being the cursor's line. */
yk_status yk_graph_scanner_locate(const struct yk_graph_scanner *words,
                                  yk_status status) YK_MUST_USE;

/* How many words the first line that has any holds; 0 when it does not begin with a digit. */
size_t yk_graph_scanner_count_first_line(const char *text, size_t length);

#endif
