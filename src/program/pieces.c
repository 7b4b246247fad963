#include "program/pieces.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    const struct yk_piece *a = left;
    const struct yk_piece *b = right;
    if (a->set != b->set) {
        return a->set < b->set ? -1 : 1;
    }
    if (a->first_block != b->first_block) {
        return a->first_block < b->first_block ? -1 : 1;
    }
    return (a->op > b->op) - (a->op < b->op);
}

void yk_pieces_sort(struct yk_piece *pieces, int32_t count)
{
    if (count > 0) {
        qsort(pieces, (size_t)count, sizeof *pieces, compare);
    }
}

bool yk_pieces_are_whole(const struct yk_piece *pieces, int32_t count, int32_t set, int32_t blocks,
                         int32_t *next, struct yk_piece_fault *out)
{
    int32_t covered = 0;
    int32_t last = -1;
    for (; *next < count && pieces[*next].set == set; (*next)++) {
        const struct yk_piece *piece = &pieces[*next];
        if (piece->first_block < covered) {
            *out = (struct yk_piece_fault){piece->first_block, last, piece->op};
            return false;
        }
        if (piece->first_block > covered) {
            break;
        }
        covered += piece->block_count;
        last = piece->op;
    }
    *out = (struct yk_piece_fault){covered, -1, -1};
    return covered == blocks;
}
