#include "base/random.h"
#include "sim/node_ports.h"
#include "support/support.h"

#include <math.h>

enum {
    NODES = 4,
    WAYS = 2 * NODES,
    MOST = 6, /* messages */
};

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-12 * fabs(expected))) {
        fail_msg("%.17g is not %.17g", actual, expected);
    }
}

/* Ways of these bytes a second. */
static struct yk_node_ports make_ways(double *bytes_per_s, double *left, int32_t *users)
{
    return (struct yk_node_ports){
        .count = WAYS, .bytes_per_s = bytes_per_s, .left = left, .users = users};
}

static void a_way_is_as_wide_as_the_fastest_link_out_of_its_node(void **state)
{
    (void)state;
    static const struct {
        struct yk_device all[4];
    } devices = {{{.node = 0}, {.node = 0}, {.node = 1}, {.node = 2}}};
    static const struct yk_link links[16] = {
        {0, 0},  {0, 99}, {0, 3}, {0, 1}, /* from device 0 */
        {0, 99}, {0, 0},  {0, 5}, {0, 1}, /* from device 1 */
        {0, 3},  {0, 5},  {0, 0}, {0, 2}, /* from device 2 */
        {0, 1},  {0, 1},  {0, 2}, {0, 0}, /* from device 3 */
    };
    const struct yk_cluster cluster = {
        .device_count = 4, .node_count = 3, .devices = devices.all, .links = links};
    struct yk_arena *arena = NULL;
    struct yk_node_ports ports;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_node_ports_create(&cluster, arena, &ports));
    assert_near(ports.bytes_per_s[yk_node_ports_outgoing_index(0)], 5);
    assert_near(ports.bytes_per_s[yk_node_ports_incoming_index(0)], 5);
    assert_near(ports.bytes_per_s[yk_node_ports_outgoing_index(1)], 5);
    assert_near(ports.bytes_per_s[yk_node_ports_outgoing_index(2)], 2);
    assert_near(ports.bytes_per_s[yk_node_ports_incoming_index(2)], 2);
    yk_arena_destroy(arena);
}

static void nobody_is_slowed_where_there_is_enough_for_all(void **state)
{
    (void)state;
    double wide[WAYS] = {10};
    double left[WAYS];
    int32_t users[WAYS];
    struct yk_node_ports ports = make_ways(wide, left, users);
    static const int32_t first[] = {0};
    const struct yk_node_port_demand a = {4, first, 1};
    const struct yk_node_port_demand b = {6, first, 1};
    const struct yk_node_port_demand *demands[] = {&a, &b};
    double rates[2];
    yk_node_ports_share_bandwidth(&ports, demands, 2, rates);
    assert_near(rates[0], 1);
    assert_near(rates[1], 1);
}

static void those_who_ask_for_more_share_what_is_left_over(void **state)
{
    (void)state;
    double wide[WAYS] = {10};
    double left[WAYS];
    int32_t users[WAYS];
    struct yk_node_ports ports = make_ways(wide, left, users);
    static const int32_t first[] = {0};
    const struct yk_node_port_demand a = {2, first, 1};
    const struct yk_node_port_demand b = {10, first, 1};
    const struct yk_node_port_demand c = {5, first, 1};
    const struct yk_node_port_demand *demands[] = {&a, &b, &c};
    double rates[3];
    yk_node_ports_share_bandwidth(&ports, demands, 3, rates); /* 2, 4 and 4 */
    assert_near(rates[0], 1);
    assert_near(rates[1], 0.4);
    assert_near(rates[2], 0.8);
}

/* Two share the narrow way; the third has what one of them leaves of the wide one. */
static void who_is_held_back_elsewhere_leaves_room(void **state)
{
    (void)state;
    double wide[WAYS] = {10, 4};
    double left[WAYS];
    int32_t users[WAYS];
    struct yk_node_ports ports = make_ways(wide, left, users);
    static const int32_t both[] = {0, 1};
    const struct yk_node_port_demand a = {10, &both[0], 1};
    const struct yk_node_port_demand b = {4, &both[0], 2};
    const struct yk_node_port_demand c = {4, &both[1], 1};
    const struct yk_node_port_demand *demands[] = {&a, &b, &c};
    double rates[3];
    yk_node_ports_share_bandwidth(&ports, demands, 3, rates);
    assert_near(rates[0], 0.8);
    assert_near(rates[1], 0.5);
    assert_near(rates[2], 0.5);
}

