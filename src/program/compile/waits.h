/*
 * Waits: what the ops of a list wait for on the other lanes. On its own lane an op follows the one
 * before it anyway; of several ops it needs on one other lane, it waits for the last. So an op has
 * at most one wait for each other lane.
 */
#ifndef YK_PROGRAM_COMPILE_WAITS_H
#define YK_PROGRAM_COMPILE_WAITS_H

#include "program/program.h"

/* Adds the waits of a rank's ops that follow from what they need. */
yk_status yk_waits_make(struct yk_program *program, int32_t rank) YK_MUST_USE;

/* Makes `op` wait for `other`, besides what it waits for now: only later than that matters. */
void yk_waits_extend(struct yk_program_rank *rank, int32_t op, int32_t other, int32_t lag);

/* Adds waits between the lanes of a rank wherever memory could overflow because one of them ran
 * ahead of what the list has it do. All ranks of the group get the same waits, so that none of them
 * can come to wait for another that waits for it. For programs of one group. Where no wait helps,
 * none is added. */
yk_status yk_memory_waits_add(struct yk_program *program) YK_MUST_USE;

#endif
