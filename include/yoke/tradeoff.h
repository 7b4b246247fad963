/*
 * Trade-off: free memory can be used to keep parameters from the forward pass to the backward pass,
 * or to gather parameters before they are needed. A trade-off predicts the step time for different
 * splits of the free memory between these two uses, and for different memory sizes of the devices.
 * The times for different splits are compared with the joint plan, in which the two uses are
 * optimised together without a fixed split. For each memory size, the joint plan is compared with a
 * plan whose layers are all fully-sharded and whose all-gathers start one layer ahead.
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

/* Each array has `points` elements. In arrays of times, NAN means: no plan fits, or the time budget
 * ended before this point was computed; `kept` is then not valid. */
struct yoke_tradeoff_info {
    int32_t points;
    const char *definition; /* a text that explains which memory is split */
    double min_bytes; /* the largest parameters of a layer plus the largest gradient of a layer */
    double free_bytes;
    const double *part;    /* fraction of the free memory that is reserved for early gathers */
    const double *split_s; /* step time if the sharding strategies are chosen first and may use only
                              the rest of the free memory */
    const int32_t *kept;   /* number of layers whose parameters are kept until the backward pass */
    double joint_s; /* step time of the joint plan; NAN means: the time budget ended before it was
                       found */
    int32_t joint_kept;
    const double *memory_bytes; /* memory limit of every device */
    const double *joint_of_memory_s;
    const double *ahead_of_memory_s; /* step time if all layers are fully-sharded and all-gathers
                                        start one layer ahead */
    double bound_s;                  /* lower bound of the step time of any plan */
    int32_t split_points; /* number of points of `split_s` that were computed, at least 1; the other
                             points are NAN */
    int32_t memory_points; /* number of points over `memory_bytes` that were computed, may be 0; the
                              other points are NAN */
};

/* Computes the curve over the split and the curves over the memory size, for one micro-batch on all
 * devices. Each curve has `points` points, 2 to YOKE_TRADEOFF_MAX_POINTS; 0 means: 21. Fails with
 * YOKE_ERROR_NO_FIT if the model does not fit even when all layers are fully-sharded. */
YOKE_API yoke_status yoke_tradeoff_find(const yoke_request *request, int32_t points,
                                        yoke_tradeoff **out) YOKE_MUST_USE;
YOKE_API void yoke_tradeoff_destroy(yoke_tradeoff *tradeoff);

YOKE_API const struct yoke_tradeoff_info *yoke_tradeoff_info(const yoke_tradeoff *tradeoff);

enum yoke_tradeoff_chart {
    YOKE_TRADEOFF_SPLIT,  /* step time over the split of the memory */
    YOKE_TRADEOFF_MEMORY, /* step time over the memory of the devices */
};

/* Writes a chart as a self-contained SVG. Fails with YOKE_ERROR_INPUT if the chart has no points.
 */
YOKE_API yoke_status yoke_tradeoff_draw(const yoke_tradeoff *tradeoff,
                                        enum yoke_tradeoff_chart chart, char **out) YOKE_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
