/*
 * Check: refuses a program that could not run, or would not train.
 *
 *   formed      every number of an op is one that exists, and as planned
 *   passes      every pass is done once, after all that it takes: samples, outputs of other
 *               layers and their gradients, by messages where those are in other groups
 *   resident    every parameter is there, gathered or kept, while a pass uses it
 *   reduced     every gradient block is reduced exactly once in every micro-batch that reduces: in
 *               the last one, where gradients are kept whole until then (no_sync)
 *   ordered     a gradient is reduced after its backward, a parameter updated after that (and after
 *               the ranks agreed, where they must), gathered after its update, used after that
 *   memory      at or under the rank's limit during every op, workspace included
 *   collective  all ranks of a group issue the group's communication in one order
 *   matched     every send has its receive, with the same bytes, and every collective all its ranks
 *   acyclic     nothing waits on itself, on whatever way through ranks and lanes; waits of one
 *               round look back in the list
 */
#ifndef YK_PROGRAM_CHECK_CHECK_H
#define YK_PROGRAM_CHECK_CHECK_H

#include "program/program.h"

/* YK_ERROR_INPUT with the rule, rank and op; YK_ERROR_NO_FIT with the device and missing bytes. */
yk_status yk_program_check(const struct yk_program *program) YK_MUST_USE;

#endif
