/*
 * Check rules: the parts of program/check, each of which refuses a program by a sentence that
 * begins with the rule's name. What each rule says stands in program/check.h.
 */
#ifndef YK_PROGRAM_CHECK_RULES_H
#define YK_PROGRAM_CHECK_RULES_H

#include "program/facts.h"
#include "program/program.h"

/* formed: every number of every op of a rank is in its range; afterwards all may be used as
 * indices. */
yk_status yk_rule_form(const struct yk_facts *facts, int32_t rank) YK_MUST_USE;

/* matched, collective: over all ranks, which must be formed. */
yk_status yk_rule_match(const struct yk_program *program) YK_MUST_USE;

/* acyclic: over all ranks, which must be matched. */
yk_status yk_rule_cycle(const struct yk_program *program) YK_MUST_USE;

/* memory: over all ranks. */
yk_status yk_rule_memory(const struct yk_program *program) YK_MUST_USE;

#endif
