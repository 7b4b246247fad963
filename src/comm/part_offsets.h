/*
 * Part offsets: describe an array that is divided into one part per member of a group. offsets[i]
 * is the index of the first element of part i, and offsets[members] is the length of the array. The
 * members exchange parts block by block. The block at `at` begins at element `at` of a part. It has
 * `block` elements, or fewer if the part ends earlier.
 */
#ifndef YK_COMM_PART_OFFSETS_H
#define YK_COMM_PART_OFFSETS_H

#include "base/number.h"

static inline int64_t yk_part_offsets_max_length(const int64_t *offsets, int32_t members)
{
    int64_t longest = 0;
    for (int32_t i = 0; i < members; i++) {
        longest = yk_number_max(longest, offsets[i + 1] - offsets[i]);
    }
    return longest;
}

/* Returns the number of elements of the block at `at` in the part of `member`. This is 0 if the
 * part ends before `at`. */
static inline int64_t yk_part_offsets_block_length(const int64_t *offsets, int32_t member,
                                                   int64_t at, int64_t block)
{
    const int64_t left = offsets[member + 1] - offsets[member] - at;
    return left < 0 ? 0 : yk_number_min(left, block);
}

/* Takes the block at `at` of every part. Computes the offsets of these blocks in a buffer that
 * stores them one after the other. `out` has members + 1 elements. */
static inline void yk_part_offsets_make_block_offsets(const int64_t *offsets, int32_t members,
                                                      int64_t at, int64_t block, int64_t *out)
{
    out[0] = 0;
    for (int32_t i = 0; i < members; i++) {
        out[i + 1] = out[i] + yk_part_offsets_block_length(offsets, i, at, block);
    }
}

#endif
