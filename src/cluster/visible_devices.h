/*
 * Visible devices: maps the device numbers of CUDA to the GPU indices of the driver (NVML). CUDA
 * numbers only the GPUs that are listed in CUDA_VISIBLE_DEVICES, in the order of the list. Without
 * this variable, CUDA numbers and driver indices are equal if CUDA_DEVICE_ORDER is PCI_BUS_ID.
 * Thread-safe.
 */
#ifndef YK_CLUSTER_VISIBLE_DEVICES_H
#define YK_CLUSTER_VISIBLE_DEVICES_H

#include "cluster/nvml.h"

struct yk_visible_device {
    int gpu;      /* index of the GPU in the driver; -1 means: this CUDA device does not exist */
    int instance; /* index of the MIG instance on the GPU; -1 means: the whole GPU */
};

/*
 * Finds the GPU of CUDA device `number`. `text` is the value of CUDA_VISIBLE_DEVICES; NULL means:
 * not set. `gpus` is the array of the driver's GPUs. The rules of the CUDA C++ programming guide
 * ("CUDA environment variables") are:
 *   - An entry is an index or a unique prefix of a UUID.
 *   - The list ends before the first invalid entry.
 *   - If the visible devices include MIG instances, the process sees only the first instance.
 * The driver has three more rules:
 *   - The first entry decides whether all entries are indices, UUIDs of GPUs or UUIDs of instances.
 *   - Characters after the digits of an index are ignored.
 *   - If a GPU or an instance is listed twice, the process sees no GPU.
 */
struct yk_visible_device yk_visible_devices_find_gpu(const char *text,
                                                     const struct yk_nvml_gpu *gpus, int count,
                                                     int number);

/* Returns the driver's index of the GPU that this process sees as CUDA device `number`, or -1 if
 * there is no such CUDA device. */
int yk_visible_devices_driver_index(const struct yk_nvml_gpu *gpus, int count, int number);

#endif
