#include "program/check/block_ranges.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    const struct yk_slice *a = left;
    const struct yk_slice *b = right;
    if (a->set != b->set) {
        return a->set < b->set ? -1 : 1;
    }
    if (a->first_block != b->first_block) {
        return a->first_block < b->first_block ? -1 : 1;
    }
    return (a->op > b->op) - (a->op < b->op);
}

void yk_rule_blocks_sort(struct yk_slice *pieces, int32_t count)
{
    if (count > 0) {
        qsort(pieces, (size_t)count, sizeof *pieces, compare);
    }
}

bool yk_rule_blocks_are_complete(const struct yk_slice *pieces, int32_t count, int32_t set,
                                 int32_t blocks, int32_t *next, struct yk_rule_blocks_fault *out)
{
    int32_t covered = 0;
    int32_t last = -1;
    for (; *next < count && pieces[*next].set == set; (*next)++) {
        const struct yk_slice *piece = &pieces[*next];
        if (piece->first_block < covered) {
            *out = (struct yk_rule_blocks_fault){piece->first_block, last, piece->op};
            return false;
        }
        if (piece->first_block > covered) {
            break;
        }
        covered += piece->block_count;
        last = piece->op;
    }
    *out = (struct yk_rule_blocks_fault){covered, -1, -1};
    return covered == blocks;
}
