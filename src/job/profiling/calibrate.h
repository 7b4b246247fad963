/*
 * Calibrate: compares the measured op times of a finished run with their predictions, and corrects
 * the profile.
 */
#ifndef YK_JOB_PROFILING_CALIBRATE_H
#define YK_JOB_PROFILING_CALIBRATE_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_calibrate_request {
    const char *run;     /* run folder */
    const char *profile; /* NULL: the profile that the run was planned with, else the default one */
    bool dry_run;        /* do not write the profile */
};

/* One class of ops, as defined in measure/calibration.h. */
struct yk_calibrate_op_class {
    const char *op; /* "forward" */
    const char *device_or_link;
    const char *layer; /* kind of layer: "gpt-block"; NULL for a message */
    const char *shape; /* shape of the layer; NULL for a message */
    int64_t size;      /* samples of a layer op, bytes of a message; -1 for an update */
    int32_t ranks;     /* ranks that take part in a message */
    int32_t times;     /* ops per step on the rank with the most of them */
    double predicted_s;
    double measured_s;
    double difference_s; /* (measured − predicted) × times */
    double alone_s;      /* time without interference, for the profile; NAN: not written */
    double spread;
};

/* Starts as {0}; owns what it points to. */
struct yk_calibrate_result {
    struct yk_arena *arena;
    const char *run;
    const char *profile; /* path of the calibrated profile */
    bool written;        /* false for a dry run */
    int64_t steps;
    int32_t ranks;
    double measured_step_s;   /* median */
    double predicted_step_s;  /* predicted with the profile before calibration */
    double calibrated_step_s; /* predicted with the calibrated profile */
    double compute_slowdown;  /* slowdown of computation during communication; NAN: not known */
    double message_slowdown;  /* slowdown of communication during computation; NAN: not known */
    bool estimated_compute;   /* compute_slowdown was estimated from the run */
    bool estimated_message;   /* message_slowdown was estimated from the run */
    int32_t layer_count;      /* layer times for the profile */
    int32_t link_count;       /* message times for the profile */
    int32_t skipped_messages; /* classes of messages that are not written to the profile */
    struct yk_calibrate_op_class *ops; /* sorted by difference_s, largest first */
    int32_t op_count;
};

/* Fails with the reason if the run cannot be used for calibration. */
yk_status yk_calibrate_run(const struct yk_calibrate_request *request,
                           struct yk_calibrate_result *out) YK_MUST_USE;
void yk_calibrate_result_free(struct yk_calibrate_result *result);

#endif
