/*
 * Visible devices: maps CUDA device numbers to the driver's (NVML) GPU indices. CUDA numbers only
 * the GPUs listed in CUDA_VISIBLE_DEVICES, in that order. Without this variable both numberings are
 * equal if CUDA_DEVICE_ORDER is PCI_BUS_ID. Thread-safe.
 */
#ifndef YK_CLUSTER_VISIBLE_DEVICES_H
#define YK_CLUSTER_VISIBLE_DEVICES_H

#include "cluster/nvml.h"

struct yk_visible_device {
    int gpu;      /* index into the driver's GPUs; -1: no such CUDA device */
    int instance; /* index of the MIG instance on that GPU; -1: the whole GPU */
};

/*
 * Finds CUDA device `number`. `text` is the value of CUDA_VISIBLE_DEVICES (NULL: not set), and gpus
 * (count) are the driver's GPUs. The rules of the CUDA C++ programming guide ("CUDA environment
 * variables") are: the list ends at the first invalid entry; an entry is an index or a unique
 * prefix of a UUID; a process sees only the first MIG instance. The driver adds: the first entry
 * decides whether all entries are indices or UUIDs; characters after the digits of an index are
 * ignored; a GPU that is listed twice makes the list empty.
 */
struct yk_visible_device
yk_visible_devices_resolve(const char *text, const struct yk_nvml_gpu *gpus, int count, int number);

/* The same with this process's CUDA_VISIBLE_DEVICES. Returns the driver's GPU index, or -1. */
int yk_visible_devices_driver_index(const struct yk_nvml_gpu *gpus, int count, int number);

#endif
