#include "support/support.h"

#include "cost/communication.h"
#include "profile/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    P = 3
};

/* Three devices; the third is reached over a link ten times slower. */
static const struct yk_link fast = {1e-5, 1e10};
static const struct yk_link slow = {1e-4, 1e9};

struct three {
    struct yk_device devices[P];
    struct yk_link links[P * P];
    struct yk_cluster cluster;
    struct yk_cost_sources sources;
};

static void make_three(struct three *three)
{
    *three = (struct three){0};
    for (int i = 0; i < P; i++) {
        three->devices[i] =
            (struct yk_device){.type = i == 2 ? "titanxp" : "a30", .fraction = 1, .node = i / 2};
        for (int j = 0; j < P; j++) {
            three->links[i * P + j] = i == 2 || j == 2 ? slow : fast;
        }
    }
    three->cluster = (struct yk_cluster){
        .device_count = P, .node_count = 2, .devices = three->devices, .links = three->links};
    three->sources = (struct yk_cost_sources){.cluster = &three->cluster};
}

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-9 * fabs(expected))) {
        fail_msg("%.17g is not %.17g", actual, expected);
    }
}

static double collective_s(const struct three *three, enum yk_collective collective, int32_t count,
                           double bytes, double largest)
{
    static const int32_t devices[P] = {0, 1, 2};
    const struct yk_ring_devices ranks = {devices, count};
    struct yk_cost_time_estimate time = {0};
    assert_ok(yk_communication_collective_time(&three->sources, collective, &ranks, bytes, largest,
                                               &time));
    assert_int_equal(time.origin, YK_COST_ORIGIN_DATASHEET);
    return time.seconds;
}

static void a_message_costs_latency_and_its_bytes(void **state)
{
    (void)state;
    struct three three;
    struct yk_cost_time_estimate time = {0};
    make_three(&three);
    assert_ok(yk_communication_send_time(&three.sources, 0, 1, 1e8, &time));
    assert_near(time.seconds, 1e-5 + 0.01);
    assert_ok(yk_communication_send_time(&three.sources, 2, 0, 1e8, &time));
    assert_near(time.seconds, 1e-4 + 0.1);
    assert_ok(yk_communication_send_time(&three.sources, 2, 2, 1e8, &time));
    assert_true(time.seconds == 0);
}

/* (n - 1)(α + Mβ/n) */
static void a_ring_goes_as_fast_as_its_slowest_link(void **state)
{
    (void)state;
    struct three three;
    make_three(&three);
    assert_near(collective_s(&three, YK_COLLECTIVE_ALL_GATHER, 2, 6e8, 0), 1 * (1e-5 + 3e8 / 1e10));
    assert_near(collective_s(&three, YK_COLLECTIVE_ALL_GATHER, 3, 6e8, 0), 2 * (1e-4 + 2e8 / 1e9));
    assert_near(collective_s(&three, YK_COLLECTIVE_REDUCE_SCATTER, 3, 6e8, 0),
                2 * (1e-4 + 2e8 / 1e9));
    assert_near(collective_s(&three, YK_COLLECTIVE_ALL_REDUCE, 3, 6e8, 0), 4 * (1e-4 + 2e8 / 1e9));
    assert_true(collective_s(&three, YK_COLLECTIVE_ALL_REDUCE, 1, 6e8, 0) == 0);
}

static void of_unequal_parts_the_largest_counts(void **state)
{
    (void)state;
    struct three three;
    make_three(&three);
    assert_near(collective_s(&three, YK_COLLECTIVE_ALL_GATHER, 3, 6e8, 4e8),
                2 * (1e-4 + 4e8 / 1e9));
}

