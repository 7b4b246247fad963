/* Calibrate output: what `yoke calibrate` has found, as text and as JSON. */
#ifndef YK_CLI_COMMANDS_CALIBRATE_OUTPUT_H
#define YK_CLI_COMMANDS_CALIBRATE_OUTPUT_H

#include "base/status.h"
#include "base/text.h"
#include "job/profiling/calibrate.h"

/* With the table's first so many rows. */
yk_status yk_calibrate_output_text(const struct yk_calibrate_result *result, int64_t rows,
                                   struct yk_text *out) YK_MUST_USE;
yk_status yk_calibrate_output_json(const struct yk_calibrate_result *result,
                                   struct yk_text *out) YK_MUST_USE;

#endif
