/*
 * Datasheet: what the vendors of devices state, one row a device, each with its source. Rates are
 * dense (no sparsity) and with fp32 accumulation, which is what training uses: half the headline
 * figure on GeForce cards. The table is constant.
 */
#ifndef YK_CLUSTER_DATASHEET_H
#define YK_CLUSTER_DATASHEET_H

#include "base/precision.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What achieved rates have in common: efficiencies are fitted for each of these. */
enum yk_generation {
    YK_GENERATION_UNKNOWN,
    YK_GENERATION_PASCAL,
    YK_GENERATION_VOLTA,
    YK_GENERATION_TURING,
    YK_GENERATION_AMPERE,
    YK_GENERATION_ADA,
    YK_GENERATION_HOPPER,
    YK_GENERATION_BLACKWELL,
    YK_GENERATION_CDNA,
    YK_GENERATION_CPU,
    YK_GENERATION_COUNT,
};

struct yk_datasheet {
    const char *name;        /* as on the command line: "rtx3090" */
    const char *title;       /* as people say it: "GeForce RTX 3090" */
    const char *const *also; /* other names it answers to, ended by NULL; may be NULL */
    enum yk_generation generation;
    bool plan_only; /* no backend of ours runs it */
    double memory_bytes;
    double memory_bytes_per_s;
    double matrix_flops[YK_PRECISION_COUNT]; /* 0: the device does not have it */
    double vector_flops;                     /* fp32 */
    const char *bus;                         /* an interconnect: "pcie4" */
    const char *peer;                        /* the same for NVLink and the like; NULL: none */
    const char *source;                      /* where the numbers are from */
};

extern const struct yk_datasheet yk_datasheets[];
extern const size_t yk_datasheet_count;

/* Whether two spellings mean one product: "RTX 3090", "rtx-3090" and "rtx3090" do. */
bool yk_datasheet_same_name(const char *a, const char *b);

/* The row of that name, or NULL. */
const struct yk_datasheet *yk_datasheet_find(const char *name);

/* The nearest name, or NULL. */
const char *yk_datasheet_nearest(const char *name);

/* Up to `capacity` names into `out`, the nearest first; returns how many. */
size_t yk_datasheet_nearest_names(const char *name, const char **out, size_t capacity);

/* "Ampere" … */
const char *yk_datasheet_generation_name(enum yk_generation generation);

/*
 * Interconnects: links between devices by their common names: "pcie4", "nvlink3", "10GbE". A
 * bandwidth is one way, for one device, as its vendor quotes it. Vendors say nothing of latency:
 * those here are what a small message between two devices commonly takes, software included.
 */

/* Of a link for which only a bandwidth is given; multiplied as base/units does, to read back the
 * same. */
#define YK_INTERCONNECT_LATENCY_S (10 * 1e-6)

struct yk_interconnect {
    const char *name;  /* as on the command line: "pcie4" */
    const char *title; /* as people say it: "PCIe 4.0 x16" */
    double latency_s;
    double bytes_per_s;
    const char *source; /* of the bandwidth */
};

extern const struct yk_interconnect yk_interconnects[];
extern const size_t yk_interconnect_count;

/* The row of that name, in any spelling of yk_datasheet_same_name(); or NULL. */
const struct yk_interconnect *yk_interconnect_find(const char *name);

/* The nearest name, or NULL. */
const char *yk_interconnect_nearest(const char *name);

#endif
