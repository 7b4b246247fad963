/*
 * Trade-off: memory can hold parameters from the forward to the backward pass, or parameters that
 * are gathered ahead of their use. A trade-off predicts the step time for different splits of the
 * free memory between the two, for different memory sizes of the devices, and for the plan that
 * decides both together.
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

/* Each array has `points` numbers. NAN means: nothing fits, or the time budget ended before. */
struct yoke_tradeoff_info {
    int32_t points;
    const char *definition; /* what is split, as text */
    double min_bytes;       /* the memory that one layer needs to compute */
    double free_bytes;
    const double *part;    /* fraction of the free memory that is reserved for gathering ahead */
    const double *split_s; /* step time if strategies are chosen first, in the rest */
    const int32_t *kept;   /* layers whose parameters are kept */
    double joint_s; /* step time if both are decided together; NAN means: the time budget ended
                       before */
    int32_t joint_kept;
    const double *memory_bytes; /* memory limit of every device */
    const double *joint_of_memory_s;
    const double *ahead_of_memory_s; /* step time if all layers are fully-sharded and all-gathers
                                        start one layer ahead */
    double bound_s;                  /* lower bound of the step time of any plan */
    int32_t split_points; /* points of the split curve that were computed, at least one; the rest is
                             NAN */
    int32_t memory_points; /* points of the memory curves that were computed, may be 0; the rest is
                              NAN */
};

/* Computes both curves with 2 to YOKE_TRADEOFF_MAX_POINTS points, for one micro-batch on all
 * devices; 0 points means: 21. Fails with YOKE_ERROR_NO_FIT if not even fully-sharded layers fit.
 */
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
