/*
 * Cost: predicted times of layers and messages. The time of a layer comes from the profile, if the
 * profile has it; otherwise from the measured table in the cluster file; otherwise from the
 * datasheet, with fitted efficiencies. Every time carries its origin and its expected error.
 *
 * Files of this folder:
 *   layer_costs          cached times of a model's layers on all devices of a cluster
 *   communication        times of messages and collectives
 *   saturation_size      the message size that saturates a link
 *   roofline             times from the datasheet, with fitted efficiencies
 *   curve                interpolation between measured sizes
 *   error_band           the error of a sum of times
 *   device_measurements  measured properties of devices
 *   profile_key          the names of devices and links in a profile
 */
#ifndef YK_COST_COST_H
#define YK_COST_COST_H

#include "base/status.h"
#include "cluster/cluster.h"
#include "cost/device_measurements.h"
#include "cost/roofline.h"
#include "model/model.h"

#include <stdint.h>

struct yk_profile;

enum yk_cost_origin {
    YK_COST_ORIGIN_MEASURED,     /* from the profile, measured at exactly this size */
    YK_COST_ORIGIN_INTERPOLATED, /* from the profile, measured at other sizes */
    YK_COST_ORIGIN_CLUSTER_FILE, /* from the measured table in the cluster file */
    YK_COST_ORIGIN_DATASHEET,    /* from the datasheet and a fitted efficiency */
    YK_COST_ORIGIN_COUNT,
};

enum yk_cost_pass {
    YK_COST_PASS_FORWARD,
    YK_COST_PASS_BACKWARD,
    YK_COST_PASS_UPDATE,
};

struct yk_cost_time_estimate {
    double seconds;
    enum yk_cost_origin origin;
    double error; /* relative; the errors of 90 % of such predictions are at most this large */
};

/* The sources of all costs. The caller fills this struct. It owns nothing. */
struct yk_cost_sources {
    const struct yk_cluster *cluster;
    struct yk_profile *profile;                        /* NULL means: no profile */
    const struct yk_device_efficiency *efficiencies;   /* NULL means: the fitted efficiencies */
    const struct yk_device_measurements *measurements; /* (devices) may be NULL */
};

/* Computes the time of one pass of a layer. `device` is an index into the cluster. */
yk_status yk_cost_layer_time(const struct yk_cost_sources *sources, int32_t device,
                             const struct yk_model *model, const struct yk_layer *layer,
                             enum yk_cost_pass pass, struct yk_cost_time_estimate *out) YK_MUST_USE;

/* Returns the bytes of a layer's weights, gradients and optimizer state, as if the layer were not
 * sharded. */
double yk_cost_layer_state_bytes(const struct yk_model *model, const struct yk_layer *layer);

/* Returns "measured", "interpolated", "table" or "datasheet". */
const char *yk_cost_origin_name(enum yk_cost_origin origin);

/* Appends a phrase that describes the origin and its errors, such as "datasheet with fitted
 * efficiency, half within 12 %, nine tenths within 29 %". */
void yk_cost_describe_origin(enum yk_cost_origin origin, struct yk_text *out);

/* Returns the first entry of the device's measured table (in the cluster file) that matches no
 * layer of `model`. Returns NULL if every entry matches a layer. */
const struct yk_measured_layer_time *yk_cost_find_unused_measurement(const struct yk_device *device,
                                                                     const struct yk_model *model);

/*
 * Error band: the relative error of a sum of predicted times, and the origins of those times.
 * Errors of one origin are correlated: if a machine was measured 3 % too fast, every layer is
 * predicted 3 % too fast. So errors do not cancel each other. The error of the sum is the
 * time-weighted mean of the errors of its terms.
 */
struct yk_error_band {
    double origin_s[YK_COST_ORIGIN_COUNT]; /* sum of seconds, for each origin */
    double error_s[YK_COST_ORIGIN_COUNT];  /* sum of seconds · error, for each origin */
};

/* Adds `seconds` to the band. Their origin and relative error are those of `time`; the member
 * `seconds` of `time` is not used. */
void yk_error_band_add_time(struct yk_error_band *band, const struct yk_cost_time_estimate *time,
                            double seconds);

/* Returns the relative error of the sum. The errors of 90 % of such sums are at most this large.
 * Returns 0 for an empty band. */
double yk_error_band_relative_error(const struct yk_error_band *band);

/* Returns the fraction of the time that has this origin; 0 for an empty band. */
double yk_error_band_origin_fraction(const struct yk_error_band *band, enum yk_cost_origin origin);

/* Appends the origins in words. If there are several, adds the percentage of each. Omits origins
 * with less than 0.5 % of the time. */
void yk_error_band_describe_origins(const struct yk_error_band *band, struct yk_text *out);

/* Appends JSON members such as ,"error":0.04,"origins":{"measured":0.9,"datasheet":0.1}. Omits
 * origins whose fraction is less than 0.00005. */
void yk_error_band_write_json_members(const struct yk_error_band *band, struct yk_text *out);

#endif
