/*
 * Scanner: reads numbers from plain text, line by line. Error messages contain the line and the
 * column. A comment begins with '#' and extends to the end of the line. A scanner is a plain struct
 * that points into the text. To look ahead, copy the scanner and read with the copy.
 */
#ifndef YK_GRAPH_SCANNER_H
#define YK_GRAPH_SCANNER_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_graph_scanner {
    const char *next; /* first character that is not read yet */
    const char *end;
    const char *line_start;
    int64_t line; /* counted from 1 */
};

struct yk_graph_scanner yk_graph_scanner_from_text(const char *text, size_t length);

/* Skips spaces, line ends and comments up to the next token. Returns false at the end of the text.
 */
bool yk_graph_scanner_skip_to_token(struct yk_graph_scanner *scanner);

void yk_graph_scanner_skip_line(struct yk_graph_scanner *scanner);

/* Reads the next token of this line as a finite number. `what` is the name of the value in error
 * messages. */
yk_status yk_graph_scanner_read_number(struct yk_graph_scanner *scanner, const char *what,
                                       double *out) YK_MUST_USE;

/* Reads the next token of this line as an integer from `min` to `max`. */
yk_status yk_graph_scanner_read_integer(struct yk_graph_scanner *scanner, const char *what,
                                        int64_t min, int64_t max, int64_t *out) YK_MUST_USE;

/* Fails if the rest of this line has a token. */
yk_status yk_graph_scanner_expect_line_end(struct yk_graph_scanner *scanner) YK_MUST_USE;

/* Returns `status`. If it is a failure, inserts "line L: " before the error message. */
yk_status yk_graph_scanner_prefix_error_line(const struct yk_graph_scanner *scanner,
                                             yk_status status) YK_MUST_USE;

/* Returns the number of tokens in the first line that has a token. Returns 0 if the first token
 * does not begin with a digit. */
size_t yk_graph_scanner_count_first_line_tokens(const char *text, size_t length);

#endif
