/*
 * Cost: predicted times of layers and messages. A prediction uses the first of these sources that
 * has an answer: the profile, the measured table in the cluster file, the datasheet with fitted
 * efficiencies. Every time carries its origin and its expected error.
 *
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
    YK_COST_ORIGIN_MEASURED,     /* measured on this machine, at exactly this size */
    YK_COST_ORIGIN_INTERPOLATED, /* from measurements on this machine at other sizes */
    YK_COST_ORIGIN_CLUSTER_FILE, /* from the measured table in the cluster file */
    YK_COST_ORIGIN_DATASHEET,    /* from the datasheet and a fitted efficiency */
    YK_COST_ORIGIN_COUNT,
};

enum yk_cost_pass {
    YK_COST_PASS_FORWARD,
    YK_COST_PASS_BACKWARD,
    YK_COST_PASS_UPDATE,
};

struct yk_cost_time {
    double seconds;
    enum yk_cost_origin origin;
    double error; /* relative error that 90 % of such predictions stay within */
};

/* The sources of all costs. The caller fills it; nothing is owned. */
struct yk_cost_sources {
    const struct yk_cluster *cluster;
    struct yk_profile *profile;                        /* NULL means: no profile */
    const struct yk_device_efficiency *efficiencies;   /* NULL means: the fitted ones */
    const struct yk_device_measurements *measurements; /* (devices), may be NULL */
};

/* The time of one pass of a layer. `device` is an index into the cluster. */
yk_status yk_cost_layer_time(const struct yk_cost_sources *sources, int32_t device,
                             const struct yk_model *model, const struct yk_layer *layer,
                             enum yk_cost_pass pass, struct yk_cost_time *out) YK_MUST_USE;

/* Bytes of weights, gradients and optimizer state of a replicated layer. */
double yk_cost_layer_state_bytes(const struct yk_model *model, const struct yk_layer *layer);

/* "measured", "interpolated", "table", "datasheet". */
const char *yk_cost_origin_name(enum yk_cost_origin origin);

/* Writes a phrase such as "datasheet with fitted efficiency, half within 12 %, nine tenths within
 * 29 %". */
void yk_cost_describe_origin(enum yk_cost_origin origin, struct yk_text *out);

/* The first entry of the device's measured table that matches no layer of `model`, or NULL. */
const struct yk_measured_layer_time *yk_cost_find_unused_measurement(const struct yk_device *device,
                                                                     const struct yk_model *model);

/*
 * Error band: the relative error of a sum of predicted times, and the origins of those times.
 * Errors of one origin are correlated: a machine measured 3 % too fast is too fast for every layer.
 * So errors are not assumed to cancel. The error of the sum is the time-weighted mean of the errors
 * of its terms.
 */
struct yk_error_band {
    double origin_s[YK_COST_ORIGIN_COUNT]; /* Σ seconds */
    double error_s[YK_COST_ORIGIN_COUNT];  /* Σ seconds · error */
};

/* Adds `seconds` with the relative error and origin of `time`. */
void yk_error_band_add(struct yk_error_band *band, const struct yk_cost_time *time, double seconds);

/* Relative error that 90 % of such sums stay within; 0 for an empty band. */
double yk_error_band_relative_error(const struct yk_error_band *band);

/* Fraction of the time with this origin; 0 for an empty band. */
double yk_error_band_origin_fraction(const struct yk_error_band *band, enum yk_cost_origin origin);

/* Writes the origins in words, with percentages if there are several. Origins below 0.5 % of the
 * time are omitted. */
void yk_error_band_describe(const struct yk_error_band *band, struct yk_text *out);

/* Writes ,"error":0.04,"origins":{"measured":0.9,"datasheet":0.1} without origins that are 0. */
void yk_error_band_write_json(const struct yk_error_band *band, struct yk_text *out);

#endif
