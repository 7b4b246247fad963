/*
 * Collective rings: for each group of a plan, its devices in ring order, the time of a collective
 * and the node ports that it uses. A ring visits all devices of a node before it leaves the node,
 * so it uses every port once.
 */
#ifndef YK_SIM_COLLECTIVE_RINGS_H
#define YK_SIM_COLLECTIVE_RINGS_H

#include "base/arena.h"
#include "base/status.h"
#include "cost/communication.h"
#include "plan/plan.h"
#include "sim/node_ports.h"

#include <stdint.h>

struct yk_collective_ring {
    struct yk_ring_devices ranks;
    double largest_part; /* the largest fraction of sharded state of a member; 0: equal parts */
    int32_t *ports;      /* the ports of its nodes; none if all devices are in one node */
    int32_t port_count;
    struct yk_communication_overlap_slowdown slowdown;
};

/* Creates one ring per group, followed by a ring of all ranks. `sources` holds the costs of the
 * plan's cluster. */
yk_status yk_collective_rings_create(const struct yk_plan *plan,
                                     const struct yk_cost_sources *sources, struct yk_arena *arena,
                                     struct yk_collective_ring **out) YK_MUST_USE;

/* The time of a collective of `bytes` in total without other messages, and its port demand. */
yk_status yk_collective_rings_time(const struct yk_cost_sources *sources,
                                   const struct yk_collective_ring *ring,
                                   enum yk_collective collective, double bytes,
                                   struct yk_cost_time *out,
                                   struct yk_node_port_demand *out_demand) YK_MUST_USE;

#endif
