/*
 * Partition: which elements of a layer a store keeps.
 *
 * A sharded layer is divided into blocks, which are also the units of its messages. Each store
 * keeps one span of every block. The elements of trained parameters, gradients and optimizer state
 * are numbers; the elements of frozen parameters are bytes. Pure functions.
 */
#ifndef YK_NN_STORE_PARTITION_H
#define YK_NN_STORE_PARTITION_H

#include "nn/net.h"

#include <stdbool.h>
#include <stdint.h>

enum yk_partition_kind {
    YK_PARTITION_WHOLE,         /* everything is kept */
    YK_PARTITION_SHARDED_STATE, /* all weights, and a part of gradients and optimizer state */
    YK_PARTITION_FULLY_SHARDED, /* a part of weights, gradients and optimizer state */
    YK_PARTITION_ABSENT,        /* nothing is kept: other ranks have the layer */
};

struct yk_partition {
    enum yk_partition_kind kind;
    int32_t blocks; /* at least 1 if the layer is sharded */
    double from;    /* the kept part of each block: fractions from 0 to 1 */
    double to;
};

/* `count` elements of a layer from element `first` on, stored from element `at` of the part on. */
struct yk_partition_span {
    int64_t first;
    int64_t count;
    int64_t at;
};

/* `count` elements of a parameter from element `first` on. */
struct yk_parameter_range {
    int64_t first;
    int64_t count;
};

/* The first element of block `block`, where `count` elements are divided into `blocks` blocks. For
 * `block` = `blocks`, it is `count`. */
static inline int64_t yk_partition_block_first(int64_t count, int32_t blocks, int32_t block)
{
    const int64_t even = count / blocks * block;
    return even + count % blocks * block / blocks;
}

enum {
    /* Large blocks are cut at multiples of 1 / 10080, so that equal parts have equal numbers of
     * elements, which NCCL exchanges faster. The last part has the remainder. 10080 is a multiple
     * of all numbers up to 10. */
    YK_PARTITION_CUT_DENOMINATOR = 10080,
};

/* The element at which a block is cut at a fraction of its size. All ranks compute the same cut, so
 * that each part ends where the next one begins. */
static inline int64_t yk_partition_block_cut(int64_t count, int32_t blocks, int32_t block,
                                             double fraction)
{
    const int64_t first = yk_partition_block_first(count, blocks, block);
    const int64_t size = yk_partition_block_first(count, blocks, block + 1) - first;
    const int64_t unit = fraction < 1 ? size / YK_PARTITION_CUT_DENOMINATOR : 0;
    const int64_t cut = unit > 0 ? (int64_t)(fraction * YK_PARTITION_CUT_DENOMINATOR + 0.5) * unit
                                 : (int64_t)(fraction * (double)size + 0.5);
    return first + (cut > size ? size : cut);
}

/* Intersects a span with `count` elements from `first` on. False: they do not overlap. */
static inline bool yk_partition_span_intersect(const struct yk_partition_span *span, int64_t first,
                                               int64_t count, struct yk_partition_span *out)
{
    const int64_t begin = span->first > first ? span->first : first;
    const int64_t span_end = span->first + span->count;
    const int64_t end = span_end < first + count ? span_end : first + count;
    *out = (struct yk_partition_span){begin, end - begin, span->at + begin - span->first};
    return end > begin;
}

/* The range of a parameter in its layer: among the trained numbers, or among the frozen bytes. */
struct yk_parameter_range yk_partition_layer_range(const struct yk_net *net, int32_t layer,
                                                   const struct yk_parameter *parameter);

/* Iterates over the ranges of a parameter that a partition keeps. For YK_PARTITION_SHARDED_STATE,
 * they are the part of the optimizer state. `*block` starts as 0. False: there are no more. */
bool yk_partition_next_range(const struct yk_partition *partition, const struct yk_net *net,
                             int32_t layer, const struct yk_parameter *parameter, int32_t *block,
                             struct yk_parameter_range *out);

#endif
