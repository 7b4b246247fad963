/*
 * Costs: the time of a layer on a device, and of data on a link. The source of a time is the first
 * of these that has one: measurements on this machine (a profile), measurements in the cluster
 * file, the datasheet and a known efficiency.
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

/* A result. The caller provides the struct. */
struct yoke_cost {
    double seconds;
    const char *origin; /* "measured", "interpolated", "table" or "datasheet"; a string constant */
    double error; /* relative error: 90 % of such times deviate by no more than this fraction */
};

/* `profile` is the path of a profile file, or NULL. */
YOKE_API yoke_status yoke_costs_create(yoke_cluster *cluster, const char *profile,
                                       yoke_costs **out) YOKE_MUST_USE;
YOKE_API void yoke_costs_destroy(yoke_costs *costs);

/* The time of one pass of a layer over the batch of the model. YOKE_PASS_UPDATE is the optimizer
 * step for all parameters of the layer. */
YOKE_API yoke_status yoke_costs_layer(yoke_costs *costs, const yoke_model *model, int32_t layer,
                                      int32_t device, enum yoke_pass pass,
                                      struct yoke_cost *out) YOKE_MUST_USE;

/* The time of a message between two devices; 0 if they are the same device. */
YOKE_API yoke_status yoke_costs_send(yoke_costs *costs, int32_t from, int32_t to, double bytes,
                                     struct yoke_cost *out) YOKE_MUST_USE;

/* The time of a collective over `bytes` bytes in total. `largest_part_bytes` is the largest part
 * that a device holds; 0 means: all parts are equal. `devices` is in ring order. */
YOKE_API yoke_status yoke_costs_collective(yoke_costs *costs, enum yoke_collective collective,
                                           const int32_t *devices, int32_t count, double bytes,
                                           double largest_part_bytes,
                                           struct yoke_cost *out) YOKE_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
