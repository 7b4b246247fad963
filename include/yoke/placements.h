/*
 * Placements: ways to decide which device has which layer, compared by the predicted step and the
 * memory that each leads to.
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
    int32_t winner;     /* the fastest that fits, or -1 */
    const char *note;   /* why the winner leaves devices out, or NULL */
    const char *source; /* where times come from, in words */
    int64_t trials;     /* schedules that "pipeline" and "best" considered */
    bool cut_short;     /* the budget ended the search before it was complete */
};

struct yoke_placement {
    const char *name;    /* "auto", "heft" … */
    const char *refusal; /* why there is no step at all; NULL when there is one */
    const char *remark;  /* what its times leave out, or NULL */
    double step_s;       /* NAN when there is none */
    double bound_s;      /* no placement with as many micro-batches is faster */
    bool fits;
    int32_t missing_device; /* when it does not fit: the one that lacks most, else -1 */
    int64_t missing_bytes;
    int32_t micro_batches;
    bool divided;              /* some layer serves its micro-batches on several devices */
    const int64_t *peak_bytes; /* (devices) NULL when there is no step */
};

/* Compares all ways, or the one that the request names. That nothing fits is a result. */
YOKE_API yoke_status yoke_placements_find(const yoke_request *request,
                                          yoke_placements **out) YOKE_MUST_USE;
YOKE_API void yoke_placements_destroy(yoke_placements *placements);

YOKE_API const struct yoke_placements_info *yoke_placements_info(const yoke_placements *placements);
YOKE_API const struct yoke_placement *yoke_placements_at(const yoke_placements *placements,
                                                         int32_t number);

/* The device that has a layer for a micro-batch; -1 when there is no such thing. */
YOKE_API int32_t yoke_placements_device(const yoke_placements *placements, int32_t number,
                                        int32_t layer, int32_t micro_batch);

/* One placement's predicted step as a schedule is written. YOKE_ERROR_USAGE when it has none. */
YOKE_API yoke_status yoke_placements_write(yoke_placements *placements, int32_t number,
                                           enum yoke_schedule_form form, char **out) YOKE_MUST_USE;

/* One placement as a device_map.json for from_pretrained(device_map=…). YOKE_ERROR_USAGE when it
 * has none. */
YOKE_API yoke_status yoke_placements_device_map(const yoke_placements *placements, int32_t number,
                                                char **out) YOKE_MUST_USE;

/* The ways of placing by name; NULL past the last one. */
YOKE_API const char *yoke_placement_algorithm(int32_t number);

#ifdef __cplusplus
}
#endif

#endif
