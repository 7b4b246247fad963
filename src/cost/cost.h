/*
 * Cost: how long a layer takes on a device and how long data takes on a link, from the profile, a
 * measured table of the cluster file, or the datasheet with a stated efficiency, in this order.
 * Every answer says where it came from and how far off such answers are known to be. The rest of
 * the room:
 *   layer_costs          layers on all devices of a cluster, each looked up once
 *   communication, knee  links and collectives, and the message size that saturates a link
 *   roofline             times from the datasheet, with the efficiencies that were fitted
 *   curve, error_band    times between measured sizes, and the error of a sum of times
 *   device_facts         what was measured about devices
 *   profile_key          the names by which a profile knows devices and links
 */
#ifndef YK_COST_COST_H
#define YK_COST_COST_H

#include "base/status.h"
#include "cluster/cluster.h"
#include "cost/device_facts.h"
#include "cost/roofline.h"
#include "model/model.h"

#include <stdint.h>

struct yk_profile;

enum yk_cost_origin {
    YK_COST_MEASURED,     /* here, at this very size */
    YK_COST_INTERPOLATED, /* from what was measured here at other sizes or sequences */
    YK_COST_TABLE,        /* measured, says the cluster file */
    YK_COST_DATASHEET,    /* datasheet times efficiency */
    YK_COST_ORIGINS,
};

enum {
    /* Nine tenths of the times that the cluster file says were measured are taken to be within
     * this: somebody's measurement, on a machine of the same kind. */
    YK_COST_TABLE_PERCENT = 5,
};

enum yk_cost_pass {
    YK_COST_FORWARD,
    YK_COST_BACKWARD,
    YK_COST_UPDATE,
};

struct yk_cost_time {
    double seconds;
    enum yk_cost_origin origin;
    double error; /* nine tenths of such times are no further off than this part of them */
};

/* Where costs are looked up. A plain record: fill it and pass it on. */
struct yk_cost_book {
    const struct yk_cluster *cluster;
    struct yk_profile *profile;               /* or NULL */
    const struct yk_efficiency *efficiencies; /* NULL: yk_roofline_fitted_efficiency() */
    const struct yk_device_facts *facts;      /* (devices) of the cluster, or NULL */
};

/* The time of one pass of `layer` of `model` on device number `device`. */
yk_status yk_cost_layer(const struct yk_cost_book *book, int32_t device,
                        const struct yk_model *model, const struct yk_layer *layer,
                        enum yk_cost_pass pass, struct yk_cost_time *out) YK_MUST_USE;

/* The bytes that a replicated layer keeps on its device throughout: weights, gradients, optimizer
 * state. */
double yk_cost_state_bytes(const struct yk_model *model, const struct yk_layer *layer);

/* "measured", "interpolated", "table", "datasheet". */
const char *yk_cost_origin_name(enum yk_cost_origin origin);

/* "datasheet with fitted efficiency, half within 12 %, nine tenths within 29 %": for the line under
 * every prediction. */
void yk_cost_describe_origin(enum yk_cost_origin origin, struct yk_text *out);

/* The first entry of the device's table that names no layer of `model`, or NULL. */
const struct yk_measured_layer *yk_cost_unused_measurement(const struct yk_device *device,
                                                           const struct yk_model *model);

#endif
