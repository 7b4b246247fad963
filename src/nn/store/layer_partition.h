/*
 * Partition: the elements of a layer that a store keeps.
 *
 * A sharded layer is divided into blocks. Each message of the layer carries one block. Each store
 * keeps one span of every block, and these spans together are its part of the layer. The elements
 * of trained parameters, gradients and optimizer state are numbers. The elements of frozen
 * parameters are bytes. The functions are pure.
 */
#ifndef YK_NN_STORE_LAYER_PARTITION_H
#define YK_NN_STORE_LAYER_PARTITION_H

#include "nn/net.h"

#include <stdbool.h>
#include <stdint.h>

enum yk_layer_partition_kind {
    YK_LAYER_PARTITION_WHOLE,         /* the whole layer is kept */
    YK_LAYER_PARTITION_SHARDED_STATE, /* all weights are kept, but only a part of the gradients and
                                   the optimizer state */
    YK_LAYER_PARTITION_FULLY_SHARDED, /* a part of the weights, gradients and state is kept */
    YK_LAYER_PARTITION_ABSENT,        /* nothing is kept: other ranks have the layer */
};

struct yk_layer_partition {
    enum yk_layer_partition_kind kind;
    int32_t blocks; /* at least 1 if the layer is sharded */
    double from;    /* the kept part of each block is [from, to): fractions from 0 to 1 */
    double to;
};

/* The elements [first, first + count) of a layer. The store has them at element `at` of its part of
 * the layer. */
struct yk_layer_partition_span {
    int64_t first;
    int64_t count;
    int64_t at;
};

/* The elements [first, first + count) of a parameter. */
struct yk_parameter_range {
    int64_t first;
    int64_t count;
};

/* Returns the first element of block `block` if `count` elements are divided into `blocks` blocks.
 * If `block` equals `blocks`, returns `count`. */
static inline int64_t yk_layer_partition_block_start(int64_t count, int32_t blocks, int32_t block)
{
    const int64_t even = count / blocks * block;
    return even + count % blocks * block / blocks;
}

enum {
    /* Large blocks are cut at multiples of 1 / 10080, so that equal parts have equal numbers of
     * elements. NCCL exchanges such parts faster. The last part also gets the remainder. 10080 is a
     * multiple of all numbers up to 10. */
    YK_LAYER_PARTITION_CUT_DENOMINATOR = 10080,
};

/* Returns the element at which a block is cut for a given fraction of its size. All ranks compute
 * the same cuts, so that each part ends where the next one begins. */
static inline int64_t yk_layer_partition_fraction_to_element(int64_t count, int32_t blocks,
                                                             int32_t block, double fraction)
{
    const int64_t first = yk_layer_partition_block_start(count, blocks, block);
    const int64_t size = yk_layer_partition_block_start(count, blocks, block + 1) - first;
    const int64_t unit = fraction < 1 ? size / YK_LAYER_PARTITION_CUT_DENOMINATOR : 0;
    const int64_t cut = unit > 0
                            ? (int64_t)(fraction * YK_LAYER_PARTITION_CUT_DENOMINATOR + 0.5) * unit
                            : (int64_t)(fraction * (double)size + 0.5);
    return first + (cut > size ? size : cut);
}

/* Intersects a span with `count` elements from `first` on. Returns false if they do not overlap. */
static inline bool yk_layer_partition_span_intersect(const struct yk_layer_partition_span *span,
                                                     int64_t first, int64_t count,
                                                     struct yk_layer_partition_span *out)
{
    const int64_t begin = span->first > first ? span->first : first;
    const int64_t span_end = span->first + span->count;
    const int64_t end = span_end < first + count ? span_end : first + count;
    *out = (struct yk_layer_partition_span){begin, end - begin, span->at + begin - span->first};
    return end > begin;
}

/* Returns the range that a parameter has in its layer: among the trained numbers if it is trained,
 * otherwise among the frozen bytes. */
struct yk_parameter_range yk_layer_partition_parameter_range(const struct yk_net *net,
                                                             int32_t layer,
                                                             const struct yk_parameter *parameter);

/* Iterates over the ranges of a parameter that a partition keeps. For
 * YK_LAYER_PARTITION_SHARDED_STATE, these are the kept ranges of the optimizer state. `*block` must
 * be 0 before the first call. Returns false if there are no more ranges. */
bool yk_layer_partition_next_kept_range(const struct yk_layer_partition *partition,
                                        const struct yk_net *net, int32_t layer,
                                        const struct yk_parameter *parameter, int32_t *block,
                                        struct yk_parameter_range *out);

#endif
