/*
 * Rule: the rules of program/check, each of which refuses a program by a sentence that begins with
 * the rule's name (program/check/check.h says what each demands), and what they have in common.
 */
#ifndef YK_PROGRAM_CHECK_RULE_H
#define YK_PROGRAM_CHECK_RULE_H

#include "program/facts.h"

/* formed: every number of every op of a rank is in its range; afterwards all may be used as
 * indices. */
yk_status yk_rule_form(const struct yk_facts *facts, int32_t rank) YK_MUST_USE;

/* matched, collective: over all ranks, which must be formed. */
yk_status yk_rule_match(const struct yk_program *program) YK_MUST_USE;

/* acyclic: over all ranks, which must be matched. */
yk_status yk_rule_cycle(const struct yk_program *program) YK_MUST_USE;

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

/* Blocks of a layer that one message carries; all messages of a set should carry every block of the
 * layer exactly once. */
struct yk_rule_blocks {
    int32_t set;
    int32_t first_block;
    int32_t block_count;
    int32_t op;
};

/* What is wrong with a set. */
struct yk_rule_blocks_fault {
    int32_t block;
    int32_t op;    /* that carries the block; −1 when none does */
    int32_t again; /* that carries it, too */
};

/* By set, then by blocks. */
void yk_rule_blocks_sort(struct yk_rule_blocks *messages, int32_t count);

/* True when the messages of `set`, from `*next` on, carry all `blocks`; moves `*next` past them. */
bool yk_rule_blocks_are_complete(const struct yk_rule_blocks *messages, int32_t count, int32_t set,
                                 int32_t blocks, int32_t *next, struct yk_rule_blocks_fault *out);

#endif
