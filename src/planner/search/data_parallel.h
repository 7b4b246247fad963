/*
 * Data parallel: plans in which all devices hold all layers: shares so that the slowest rank is as
 * fast as can be, parts so that all state fits.
 */
#ifndef YK_PLANNER_SEARCH_DATA_PARALLEL_H
#define YK_PLANNER_SEARCH_DATA_PARALLEL_H

#include "planner/search/search.h"
#include "planner/search/study.h"

struct yk_data_parallel_spec {
    const int32_t *devices; /* (count) those that may take part */
    int32_t count;
    int32_t micro_batches;
    const enum yk_strategy *strategies; /* (L) */
    const bool *recompute;              /* (L) */
    bool no_sync;
    bool even_shares;
    bool even_parts;     /* whether they fit or not */
    bool ignores_memory; /* shares as if memory were no matter: estimates of it may be wrong */
    bool keeps_idle;     /* devices that get no samples stay, to keep state */
    int32_t prefetch;    /* at least 1 */
    double room_balance; /* 0: parts are as equal as memory allows, so that they travel fast; 1:
                    they leave equal room on all ranks, so that more can be kept; or between */
    double block_bytes;
    double bucket_bytes;
    double max_s; /* splits whose slowest rank computes longer are not looked at further */
};

/*
 * The plan, in the arena. That it does not fit is no failure: `out_fits` says so. NULL when no
 * split of the samples suits the devices' memory, or all are too slow.
 */
yk_status yk_data_parallel_plan(struct yk_study *study, const struct yk_data_parallel_spec *split,
                                struct yk_arena *arena, struct yk_plan **out,
                                bool *out_fits) YK_MUST_USE;

enum {
    YK_DATA_PARALLEL_MIN_BLOCK_BYTES = 1 << 20, /* latencies dominate below */
};

/* Considers a split, with gathers one ahead and, where its order is to be decided, in the best
 * order that is quickly found. */
yk_status yk_data_parallel_try(struct yk_search *search,
                               const struct yk_data_parallel_spec *split) YK_MUST_USE;

/* The block for a ring of these devices: the smallest message that has nine tenths of each link's
 * bandwidth (cost/knee.h), 1 MiB at least and 64 MiB at most. */
yk_status yk_data_parallel_block_bytes(const struct yk_study *study, const int32_t *devices,
                                       int32_t count, double *out) YK_MUST_USE;

/* Gives layers (L) that use the weights of another the strategy of the weights' owner. */
void yk_data_parallel_tie(const struct yk_model *model, enum yk_strategy *strategies);

/* One strategy for every layer (L), but layers so small that latency is all they cost are
 * replicated. */
void yk_data_parallel_uniform(const struct yk_study *study, enum yk_strategy strategy,
                              enum yk_strategy *out);

#endif
