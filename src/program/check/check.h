/*
 * Check: verifies that a program can run and trains correctly. The rules:
 *
 *   formed      every field of an op has a valid value that agrees with the plan
 *   passes      every forward, recompute and backward pass runs exactly once, after its inputs:
 *               samples, outputs of other layers, gradients of outputs. Data of other groups
 *               arrives by messages
 *   resident    the parameters of a layer are in memory during every pass that uses them
 *   reduced     every gradient block is reduced exactly once per micro-batch; with no_sync, only in
 *               the last micro-batch
 *   ordered     a gradient is reduced after its backward pass; a parameter is updated after the
 *               reduction and, if required, after the agreement of all ranks; it is gathered and
 *               used after the update
 *   memory      a rank never exceeds its memory limit
 *   collective  all ranks of a group start the group's collectives in the same order
 *   matched     every send has one recv of the same size; a collective has an op on all its ranks
 *   acyclic     no op waits for itself, directly or through other lanes and ranks; within an
 *               iteration an op waits only for ops before it in the list
 */
#ifndef YK_PROGRAM_CHECK_CHECK_H
#define YK_PROGRAM_CHECK_CHECK_H

#include "program/program.h"

/* Fails with YK_ERROR_INPUT if a rule is violated; the message names rule, op and device. Fails
 * with YK_ERROR_NO_FIT if memory does not suffice; the message names device and missing bytes. */
yk_status yk_program_check(const struct yk_program *program) YK_MUST_USE;

#endif
