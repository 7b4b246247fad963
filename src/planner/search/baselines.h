/*
 * Baselines: what people do today, as plans that are tried like any other: Accelerate's device map,
 * HEFT's, one device alone, even data parallelism as DDP, FSDP and DeepSpeed do it. Each with the
 * number of micro-batches and the recomputation that suit it best.
 */
#ifndef YK_PLANNER_SEARCH_BASELINES_H
#define YK_PLANNER_SEARCH_BASELINES_H

#include "plan/result.h"
#include "planner/search/search.h"

struct yk_baselines {
    struct yk_plan_alternative *rows;
    int32_t count;
};

/* Tries all of them; where the request leaves everything open, they are candidates of `search`,
 * too. Ends with YK_ERROR_STOPPED where the study's deadline passes: the rows before are there
 * then. In the arena. */
yk_status yk_baselines_try(struct yk_search *search, struct yk_arena *arena,
                           struct yk_baselines *out) YK_MUST_USE;

#endif
