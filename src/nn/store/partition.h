/*
 * Partition: which elements of a layer a store keeps.
 *
 * A layer that several stores share is cut into blocks, as its messages are, and every block into
 * the parts of the stores: each has one span of every block. Trained parameters, and with them
 * gradients and optimizer state, are cut by number; frozen weights by byte.
 *
 * Plain values; the functions are pure.
 */
#ifndef YK_NN_STORE_PARTITION_H
#define YK_NN_STORE_PARTITION_H

#include "nn/net.h"

#include <stdbool.h>
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

/* Elements `first` to `first + count` of a layer, kept from element `at` of the part on. */
struct yk_partition_span {
    int64_t first;
    int64_t count;
    int64_t at;
};

/* Elements of a parameter: numbers of a trained one, bytes of a frozen one. */
struct yk_parameter_range {
    int64_t first;
    int64_t count;
};

/* The first of `count` elements that block `block` of `blocks` has; that of `blocks` is the end. */
static inline int64_t yk_partition_block_first(int64_t count, int32_t blocks, int32_t block)
{
    const int64_t even = count / blocks * block;
    return even + count % blocks * block / blocks;
}

enum {
    /* Large blocks are cut at multiples of this fraction, so that equal parts have equally many
     * elements, which libraries exchange faster; the last part has the remainder. A multiple of all
     * numbers to 10, and of most to 36. */
    YK_PARTITION_CUTS = 10080,
};

/* Where a block of `count` elements is cut, a fraction of the way into it: the same for all who
 * ask, so that one part ends where the next begins. */
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

/* What a span has of `count` elements from `first` on. False: nothing. */
static inline bool yk_partition_span_intersect(const struct yk_partition_span *span, int64_t first,
                                               int64_t count, struct yk_partition_span *out)
{
    const int64_t begin = span->first > first ? span->first : first;
    const int64_t span_end = span->first + span->count;
    const int64_t end = span_end < first + count ? span_end : first + count;
    *out = (struct yk_partition_span){begin, end - begin, span->at + begin - span->first};
    return end > begin;
}

/* A parameter's first element among the trained numbers or the frozen bytes of its layer, and how
 * many elements it has. */
struct yk_parameter_range yk_partition_parameter(const struct yk_net *net, int32_t layer,
                                                 const struct yk_parameter *parameter);

/* What block `block` of a partition has of a parameter: a part of it even where the weights are
 * whole (YK_PARTITION_SHARDED_STATE). False: nothing. */
bool yk_partition_range(const struct yk_partition *partition, int32_t block,
                        const struct yk_net *net, int32_t layer,
                        const struct yk_parameter *parameter, struct yk_parameter_range *out);

/* How many blocks to ask for. */
int32_t yk_partition_range_count(const struct yk_partition *partition);

#endif
