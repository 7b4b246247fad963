#include "support/support.h"

#include "cluster/cluster.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GIB 1073741824.0
#define FILE_OF(devices, rest)                                                                     \
    "{\"yoke\": 1, \"kind\": \"cluster\", \"devices\": [" devices "]" rest "}"

static struct yk_cluster *read_cluster(const char *text)
{
    struct yk_cluster *cluster = NULL;
    support_assert_ok(yk_cluster_read_json(text, strlen(text), "c.json", &cluster), text, __FILE__,
                      __LINE__);
    return cluster;
}

#define assert_file_refused(text, message)                                                         \
    do {                                                                                           \
        struct yk_cluster *cluster_ = NULL;                                                        \
        assert_fails(yk_cluster_read_json((text), strlen(text), "c.json", &cluster_),              \
                     YK_ERROR_INPUT, "c.json: " message);                                          \
        assert_null(cluster_);                                                                     \
    } while (0)

static void everything_may_be_said(void **state)
{
    (void)state;
    struct yk_cluster *cluster = read_cluster(FILE_OF(
        "{\"name\":\"gpu0\",\"type\":\"rtx3090\",\"memory\":\"20GiB\",\"rates\":{\"matrix\":"
        "{\"bf16\":\"60TFLOPS\",\"fp32\":\"30TFLOPS\"},\"vector\":\"31TFLOPS\"},"
        "\"memory_bandwidth\":\"900GB/s\"},"
        "{\"name\":\"own\",\"memory\":\"8GiB\",\"rates\":{\"matrix\":\"9TFLOPS\"},"
        "\"memory_bandwidth\":\"100GB/s\",\"node\":\"b\"}",
        ",\"links\":{\"bandwidth\":\"32GB/s\",\"latency\":\"5us\"},\"host_memory\":\"64GiB\","
        "\"name\":\"lab\",\"comment\":\"two\""));
    const struct yk_device *gpu = &cluster->devices[0];
    const struct yk_device *own = &cluster->devices[1];
    assert_true(gpu->memory_bytes == 20 * GIB && gpu->memory_bytes_per_s == 900e9);
    assert_true(gpu->matrix_flops[YK_PRECISION_BF16] == 60e12);
    assert_true(gpu->matrix_flops[YK_PRECISION_FP32] == 30e12);
    /* Not said, and so the datasheet's. */
    assert_true(gpu->matrix_flops[YK_PRECISION_FP16] == 71e12);
    assert_true(gpu->vector_flops == 31e12);
    assert_null(own->type);
    assert_null(own->datasheet);
    assert_int_equal(own->generation, YK_DEVICE_GENERATION_UNKNOWN);
    assert_true(own->matrix_flops[YK_PRECISION_BF16] == 9e12 && own->vector_flops == 9e12);
    assert_int_equal(cluster->node_count, 2);
    assert_true(yk_cluster_link_between(cluster, 1, 0)->bytes_per_s == 32e9);
    assert_true(cluster->host_memory_bytes == 64 * GIB);
    assert_null(cluster->assumption);
    assert_string_equal(cluster->source, "c.json");
    yk_cluster_destroy(cluster);
}

static void a_link_may_have_no_latency(void **state)
{
    (void)state;
    struct yk_cluster *cluster = read_cluster(
        FILE_OF("{\"name\":\"a\",\"type\":\"rtx3090\"},{\"name\":\"b\",\"type\":\"rtx3090\"}",
                ",\"links\":{\"bandwidth\":\"32GB/s\",\"latency\":\"0us\"}"));
    assert_true(yk_cluster_link_between(cluster, 0, 1)->latency_s == 0);
    yk_cluster_destroy(cluster);
    assert_ok(yk_cluster_parse_line("2xrtx3090 @ 32GB/s,0us", &cluster));
    assert_true(yk_cluster_link_between(cluster, 0, 1)->latency_s == 0);
    yk_cluster_destroy(cluster);
}

static void a_type_fills_in_the_rest(void **state)
{
    (void)state;
    struct yk_cluster *cluster =
        read_cluster(FILE_OF("{\"name\":\"a\",\"type\":\"H100\",\"part\":0.5},"
                             "{\"name\":\"b\",\"type\":\"h100\",\"part\":0.5,\"memory\":\"60GiB\"},"
                             "{\"name\":\"c\",\"type\":\"cpu\",\"cores\":8}",
                             ""));
    assert_string_equal(cluster->devices[0].type, "h100");
    assert_true(cluster->devices[0].memory_bytes == 40 * GIB);
    assert_true(cluster->devices[1].memory_bytes == 60 * GIB);
    assert_true(cluster->devices[1].matrix_flops[YK_PRECISION_BF16] == 0.5 * 989.4e12);
    assert_int_equal(cluster->devices[2].cores, 8);
    assert_true(yk_cluster_link_between(cluster, 0, 1)->bytes_per_s == 64e9);
    assert_non_null(cluster->assumption);
    yk_cluster_destroy(cluster);
}

