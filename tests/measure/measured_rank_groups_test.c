#include "support/support.h"

#include "measure/profiler/measured_rank_groups.h"

#include <string.h>

struct listed {
    struct yk_arena *arena;
    struct yk_cluster *cluster;
    struct yk_measured_rank_group *groups;
    int32_t count;
};

static struct listed list(const char *line)
{
    struct listed listed = {0};
    assert_ok(yk_arena_create(&listed.arena));
    assert_ok(yk_cluster_parse_line(line, &listed.cluster));
    assert_ok(
        yk_measured_rank_groups_list(listed.cluster, listed.arena, &listed.groups, &listed.count));
    return listed;
}

static void drop(struct listed *listed)
{
    yk_cluster_destroy(listed->cluster);
    yk_arena_destroy(listed->arena);
}

static void check(const struct yk_measured_rank_group *group, const char *link, int32_t count,
                  const int32_t *ranks)
{
    assert_string_equal(group->link, link);
    assert_int_equal(group->count, count);
    for (int32_t i = 0; i < count; i++) {
        assert_int_equal(group->ranks[i], ranks[i]);
    }
}

static void ranks_that_are_alike_are_a_group_of_each_size(void **state)
{
    (void)state;
    struct listed listed = list("4xa30 @ pcie4");
    static const int32_t ranks[] = {0, 1, 2, 3};
    assert_int_equal(listed.count, 3);
    check(&listed.groups[0], "a30-a30 within a node", 2, ranks);
    check(&listed.groups[1], "a30-a30 within a node", 4, ranks);
    check(&listed.groups[2], "a30-a30 within a node", 3, ranks);
    assert_false(listed.groups[0].both_directions);
    drop(&listed);
}

/* Nodes of two: neighbours are within a node (0, 1) or between (1, 2); three or four are always
 * between, which is the slowest of their ring. */
static void a_ring_is_known_by_its_slowest_link(void **state)
{
    (void)state;
    struct listed listed = list("2x(2xa30 @ pcie4) @ 10GbE");
    static const int32_t ranks[] = {0, 1, 2, 3};
    assert_int_equal(listed.count, 4);
    check(&listed.groups[0], "a30-a30 within a node", 2, ranks);
    check(&listed.groups[1], "a30-a30 between nodes", 2, ranks + 1);
    check(&listed.groups[2], "a30-a30 between nodes", 4, ranks);
    check(&listed.groups[3], "a30-a30 between nodes", 3, ranks);
    drop(&listed);
}

/* Data parallel across nodes: 0 and 2, 1 and 3 are no neighbours. */
static void every_pair_of_devices_has_its_group(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "2x(a30 + titanxp @ pcie3) @ 10GbE",
        "3xa30 + 2xtitanxp + cpu:4",
        "2x(2xa30) + 1x(3xtitanxp) + 1x(l4)",
        "cpu:1 + cpu:1:40%",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct listed listed = list(lines[i]);
        const int32_t devices = listed.cluster->device_count;
        for (int32_t pair = 0; pair < devices * devices; pair++) {
            char link[YK_PROFILE_KEY_SIZE];
            int32_t found = 0;
            if (pair / devices == pair % devices) {
                continue;
            }
            assert_true(yk_profile_key_format_link(listed.cluster, NULL, pair / devices,
                                                   pair % devices, link));
            for (int32_t p = 0; p < listed.count; p++) {
                found += listed.groups[p].count == 2 && strcmp(listed.groups[p].link, link) == 0;
            }
            assert_int_equal(found, 1);
        }
        drop(&listed);
    }
}

static void devices_that_differ_are_asked_both_ways(void **state)
{
    (void)state;
    struct listed types = list("a30 + titanxp");
    struct listed parts = list("cpu:1 + cpu:1:40%");
    assert_true(types.groups[0].both_directions);
    assert_true(parts.groups[0].both_directions);
    drop(&types);
    drop(&parts);
}

/* 2, then all, then 4, 8: no more than these. */
static void many_ranks_are_doubled(void **state)
{
    (void)state;
    struct listed listed = list("12xa30");
    static const int32_t counts[] = {2, 12, 4, 8};
    assert_int_equal(listed.count, 4);
    for (int32_t i = 0; i < 4; i++) {
        assert_int_equal(listed.groups[i].count, counts[i]);
    }
    drop(&listed);
}

static void a_rank_alone_has_no_group(void **state)
{
    (void)state;
    struct listed listed = list("a30");
    assert_int_equal(listed.count, 0);
    drop(&listed);
}

static void sizes_are_fine_where_links_begin_to_be_used_well(void **state)
{
    (void)state;
    static const int64_t expected[] = {8,        1 << 10,   4 << 10,   16 << 10,
                                       64 << 10, 128 << 10, 256 << 10, 512 << 10};
    int64_t sizes[YK_COMM_BENCHMARK_MAX_SIZES];
    assert_int_equal(yk_comm_benchmark_list_message_sizes(300000, sizes), 8);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(sizes[i], expected[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_are_alike_are_a_group_of_each_size),
        cmocka_unit_test(a_ring_is_known_by_its_slowest_link),
        cmocka_unit_test(every_pair_of_devices_has_its_group),
        cmocka_unit_test(devices_that_differ_are_asked_both_ways),
        cmocka_unit_test(many_ranks_are_doubled),
        cmocka_unit_test(a_rank_alone_has_no_group),
        cmocka_unit_test(sizes_are_fine_where_links_begin_to_be_used_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
