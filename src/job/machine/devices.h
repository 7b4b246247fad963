/*
 * Devices: lists the CPUs and GPUs of this machine, and writes them as a cluster file.
 */
#ifndef YK_JOB_MACHINE_DEVICES_H
#define YK_JOB_MACHINE_DEVICES_H

#include "base/status.h"
#include "base/text.h"
#include "cluster/discover.h"

struct yk_devices_result {
    struct yk_machine machine;
    /* (gpu_count) name of the datasheet of each GPU; NULL means: yoke has no datasheet of it. */
    const char *types[YK_DISCOVER_MAX_GPUS];
};

yk_status yk_devices_discover(struct yk_devices_result *out) YK_MUST_USE;

/* Appends the machine as JSON, in the format of a cluster file. */
yk_status yk_devices_write_cluster_json(const struct yk_devices_result *devices,
                                        struct yk_text *out) YK_MUST_USE;

/* The two functions below append the built-in datasheets of devices and links. */
yk_status yk_devices_write_datasheets_text(struct yk_text *out) YK_MUST_USE;
yk_status yk_devices_write_datasheets_json(struct yk_text *out) YK_MUST_USE;

#endif