static void a_measured_curve_goes_before_the_ring(void **state)
{
    (void)state;
    static const int32_t devices[P] = {0, 1, 2};
    const struct yk_ring_devices ranks = {devices, P};
    const struct yk_profile_measurement tenth = {.value = 0.1, .samples = 3, .versions = "none"};
    const struct yk_profile_measurement fifth = {.value = 0.2, .samples = 3, .versions = "none"};
    const struct yk_profile_link_key ring = {"a30-titanxp between nodes", "all_gather", 3};
    const struct yk_profile_link_key pair = {"a30-a30 within a node", "send", 2};
    char folder[] = "/tmp/yoke-communication-XXXXXX";
    char path[64];
    struct three three;
    struct yk_cost_time_estimate time = {0};
    make_three(&three);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/profile.db", folder);
    assert_ok(yk_profile_open_or_create(path, &three.sources.profile));
    assert_ok(yk_profile_add_link_time(three.sources.profile, &ring, 1000, &tenth));
    assert_ok(yk_profile_add_link_time(three.sources.profile, &ring, 3000, &fifth));
    assert_ok(yk_profile_add_link_time(three.sources.profile, &pair, 1000, &fifth));

    assert_ok(yk_communication_collective_time(&three.sources, YK_COLLECTIVE_ALL_GATHER, &ranks,
                                               1500, 0, &time));
    assert_int_equal(time.origin, YK_COST_ORIGIN_INTERPOLATED);
    assert_near(time.seconds, 0.125);
    /* A part of 1000 where 500 would do is a message of 3000. */
    assert_ok(yk_communication_collective_time(&three.sources, YK_COLLECTIVE_ALL_GATHER, &ranks,
                                               1500, 1000, &time));
    assert_near(time.seconds, 0.2);
    assert_int_equal(time.origin, YK_COST_ORIGIN_MEASURED);
    assert_near(time.error, 0.03);
    assert_ok(yk_communication_send_time(&three.sources, 1, 0, 10,
                                         &time)); /* no shorter than the shortest */
    assert_near(time.seconds, 0.2);
    assert_ok(yk_communication_send_time(&three.sources, 1, 2, 1000, &time));
    assert_int_equal(time.origin, YK_COST_ORIGIN_DATASHEET);
    /* 0.2 s for 1000 bytes and, beyond what was measured, twice that for twice as many: no latency.
     */
    struct yk_link link;
    assert_ok(yk_communication_effective_link(&three.sources, 0, 1, 1000, &link));
    assert_near(link.bytes_per_s, 5000);
    assert_true(link.latency_s == 0);
    assert_ok(yk_communication_effective_link(&three.sources, 1, 2, 1000,
                                              &link)); /* not measured: the cluster's */
    assert_true(link.bytes_per_s == slow.bytes_per_s && link.latency_s == slow.latency_s);
    yk_profile_close(three.sources.profile);
    unlink(path);
    rmdir(folder);
}

/* 1 µs and 1 GB/s to the device, at two sizes. */
static void copies_cost_what_was_measured_or_nothing(void **state)
{
    (void)state;
    const struct yk_profile_link_key to = {"a30-host", "to device", 1};
    const struct yk_profile_measurement small = {.value = 2e-6, .samples = 3, .versions = "none"};
    const struct yk_profile_measurement large = {
        .value = 1.001e-3, .samples = 3, .versions = "none"};
    char folder[] = "/tmp/yoke-communication-XXXXXX";
    char path[64];
    struct three three;
    struct yk_cost_time_estimate time = {0};
    make_three(&three);
    assert_ok(yk_communication_copy_to_device_time(&three.sources, 0, 1e6, &time));
    assert_true(time.seconds == 0);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/profile.db", folder);
    assert_ok(yk_profile_open_or_create(path, &three.sources.profile));
    assert_ok(yk_profile_add_link_time(three.sources.profile, &to, 1000, &small));
    assert_ok(yk_profile_add_link_time(three.sources.profile, &to, 1000000, &large));
    assert_ok(yk_communication_copy_to_device_time(&three.sources, 0, 1000, &time));
    assert_near(time.seconds, 2e-6);
    assert_int_equal(time.origin, YK_COST_ORIGIN_MEASURED);
    assert_ok(yk_communication_copy_to_device_time(&three.sources, 0, 4e6, &time));
    assert_near(time.seconds, 4.001e-3);
    assert_int_equal(time.origin, YK_COST_ORIGIN_INTERPOLATED);
    yk_profile_close(three.sources.profile);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_costs_latency_and_its_bytes),
        cmocka_unit_test(a_ring_goes_as_fast_as_its_slowest_link),
        cmocka_unit_test(of_unequal_parts_the_largest_counts),
        cmocka_unit_test(a_measured_curve_goes_before_the_ring),
        cmocka_unit_test(copies_cost_what_was_measured_or_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
