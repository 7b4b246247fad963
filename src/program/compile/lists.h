/* Lists: each rank's ops out of the script, and what each of them waits for. */
#ifndef YK_PROGRAM_COMPILE_LISTS_H
#define YK_PROGRAM_COMPILE_LISTS_H

#include "program/compile/sequence.h"
#include "program/program.h"

/* Fills the program's ranks. Ranks that do the same share one list. */
yk_status yk_lists_make(struct yk_program *program, const struct yk_sequence *script) YK_MUST_USE;

#endif
