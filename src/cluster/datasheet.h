/*
 * Datasheet: a constant table of device specifications that the vendors have published, with
 * sources. The flops are for dense matrices and fp32 accumulation, as in training. For GeForce
 * cards from the 20 series on, this is half of the advertised tensor flops. The numbers of a CPU
 * are those of one core.
 */
#ifndef YK_CLUSTER_DATASHEET_H
#define YK_CLUSTER_DATASHEET_H

#include "base/precision.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Device generations. The cost model has separate efficiencies for each generation. */
enum yk_device_generation {
    YK_DEVICE_GENERATION_UNKNOWN,
    YK_DEVICE_GENERATION_PASCAL,
    YK_DEVICE_GENERATION_VOLTA,
    YK_DEVICE_GENERATION_TURING,
    YK_DEVICE_GENERATION_AMPERE,
    YK_DEVICE_GENERATION_ADA,
    YK_DEVICE_GENERATION_HOPPER,
    YK_DEVICE_GENERATION_BLACKWELL,
    YK_DEVICE_GENERATION_CDNA,
    YK_DEVICE_GENERATION_CPU,
    YK_DEVICE_GENERATION_COUNT,
};

struct yk_datasheet {
    const char *name;           /* command-line name: "rtx3090" */
    const char *title;          /* product name: "GeForce RTX 3090" */
    const char *const *aliases; /* other names, NULL-terminated; may be NULL */
    enum yk_device_generation generation;
    bool plan_only; /* yoke can make plans for the device, but no backend supports it */
    double memory_bytes;
    double memory_bytes_per_s;
    double matrix_flops[YK_PRECISION_COUNT]; /* dense flops per second; 0 means: precision not
                                                supported */
    double vector_flops;                     /* fp32 flops per second without tensor cores */
    const char *host_interconnect;           /* link to the host: "pcie4" */
    const char *peer_interconnect;           /* direct link between two: "nvlink3"; may be NULL */
    const char *source;                      /* publication of the numbers */
};

extern const struct yk_datasheet yk_datasheets[];
extern const size_t yk_datasheet_count;

/* Returns whether two names differ only in case, spaces, '-' and '_': "RTX 3090", "rtx-3090". */
bool yk_datasheet_is_same_name(const char *a, const char *b);

/* Finds a datasheet by name, title or alias, in any spelling that yk_datasheet_is_same_name()
 * accepts. Returns NULL if the name is unknown. */
const struct yk_datasheet *yk_datasheet_find(const char *name);

/* Returns the first name of yk_datasheet_nearest_names(), or NULL if no name is similar enough. */
const char *yk_datasheet_nearest_name(const char *name);

/* Writes at most `capacity` datasheet names that are similar to `name` to `out`: first the names
 * that contain `name`, in the order of the table, then other names, the most similar first. Returns
 * the number of names that were written. */
size_t yk_datasheet_nearest_names(const char *name, const char **out, size_t capacity);

/* Returns the name of a generation. Example: "Ampere". */
const char *yk_datasheet_generation_name(enum yk_device_generation generation);

/*
 * Interconnects: a constant table of link types such as "pcie4", "nvlink3" and "10GbE". The
 * bandwidths are published values for one direction and one device. Latencies are not published, so
 * the latencies are typical times of a small message between two devices, including the time in
 * software.
 */

/* Default latency of a link for which only a bandwidth is given. It is written as a product because
 * base/units computes the same product for "10us". So a cluster does not change when it is written
 * to a file and read again. */
#define YK_INTERCONNECT_DEFAULT_LATENCY_S (10 * 1e-6)

struct yk_interconnect {
    const char *name;  /* command-line name: "pcie4" */
    const char *title; /* product name: "PCIe 4.0 x16" */
    double latency_s;
    double bytes_per_s;
    const char *source; /* publication of the bandwidth */
};

extern const struct yk_interconnect yk_interconnects[];
extern const size_t yk_interconnect_count;

/* Finds an interconnect by name, in any spelling that yk_datasheet_is_same_name() accepts. Returns
 * NULL if the name is unknown. */
const struct yk_interconnect *yk_interconnect_find(const char *name);

/* Returns the interconnect name that is most similar to `name`, or NULL if none is similar enough.
 */
const char *yk_interconnect_nearest_name(const char *name);

#endif
