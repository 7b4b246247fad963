#include "support/support.h"

#include "cluster/cluster.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GIB 1073741824.0

static struct yk_cluster *parse(const char *line)
{
    struct yk_cluster *cluster = NULL;
    support_assert_ok(yk_cluster_parse_line(line, &cluster), line, __FILE__, __LINE__);
    return cluster;
}

#define assert_line_refused(line, message)                                                         \
    do {                                                                                           \
        struct yk_cluster *cluster_ = NULL;                                                        \
        assert_fails(yk_cluster_parse_line((line), &cluster_), YK_ERROR_INPUT, (message));         \
        assert_null(cluster_);                                                                     \
    } while (0)

static double bandwidth(const struct yk_cluster *cluster, int32_t a, int32_t b)
{
    assert_true(yk_cluster_link_between(cluster, a, b)->bytes_per_s ==
                yk_cluster_link_between(cluster, b, a)->bytes_per_s);
    return yk_cluster_link_between(cluster, a, b)->bytes_per_s;
}

static void unlike_devices_share_one_link(void **state)
{
    (void)state;
    struct yk_cluster *cluster = parse("1xrtx6000ada + 2xrtx3090 @ 32GB/s");
    assert_int_equal(cluster->device_count, 3);
    assert_int_equal(cluster->node_count, 1);
    assert_string_equal(cluster->devices[0].type, "rtx6000ada");
    assert_string_equal(cluster->devices[2].name, "gpu2");
    assert_true(cluster->devices[0].memory_bytes == 48 * GIB);
    assert_true(cluster->devices[1].matrix_flops[YK_PRECISION_BF16] == 71e12);
    assert_true(bandwidth(cluster, 0, 2) == 32e9);
    assert_null(cluster->assumption);
    assert_string_equal(cluster->source, "1xrtx6000ada + 2xrtx3090 @ 32GB/s");
    yk_cluster_destroy(cluster);
}

static void every_parenthesis_is_a_node_with_its_own_link(void **state)
{
    (void)state;
    struct yk_cluster *cluster = parse("2x(2xa30 @ pcie4) + 1x(4xtitanxp @ pcie3) @ 10GbE");
    static const int32_t nodes[] = {0, 0, 1, 1, 2, 2, 2, 2};
    assert_int_equal(cluster->device_count, 8);
    assert_int_equal(cluster->node_count, 3);
    for (int32_t i = 0; i < 8; i++) {
        assert_int_equal(cluster->devices[i].node, nodes[i]);
    }
    assert_true(bandwidth(cluster, 0, 1) == 32e9);
    assert_true(bandwidth(cluster, 2, 3) == 32e9);
    assert_true(bandwidth(cluster, 4, 7) == 16e9);
    assert_true(bandwidth(cluster, 1, 2) == 1.25e9);
    assert_true(bandwidth(cluster, 0, 7) == 1.25e9);
    assert_null(cluster->assumption);
    yk_cluster_destroy(cluster);
}

static void parentheses_nest(void **state)
{
    (void)state;
    struct yk_cluster *cluster =
        parse("2x(2x(2xa100-80 @ nvlink3) + t4 @ ib-hdr) + p40 + cpu:4 @ 1GbE");
    assert_int_equal(cluster->device_count, 12);
    /* Two nodes of A100 and one T4 beside them, twice, and one at the top. */
    assert_int_equal(cluster->node_count, 7);
    assert_true(bandwidth(cluster, 0, 1) == 300e9);
    assert_true(bandwidth(cluster, 0, 2) == 25e9);
    assert_true(bandwidth(cluster, 3, 4) == 25e9);
    assert_true(bandwidth(cluster, 0, 5) == 0.125e9);
    assert_int_equal(cluster->devices[10].node, cluster->devices[11].node);
    assert_string_equal(cluster->devices[11].name, "cpu0");
    yk_cluster_destroy(cluster);
}

