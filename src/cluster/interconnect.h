/*
 * Interconnect: links between devices by their common names: "pcie4", "nvlink3", "10GbE". A
 * bandwidth is one way, for one device, as its vendor quotes it. Vendors say nothing of latency:
 * those here are what a small message between two devices commonly takes, software included. The
 * table is constant.
 */
#ifndef YK_CLUSTER_INTERCONNECT_H
#define YK_CLUSTER_INTERCONNECT_H

#include <stddef.h>

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
