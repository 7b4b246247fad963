/*
 * Data parallel: creates plans in which every device computes all layers. The sample shares are
 * chosen so that the slowest rank is as fast as possible. The shard fractions are chosen so that
 * the sharded state fits into the memory of every rank.
 */
#ifndef YK_PLANNER_SEARCH_DATA_PARALLEL_H
#define YK_PLANNER_SEARCH_DATA_PARALLEL_H

#include "planner/search/search.h"
#include "planner/search/search_context.h"

struct yk_data_parallel_spec {
    const int32_t *devices; /* (count) devices that may be used */
    int32_t count;
    int32_t micro_batches;
    enum yk_sharding_strategy *strategies; /* (L) */
    bool *recompute;                       /* (L) */
    bool no_sync; /* gradients are reduced once, after the last micro-batch */
    bool even_shares;
    bool even_parts;     /* equal shard fractions, even if the state then does not fit */
    bool ignores_memory; /* shares may exceed the estimate of memory, because the estimate may be
                            wrong */
    bool keeps_idle;     /* devices that get no samples stay in the plan and store state */
    int32_t prefetch;    /* how many layers gathers run ahead, at least 1 */
    double room_balance; /* 0 means: shard fractions as equal as memory allows; 1 means: shard
                            fractions that leave equal free memory on all ranks. Values between 0
                            and 1 interpolate */
    double block_bytes;
    double bucket_bytes;
    double max_s; /* the slowest rank must compute for less than this; ignored if `even_shares` is
                     true */
};

/*
 * Creates the plan, in `arena`. Sets `*out_fits` to true if the plan fits into memory. Sets `*out`
 * to NULL in these cases:
 *   - All shares are smaller than the number of micro-batches.
 *   - No shares are possible within `max_s` and, unless `ignores_memory` is true, within the
 *     estimate of memory.
 *   - `ignores_memory` is true, but the shares are within the estimate of memory. The plan would be
 *     the same as without `ignores_memory`.
 * `max_s` and the estimate of memory do not limit even shares.
 */
yk_status yk_data_parallel_create_plan(struct yk_search_context *context,
                                       const struct yk_data_parallel_spec *split,
                                       struct yk_arena *arena, struct yk_plan **out,
                                       bool *out_fits) YK_MUST_USE;

enum {
    YK_DATA_PARALLEL_MIN_BLOCK_BYTES = 1 << 20, /* the time of smaller messages is mostly latency */
};

/* Tries the plan of `split` in the search. If the plan does not fit and leaves out devices, tries
 * it with `keeps_idle`. If the plan fits, has one micro-batch and several ranks, and the search
 * decides the transfer order, tries it with the greedy order, too. Then does all this again with
 * `ignores_memory`, unless there is only one device or the shares are even. */
yk_status yk_data_parallel_try_spec(struct yk_plan_search *search,
                                    const struct yk_data_parallel_spec *split) YK_MUST_USE;

/* Chooses the block size for a ring of these devices: the smallest size that saturates every link
 * of the ring, but at least 1 MiB and at most 64 MiB. If the search does not decide the block size,
 * the result is 25 MiB. */
yk_status yk_data_parallel_choose_block_bytes(const struct yk_search_context *context,
                                              const int32_t *devices, int32_t count,
                                              double *out) YK_MUST_USE;

/* Gives layers with shared weights the strategy of the layer that owns the weights. */
void yk_data_parallel_unify_tied_strategies(const struct yk_model *model,
                                            enum yk_sharding_strategy *strategies);

/* Gives every layer the strategy `strategy`, but replicates layers with less than 1 MiB of weights.
 * Then calls yk_data_parallel_unify_tied_strategies(). */
void yk_data_parallel_set_large_layer_strategy(const struct yk_search_context *context,
                                               enum yk_sharding_strategy strategy,
                                               enum yk_sharding_strategy *out);

#endif
