/*
 * Costs: how long a layer takes on a device and data on a link: measured here (a profile),
 * measured says the cluster file, or by datasheet with a stated efficiency, in this order.
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
    YOKE_COLLECTIVE_ALL_GATHER,     /* every device gets all parts */
    YOKE_COLLECTIVE_REDUCE_SCATTER, /* every device gets the sum of its part */
    YOKE_COLLECTIVE_ALL_REDUCE,     /* every device gets the sum of everything */
};

/* A place for the answer, given by the caller. */
struct yoke_cost {
    double seconds;
    const char *origin; /* "measured", "interpolated", "table" or "datasheet"; constant */
    double error;       /* nine tenths of such times are no further off than this part of them */
};

/* `profile` is the file of measurements, or NULL. */
YOKE_API yoke_status yoke_costs_create(yoke_cluster *cluster, const char *profile,
                                       yoke_costs **out) YOKE_MUST_USE;
YOKE_API void yoke_costs_destroy(yoke_costs *costs);

/* One pass of a layer over the model's batch; an update is that of the whole layer. */
YOKE_API yoke_status yoke_costs_layer(yoke_costs *costs, const yoke_model *model, int32_t layer,
                                      int32_t device, enum yoke_pass pass,
                                      struct yoke_cost *out) YOKE_MUST_USE;

/* A message from one device to another; nothing from a device to itself. */
YOKE_API yoke_status yoke_costs_send(yoke_costs *costs, int32_t from, int32_t to, double bytes,
                                     struct yoke_cost *out) YOKE_MUST_USE;

/* A collective over `bytes` in all, of which the largest part of any device is
 * `largest_part_bytes`; 0: parts are equal. `devices` is the order of the ring. */
YOKE_API yoke_status yoke_costs_collective(yoke_costs *costs, enum yoke_collective collective,
                                           const int32_t *devices, int32_t count, double bytes,
                                           double largest_part_bytes,
                                           struct yoke_cost *out) YOKE_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
