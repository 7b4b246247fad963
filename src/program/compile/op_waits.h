/*
 * Op waits: the dependencies of an op on ops of other lanes. The ops of a lane run in order. So an
 * op has at most one wait for each other lane: for the last op of that lane that it needs.
 */
#ifndef YK_PROGRAM_COMPILE_OP_WAITS_H
#define YK_PROGRAM_COMPILE_OP_WAITS_H

#include "program/program_facts.h"

/* Creates the waits of a rank: each op waits for the data that it needs. */
yk_status yk_op_waits_add_data_waits(const struct yk_program_facts *facts,
                                     int32_t rank) YK_MUST_USE;

/* Makes `op` wait for `other`, `lag` iterations earlier. Does nothing if `op` already waits for a
 * later op of the lane of `other`. */
void yk_op_waits_add(struct yk_op_list *rank, int32_t op, int32_t other, int32_t lag);

/* Adds waits between lanes where memory could overflow because one lane runs ahead of another. Adds
 * no wait where it would not help. All ranks get the same waits, so that ranks cannot deadlock. The
 * plan must have one group. */
yk_status yk_memory_waits_add(struct yk_program *program) YK_MUST_USE;

#endif
