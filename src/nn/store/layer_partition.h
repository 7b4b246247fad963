/*
 * Layer partition: says which elements of a layer a store keeps.
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
    YK_LAYER_PARTITION_SHARDED_STATE, /* all weights are kept, but only a part of gradients and
                                         optimizer state */
    YK_LAYER_PARTITION_FULLY_SHARDED, /* a part of the weights, gradients and state is kept */
    YK_LAYER_PARTITION_ABSENT,        /* nothing is kept: other ranks have the layer */
};

struct yk_layer_partition {
    enum yk_layer_partition_kind kind;
    int32_t blocks; /* at least 1 if the layer is sharded */
    /* The kept part of each block is [from, to). Both are fractions of the block, from 0 to 1. */
    double from;
    double to;
};

/* The elements [first, first + count) of a layer. In the store's part of the layer, these elements
 * begin at element `at`. */
struct yk_layer_partition_span {
    int64_t first;
    int64_t count;
    int64_t at;
};

/* The elements [first, first + count) of a parameter or of a layer. */
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
    /* Large blocks are cut only at multiples of 1/10080 of their size. So equal parts have equal
     * numbers of elements. NCCL exchanges such parts faster. The last part also gets the remainder.
     * 10080 is a multiple of all numbers up to 10. */
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

/* Sets `*out` to the part of the span that is in the layer's elements [first, first + count).
 * Returns false if no element is in both. */
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

/* Returns the range of a parameter in its layer. For a trained parameter, this is a range of the
 * layer's trained numbers. For a frozen parameter, it is a range of the layer's frozen bytes. */
struct yk_parameter_range yk_layer_partition_parameter_range(const struct yk_net *net,
                                                             int32_t layer,
                                                             const struct yk_parameter *parameter);

/* Finds the next range of a parameter that a partition keeps. The range is relative to the
 * parameter. For YK_LAYER_PARTITION_SHARDED_STATE, these are the kept ranges of the optimizer
 * state. `*block` counts the blocks; set it to 0 before the first call. Returns false if there are
 * no more ranges. */
bool yk_layer_partition_next_kept_range(const struct yk_layer_partition *partition,
                                        const struct yk_net *net, int32_t layer,
                                        const struct yk_parameter *parameter, int32_t *block,
                                        struct yk_parameter_range *out);

#endif
