#include "sim/collective_rings.h"
#include "support/support.h"

#include <math.h>

enum {
    P = 4
};

/* Devices 0 and 2 in one node, 1 and 3 in another. */
static const struct {
    struct yk_device all[P];
} devices = {{{.node = 0}, {.node = 1}, {.node = 0}, {.node = 1}}};
static const struct yk_link links[P * P] = {
    {0, 0}, {1, 2}, {0, 8}, {1, 2}, /* from device 0 */
    {1, 2}, {0, 0}, {1, 2}, {0, 8}, /* from device 1 */
    {0, 8}, {1, 2}, {0, 0}, {1, 2}, /* from device 2 */
    {1, 2}, {0, 8}, {1, 2}, {0, 0}, /* from device 3 */
};
static const struct yk_cluster cluster = {
    .device_count = P, .node_count = 2, .devices = devices.all, .links = links};

struct made {
    struct yk_arena *arena;
    struct yk_collective_ring *rings;
};

/* A group of all, with half of everything on rank 3; one of ranks 0 and 2. Ranks drive the devices
 * in the opposite order. */
static int make(void **state)
{
    static struct made made;
    struct yk_plan *plan = NULL;
    assert_ok(yk_arena_create(&made.arena));
    assert_ok(yk_plan_create(made.arena, P, 2, 1, &plan));
    for (int32_t i = 0; i < P; i++) {
        plan->ranks[i].device = P - 1 - i;
        plan->groups[0].members[i] =
            (struct yk_plan_group_member){.rank = i, .shard_fraction = i == 3 ? 0.5 : 0.5 / 3};
    }
    plan->groups[0].member_count = P;
    plan->groups[1].members[0] = (struct yk_plan_group_member){.rank = 0, .shard_fraction = 0.5};
    plan->groups[1].members[1] = (struct yk_plan_group_member){.rank = 2, .shard_fraction = 0.5};
    plan->groups[1].member_count = 2;
    const struct yk_cost_sources sources = {.cluster = &cluster};
    assert_ok(yk_collective_rings_create(plan, &sources, made.arena, &made.rings));
    *state = &made;
    return 0;
}

static int unmake(void **state)
{
    yk_arena_destroy(((struct made *)*state)->arena);
    return 0;
}

static void a_ring_goes_through_a_node_before_it_leaves_it(void **state)
{
    const struct yk_collective_ring *rings = ((struct made *)*state)->rings;
    static const int32_t expected[P] = {2, 0, 3, 1}; /* as they come, 3 2 1 0, by node */
    assert_int_equal(rings[0].ranks.count, P);
    assert_int_equal(rings[2].ranks.count, P);
    for (int32_t i = 0; i < P; i++) {
        assert_int_equal(rings[0].ranks.devices[i], expected[i]);
        assert_int_equal(rings[2].ranks.devices[i], expected[i]);
    }
}

static void a_ring_uses_the_ports_of_its_nodes_once(void **state)
{
    const struct yk_collective_ring *rings = ((struct made *)*state)->rings;
    assert_int_equal(rings[0].port_count, 4);
    assert_int_equal(rings[0].ports[0], yk_node_ports_outgoing_index(0));
    assert_int_equal(rings[0].ports[1], yk_node_ports_incoming_index(0));
    assert_int_equal(rings[0].ports[2], yk_node_ports_outgoing_index(1));
    assert_int_equal(rings[0].ports[3], yk_node_ports_incoming_index(1));
    assert_int_equal(rings[1].port_count, 0); /* devices 3 and 1 share a node */
}

/* 3 rounds of the largest part, 8 B, over the slow links: 3 (1 + 4) s for 24 B on every link; a
 * reduction: 6 rounds of 4 B, 6 (1 + 2) s. */
static void a_ring_asks_for_what_passes_its_links(void **state)
{
    const struct yk_collective_ring *rings = ((struct made *)*state)->rings;
    const struct yk_cost_sources sources = {.cluster = &cluster};
    struct yk_node_port_demand demand;
    struct yk_cost_time_estimate time;
    assert_ok(yk_collective_rings_compute_time(&sources, &rings[0], YK_COLLECTIVE_ALL_GATHER, 16,
                                               &time, &demand));
    assert_true(fabs(time.seconds - 15) < 1e-12);
    assert_true(fabs(demand.bytes_per_s - 24.0 / 15) < 1e-12);
    assert_int_equal(demand.port_count, 4);
    assert_ok(yk_collective_rings_compute_time(&sources, &rings[0], YK_COLLECTIVE_ALL_REDUCE, 16,
                                               &time, &demand));
    assert_true(fabs(time.seconds - 18) < 1e-12);
    assert_true(fabs(demand.bytes_per_s - 24.0 / 18) < 1e-12);
    assert_ok(yk_collective_rings_compute_time(&sources, &rings[1], YK_COLLECTIVE_ALL_GATHER, 16,
                                               &time, &demand));
    assert_true(fabs(time.seconds - 1) < 1e-12);
    assert_int_equal(demand.port_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_ring_goes_through_a_node_before_it_leaves_it, make,
                                        unmake),
        cmocka_unit_test_setup_teardown(a_ring_uses_the_ports_of_its_nodes_once, make, unmake),
        cmocka_unit_test_setup_teardown(a_ring_asks_for_what_passes_its_links, make, unmake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
