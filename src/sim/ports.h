/*
 * Ports: where data leaves and enters the nodes, and how messages that meet there share it.
 *
 * Every node has one port out and one port in, each as wide as the fastest link that joins the node
 * to another. A message demands from every port that it uses the bandwidth that it has when it is
 * alone. Where the demands exceed a port's bandwidth, messages share it by max-min fairness: each
 * gets at most an equal share, and what a smaller demand leaves over is shared by the others.
 * Progressive filling finds it: all rates grow equally until a port is full (Bertsekas and
 * Gallager, Data Networks, 6.5.2).
 *
 * Links within a node are never shared: a rank has one comm lane and a device
 * one rank, so that two messages never meet at a device.
 */
#ifndef YK_SIM_PORTS_H
#define YK_SIM_PORTS_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"

#include <stdbool.h>
#include <stdint.h>

/* What a message asks for. */
struct yk_port_demand {
    double bytes_per_s; /* alone, through each of its ports; positive where there are any */
    const int32_t *ports;
    int32_t port_count;
};

struct yk_ports {
    int32_t count; /* 2 for each node, as numbered below */
    double *bytes_per_s;
    double *left;   /* while it is shared out: what nobody has yet */
    int32_t *users; /* who still wants more */
};

static inline int32_t yk_port_out(int32_t node)
{
    return 2 * node;
}

static inline int32_t yk_port_in(int32_t node)
{
    return 2 * node + 1;
}

yk_status yk_ports_create(const struct yk_cluster *cluster, struct yk_arena *arena,
                          struct yk_ports *out) YK_MUST_USE;

/* How fast each of `count` messages goes while all of them do, as a part of its speed alone. */
void yk_ports_share(struct yk_ports *ports, const struct yk_port_demand *const *demands,
                    int32_t count, double *out_rates);

#endif
