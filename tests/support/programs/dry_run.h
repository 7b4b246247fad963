/*
 * Pretend: runs a program as a trainer would, with pieces of paper for tensors: every op starts
 * whenever its lane and its waits allow and takes as long as chance wants, and notes are kept of
 * which weights are where, how old they are, and what has been added to which gradient. Whatever a
 * program does wrong in the order that came up is said in words.
 *
 * It knows nothing of program/check: what the two say can be held against each other.
 */
#ifndef YK_TESTS_PRETEND_H
#define YK_TESTS_PRETEND_H

#include "program/program.h"

/* Runs a few steps; NULL when all went well, or what went wrong first (valid until the next call).
 * One seed gives one order of events. */
const char *pretend_run(const struct yk_program *program, uint64_t seed);

#endif
