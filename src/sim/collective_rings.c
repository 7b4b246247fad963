#include "sim/collective_rings.h"

#include <math.h>

/* Inserts a device into the ring order: sorted by node, then in the order of insertion. */
static void add_device(const struct yk_cluster *cluster, int32_t device, int32_t *devices,
                       int32_t *count)
{
    const int32_t node = cluster->devices[device].node;
    int32_t place = *count;
    while (place > 0 && cluster->devices[devices[place - 1]].node > node) {
        devices[place] = devices[place - 1];
        place--;
    }
    devices[place] = device;
    (*count)++;
}

/* Finds the ports of a ring whose devices are in order. */
static yk_status find_ports(const struct yk_cluster *cluster, struct yk_arena *arena,
                            struct yk_collective_ring *ring)
{
    const int32_t count = ring->ranks.count;
    const int32_t *devices = ring->ranks.devices;
    if (count == 0 ||
        cluster->devices[devices[0]].node == cluster->devices[devices[count - 1]].node) {
        return YK_OK;
    }
    YK_TRY_NEW(arena, ring->ports, 2 * (int64_t)count);
    for (int32_t i = 0; i < count; i++) {
        const int32_t node = cluster->devices[devices[i]].node;
        if (i == 0 || cluster->devices[devices[i - 1]].node != node) {
            ring->ports[ring->port_count++] = yk_node_ports_outgoing_index(node);
            ring->ports[ring->port_count++] = yk_node_ports_incoming_index(node);
        }
    }
    return YK_OK;
}

/* The ring of a group; of all ranks if `group` is NULL. */
static yk_status make_ring(const struct yk_plan *plan, const struct yk_cost_sources *sources,
                           const struct yk_plan_group *group, struct yk_arena *arena,
                           struct yk_collective_ring *ring)
{
    const int32_t count = group ? group->member_count : plan->rank_count;
    int32_t *devices = NULL;
    YK_TRY_NEW(arena, devices, count);
    for (int32_t i = 0; i < count; i++) {
        const int32_t rank = group ? group->members[i].rank : i;
        add_device(sources->cluster, plan->ranks[rank].device, devices, &ring->ranks.count);
        ring->largest_part = group ? fmax(ring->largest_part, group->members[i].shard_fraction) : 0;
    }
    ring->ranks.devices = devices;
    YK_TRY(find_ports(sources->cluster, arena, ring));
    return yk_communication_overlap_slowdown(sources, &ring->ranks, &ring->slowdown);
}

yk_status yk_collective_rings_create(const struct yk_plan *plan,
                                     const struct yk_cost_sources *sources, struct yk_arena *arena,
                                     struct yk_collective_ring **out)
{
    struct yk_collective_ring *rings = NULL;
    YK_TRY_NEW(arena, rings, plan->group_count + 1);
    for (int32_t g = 0; g <= plan->group_count; g++) {
        const struct yk_plan_group *group = g < plan->group_count ? &plan->groups[g] : NULL;
        YK_TRY(make_ring(plan, sources, group, arena, &rings[g]));
    }
    *out = rings;
    return YK_OK;
}

yk_status yk_collective_rings_compute_time(const struct yk_cost_sources *sources,
                                           const struct yk_collective_ring *ring,
                                           enum yk_collective collective, double bytes,
                                           struct yk_cost_time_estimate *out,
                                           struct yk_node_port_demand *out_demand)
{
    const int32_t n = ring->ranks.count;
    const bool reduces = collective == YK_COLLECTIVE_ALL_REDUCE;
    const double largest_bytes = reduces ? 0 : bytes * ring->largest_part;
    struct yk_cost_time_estimate time = {0};
    YK_TRY(yk_communication_collective_time(sources, collective, &ring->ranks, bytes, largest_bytes,
                                            &time));
    /* n − 1 parts pass each link of the ring; twice as many in an all_reduce. */
    const double passed_bytes = fmax(bytes / n, largest_bytes) * (n - 1) * (reduces ? 2 : 1);
    struct yk_node_port_demand demand = {0};
    if (time.seconds > 0 && passed_bytes > 0) {
        demand = (struct yk_node_port_demand){passed_bytes / time.seconds, ring->ports,
                                              ring->port_count};
    }
    *out = time;
    *out_demand = demand;
    return YK_OK;
}
