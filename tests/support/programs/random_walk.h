/*
 * Program walk: runs a program with no clock at all: of the ops that could start or end, by
 * program.h's rules, a random one does. What is true of every such walk is true however fast
 * devices and links are.
 */
#ifndef YK_TESTS_PROGRAM_WALK_H
#define YK_TESTS_PROGRAM_WALK_H

#include "base/random.h"
#include "program/memory/memory.h"
#include "program/program.h"

/* Where the lanes of a rank are: how many of their ops, over all rounds, have started and ended. */
struct walk_place {
    int64_t started[YK_LANE_COUNT];
    int64_t ended[YK_LANE_COUNT];
};

/*
 * Runs all ranks for some rounds; returns how many ops never ran: those of ranks that wait for each
 * other for ever. Where `memories` (ranks) is not NULL, `most_bytes` (ranks) becomes the most that
 * each rank held at any time.
 */
int64_t walk_program(const struct yk_program *program, int32_t rounds, struct yk_random *random,
                     struct yk_program_memory *const *memories, double *most_bytes);

/* The most that a rank holds when it does one op after the other, in the order of its list. */
double walk_in_list_order(const struct yk_op_list *list, int32_t rounds,
                          const struct yk_program_memory *memory);

/* What a rank holds there. */
double walk_bytes(const struct yk_op_list *list, const struct yk_program_memory *memory,
                  const struct walk_place *place);

#endif
