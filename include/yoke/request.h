/*
 * Request: the model, the cluster, the decisions that a search makes, and the limits of the search.
 *
 * A request is the input of a plan (yoke/plan.h), of a comparison of placements (yoke/placements.h)
 * and of a trade-off (yoke/tradeoff.h). A request may be changed and reused. Changes do not affect
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

/* The decisions that the search for a plan can make. "Otherwise" says what applies if the search
 * does not make the decision. A group is a set of devices that hold the same layers. */
enum yoke_decision {
    YOKE_DECIDE_SHARES = 1 << 0,     /* samples of each device; otherwise: equal numbers */
    YOKE_DECIDE_PARTS = 1 << 1,      /* sharded state of each device; otherwise: equal parts */
    YOKE_DECIDE_STRATEGIES = 1 << 2, /* sharding of each layer; otherwise: fully-sharded */
    YOKE_DECIDE_BLOCK = 1 << 3,      /* size of the blocks that are sent; otherwise: 25 MiB */
    YOKE_DECIDE_ORDER = 1 << 4,     /* start of transfers; otherwise: gather one layer in advance */
    YOKE_DECIDE_PLACEMENT = 1 << 5, /* devices of each layer; otherwise: one group of all devices */
    YOKE_DECIDE_RECOMPUTATION = 1 << 6, /* recomputed layers; otherwise: as in the workload */
    YOKE_DECIDE_ALL = (1 << 7) - 1,
};

YOKE_API yoke_status yoke_request_create(yoke_model *model, yoke_cluster *cluster,
                                         yoke_request **out) YOKE_MUST_USE;
YOKE_API void yoke_request_destroy(yoke_request *request);

/* Sets the path of a profile file. A time in a profile has priority over the times of all other
 * sources (yoke/costs.h). NULL means: no profile. */
YOKE_API yoke_status yoke_request_set_profile(yoke_request *request,
                                              const char *path) YOKE_MUST_USE;

/* Sets the number of micro-batches of a batch; 0 means: the search decides. (Placement algorithms
 * that do not search then use 1 micro-batch.) */
YOKE_API yoke_status yoke_request_set_micro_batches(yoke_request *request,
                                                    int32_t micro_batches) YOKE_MUST_USE;

/* Sets the limits and the callbacks of the search. NULL means: defaults. */
YOKE_API yoke_status yoke_request_set_search(yoke_request *request,
                                             const struct yoke_search *search) YOKE_MUST_USE;

/* For plans and trade-offs: sets the maximum memory to use on each device; 0 means: all. */
YOKE_API yoke_status yoke_request_set_memory(yoke_request *request,
                                             double memory_bytes) YOKE_MUST_USE;

/* For plans and trade-offs: sets the factor by which computation takes longer during communication,
 * 1 or more; 0 means: the measured factor, or 1.1 if there is no measurement. */
YOKE_API yoke_status yoke_request_set_slowdown(yoke_request *request,
                                               double slowdown) YOKE_MUST_USE;

/* For plans and trade-offs: sets whether gradients are clipped by their global norm. If they are,
 * no parameter is updated before all ranks know the norm. */
YOKE_API yoke_status yoke_request_set_clip(yoke_request *request, bool clip) YOKE_MUST_USE;

/* For plans: sets the decisions that the search makes, a combination of yoke_decision bits. The
 * initial value is YOKE_DECIDE_ALL. */
YOKE_API yoke_status yoke_request_set_decisions(yoke_request *request,
                                                uint32_t decisions) YOKE_MUST_USE;

/* For plans: sets the sharding strategy of all layers: "replicated", "sharded-state", "kept" or
 * "fully-sharded". "random" means: a random strategy for each layer, from the seed of the search.
 * NULL means: the search decides. */
YOKE_API yoke_status yoke_request_set_strategy(yoke_request *request,
                                               const char *strategy) YOKE_MUST_USE;

/* For placements: sets the only algorithm to run ("auto", "pipeline" …). NULL means: all
 * algorithms. */
YOKE_API yoke_status yoke_request_set_algorithm(yoke_request *request,
                                                const char *algorithm) YOKE_MUST_USE;

/* For placements: sets an additional placement to evaluate. `text` is the text of a
 * device_map.json; NULL means: none. `source` is the name of the text in messages. */
YOKE_API yoke_status yoke_request_set_map(yoke_request *request, const char *text,
                                          const char *source) YOKE_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
