/*
 * Request: the model, the cluster, the decisions to make, and their limits.
 *
 * A request is the input of a plan (yoke/plan.h), of a comparison of placements (yoke/placements.h)
 * and of a trade-off (yoke/tradeoff.h). It may be changed and reused. Changes do not affect
 * existing results.
 */
#ifndef YOKE_REQUEST_H
#define YOKE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <yoke/cluster.h>
#include <yoke/model.h>
#include <yoke/search.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_request yoke_request;

/* The decisions of a plan, and what applies if a decision is not made. */
enum yoke_decision {
    YOKE_DECIDE_SHARES = 1 << 0,        /* else the batch is divided evenly */
    YOKE_DECIDE_PARTS = 1 << 1,         /* else all devices hold equal parts */
    YOKE_DECIDE_STRATEGIES = 1 << 2,    /* else every layer is fully-sharded */
    YOKE_DECIDE_BLOCK = 1 << 3,         /* else blocks have 25 MiB */
    YOKE_DECIDE_ORDER = 1 << 4,         /* else all-gathers start one layer ahead */
    YOKE_DECIDE_PLACEMENT = 1 << 5,     /* else all devices form one group, each with all layers */
    YOKE_DECIDE_RECOMPUTATION = 1 << 6, /* else the workload decides */
    YOKE_DECIDE_ALL = (1 << 7) - 1,
};

YOKE_API yoke_status yoke_request_create(yoke_model *model, yoke_cluster *cluster,
                                         yoke_request **out) YOKE_MUST_USE;
YOKE_API void yoke_request_destroy(yoke_request *request);

/* Uses the times in this profile file, if it has them. NULL means: no profile. */
YOKE_API yoke_status yoke_request_set_profile(yoke_request *request,
                                              const char *path) YOKE_MUST_USE;

/* The number of micro-batches of a batch; 0 means: the search decides. */
YOKE_API yoke_status yoke_request_set_micro_batches(yoke_request *request,
                                                    int32_t micro_batches) YOKE_MUST_USE;

/* The limits of the search and its callbacks. NULL means: defaults. */
YOKE_API yoke_status yoke_request_set_search(yoke_request *request,
                                             const struct yoke_search *search) YOKE_MUST_USE;

/* For plans and trade-offs: the most memory to use of each device; 0 means: all. */
YOKE_API yoke_status yoke_request_set_memory(yoke_request *request,
                                             double memory_bytes) YOKE_MUST_USE;

/* For plans and trade-offs: the slowdown of computation during communication, 1 or more; 0
 * means: 1.1. */
YOKE_API yoke_status yoke_request_set_slowdown(yoke_request *request,
                                               double slowdown) YOKE_MUST_USE;

/* For plans and trade-offs: gradients are clipped by their global norm. No parameter is updated
 * before all ranks have the norm. */
YOKE_API yoke_status yoke_request_set_clip(yoke_request *request, bool clip) YOKE_MUST_USE;

/* For plans: the decisions to make, a combination of yoke_decision bits. Initially all. */
YOKE_API yoke_status yoke_request_set_decisions(yoke_request *request,
                                                uint32_t decisions) YOKE_MUST_USE;

/* For plans: the strategy of all layers: "replicated", "sharded-state", "kept" or "fully-sharded".
 * "random" draws one for each layer with the seed of the search. NULL means: the search decides. */
YOKE_API yoke_status yoke_request_set_strategy(yoke_request *request,
                                               const char *strategy) YOKE_MUST_USE;

/* For placements: run only this algorithm ("auto", "pipeline" …). NULL means: all. */
YOKE_API yoke_status yoke_request_set_algorithm(yoke_request *request,
                                                const char *algorithm) YOKE_MUST_USE;

/* For placements: also evaluate this placement, the text of a device_map.json. NULL means: none.
 * `source` is its name in messages. */
YOKE_API yoke_status yoke_request_set_map(yoke_request *request, const char *text,
                                          const char *source) YOKE_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
