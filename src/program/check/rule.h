/*
 * Rule: the rules that a valid program satisfies, and functions that check them. yk_program_check()
 * checks all rules. Every error message begins with the name of the violated rule. The rules are:
 *
 *   formed      every field of an op has a valid value that agrees with the plan
 *   passes      every forward, recompute and backward pass runs exactly once, after its inputs:
 *               samples, outputs of other layers, gradients of outputs. Messages bring the data of
 *               other groups
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
 *               iteration, an op waits only for ops that precede it in the list
 */
#ifndef YK_PROGRAM_CHECK_RULE_H
#define YK_PROGRAM_CHECK_RULE_H

#include "program/program_facts.h"

/* Checks the rule "formed" for one rank, and the part of "acyclic" about the order of the list. If
 * the check succeeds, all indices in the rank's ops are valid. */
yk_status yk_rule_check_op_form(const struct yk_program_facts *facts, int32_t rank) YK_MUST_USE;

/* Checks the rules "matched" and "collective". All ranks must satisfy "formed". */
yk_status yk_rule_check_op_match(const struct yk_program *program) YK_MUST_USE;

/* Checks the rest of the rule "acyclic". All ranks must satisfy "formed" and "matched". */
yk_status yk_rule_check_ops_are_acyclic(const struct yk_program *program) YK_MUST_USE;

enum {
    YK_RULE_TEXT_SIZE = 128
};

/* Fails with YK_ERROR_INPUT and the message "<rule>: <op> on <device> <format …>". If `op` is NULL,
 * the message is "<rule>: <device> <format …>". */
yk_status yk_rule_fail(const struct yk_program *program, int32_t rank, const char *rule,
                       const struct yk_op *op, const char *format, ...) YK_MUST_USE
    YK_PRINTF_LIKE(5, 6);

/* Writes the description of an op, truncated to the size of `out`. */
void yk_rule_describe_op(const struct yk_program *program, const struct yk_op *op,
                         char out[YK_RULE_TEXT_SIZE]);

const char *yk_rule_rank_device_name(const struct yk_program *program, int32_t rank);

/* The blocks of a layer that one message contains. The caller numbers the sets of messages.
 * Together, the messages of a set must contain each block of the layer exactly once. */
struct yk_rule_block_range {
    int32_t set;
    int32_t first_block;
    int32_t block_count;
    int32_t op;
};

/* The first block that is in no message of a set, or in more than one. */
struct yk_rule_block_error {
    int32_t block;
    int32_t op;    /* the message that contains the block; −1 means: no message contains it */
    int32_t again; /* the second message that contains the block; −1 if `op` is −1 */
};

/* Sorts messages by set. The messages of a set are sorted by first block. */
void yk_rule_block_ranges_sort(struct yk_rule_block_range *messages, int32_t count);

/* Returns true if the messages of `set` contain each of the `blocks` blocks exactly once; otherwise
 * sets `*out`. `messages` must be sorted. `*next` must be the index of the first message of the
 * set. If the function returns true, `*next` is the index of the first message of the next set. */
bool yk_rule_block_ranges_cover_once(const struct yk_rule_block_range *messages, int32_t count,
                                     int32_t set, int32_t blocks, int32_t *next,
                                     struct yk_rule_block_error *out);

#endif
