/* Settle: the ops of a list in an order in which each comes after those of the round it waits for.
 * Waits that were put between lanes may look ahead in a list that was written without them. */
#ifndef YK_PROGRAM_COMPILE_SETTLE_H
#define YK_PROGRAM_COMPILE_SETTLE_H

#include "program/program.h"

/* Changes the order of a list as little as it takes; one that waits on itself stays as it is. */
yk_status yk_memory_waits_reorder(struct yk_program_rank *list, struct yk_arena *arena) YK_MUST_USE;

#endif
