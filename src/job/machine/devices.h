/*
 * Devices: the processors and GPUs of this machine, and the cluster that they are.
 */
#ifndef YK_JOB_MACHINE_DEVICES_H
#define YK_JOB_MACHINE_DEVICES_H

#include "base/status.h"
#include "base/text.h"
#include "cluster/discover.h"

struct yk_devices_result {
    struct yk_machine machine;
    const char *types[YK_DISCOVER_MAX_GPUS]; /* (gpu_count) names of datasheets; NULL: none */
};

/* Looks at this machine. */
yk_status yk_devices_run(struct yk_devices_result *out) YK_MUST_USE;

/* Adds the machine as a cluster file. */
yk_status yk_devices_write_cluster(const struct yk_devices_result *devices,
                                   struct yk_text *out) YK_MUST_USE;

yk_status yk_devices_write_datasheets_text(struct yk_text *out) YK_MUST_USE;
yk_status yk_devices_write_datasheets_json(struct yk_text *out) YK_MUST_USE;

#endif
