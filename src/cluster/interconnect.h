/*
 * Interconnect: what joins devices, by the names people use: "pcie4", "nvlink3", "10GbE".
 *
 * A bandwidth is one way, for one device, as its maker quotes it. Makers say nothing of latency:
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

/* The row of that name, in any case and without regard to '-', '_' and ' '; or NULL. */
const struct yk_interconnect *yk_interconnect_find(const char *name);

/* The nearest name, or NULL. */
const char *yk_interconnect_nearest(const char *name);

#endif
