/*
 * Op waits: the dependencies of an op on ops of other lanes. Ops of one lane run in order, so an op
 * waits only for the last op that it needs on each other lane. It has at most one wait per lane.
 */
#ifndef YK_PROGRAM_COMPILE_OP_WAITS_H
#define YK_PROGRAM_COMPILE_OP_WAITS_H

#include "program/program_facts.h"

/* Adds the waits for the data that each op of a rank needs. */
yk_status yk_op_waits_make(const struct yk_program_facts *facts, int32_t rank) YK_MUST_USE;

/* Makes `op` wait for `other`. Does nothing if it already waits for a later op of that lane. */
void yk_op_waits_extend(struct yk_op_list *rank, int32_t op, int32_t other, int32_t lag);

/* Adds waits between lanes where memory could overflow because one lane runs ahead of another. Adds
 * nothing where no wait helps. All ranks get the same waits, so ranks cannot deadlock. The plan
 * must have one group. */
yk_status yk_memory_waits_add(struct yk_program *program) YK_MUST_USE;

#endif
