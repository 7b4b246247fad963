/*
 * Check rules: the parts of program/check, each of which refuses a program by a sentence that
 * begins with the rule's name. What each rule says stands in program/check.h.
 */
#ifndef YK_PROGRAM_CHECK_RULES_H
#define YK_PROGRAM_CHECK_RULES_H

#include "program/facts.h"
#include "program/program.h"

enum {
    YK_RULE_WORDS_SIZE = 128
};

/* "<rule>: <op> on <device> <format …>"; without an op "<rule>: <device> <format …>". */
yk_status yk_rule_refuse(const struct yk_program *program, int32_t rank, const char *rule,
                         const struct yk_op *op, const char *format, ...) YK_MUST_USE
    YK_PRINTF(5, 6);

/* An op described, cut off where it is too long. */
void yk_rule_describe(const struct yk_program *program, const struct yk_op *op,
                      char out[YK_RULE_WORDS_SIZE]);

const char *yk_rule_device(const struct yk_program *program, int32_t rank);

/* formed: every number of every op of a rank is in its range; afterwards all may be used as
 * indices. */
yk_status yk_rule_formed(const struct yk_facts *facts, int32_t rank) YK_MUST_USE;

/* matched, collective: over all ranks, which must be formed. */
yk_status yk_rule_matched(const struct yk_program *program) YK_MUST_USE;

/* acyclic: over all ranks, which must be matched. */
yk_status yk_rule_acyclic(const struct yk_program *program) YK_MUST_USE;

/* memory: over all ranks. */
yk_status yk_rule_memory(const struct yk_program *program) YK_MUST_USE;

/* True when two ranks have one list and the plan says the same about both, but for their devices:
 * what holds for one then holds for the other. */
bool yk_rule_same(const struct yk_program *program, int32_t rank, int32_t other);

#endif
