/*
 * Holding: which of a layer's numbers a store keeps.
 *
 * A layer that several stores keep together is cut into blocks, as its messages are, and every
 * block into the parts of the stores: each has one span of every block. Trained numbers, and with
 * them gradients and optimizer state, are cut by number; frozen weights by byte.
 *
 * Plain values; the functions are pure.
 */
#ifndef YK_NN_STORE_PARTITION_H
#define YK_NN_STORE_PARTITION_H

#include <stdint.h>

enum yk_partition_kind {
    YK_PARTITION_WHOLE,         /* everything */
    YK_PARTITION_SHARDED_STATE, /* weights whole; of gradients and optimizer state a part */
    YK_PARTITION_FULLY_SHARDED, /* of everything a part */
    YK_PARTITION_ABSENT,        /* the layer is elsewhere */
};

struct yk_partition {
    enum yk_partition_kind kind;
    int32_t blocks; /* at least 1 where a part is kept */
    double from;    /* the part, of each block: from 0 to 1 */
    double to;
};

/* Numbers `first` to `first + count` of a layer, kept from number `at` of the part on. */
struct yk_partition_span {
    int64_t first;
    int64_t count;
    int64_t at;
};

/* The first of `count` things that block `block` of `blocks` has; that of `blocks` is the end. */
static inline int64_t yk_partition_block_first(int64_t count, int32_t blocks, int32_t block)
{
    const int64_t even = count / blocks * block;
    return even + count % blocks * block / blocks;
}

enum {
    /* Fractions that large blocks are cut at, so that equal parts are equal to the last thing,
     * which libraries exchange faster; the last part has what is left over. A multiple of all
     * numbers to 10, and of most to 36. */
    YK_PARTITION_CUTS = 10080,
};

/* Where a block of `count` things is cut, a fraction of the way into it: the same for all who ask,
 * so that one part ends where the next begins. */
static inline int64_t yk_partition_block_cut(int64_t count, int32_t blocks, int32_t block,
                                             double fraction)
{
    const int64_t first = yk_partition_block_first(count, blocks, block);
    const int64_t size = yk_partition_block_first(count, blocks, block + 1) - first;
    const int64_t unit = fraction < 1 ? size / YK_PARTITION_CUTS : 0;
    const int64_t cut = unit > 0 ? (int64_t)(fraction * YK_PARTITION_CUTS + 0.5) * unit
                                 : (int64_t)(fraction * (double)size + 0.5);
    return first + (cut > size ? size : cut);
}

#endif
