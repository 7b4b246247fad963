/*
 * Placements: runs several algorithms that assign layers to devices, and compares their results by
 * predicted step time and memory.
 */
#ifndef YOKE_PLACEMENTS_H
#define YOKE_PLACEMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <yoke/request.h>
#include <yoke/schedule.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_placements yoke_placements;

struct yoke_placements_info {
    int32_t count;
    int32_t winner;     /* index of the fastest placement that fits; -1 means: none fits */
    const char *note;   /* why the winner does not use all devices; may be NULL */
    const char *source; /* a text that explains where the times come from */
    int64_t trials;     /* number of schedules that "pipeline" and "best" evaluated; does not count
                           simulated annealing */
    bool cut_short;     /* the time budget ended before the search was complete */
};

struct yoke_placement {
    const char *name;    /* name of the algorithm: "auto", "heft" … */
    const char *refusal; /* why the algorithm has no result; NULL if it has one */
    const char *remark;  /* what the times do not include; may be NULL */
    double step_s;       /* NAN if there is no result */
    double bound_s;      /* lower bound of the step time of any placement with this number of
                            micro-batches */
    bool fits;
    int32_t missing_device; /* the device that lacks the most memory; -1 means: none */
    int64_t missing_bytes;
    int32_t micro_batches;
    bool divided;              /* some layer is on different devices for different micro-batches */
    const int64_t *peak_bytes; /* peak memory of each device; NULL if there is no result */
};

/* Runs all algorithms, or only the algorithm that the request sets. Succeeds even if no placement
 * fits. */
YOKE_API yoke_status yoke_placements_find(const yoke_request *request,
                                          yoke_placements **out) YOKE_MUST_USE;
YOKE_API void yoke_placements_destroy(yoke_placements *placements);

YOKE_API const struct yoke_placements_info *yoke_placements_info(const yoke_placements *placements);
YOKE_API const struct yoke_placement *yoke_placements_at(const yoke_placements *placements,
                                                         int32_t number);

/* Returns the device of a layer for a micro-batch. Returns -1 if an argument is out of range or if
 * the placement has no result. */
YOKE_API int32_t yoke_placements_device(const yoke_placements *placements, int32_t number,
                                        int32_t layer, int32_t micro_batch);

/* Writes the predicted step of a placement in the requested format. Fails with YOKE_ERROR_USAGE if
 * the placement has no result. */
YOKE_API yoke_status yoke_placements_write(yoke_placements *placements, int32_t number,
                                           enum yoke_schedule_form form, char **out) YOKE_MUST_USE;

/* Writes a placement as a device_map.json for from_pretrained(device_map=…). Fails with
 * YOKE_ERROR_USAGE if the placement has no result. */
YOKE_API yoke_status yoke_placements_device_map(const yoke_placements *placements, int32_t number,
                                                char **out) YOKE_MUST_USE;

/* Returns the name of algorithm `number`, or NULL after the last one. */
YOKE_API const char *yoke_placement_algorithm(int32_t number);

#ifdef __cplusplus
}
#endif

#endif