static void links_may_be_given_pair_by_pair(void **state)
{
    (void)state;
    struct yk_cluster *cluster =
        read_cluster(FILE_OF("{\"name\":\"a\",\"type\":\"t4\"},{\"name\":\"b\",\"type\":\"t4\"},"
                             "{\"name\":\"c\",\"type\":\"t4\"}",
                             ",\"links\":[{\"bandwidth\":\"1GB/s\"},{\"between\":[\"c\",\"a\"],"
                             "\"type\":\"nvlink2\",\"latency\":\"1us\"}]"));
    assert_true(yk_cluster_link_between(cluster, 0, 2)->bytes_per_s == 150e9);
    assert_true(fabs(yk_cluster_link_between(cluster, 0, 2)->latency_s - 1e-6) < 1e-18);
    assert_true(yk_cluster_link_between(cluster, 0, 1)->bytes_per_s == 1e9);
    assert_true(fabs(yk_cluster_link_between(cluster, 0, 1)->latency_s - 10e-6) < 1e-18);
    assert_null(cluster->assumption);
    yk_cluster_destroy(cluster);
}

static void pairs_with_no_link_get_the_slower_bus(void **state)
{
    (void)state;
    struct yk_cluster *cluster =
        read_cluster(FILE_OF("{\"name\":\"a\",\"type\":\"t4\"},{\"name\":\"b\",\"type\":\"a10\"},"
                             "{\"name\":\"c\",\"type\":\"a10\"}",
                             ",\"links\":[{\"between\":[\"c\",\"a\"],\"bandwidth\":\"1GB/s\"}]"));
    assert_true(yk_cluster_link_between(cluster, 0, 1)->bytes_per_s == 16e9);
    assert_true(yk_cluster_link_between(cluster, 1, 2)->bytes_per_s == 32e9);
    assert_true(yk_cluster_link_between(cluster, 0, 2)->bytes_per_s == 1e9);
    yk_cluster_destroy(cluster);
}

static void measured_layers_are_kept(void **state)
{
    (void)state;
    struct yk_cluster *cluster = read_cluster(
        FILE_OF("{\"name\":\"a\",\"type\":\"t4\",\"measured\":[{\"layer\":\"head\",\"batch\":4,"
                "\"forward\":\"2ms\",\"backward\":\"4ms\"},{\"layer\":\"block\",\"model\":\"m\","
                "\"precision\":\"fp16\",\"sequence\":512,\"batch\":1,\"forward\":\"1s\","
                "\"backward\":\"2s\",\"update\":\"3s\"}]}",
                ""));
    const struct yk_device *device = &cluster->devices[0];
    assert_int_equal(device->measured_count, 2);
    assert_string_equal(device->measured[0].layer, "head");
    assert_null(device->measured[0].model);
    assert_int_equal(device->measured[0].batch, 4);
    assert_true(device->measured[0].forward_s == 2e-3);
    assert_true(isnan(device->measured[0].update_s));
    assert_string_equal(device->measured[1].precision, "fp16");
    assert_int_equal(device->measured[1].sequence, 512);
    assert_true(device->measured[1].update_s == 3);
    yk_cluster_destroy(cluster);
}

static void the_file_must_be_a_cluster(void **state)
{
    (void)state;
    assert_file_refused("[]", "a cluster is an object, not a list");
    assert_file_refused("{}", "\"yoke\" is missing; a cluster says \"yoke\": 1, the version of its "
                              "form");
    assert_file_refused("{\"yoke\": 2}", "\"yoke\" is 2, but this program reads version 1");
    assert_file_refused("{\"yoke\": 1, \"kind\": \"graph\"}",
                        "\"kind\" is \"graph\", but a \"cluster\" is needed here");
    assert_file_refused("{\"yoke\": 1, \"kind\": \"cluster\"}", "\"devices\" is missing");
    assert_file_refused(FILE_OF("", ""), "\"devices\" is empty");
    assert_file_refused(FILE_OF("", ",\"lnks\":1"),
                        "unknown key \"lnks\"; did you mean \"links\"?");
}

