/* Pieces: messages that carry some of a layer's blocks each, several sets of them: those of every
 * set should make up all blocks, each once. */
#ifndef YK_PROGRAM_CHECK_BLOCK_RANGES_H
#define YK_PROGRAM_CHECK_BLOCK_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct yk_slice {
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

/* Puts pieces in order: by set, then by blocks. */
void yk_rule_blocks_sort(struct yk_slice *pieces, int32_t count);

/* True when the pieces of `set`, from `*next` on, make up all blocks; moves `*next` past them. */
bool yk_rule_blocks_are_complete(const struct yk_slice *pieces, int32_t count, int32_t set,
                                 int32_t blocks, int32_t *next, struct yk_rule_blocks_fault *out);

#endif
