#include "support/support.h"

#include "base/random.h"
#include "cluster/cluster.h"
#include "support/clusters/same_cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void assert_round_trip(const struct yk_cluster *cluster)
{
    struct yk_text text = {0};
    struct yk_cluster *again = NULL;
    assert_ok(yk_cluster_write_json(cluster, &text));
    assert_ok(yk_cluster_read_json(yk_text_chars(&text), text.length, "written", &again));
    const char *difference = support_cluster_difference(cluster, again);
    if (difference) {
        fail_msg("%s: %s differs in\n%s", cluster->source, difference, yk_text_chars(&text));
    }
    yk_cluster_destroy(again);
    yk_text_free(&text);
}

static void assert_line_round_trip(const char *line)
{
    struct yk_cluster *cluster = NULL;
    assert_ok(yk_cluster_parse_line(line, &cluster));
    assert_round_trip(cluster);
    yk_cluster_destroy(cluster);
}

static void lines_read_back_the_same(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "1xrtx6000ada + 2xrtx3090 @ 32GB/s",
        "2x(2xa30 @ pcie4) + 1x(4xtitanxp @ pcie3) @ 10GbE",
        "4xa100-80 @ nvlink3",
        "1xh100:70%:48GiB + 2xh100:14%:24GiB",
        "cpu:2",
        "t4 + (p40) + t4",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_line_round_trip(lines[i]);
    }
}

static void any_device_with_any_part_and_link_reads_back_the_same(void **state)
{
    (void)state;
    struct yk_random random = yk_random_from_seed(3);
    for (int i = 0; i < 500; i++) {
        char line[300];
        const double part = 1e-3 + 99 * yk_random_uniform(&random);
        const double bandwidth = 1 + 1e12 * yk_random_uniform(&random);
        const double latency = 1e-9 + yk_random_uniform(&random);
        const int64_t gpus = (int64_t)yk_datasheet_count - 1; /* the last row is the CPU */
        const char *first = yk_datasheets[yk_random_below(&random, gpus)].name;
        const char *second = yk_datasheets[yk_random_below(&random, gpus)].name;
        snprintf(line, sizeof line, "2x(%s:%.17g%%:%.17gGB + %s) + cpu:%d @ %.17gB/s,%.17gs", first,
                 part, part, second, 1 + (int)yk_random_below(&random, 128), bandwidth, latency);
        assert_line_round_trip(line);
    }
}

static void measured_times_and_host_memory_read_back_the_same(void **state)
{
    (void)state;
    static const char text[] =
        "{\"yoke\":1,\"kind\":\"cluster\",\"host_memory\":\"503.7GiB\",\"devices\":[{\"name\":"
        "\"\\\"<a>\\\"\",\"memory\":\"0.1GB\",\"memory_bandwidth\":\"0.3GB/s\",\"rates\":"
        "{\"vector\":\"0.7TFLOPS\"},\"measured\":[{\"layer\":\"h\",\"model\":\"m\",\"precision\":"
        "\"tf32\",\"sequence\":7,\"batch\":3,\"forward\":\"0.1ms\",\"backward\":\"1.7us\"},"
        "{\"layer\":\"h\",\"batch\":3,\"forward\":\"3ns\",\"backward\":\"2h\",\"update\":\"1s\"}]}]"
        "}";
    struct yk_cluster *cluster = NULL;
    assert_ok(yk_cluster_read_json(text, strlen(text), "given", &cluster));
    assert_round_trip(cluster);
    yk_cluster_destroy(cluster);
}

static void amounts_are_written_as_people_write_them(void **state)
{
    (void)state;
    struct yk_cluster *cluster = NULL;
    struct yk_text text = {0};
    assert_ok(yk_cluster_parse_line("2xrtx3090 @ 32GB/s", &cluster));
    assert_ok(yk_cluster_write_json(cluster, &text));
    static const char *const parts[] = {"\"24GiB\"", "\"936GB/s\"", "\"71TFLOPS\"", "\"32GB/s\"",
                                        "\"10us\""};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (!strstr(yk_text_chars(&text), parts[i])) {
            fail_msg("no %s in %s", parts[i], yk_text_chars(&text));
        }
    }
    yk_text_free(&text);
    yk_cluster_destroy(cluster);
}

static void a_word_is_a_line_unless_there_is_such_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/yoke-cluster-XXXXXX";
    static const char text[] = "{\"yoke\":1,\"kind\":\"cluster\",\"devices\":[{\"name\":\"a\","
                               "\"type\":\"t4\"}]}";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, sizeof text - 1), sizeof text - 1);
    close(file);
    struct yk_cluster *cluster = NULL;
    assert_ok(yk_cluster_read_or_parse(path, &cluster));
    assert_string_equal(cluster->source, path);
    yk_cluster_destroy(cluster);
    unlink(path);
    assert_ok(yk_cluster_read_or_parse("2xt4", &cluster));
    assert_int_equal(cluster->device_count, 2);
    yk_cluster_destroy(cluster);
    cluster = NULL;
    assert_fails(yk_cluster_read_or_parse("2xt5", &cluster), YK_ERROR_INPUT,
                 "cluster: column 3: unknown device \"t5\"; did you mean t4?");
    assert_int_not_equal(yk_cluster_read_or_parse("/nowhere/lab.json", &cluster), YK_OK);
    assert_non_null(strstr(yk_status_message(), "/nowhere/lab.json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_read_back_the_same),
        cmocka_unit_test(any_device_with_any_part_and_link_reads_back_the_same),
        cmocka_unit_test(measured_times_and_host_memory_read_back_the_same),
        cmocka_unit_test(amounts_are_written_as_people_write_them),
        cmocka_unit_test(a_word_is_a_line_unless_there_is_such_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
