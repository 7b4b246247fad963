/*
 * Costs: the time to compute a layer on a device, and the time to send data over a link. A time
 * comes from the first of these sources that has a value:
 *   1. measurements on this machine (a profile)
 *   2. measurements in the cluster file
 *   3. the datasheet, together with a known efficiency (the fraction of a datasheet's figure that
 *      training reaches)
 */
#ifndef YOKE_COSTS_H
#define YOKE_COSTS_H

#include <stdint.h>
#include <yoke/cluster.h>
#include <yoke/model.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_costs yoke_costs;

enum yoke_pass {
    YOKE_PASS_FORWARD,
    YOKE_PASS_BACKWARD,
    YOKE_PASS_UPDATE,
};

enum yoke_collective {
    YOKE_COLLECTIVE_ALL_GATHER,     /* every device gets the parts of all devices */
    YOKE_COLLECTIVE_REDUCE_SCATTER, /* every device gets its part of the sum */
    YOKE_COLLECTIVE_ALL_REDUCE,     /* every device gets the whole sum */
};

/* The result of the functions below. The caller provides the struct. */
struct yoke_cost {
    double seconds;
    /* A string constant: "measured" (in the profile, at exactly this size), "interpolated" (from
     * other sizes in the profile), "table" (from the cluster file) or "datasheet". */
    const char *origin;
    /* Relative error. 90 % of the times with this origin have at most this error. */
    double error;
};

/* `profile` is the path of a profile file; NULL means: no profile. */
YOKE_API yoke_status yoke_costs_create(yoke_cluster *cluster, const char *profile,
                                       yoke_costs **out) YOKE_MUST_USE;
YOKE_API void yoke_costs_destroy(yoke_costs *costs);

/* Computes the time of one pass of a layer over the batch of the model's workload. YOKE_PASS_UPDATE
 * is the optimizer step for all parameters of the layer. */
YOKE_API yoke_status yoke_costs_layer(yoke_costs *costs, const yoke_model *model, int32_t layer,
                                      int32_t device, enum yoke_pass pass,
                                      struct yoke_cost *out) YOKE_MUST_USE;

/* Computes the time of a message between two devices. The time is 0 if `from` equals `to`. */
YOKE_API yoke_status yoke_costs_send(yoke_costs *costs, int32_t from, int32_t to, double bytes,
                                     struct yoke_cost *out) YOKE_MUST_USE;

/* Computes the time of a collective over `bytes` bytes in total. `largest_part_bytes` is the size
 * of the largest part that a device holds; 0 means: all parts are equal. `devices` lists the
 * devices in ring order: each device sends to the one after it, and the last device sends to the
 * first. */
YOKE_API yoke_status yoke_costs_collective(yoke_costs *costs, enum yoke_collective collective,
                                           const int32_t *devices, int32_t count, double bytes,
                                           double largest_part_bytes,
                                           struct yoke_cost *out) YOKE_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
