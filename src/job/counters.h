/* Counters: --counters: what the devices' own counters showed while something ran, as tables. */
#ifndef YK_JOB_COUNTERS_H
#define YK_JOB_COUNTERS_H

#include "base/status.h"
#include "base/text.h"
#include "job/device.h"
#include "measure/counters/recorder.h"
#include "trace/counters_file.h"

#define YK_COUNTERS_HELP                                                                           \
    "Also say what the device's own meters show in each phase and kind of layer"

/* A gauge of the device, before anything computes on it. */
yk_status yk_counters_open(const struct yk_device_choice *device,
                           struct yk_counter_recorder **out) YK_MUST_USE;

/* Of each of the first few ranks a table of phases and kinds, in the columns that are known, and
 * where the numbers are from. */
yk_status yk_counters_add_text(const struct yk_counter_ranks *ranks,
                               struct yk_text *out) YK_MUST_USE;

#endif
