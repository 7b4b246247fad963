/*
 * Memory waits: waits between the lanes of a rank wherever memory could overflow because one of
 * them ran ahead of what the list has it do. All ranks of the group get the same waits, so that
 * none of them can come to wait for another that waits for it.
 */
#ifndef YK_PROGRAM_COMPILE_MEMORY_WAITS_H
#define YK_PROGRAM_COMPILE_MEMORY_WAITS_H

#include "program/program.h"

/* For programs of one group. Where no wait helps, none is added. */
yk_status yk_memory_waits_add(struct yk_program *program) YK_MUST_USE;

#endif
