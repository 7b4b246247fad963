/*
 * Rings: the devices of a plan's groups in the order that collectives go around, what a collective
 * costs there, and the ports it takes.
 */
#ifndef YK_SIM_RINGS_H
#define YK_SIM_RINGS_H

#include "base/arena.h"
#include "base/status.h"
#include "cost/communication.h"
#include "plan/plan.h"
#include "sim/ports.h"

#include <stdint.h>

struct yk_ring {
    struct yk_ring_devices ranks;
    double largest_part;
    int32_t *ports; /* out of and into each of its nodes, where it has several */
    int32_t port_count;
    struct yk_communication_slowdown slowdown;
};

/* A ring for each group, and one of all ranks at the end; `book` is for the plan's cluster. */
yk_status yk_rings_create(const struct yk_plan *plan, const struct yk_cost_book *book,
                          struct yk_arena *arena, struct yk_ring **out) YK_MUST_USE;

/* A collective over `bytes` in all, alone. */
yk_status yk_rings_cost(const struct yk_cost_book *book, const struct yk_ring *ring,
                        enum yk_collective collective, double bytes, struct yk_cost_time *out,
                        struct yk_port_demand *out_demand) YK_MUST_USE;

#endif
