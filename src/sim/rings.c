#include "sim/rings.h"

#include <math.h>

/* Devices of one node together, each node where its first device is; otherwise as they come. */
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

/* Once the devices are in order. */
static yk_status find_ports(const struct yk_cluster *cluster, struct yk_arena *arena,
                            struct yk_ring *ring)
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
            ring->ports[ring->port_count++] = yk_port_out(node);
            ring->ports[ring->port_count++] = yk_port_in(node);
        }
    }
    return YK_OK;
}

static yk_status add_group(const struct yk_plan *plan, const struct yk_cluster *cluster,
                           const struct yk_plan_group *group, struct yk_arena *arena,
                           struct yk_ring *out)
{
    int32_t *devices = NULL;
    struct yk_ring ring = {0};
    YK_TRY_NEW(arena, devices, group->member_count);
    for (int32_t i = 0; i < group->member_count; i++) {
        const struct yk_plan_member *member = &group->members[i];
        add_device(cluster, plan->ranks[member->rank].device, devices, &ring.ranks.count);
        ring.largest_part = fmax(ring.largest_part, member->part);
    }
    ring.ranks.devices = devices;
    YK_TRY(find_ports(cluster, arena, &ring));
    *out = ring;
    return YK_OK;
}

static yk_status add_all(const struct yk_plan *plan, const struct yk_cluster *cluster,
                         struct yk_arena *arena, struct yk_ring *out)
{
    int32_t *devices = NULL;
    struct yk_ring ring = {0};
    YK_TRY_NEW(arena, devices, plan->rank_count);
    for (int32_t i = 0; i < plan->rank_count; i++) {
        add_device(cluster, plan->ranks[i].device, devices, &ring.ranks.count);
    }
    ring.ranks.devices = devices;
    YK_TRY(find_ports(cluster, arena, &ring));
    *out = ring;
    return YK_OK;
}

yk_status yk_rings_create(const struct yk_plan *plan, const struct yk_cost_book *book,
                          struct yk_arena *arena, struct yk_ring **out)
{
    const struct yk_cluster *cluster = book->cluster;
    struct yk_ring *rings = NULL;
    YK_TRY_NEW(arena, rings, plan->group_count + 1);
    for (int32_t g = 0; g < plan->group_count; g++) {
        YK_TRY(add_group(plan, cluster, &plan->groups[g], arena, &rings[g]));
    }
    YK_TRY(add_all(plan, cluster, arena, &rings[plan->group_count]));
    for (int32_t g = 0; g <= plan->group_count; g++) {
        YK_TRY(yk_communication_slowdown(book, &rings[g].ranks, &rings[g].slowdown));
    }
    *out = rings;
    return YK_OK;
}

yk_status yk_rings_cost(const struct yk_cost_book *book, const struct yk_ring *ring,
                        enum yk_collective collective, double bytes, struct yk_cost_time *out,
                        struct yk_port_demand *out_demand)
{
    const int32_t n = ring->ranks.count;
    const bool reduces = collective == YK_COLLECTIVE_ALL_REDUCE;
    const double largest_bytes = reduces ? 0 : bytes * ring->largest_part;
    struct yk_cost_time time = {0};
    YK_TRY(yk_communication_collective_time(book, collective, &ring->ranks, bytes, largest_bytes,
                                            &time));
    /* n − 1 parts pass every link of the ring, and as many again when it reduces. */
    const double passed_bytes = fmax(bytes / n, largest_bytes) * (n - 1) * (reduces ? 2 : 1);
    struct yk_port_demand demand = {0};
    if (time.seconds > 0 && passed_bytes > 0) {
        demand =
            (struct yk_port_demand){passed_bytes / time.seconds, ring->ports, ring->port_count};
    }
    *out = time;
    *out_demand = demand;
    return YK_OK;
}