static void a_device_is_checked_key_by_key(void **state)
{
    (void)state;
    assert_file_refused(FILE_OF("{\"name\":\"a\\u001b[1m\",\"type\":\"rtx3090\"}", ""),
                        "devices[0] (\"a?[1m\"): \"name\" holds a control character");
#define DEVICE(members) FILE_OF("{\"name\":\"a\"," members "}", "")
    assert_file_refused(FILE_OF("1", ""), "devices[0]: this must be an object, not a number");
    assert_file_refused(FILE_OF("{\"type\":\"t4\"}", ""), "devices[0]: \"name\" is missing");
    assert_file_refused(DEVICE("\"type\":\"rtx3900\""),
                        "devices[0] (\"a\"): unknown type \"rtx3900\"; did you mean \"rtx3090\"?");
    assert_file_refused(DEVICE("\"typ\":\"t4\""),
                        "devices[0] (\"a\"): unknown key \"typ\"; did you mean \"type\"?");
    assert_file_refused(DEVICE("\"type\":\"t4\",\"memory\":16"),
                        "devices[0] (\"a\"): memory: \"16\" has no unit; write a size like 24GiB");
    assert_file_refused(DEVICE("\"type\":\"t4\",\"memory\":\"0GiB\""),
                        "devices[0] (\"a\"): memory: \"0GiB\" must be more than 0");
    assert_file_refused(DEVICE("\"type\":\"t4\",\"memory\":\"-1GiB\""),
                        "devices[0] (\"a\"): memory: \"-1GiB\" must be more than 0");
    assert_file_refused(
        DEVICE("\"type\":\"t4\",\"memory\":[]"),
        "devices[0] (\"a\"): memory: this must be a string with a unit, not a list");
    assert_file_refused(DEVICE("\"type\":\"t4\",\"part\":1.5"),
                        "devices[0] (\"a\"): \"part\" must be a number above 0 and at most 1");
    assert_file_refused(DEVICE("\"type\":\"cpu\""),
                        "devices[0] (\"a\"): \"cores\" is missing; a CPU counts by its cores");
    assert_file_refused(DEVICE("\"type\":\"t4\",\"cores\":2"),
                        "devices[0] (\"a\"): \"cores\" is for devices of type \"cpu\"");
    assert_file_refused(DEVICE("\"type\":\"t4\",\"rates\":{\"matrix\":{\"fp8\":\"1TFLOPS\"}}"),
                        "devices[0] (\"a\"): rates: matrix: unknown key \"fp8\"");
    assert_file_refused(DEVICE("\"memory\":\"1GiB\",\"memory_bandwidth\":\"1GB/s\""),
                        "devices[0] (\"a\"): \"rates\" is missing; a device has a type, or says "
                        "its memory, rates and memory_bandwidth");
    assert_file_refused(DEVICE("\"memory\":\"1GiB\",\"memory_bandwidth\":\"1GB/s\",\"rates\":{"
                               "\"matrix\":{\"bf16\":\"1TFLOPS\"}}"),
                        "devices[0] (\"a\"): \"rates\" says neither \"vector\" nor the \"fp32\" "
                        "of \"matrix\"");
    assert_file_refused(DEVICE("\"type\":\"t4\"}, {\"name\":\"a\",\"type\":\"t4\""),
                        "devices[1] (\"a\"): another device has this name");
    assert_file_refused(DEVICE("\"type\":\"t4\",\"measured\":[{\"layer\":\"x\"}]"),
                        "devices[0] (\"a\"): measured[0]: \"batch\" is missing");
#undef DEVICE
}

static void links_are_checked(void **state)
{
    (void)state;
#define LINKS(links)                                                                               \
    FILE_OF("{\"name\":\"a\",\"type\":\"t4\"},{\"name\":\"b\",\"type\":\"t4\"}",                   \
            ",\"links\":" links)
    assert_file_refused(LINKS("{\"bandwidth\":\"0GB/s\"}"),
                        "links: bandwidth: \"0GB/s\" must be more than 0");
    assert_file_refused(LINKS("{\"latency\":\"1us\"}"), "links: \"bandwidth\" is missing");
    assert_file_refused(LINKS("{\"between\":[\"a\",\"b\"]}"), "links: unknown key \"between\"");
    assert_file_refused(LINKS("[{\"between\":[\"a\",\"x1\"],\"bandwidth\":\"1GB/s\"}]"),
                        "links[0]: no device is \"x1\"");
    assert_file_refused(LINKS("[{\"between\":[\"a\",\"a\"],\"bandwidth\":\"1GB/s\"}]"),
                        "links[0]: \"between\" names one device twice");
    assert_file_refused(LINKS("[{\"between\":[\"a\",\"b\"],\"bandwidth\":\"1GB/s\"},"
                              "{\"between\":[\"b\",\"a\"],\"bandwidth\":\"1GB/s\"}]"),
                        "links[1]: this pair has a link already");
#undef LINKS
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_may_be_said),
        cmocka_unit_test(a_link_may_have_no_latency),
        cmocka_unit_test(a_type_fills_in_the_rest),
        cmocka_unit_test(links_may_be_given_pair_by_pair),
        cmocka_unit_test(pairs_with_no_link_get_the_slower_bus),
        cmocka_unit_test(measured_layers_are_kept),
        cmocka_unit_test(the_file_must_be_a_cluster),
        cmocka_unit_test(a_device_is_checked_key_by_key),
        cmocka_unit_test(links_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
