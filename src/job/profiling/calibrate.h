/*
 * Calibrate: compares the measured op times of a finished run with their predictions, and corrects
 * the profile.
 */
#ifndef YK_JOB_PROFILING_CALIBRATE_H
#define YK_JOB_PROFILING_CALIBRATE_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "measure/calibration.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_calibrate_request {
    const char *run;     /* run folder */
    const char *profile; /* NULL: the profile that the run was planned with, else the default one */
    bool dry_run;        /* do not write the profile */
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
    struct yk_calibration calibration;
};

/* Fails with the reason if the run cannot be used for calibration. */
yk_status yk_calibrate_run(const struct yk_calibrate_request *request,
                           struct yk_calibrate_result *out) YK_MUST_USE;
void yk_calibrate_result_free(struct yk_calibrate_result *result);

/* Lists the first `rows` classes of ops. */
yk_status yk_calibrate_write_text(const struct yk_calibrate_result *result, int64_t rows,
                                  struct yk_text *out) YK_MUST_USE;
/* Lists all classes of ops. */
yk_status yk_calibrate_write_json(const struct yk_calibrate_result *result,
                                  struct yk_text *out) YK_MUST_USE;

#endif
