/* Calibrate output: what `yoke calibrate` has found, as text and as JSON. */
#ifndef YK_CLI_COMMANDS_CALIBRATE_OUTPUT_H
#define YK_CLI_COMMANDS_CALIBRATE_OUTPUT_H

#include "base/status.h"
#include "base/text.h"
#include "job/profiling/calibrate_run.h"
#include "measure/calibration.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_calibrate_found {
    const struct yk_calibrate_run *run;
    const struct yk_calibration *calibration;
    double calibrated_step_s; /* what would be predicted afterwards */
    bool written;
    int64_t rows; /* of the table, at most */
};

yk_status yk_calibrate_output_text(const struct yk_calibrate_found *found,
                                   struct yk_text *out) YK_MUST_USE;
yk_status yk_calibrate_output_json(const struct yk_calibrate_found *found,
                                   struct yk_text *out) YK_MUST_USE;

#endif
