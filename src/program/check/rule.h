/* Rule: what the rules of program/check have in common: how one refuses a program, and which ranks
 * are alike to all of them. */
#ifndef YK_PROGRAM_CHECK_RULE_H
#define YK_PROGRAM_CHECK_RULE_H

#include "program/program.h"

#include <stdbool.h>

enum {
    YK_RULE_TEXT_SIZE = 128
};

/* "<rule>: <op> on <device> <format …>"; without an op "<rule>: <device> <format …>". */
yk_status yk_rule_refuse(const struct yk_program *program, int32_t rank, const char *rule,
                         const struct yk_op *op, const char *format, ...) YK_MUST_USE
    YK_PRINTF(5, 6);

/* An op described, cut off where it is too long. */
void yk_rule_describe(const struct yk_program *program, const struct yk_op *op,
                      char out[YK_RULE_TEXT_SIZE]);

const char *yk_rule_device(const struct yk_program *program, int32_t rank);

/* True when two ranks have one list and the plan says the same about both, but for their devices:
 * what holds for one then holds for the other. */
bool yk_rule_same(const struct yk_program *program, int32_t rank, int32_t other);

#endif
