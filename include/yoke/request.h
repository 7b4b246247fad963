/*
 * Request: what is to be decided, for which model on which devices, and within what limits.
 *
 * One request serves a plan (yoke/plan.h), a comparison of placements (yoke/placements.h) and a
 * trade-off (yoke/tradeoff.h). It may be changed and used again; what was found before stays as it
 * was.
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

/* What a plan decides; what is not to be decided is as plain as it can be. */
enum yoke_decision {
    YOKE_DECIDE_SHARES = 1 << 0,        /* else as even as it goes */
    YOKE_DECIDE_PARTS = 1 << 1,         /* else equal */
    YOKE_DECIDE_STRATEGIES = 1 << 2,    /* else fully-sharded */
    YOKE_DECIDE_BLOCK = 1 << 3,         /* else 25 MiB */
    YOKE_DECIDE_ORDER = 1 << 4,         /* else one gather ahead */
    YOKE_DECIDE_PLACEMENT = 1 << 5,     /* else one group of all devices, each with all layers */
    YOKE_DECIDE_RECOMPUTATION = 1 << 6, /* else as the workload says */
    YOKE_DECIDE_ALL = (1 << 7) - 1,
};

YOKE_API yoke_status yoke_request_create(yoke_model *model, yoke_cluster *cluster,
                                         yoke_request **out) YOKE_MUST_USE;
YOKE_API void yoke_request_destroy(yoke_request *request);

/* Times come from this file of measurements where it has any; NULL: from none. */
YOKE_API yoke_status yoke_request_set_profile(yoke_request *request,
                                              const char *path) YOKE_MUST_USE;

/* Micro-batches that the batch is split into; 0: the search chooses. */
YOKE_API yoke_status yoke_request_set_micro_batches(yoke_request *request,
                                                    int32_t micro_batches) YOKE_MUST_USE;

/* How long to search, and who is told. NULL: as usual. */
YOKE_API yoke_status yoke_request_set_search(yoke_request *request,
                                             const struct yoke_search *search) YOKE_MUST_USE;

/* Of plans and trade-offs: at most this much of every device's memory; 0: all of it. */
YOKE_API yoke_status yoke_request_set_memory(yoke_request *request,
                                             double memory_bytes) YOKE_MUST_USE;

/* Of plans and trade-offs: how much longer computation takes beside communication, 1 or more; 0:
 * 1.1. */
YOKE_API yoke_status yoke_request_set_slowdown(yoke_request *request,
                                               double slowdown) YOKE_MUST_USE;

/* Of plans and trade-offs: gradients are clipped by their norm, so that nothing is updated before
 * all ranks have agreed on it. */
YOKE_API yoke_status yoke_request_set_clip(yoke_request *request, bool clip) YOKE_MUST_USE;

/* Of plans: the yoke_decision bits of what is to be decided; all of them before this is called. */
YOKE_API yoke_status yoke_request_set_decisions(yoke_request *request,
                                                uint32_t decisions) YOKE_MUST_USE;

/* Of plans: one strategy for all layers, "replicated", "sharded-state", "kept" or "fully-sharded";
 * "random": one drawn for each layer by the search's seed; NULL: the search chooses. */
YOKE_API yoke_status yoke_request_set_strategy(yoke_request *request,
                                               const char *strategy) YOKE_MUST_USE;

/* Of placements: only this way of placing ("auto", "pipeline" …); NULL: all of them. */
YOKE_API yoke_status yoke_request_set_algorithm(yoke_request *request,
                                                const char *algorithm) YOKE_MUST_USE;

/* Of placements: also look at this one, the text of a device_map.json; NULL: at none. `source` is
 * what messages call it. */
YOKE_API yoke_status yoke_request_set_map(yoke_request *request, const char *text,
                                          const char *source) YOKE_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