static void a_part_scales_rates_and_memory(void **state)
{
    (void)state;
    struct yk_cluster *cluster = parse("1xh100:70%:48GiB + 2xh100:14%:24GiB + h100:50%");
    const struct yk_device *large = &cluster->devices[0];
    assert_true(large->fraction == 0.7);
    assert_true(large->memory_bytes == 48 * GIB);
    assert_true(fabs(large->matrix_flops[YK_PRECISION_BF16] / (0.7 * 989.4e12) - 1) < 1e-12);
    assert_true(fabs(large->memory_bytes_per_s / (0.7 * 3350e9) - 1) < 1e-12);
    assert_true(cluster->devices[2].memory_bytes == 24 * GIB);
    assert_true(cluster->devices[3].memory_bytes == 40 * GIB);
    /* Parts of a device have no NVLink of their own. */
    assert_true(bandwidth(cluster, 1, 2) == 64e9);
    yk_cluster_destroy(cluster);
}

static void memory_alone_may_be_said(void **state)
{
    (void)state;
    struct yk_cluster *cluster = parse("rtx2080ti:22GiB");
    assert_true(cluster->devices[0].memory_bytes == 22 * GIB);
    assert_true(cluster->devices[0].fraction == 1);
    assert_null(cluster->assumption);
    yk_cluster_destroy(cluster);
}

static void a_cpu_counts_by_its_cores(void **state)
{
    (void)state;
    struct yk_cluster *cluster = parse("cpu:2 + 3xcpu:64:256GiB");
    assert_int_equal(cluster->device_count, 4);
    assert_true(cluster->devices[0].is_cpu);
    assert_int_equal(cluster->devices[0].cores, 2);
    assert_string_equal(cluster->devices[3].name, "cpu3");
    assert_true(cluster->devices[1].vector_flops == 32 * cluster->devices[0].vector_flops);
    assert_true(cluster->devices[1].memory_bytes == 256 * GIB);
    yk_cluster_destroy(cluster);
}

static void a_format_the_chip_lacks_runs_at_the_rate_of_fp32(void **state)
{
    (void)state;
    struct yk_cluster *cluster = parse("gtx1080ti + v100-16");
    const struct yk_device *pascal = &cluster->devices[0];
    const struct yk_device *volta = &cluster->devices[1];
    for (int i = 0; i < YK_PRECISION_COUNT; i++) {
        assert_true(pascal->matrix_flops[i] == 11.34e12);
    }
    assert_true(volta->matrix_flops[YK_PRECISION_FP16] == 125e12);
    assert_true(volta->matrix_flops[YK_PRECISION_BF16] == 15.7e12);
    yk_cluster_destroy(cluster);
}

static void with_no_link_the_slower_bus_is_assumed_and_reported(void **state)
{
    (void)state;
    struct yk_cluster *cluster = parse("2xrtx3090");
    assert_true(bandwidth(cluster, 0, 1) == 32e9);
    assert_string_equal(cluster->assumption, "links not given: PCIe 4.0 x16 of rtx3090, 32GB/s");
    yk_cluster_destroy(cluster);
    cluster = parse("2xa100-80 + titanxp");
    assert_true(bandwidth(cluster, 0, 1) == 300e9);
    assert_true(bandwidth(cluster, 1, 2) == 16e9);
    assert_string_equal(cluster->assumption,
                        "links not given: PCIe 3.0 x16 of titanxp, 16GB/s, to NVLink 3 of a100-80, "
                        "300GB/s; each pair talks at its slower device's pace");
    yk_cluster_destroy(cluster);
}

static void inside_parentheses_with_no_link_the_bus_is_assumed(void **state)
{
    (void)state;
    struct yk_cluster *cluster = parse("2x(2xa30) @ 10GbE");
    assert_true(bandwidth(cluster, 0, 1) == 32e9);
    assert_true(bandwidth(cluster, 0, 2) == 1.25e9);
    assert_string_equal(cluster->assumption, "links not given: PCIe 4.0 x16 of a30, 32GB/s");
    yk_cluster_destroy(cluster);
    cluster = parse("(a30) + (a30)");
    assert_true(bandwidth(cluster, 0, 1) == 1.25e9);
    assert_string_equal(cluster->assumption,
                        "links not given: between nodes 10 gigabit Ethernet, 1.25GB/s");
    yk_cluster_destroy(cluster);
}

