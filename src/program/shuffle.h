/* Shuffle: another valid program for the same plan: ops change places wherever every rule of
 * program/check still holds. One seed gives one program. */
#ifndef YK_PROGRAM_SHUFFLE_H
#define YK_PROGRAM_SHUFFLE_H

#include "program/program.h"

yk_status yk_program_shuffle(const struct yk_program *program, uint64_t seed,
                             struct yk_program **out) YK_MUST_USE;

#endif
