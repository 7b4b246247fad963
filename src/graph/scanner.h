/*
 * Scanner: the numbers of a plain text, line by line, with messages that give line and column.
 * '#' begins a comment that lasts to the end of its line. A scanner is a plain struct that points
 * into the text; a copy of it looks ahead. One thread at a time.
 */
#ifndef YK_GRAPH_SCANNER_H
#define YK_GRAPH_SCANNER_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_graph_scanner {
    const char *next; /* the first character not yet read */
    const char *end;
    const char *line_start;
    int64_t line; /* counted from 1 */
};

struct yk_graph_scanner yk_graph_scanner_start(const char *text, size_t length);

/* Skips spaces, line ends and comments up to the next token; false when there is none. */
bool yk_graph_scanner_has_more(struct yk_graph_scanner *scanner);

void yk_graph_scanner_skip_line(struct yk_graph_scanner *scanner);

/* The next token of this line as a finite number; `what` it is goes into messages. */
yk_status yk_graph_scanner_number(struct yk_graph_scanner *scanner, const char *what,
                                  double *out) YK_MUST_USE;

/* The next token of this line as an integer from `min` to `max`. */
yk_status yk_graph_scanner_integer(struct yk_graph_scanner *scanner, const char *what, int64_t min,
                                   int64_t max, int64_t *out) YK_MUST_USE;

/* Fails when a token is left on this line. */
yk_status yk_graph_scanner_end_line(struct yk_graph_scanner *scanner) YK_MUST_USE;

/* Passes `status` on; a failure's message gets "line L: " in front. */
yk_status yk_graph_scanner_locate(const struct yk_graph_scanner *scanner,
                                  yk_status status) YK_MUST_USE;

/* How many tokens the first line that has any holds; 0 when it does not begin with a digit. */
size_t yk_graph_scanner_count_first_line(const char *text, size_t length);

#endif