/* A measured message may be faster than the link is said to be. */
static void a_message_alone_is_never_slowed(void **state)
{
    (void)state;
    double wide[WAYS] = {10};
    double left[WAYS];
    int32_t users[WAYS];
    struct yk_node_ports ports = make_ways(wide, left, users);
    static const int32_t first[] = {0};
    const struct yk_node_port_demand a = {12, first, 1};
    const struct yk_node_port_demand *demands[] = {&a};
    double rate = 0;
    yk_node_ports_share_bandwidth(&ports, demands, 1, &rate);
    assert_near(rate, 1);
}

/*
 * Max-min fair is, by its definition, that no way gives more than it has, and that who does not get
 * all it asks for goes over a full way on which nobody gets more.
 */
static void assert_fair(const double *wide, const struct yk_node_port_demand *const *demands,
                        int32_t count, const double *rates)
{
    double used[WAYS] = {0};
    double most[WAYS] = {0};
    for (int32_t i = 0; i < count; i++) {
        const double got = rates[i] * demands[i]->bytes_per_s;
        for (int32_t k = 0; k < demands[i]->port_count; k++) {
            used[demands[i]->ports[k]] += got;
            most[demands[i]->ports[k]] = fmax(most[demands[i]->ports[k]], got);
        }
    }
    for (int32_t i = 0; i < count; i++) {
        bool held_back = false;
        for (int32_t k = 0; k < demands[i]->port_count; k++) {
            const int32_t port = demands[i]->ports[k];
            assert_true(used[port] <= wide[port] * (1 + 1e-12));
            held_back =
                held_back || (used[port] >= wide[port] * (1 - 1e-12) &&
                              rates[i] * demands[i]->bytes_per_s >= most[port] * (1 - 1e-12));
        }
        assert_true(rates[i] > 0 && rates[i] <= 1);
        assert_true(rates[i] == 1 || held_back);
    }
}

static void sharing_is_max_min_fair(void **state)
{
    (void)state;
    struct yk_random random = yk_random_from_seed(11);
    for (int trial = 0; trial < 2000; trial++) {
        double wide[WAYS];
        double left[WAYS];
        int32_t users[WAYS];
        int32_t busy[MOST][WAYS];
        struct yk_node_port_demand messages[MOST];
        const struct yk_node_port_demand *demands[MOST];
        double rates[MOST];
        const int32_t count = 1 + (int32_t)yk_random_below(&random, MOST);
        for (int32_t i = 0; i < WAYS; i++) {
            wide[i] = (double)(8 + yk_random_below(&random, 8));
        }
        for (int32_t i = 0; i < count; i++) {
            messages[i] =
                (struct yk_node_port_demand){(double)(1 + yk_random_below(&random, 8)), busy[i], 0};
            for (int32_t port = 0; port < WAYS; port++) {
                if (yk_random_below(&random, 3) == 0) {
                    busy[i][messages[i].port_count++] = port;
                }
            }
            demands[i] = &messages[i];
        }
        struct yk_node_ports ports = make_ways(wide, left, users);
        yk_node_ports_share_bandwidth(&ports, demands, count, rates);
        assert_fair(wide, demands, count, rates);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_way_is_as_wide_as_the_fastest_link_out_of_its_node),
        cmocka_unit_test(nobody_is_slowed_where_there_is_enough_for_all),
        cmocka_unit_test(those_who_ask_for_more_share_what_is_left_over),
        cmocka_unit_test(who_is_held_back_elsewhere_leaves_room),
        cmocka_unit_test(a_message_alone_is_never_slowed),
        cmocka_unit_test(sharing_is_max_min_fair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
