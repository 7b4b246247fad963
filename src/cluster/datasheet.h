/*
 * Datasheet: a constant table of device specifications as published by the vendors, with sources.
 * Rates are dense (no sparsity) with fp32 accumulation, as used in training; on GeForce cards this
 * is half the advertised figure.
 */
#ifndef YK_CLUSTER_DATASHEET_H
#define YK_CLUSTER_DATASHEET_H

#include "base/precision.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Device generations. Efficiencies are fitted for each generation. */
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
    const char *const *aliases; /* aliases, NULL-terminated; may be NULL */
    enum yk_device_generation generation;
    bool plan_only; /* no backend supports it: for planning only */
    double memory_bytes;
    double memory_bytes_per_s;
    double matrix_flops[YK_PRECISION_COUNT]; /* 0: precision not supported */
    double vector_flops;                     /* fp32 */
    const char *host_interconnect;           /* interconnect to the host: "pcie4" */
    const char *peer_interconnect;           /* interconnect between devices: "nvlink3", or NULL */
    const char *source;                      /* where the numbers are published */
};

extern const struct yk_datasheet yk_datasheets[];
extern const size_t yk_datasheet_count;

/* Whether two names are spellings of the same product, such as "RTX 3090" and "rtx-3090". */
bool yk_datasheet_is_same_name(const char *a, const char *b);

/* Returns NULL if the name is unknown. */
const struct yk_datasheet *yk_datasheet_find(const char *name);

/* Returns the known name with the most similar spelling, for suggestions, or NULL. */
const char *yk_datasheet_nearest_name(const char *name);

/* Writes up to `capacity` known names to `out`, the most similar first. Returns their number. */
size_t yk_datasheet_nearest_names(const char *name, const char **out, size_t capacity);

/* Example: "Ampere". */
const char *yk_datasheet_generation_name(enum yk_device_generation generation);

/*
 * Interconnects: a constant table of link types such as "pcie4", "nvlink3" and "10GbE". Bandwidths
 * are unidirectional, per device, as published by the vendors. Latencies are typical times of a
 * small message between two devices, including software, because vendors do not publish them.
 */

/* Default latency of a link with only a bandwidth. The product equals what base/units computes for
 * "10us", so that a written file reads back identically. */
#define YK_INTERCONNECT_DEFAULT_LATENCY_S (10 * 1e-6)

struct yk_interconnect {
    const char *name;  /* command-line name: "pcie4" */
    const char *title; /* product name: "PCIe 4.0 x16" */
    double latency_s;
    double bytes_per_s;
    const char *source; /* of the bandwidth */
};

extern const struct yk_interconnect yk_interconnects[];
extern const size_t yk_interconnect_count;

/* Accepts the spellings of yk_datasheet_is_same_name(). Returns NULL if the name is unknown. */
const struct yk_interconnect *yk_interconnect_find(const char *name);

/* Returns the known name with the most similar spelling, for suggestions, or NULL. */
const char *yk_interconnect_nearest_name(const char *name);

#endif
