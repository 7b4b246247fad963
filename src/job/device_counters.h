/* Device counters (--counters): records hardware counters of a device and prints them as tables. */
#ifndef YK_JOB_DEVICE_COUNTERS_H
#define YK_JOB_DEVICE_COUNTERS_H

#include "base/status.h"
#include "base/text.h"
#include "job/device.h"
#include "measure/counters/recorder.h"
#include "trace/counters_file.h"

#define YK_DEVICE_COUNTERS_OPTION_HELP                                                             \
    "Also say what the device's own meters show in each phase and kind of layer"

/* Opens a counter recorder on a device. Must be called before any work starts on that device. */
yk_status yk_device_counters_open_recorder(const struct yk_device_choice *device,
                                           struct yk_counter_recorder **out) YK_MUST_USE;

/* Appends one table for each of the first four ranks. A table has one row for each phase and for
 * each kind of layer, and one column for each available counter. Its heading names the source of
 * the numbers. */
yk_status yk_device_counters_write_tables(const struct yk_counter_run_data *ranks,
                                          struct yk_text *out) YK_MUST_USE;

#endif
