/*
 * Program words: a rank's list in a line, to be written out by hand. An op is a letter and its
 * layer:
 *
 *   L load   F forward   C recompute   B backward   G gather   X release   S scatter
 *   R reduce (of a bucket)   A agree   U update   s send   r recv
 *
 * with b for "of the backward pass", :m for micro-batch m where there are several, >p and <p for
 * the other rank, + and - for steps after and before, and in parentheses what it waits for, ' of
 * the round before.
 */
#ifndef YK_TESTS_PROGRAM_WORDS_H
#define YK_TESTS_PROGRAM_WORDS_H

#include "program/program.h"

/* Fails the test unless a rank's list, with what its ops wait for or without, is `expected`. */
#define assert_list(program, rank, expected)                                                       \
    words_assert((program), (rank), false, (expected), __FILE__, __LINE__)
#define assert_list_and_waits(program, rank, expected)                                             \
    words_assert((program), (rank), true, (expected), __FILE__, __LINE__)
void words_assert(const struct yk_program *program, int32_t rank, bool waits, const char *expected,
                  const char *file, int line);

#endif
