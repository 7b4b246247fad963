/*
 * Collective rings: for each group of a plan, a ring of the group's devices. Also computes the time
 * that a collective takes on a ring, and how much it uses the node ports. A ring visits all devices
 * of a node before it leaves the node, so it passes each port of its nodes once.
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
    /* largest fraction of the sharded state that a member holds; 0 means: equal parts */
    double largest_part;
    int32_t *ports; /* ports of the nodes of the ring; empty if all devices are in one node */
    int32_t port_count;
    struct yk_communication_overlap_slowdown slowdown;
};

/* Creates one ring per group, followed by one ring of all ranks. `sources` are the sources of costs
 * for the plan's cluster. */
yk_status yk_collective_rings_create(const struct yk_plan *plan,
                                     const struct yk_cost_sources *sources, struct yk_arena *arena,
                                     struct yk_collective_ring **out) YK_MUST_USE;

/* Computes the time of a collective if no other message is in flight, and its demand at the ports.
 * `bytes` is the size of the whole message. */
yk_status yk_collective_rings_compute_time(const struct yk_cost_sources *sources,
                                           const struct yk_collective_ring *ring,
                                           enum yk_collective collective, double bytes,
                                           struct yk_cost_time_estimate *out,
                                           struct yk_node_port_demand *out_demand) YK_MUST_USE;

#endif
