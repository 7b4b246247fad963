/*
 * Line: a line of text, read word by word, that knows where it is when something is wrong.
 *
 * Words end at one of the signs +@():, and at the end; spaces around them do not count. Words are
 * copied into the arena.
 */
#ifndef YK_CLUSTER_LINE_H
#define YK_CLUSTER_LINE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_line {
    const char *text;
    size_t at; /* what is read next */
    struct yk_arena *arena;
};

struct yk_line_word {
    size_t at;
    const char *text;
};

/* The next character that is no space; 0 at the end. */
char yk_line_peek(struct yk_line *line);

/* Goes past the sign if it is next. */
bool yk_line_accept(struct yk_line *line, char sign);

/* The next word, which may be empty. */
yk_status yk_line_word(struct yk_line *line, struct yk_line_word *out) YK_MUST_USE;

/* Puts the column of `at` in front of the sentence, counted in characters from 1. */
yk_status yk_line_fail_at(const struct yk_line *line, size_t at, yk_status status) YK_MUST_USE;

/* Fails with what stands where `expected` should. */
yk_status yk_line_fail_expected(struct yk_line *line, const char *expected) YK_MUST_USE;

#endif
