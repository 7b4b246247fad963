/*
 * Node ports: the network bandwidth of each node. Messages that are sent at the same time share it.
 *
 * Every node has one outgoing and one incoming port. The bandwidth of a port is the bandwidth of
 * the fastest link from the node to another node. The demand of a message at each of its ports is
 * the bandwidth that the message has when no other message is sent. If the demands at a port exceed
 * its bandwidth, the messages share it with max-min fairness. The shares are computed by
 * progressive filling: all rates grow equally until a port is full (Bertsekas and Gallager, Data
 * Networks, 6.5.2).
 *
 * Links inside a node need no sharing: each device has one rank, and each rank has one comm lane.
 * So at most one message at a time uses the links of a device.
 */
#ifndef YK_SIM_NODE_PORTS_H
#define YK_SIM_NODE_PORTS_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"

#include <stdbool.h>
#include <stdint.h>

/* The demand of a message. */
struct yk_node_port_demand {
    double bytes_per_s; /* bandwidth of the message alone; > 0 if it uses ports */
    const int32_t *ports;
    int32_t port_count;
};

struct yk_node_ports {
    int32_t count; /* number of ports, 2 per node; see yk_node_ports_outgoing_index() and
                      yk_node_ports_incoming_index() */
    double *bytes_per_s;
    double *left;   /* temporary: bandwidth that is not assigned yet */
    int32_t *users; /* temporary: number of messages at the port whose rate is not final */
};

static inline int32_t yk_node_ports_outgoing_index(int32_t node)
{
    return 2 * node;
}

static inline int32_t yk_node_ports_incoming_index(int32_t node)
{
    return 2 * node + 1;
}

yk_status yk_node_ports_create(const struct yk_cluster *cluster, struct yk_arena *arena,
                               struct yk_node_ports *out) YK_MUST_USE;

/* Computes the rate of each message, as a fraction of its demand, while all `count` messages are
 * sent at the same time. */
void yk_node_ports_share_bandwidth(struct yk_node_ports *ports,
                                   const struct yk_node_port_demand *const *demands, int32_t count,
                                   double *out_rates);

#endif