static void a_link_may_say_its_latency(void **state)
{
    (void)state;
    struct yk_cluster *cluster = parse("2xt4@12GB/s,3us");
    assert_true(fabs(yk_cluster_link_between(cluster, 0, 1)->latency_s - 3e-6) < 1e-18);
    yk_cluster_destroy(cluster);
    cluster = parse("2xt4 @ 25GbE, 2us");
    assert_true(fabs(yk_cluster_link_between(cluster, 0, 1)->latency_s - 2e-6) < 1e-18);
    assert_true(bandwidth(cluster, 0, 1) == 3.125e9);
    yk_cluster_destroy(cluster);
}

static void spaces_case_and_joints_do_not_matter(void **state)
{
    (void)state;
    struct yk_cluster *cluster = parse("  2 X RTX 3090:50% : 10 GiB+( 3090 )@ 32 GB/s ");
    assert_int_equal(cluster->device_count, 3);
    assert_true(cluster->devices[1].memory_bytes == 10 * GIB);
    assert_string_equal(cluster->devices[2].type, "rtx3090");
    yk_cluster_destroy(cluster);
}

static void an_unknown_device_is_offered_the_nearest_names(void **state)
{
    (void)state;
    assert_line_refused("1xrtx3900", "column 3: unknown device \"rtx3900\"; did you mean rtx3090, "
                                     "rtx3060 or rtx3070?");
    assert_line_refused("2xt4 + abacus",
                        "column 8: unknown device \"abacus\"; yoke devices --list names those "
                        "known");
}

static void counts_have_bounds(void **state)
{
    (void)state;
    assert_line_refused("t4 + 0xt4", "column 6: a count of 0; leave it out or write at least 1x");
    assert_line_refused("1025xt4",
                        "column 1: 1025 is too many; a cluster has at most 1024 devices");
    assert_line_refused("99999999999999999999xt4", "column 1: 99999999999999999999 is too many; a "
                                                   "cluster has at most 1024 devices");
    assert_line_refused("1024xt4 + p40", "column 11: more than 1024 devices");
    assert_line_refused("1000x(1000xt4)", "column 12: more than 1024 devices");
    struct yk_cluster *cluster = parse("1024xt4");
    assert_int_equal(cluster->device_count, YK_CLUSTER_MAX_DEVICES);
    yk_cluster_destroy(cluster);
}

static void a_count_behind_a_name_is_refused_with_the_right_order(void **state)
{
    (void)state;
    assert_line_refused("3090x2", "column 1: the count comes first: write \"2xrtx3090\"");
    assert_line_refused("rtx3090x2 @ 32GB/s",
                        "column 1: the count comes first: write \"2xrtx3090\"");
    assert_line_refused("1xt4 + v100-32 X 8:30GiB",
                        "column 8: the count comes first: write \"8xv100-32\"");
    assert_line_refused("t4x2000",
                        "column 1: unknown device \"t4x2000\"; yoke devices --list names "
                        "those known");
    for (size_t i = 0; i < yk_datasheet_count; i++) {
        char line[64];
        const bool cpu = yk_datasheets[i].generation == YK_DEVICE_GENERATION_CPU;
        snprintf(line, sizeof line, "%s%s + 2x%s%s", yk_datasheets[i].name, cpu ? ":1:1GiB" : "",
                 yk_datasheets[i].name, cpu ? ":1:1GiB" : "");
        struct yk_cluster *cluster = parse(line);
        assert_int_equal(cluster->device_count, 3);
        yk_cluster_destroy(cluster);
    }
}

