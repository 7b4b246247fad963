/*
 * Calibrate profile: compares the measured op times of a finished run with the predicted op times,
 * and corrects the profile.
 */
#ifndef YK_JOB_PROFILING_CALIBRATE_PROFILE_H
#define YK_JOB_PROFILING_CALIBRATE_PROFILE_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "measure/calibration.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_calibrate_profile_request {
    const char *run; /* path of the run folder */
    /* NULL means: the profile with which the run was planned or, if it was planned without a
     * profile, the default profile. */
    const char *profile;
    bool dry_run; /* do not write the profile */
};

/* Starts as {0}; owns what it points to. */
struct yk_calibrate_profile_result {
    struct yk_arena *arena;
    const char *run;
    const char *profile; /* path of the calibrated profile */
    bool written;        /* false for a dry run */
    int64_t steps;
    int32_t ranks;
    double measured_step_s;   /* median over the steps with the last plan of the run */
    double predicted_step_s;  /* prediction with the profile before calibration */
    double calibrated_step_s; /* prediction with the calibrated profile */
    struct yk_calibration calibration;
};

/* Fails if the run cannot be used for calibration. The message says why. */
yk_status yk_calibrate_profile_run(const struct yk_calibrate_profile_request *request,
                                   struct yk_calibrate_profile_result *out) YK_MUST_USE;
void yk_calibrate_profile_result_free(struct yk_calibrate_profile_result *result);

/* Appends a text that lists the `rows` classes of ops with the largest differences. */
yk_status yk_calibrate_profile_write_text(const struct yk_calibrate_profile_result *result,
                                          int64_t rows, struct yk_text *out) YK_MUST_USE;
/* Appends a JSON document that lists all classes of ops. */
yk_status yk_calibrate_profile_write_json(const struct yk_calibrate_profile_result *result,
                                          struct yk_text *out) YK_MUST_USE;

#endif
