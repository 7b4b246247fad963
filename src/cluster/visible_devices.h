/*
 * Visible devices: which of the driver's GPUs is CUDA's device 0, 1 and so on. CUDA shows a process
 * the GPUs that CUDA_VISIBLE_DEVICES lists, in that order, and numbers them anew; the driver's
 * numbers, by which machines are discovered and GPUs are watched, stay. Both count along the bus,
 * as long as CUDA_DEVICE_ORDER is PCI_BUS_ID. Any thread.
 */
#ifndef YK_CLUSTER_VISIBLE_DEVICES_H
#define YK_CLUSTER_VISIBLE_DEVICES_H

#include "cluster/nvml.h"

/* What a device of CUDA is. */
struct yk_visible_device {
    int gpu;      /* of those found; -1: CUDA does not show so many */
    int instance; /* of that GPU's instances (MIG); -1: all of it */
};

/*
 * CUDA's device `number`, where the variable holds `text` (NULL: it is not set) and the driver has
 * found `count` GPUs. By the CUDA C++ programming guide ("CUDA environment variables") the list
 * ends at the first entry that names no GPU, entries are numbers or beginnings of UUIDs that only
 * one GPU has, and of instances a process sees one: the first. As the driver does it, the first
 * entry decides which of the two all are, what follows a number's digits does not count, and a GPU
 * that is listed twice hides all.
 */
struct yk_visible_device yk_visible_devices_find(const char *text, const struct yk_nvml_gpu *gpus,
                                                 int count, int number);

/* The same for this process's variable: the driver's number of the GPU, or -1. */
int yk_visible_devices_index(const struct yk_nvml_gpu *gpus, int count, int number);

#endif
