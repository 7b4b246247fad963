/*
 * Parts: an array that is divided into one part per member of a group. offsets (members + 1) has
 * the first element of each part. Parts are exchanged block by block: block `at` of a part is its
 * elements from `at` to at + block - 1, as far as it has them.
 */
#ifndef YK_COMM_PARTS_H
#define YK_COMM_PARTS_H

#include "base/number.h"

static inline int64_t yk_comm_parts_longest(const int64_t *offsets, int32_t members)
{
    int64_t longest = 0;
    for (int32_t i = 0; i < members; i++) {
        longest = yk_number_max(longest, offsets[i + 1] - offsets[i]);
    }
    return longest;
}

/* The number of elements in block `at` of a member's part; 0 if the part is shorter. */
static inline int64_t yk_comm_parts_block_count(const int64_t *offsets, int32_t member, int64_t at,
                                                int64_t block)
{
    const int64_t left = offsets[member + 1] - offsets[member] - at;
    return left < 0 ? 0 : yk_number_min(left, block);
}

/* out (members + 1): offsets of block `at` of every part, one behind the other. */
static inline void yk_comm_parts_pack_block(const int64_t *offsets, int32_t members, int64_t at,
                                            int64_t block, int64_t *out)
{
    out[0] = 0;
    for (int32_t i = 0; i < members; i++) {
        out[i + 1] = out[i] + yk_comm_parts_block_count(offsets, i, at, block);
    }
}

#endif
