/*
 * Calibrate: holds what the ops of a finished run took against what was predicted of them, and
 * corrects the profile by it.
 */
#ifndef YK_JOB_PROFILING_CALIBRATE_H
#define YK_JOB_PROFILING_CALIBRATE_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_calibrate_request {
    const char *run;     /* its folder */
    const char *profile; /* NULL: that which the run was planned with, else the usual one */
    bool dry_run;        /* write nothing */
};

/* One sort of op: measure/calibration.h says what makes a sort. */
struct yk_calibrate_op {
    const char *op;    /* "forward" */
    const char *on;    /* a device or a link */
    const char *layer; /* its kind, "gpt-block"; NULL of messages */
    const char *shape; /* likewise */
    int64_t size;      /* samples of a layer, bytes of a message; -1 of an update */
    int32_t ranks;     /* of a message */
    int32_t times;     /* in a step, on the rank that has most of them */
    double predicted_s;
    double measured_s;
    double difference_s; /* measured less predicted of all of them on that rank */
    double alone_s;      /* what is written to the profile; NAN: nothing */
    double spread;
};

/* Starts as {0}; owns what it points to. */
struct yk_calibrate_result {
    struct yk_arena *arena;
    const char *run;
    const char *profile; /* that was calibrated */
    bool written;
    int64_t steps;
    int32_t ranks;
    double measured_step_s;   /* median */
    double predicted_step_s;  /* by the profile as it was */
    double calibrated_step_s; /* by the profile as it is now, or would be */
    double compute_slowdown;  /* slowdown of computation during messages; NAN: not known */
    double message_slowdown;  /* of messages during computation */
    bool estimated_compute;   /* read off the run */
    bool estimated_message;
    int32_t layer_count;         /* numbers for the profile: times of layers … */
    int32_t link_count;          /* … and of messages */
    int32_t left;                /* sorts of messages that stay out of the profile */
    struct yk_calibrate_op *ops; /* the largest difference first */
    int32_t op_count;
};

/* Refuses runs that cannot be used, each with its reason. */
yk_status yk_calibrate_run(const struct yk_calibrate_request *request,
                           struct yk_calibrate_result *out) YK_MUST_USE;
void yk_calibrate_result_free(struct yk_calibrate_result *result);

#endif
