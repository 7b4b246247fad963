/*
 * Trade-off: keeping parameters and sending them ahead compete for the same memory. The predicted
 * step for every split of the free memory between the two, for every size of the devices' memory,
 * and for the plan in which both are decided together.
 */
#ifndef YOKE_TRADEOFF_H
#define YOKE_TRADEOFF_H

#include <stdint.h>
#include <yoke/request.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_tradeoff yoke_tradeoff;

enum {
    YOKE_TRADEOFF_MAX_POINTS = 200
};

/* Arrays have `points` numbers; NAN: nothing fits there, or the budget of the request ended before.
 */
struct yoke_tradeoff_info {
    int32_t points;
    const char *definition; /* what the split is of, in words */
    double min_bytes;       /* what one layer needs to compute */
    double free_bytes;
    const double *part;    /* of the free memory, reserved for scheduling */
    const double *split_s; /* the step, when strategies are chosen first in what is left */
    const int32_t *kept;   /* layers that strategies keep */
    double joint_s;        /* the step, when both are decided together; NAN: there was no time */
    int32_t joint_kept;
    const double *memory_bytes; /* of every device, at most */
    const double *joint_of_memory_s;
    const double *ahead_of_memory_s; /* fully-sharded, gathers one ahead */
    double bound_s;                  /* no plan is faster */
    int32_t split_points;            /* that there was time for, the first ones; at least one */
    int32_t memory_points;           /* likewise; maybe none */
};

/* Both curves with 2 to YOKE_TRADEOFF_MAX_POINTS points, for one micro-batch on all devices; 0
 * points: 21. YOKE_ERROR_NO_FIT when not even fully-sharded layers fit. */
YOKE_API yoke_status yoke_tradeoff_find(const yoke_request *request, int32_t points,
                                        yoke_tradeoff **out) YOKE_MUST_USE;
YOKE_API void yoke_tradeoff_destroy(yoke_tradeoff *tradeoff);

YOKE_API const struct yoke_tradeoff_info *yoke_tradeoff_info(const yoke_tradeoff *tradeoff);

enum yoke_tradeoff_chart {
    YOKE_TRADEOFF_SPLIT,  /* the step against the split of memory */
    YOKE_TRADEOFF_MEMORY, /* the step against the devices' memory */
};

/* A chart as an SVG that stands alone. YOKE_ERROR_INPUT where it has no point. */
YOKE_API yoke_status yoke_tradeoff_draw(const yoke_tradeoff *tradeoff,
                                        enum yoke_tradeoff_chart chart, char **out) YOKE_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
