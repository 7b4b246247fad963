/* Find split: data-parallel candidates, as finder.h asks for them. */
#ifndef YK_PLANNER_SEARCH_FIND_SPLIT_H
#define YK_PLANNER_SEARCH_FIND_SPLIT_H

#include "planner/search/data_parallel.h"
#include "planner/search/search.h"

enum {
    YK_DATA_PARALLEL_MIN_BLOCK_BYTES =
        1 << 20, /* that plans are made with: latencies are many below */
};

/* Considers a split, with gathers one ahead and, where its order is to be decided, in the best
 * order that is quickly found. */
yk_status yk_data_parallel_try(struct yk_search *finder, const struct yk_data_parallel_spec *split,
                               const char *how) YK_MUST_USE;

/* The block for a ring of these devices: the smallest message that has nine tenths of each link's
 * bandwidth (cost/knee.h), 1 MiB at least and 64 MiB at most. */
yk_status yk_data_parallel_block_bytes(const struct yk_study *study, const int32_t *devices,
                                       int32_t count, double *out) YK_MUST_USE;

/* Gives layers (L) that use the weights of another the strategy of the weights' owner: a plan has
 * one strategy for both. */
void yk_data_parallel_tie(const struct yk_model *model, enum yk_strategy *strategies);

/* One strategy for every layer (L), but layers so small that latency is all they cost are
 * replicated. */
void yk_data_parallel_uniform(const struct yk_study *study, enum yk_strategy strategy,
                              enum yk_strategy *out);

#endif