static void a_link_needs_a_bandwidth_above_zero(void **state)
{
    (void)state;
    assert_line_refused("2xt4 @ 0GB/s", "column 8: \"0GB/s\" must be more than 0");
    assert_line_refused("2xt4 @ 32", "column 8: \"32\" has no unit; write a bandwidth like 32GB/s");
    assert_line_refused("2xt4 @ 32GB",
                        "column 8: \"32GB\": no bandwidth has the unit \"GB\"; write it like "
                        "32GB/s");
    assert_line_refused("2xt4 @", "column 7: the line ends where a link should stand");
    assert_line_refused("2xt4 @ nvlnk3",
                        "column 8: unknown link \"nvlnk3\"; did you mean nvlink3?");
    assert_line_refused("2xt4 @ carrier-pigeon",
                        "column 8: unknown link \"carrier-pigeon\"; write a "
                        "bandwidth like 32GB/s");
    assert_line_refused("2xt4 @ 1GB/s, 5", "column 15: \"5\" has no unit; write a time like 10us");
}

static void parts_and_memories_have_bounds(void **state)
{
    (void)state;
    static const char *const bad[] = {"0%", "-5%", "100.5%", "%", "many%", "nan%"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char line[40];
        char message[120];
        snprintf(line, sizeof line, "t4:%s", bad[i]);
        snprintf(message, sizeof message,
                 "column 4: \"%s\" is no part of a device; write more than 0%% and at most 100%%",
                 bad[i]);
        assert_line_refused(line, message);
    }
    assert_line_refused("t4:0GiB", "column 4: \"0GiB\" must be more than 0");
    assert_line_refused("t4:50%:8", "column 8: \"8\" has no unit; write a size like 24GiB");
    assert_line_refused("cpu", "column 4: say how many cores: cpu:8");
    assert_line_refused("cpu:0", "column 5: \"0\" is no number of cores; write cpu:1 to cpu:4096");
    assert_line_refused("cpu:50%",
                        "column 5: \"50%\" is no number of cores; write cpu:1 to cpu:4096");
}

static void what_does_not_belong_is_pointed_at(void **state)
{
    (void)state;
    assert_line_refused("", "column 1: the line ends where a device should stand");
    assert_line_refused("2xt4 +", "column 7: the line ends where a device should stand");
    assert_line_refused("2x(t4",
                        "column 6: the line ends where \"+\", \"@\" or \")\" should stand");
    assert_line_refused("t4)", "column 3: \")\" stands where \"+\", \"@\" or the end of the line "
                               "should");
    assert_line_refused("t4:1GiB:2GiB", "column 8: \":\" stands where \"+\", \"@\" or the end of "
                                        "the line should");
    assert_line_refused("t4 @ pcie3 + t4",
                        "column 12: \"+\" stands where the end of the line should");
    assert_line_refused("()", "column 2: \")\" stands where a device should");
    assert_line_refused("((((((((((((((((( t4", "column 17: more than 16 parentheses inside each "
                                                "other");
}

static void columns_count_characters_not_bytes(void **state)
{
    (void)state;
    assert_line_refused("2xt4 @ 1GB/s,3\xc2\xb5s )",
                        "column 18: \")\" stands where the end of the line should");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unlike_devices_share_one_link),
        cmocka_unit_test(every_parenthesis_is_a_node_with_its_own_link),
        cmocka_unit_test(parentheses_nest),
        cmocka_unit_test(a_part_scales_rates_and_memory),
        cmocka_unit_test(memory_alone_may_be_said),
        cmocka_unit_test(a_cpu_counts_by_its_cores),
        cmocka_unit_test(a_format_the_chip_lacks_runs_at_the_rate_of_fp32),
        cmocka_unit_test(with_no_link_the_slower_bus_is_assumed_and_reported),
        cmocka_unit_test(inside_parentheses_with_no_link_the_bus_is_assumed),
        cmocka_unit_test(a_link_may_say_its_latency),
        cmocka_unit_test(spaces_case_and_joints_do_not_matter),
        cmocka_unit_test(an_unknown_device_is_offered_the_nearest_names),
        cmocka_unit_test(counts_have_bounds),
        cmocka_unit_test(a_count_behind_a_name_is_refused_with_the_right_order),
        cmocka_unit_test(a_link_needs_a_bandwidth_above_zero),
        cmocka_unit_test(parts_and_memories_have_bounds),
        cmocka_unit_test(what_does_not_belong_is_pointed_at),
        cmocka_unit_test(columns_count_characters_not_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
