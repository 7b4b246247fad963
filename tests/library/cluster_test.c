#include "public_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const double gib = 1024.0 * 1024 * 1024;

static void a_line_names_devices_and_a_link(void **state)
{
    (void)state;
    yoke_cluster *cluster = NULL;
    assert_done(yoke_cluster_open("1xrtx6000ada + 2xrtx3090 @ 32GB/s", &cluster));
    const struct yoke_cluster_info *info = yoke_cluster_info(cluster);
    assert_string_equal(info->source, "1xrtx6000ada + 2xrtx3090 @ 32GB/s");
    assert_int_equal(info->device_count, 3);
    assert_int_equal(info->node_count, 1);
    assert_null(info->assumption);
    const struct yoke_device *device = yoke_cluster_device(cluster, 2);
    assert_string_equal(device->name, "gpu2");
    assert_string_equal(device->type, "rtx3090");
    assert_false(device->is_cpu);
    assert_near(device->memory_bytes, 24 * gib);
    assert_near(yoke_cluster_device(cluster, 0)->memory_bytes, 48 * gib);
    /* NVIDIA's datasheet: 35.58 TFLOPS in fp32, twice that in dense bf16 with fp32 accumulation. */
    assert_near(device->vector_flops, 35.58e12);
    assert_true(device->bf16_flops > device->fp32_flops);
    assert_near(yoke_cluster_link(cluster, 0, 2)->bytes_per_s, 32e9);
    yoke_cluster_destroy(cluster);
}

static void what_is_not_there_is_null(void **state)
{
    (void)state;
    yoke_cluster *cluster = NULL;
    assert_done(yoke_cluster_open("2xa30", &cluster));
    assert_null(yoke_cluster_device(cluster, -1));
    assert_null(yoke_cluster_device(cluster, 2));
    assert_null(yoke_cluster_link(cluster, 0, 0));
    assert_null(yoke_cluster_link(cluster, 0, 2));
    assert_null(yoke_cluster_link(cluster, -1, 0));
    assert_non_null(yoke_cluster_info(cluster)->assumption);
    yoke_cluster_destroy(cluster);
}

static void a_cluster_reads_back_as_it_was_written(void **state)
{
    (void)state;
    yoke_cluster *cluster = NULL;
    yoke_cluster *again = NULL;
    char *text = NULL;
    char *second = NULL;
    assert_done(yoke_cluster_open("(2xa100 @ nvlink3) + (1xv100) @ 10GbE", &cluster));
    assert_done(yoke_cluster_write(cluster, &text));
    assert_done(yoke_cluster_read(text, "written", &again));
    assert_string_equal(yoke_cluster_info(again)->source, "written");
    assert_int_equal(yoke_cluster_info(again)->device_count, 3);
    assert_int_equal(yoke_cluster_info(again)->node_count, 2);
    assert_near(yoke_cluster_link(again, 0, 2)->bytes_per_s, 1.25e9);
    assert_done(yoke_cluster_write(again, &second));
    assert_string_equal(text, second);
    yoke_free(text);
    yoke_free(second);
    yoke_cluster_destroy(cluster);
    yoke_cluster_destroy(again);
}

static void a_file_is_opened_by_its_name(void **state)
{
    (void)state;
    char path[] = "/tmp/yoke-cluster-XXXXXX";
    yoke_cluster *cluster = NULL;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_true(write(file, "{", 1) == 1);
    close(file);
    assert_int_equal(yoke_cluster_open(path, &cluster), YOKE_ERROR_INPUT);
    assert_contains(yoke_message(), path);
    remove(path);
    assert_mentions(yoke_cluster_open("no/such.json", &cluster), YOKE_ERROR_INPUT, "no/such.json");
}

static void a_text_with_a_fault_is_refused_with_its_place(void **state)
{
    (void)state;
    yoke_cluster *cluster = NULL;
    assert_mentions(
        yoke_cluster_read("{\"yoke\": 1, \"kind\": \"cluster\", \"device\": []}", "mine", &cluster),
        YOKE_ERROR_INPUT, "mine: ");
    assert_contains(yoke_message(), "devices");
    assert_null(cluster);
}

static void this_machine_is_a_cluster(void **state)
{
    (void)state;
    yoke_cluster *cluster = NULL;
    assert_done(yoke_cluster_discover(&cluster));
    assert_true(yoke_cluster_info(cluster)->device_count >= 1);
    assert_string_equal(yoke_cluster_info(cluster)->source, "this machine");
    assert_true(yoke_cluster_device(cluster, 0)->memory_bytes > 0);
    yoke_cluster_destroy(cluster);
}

static void types_that_a_line_may_name_are_listed(void **state)
{
    (void)state;
    int32_t count = 0;
    bool found = false;
    const char *title = NULL;
    for (const char *name; (name = yoke_device_type(count, &title)) != NULL; count++) {
        assert_non_null(title);
        found = found || (strcmp(name, "rtx3090") == 0 && strstr(title, "RTX 3090"));
    }
    assert_true(found);
    assert_null(yoke_device_type(-1, NULL));
    assert_non_null(yoke_device_type(0, NULL));
}

static void two_clusters_live_side_by_side(void **state)
{
    (void)state;
    yoke_cluster *one = NULL;
    yoke_cluster *other = NULL;
    assert_done(yoke_cluster_open("1xh100", &one));
    assert_done(yoke_cluster_open("1xa100", &other));
    assert_string_equal(yoke_cluster_info(one)->source, "1xh100");
    yoke_cluster_destroy(one);
    assert_string_equal(yoke_cluster_info(other)->source, "1xa100");
    yoke_cluster_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_names_devices_and_a_link),
        cmocka_unit_test(what_is_not_there_is_null),
        cmocka_unit_test(a_cluster_reads_back_as_it_was_written),
        cmocka_unit_test(a_file_is_opened_by_its_name),
        cmocka_unit_test(a_text_with_a_fault_is_refused_with_its_place),
        cmocka_unit_test(this_machine_is_a_cluster),
        cmocka_unit_test(types_that_a_line_may_name_are_listed),
        cmocka_unit_test(two_clusters_live_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
