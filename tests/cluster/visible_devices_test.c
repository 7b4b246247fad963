#include "support/support.h"

#include "cluster/visible_devices.h"

#include <stdio.h>
#include <stdlib.h>

/* Three whole GPUs, of which the last two begin alike. */
static const struct yk_nvml_gpu whole[] = {
    {.uuid = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"},
    {.uuid = "GPU-c0a41111-0000-0000-0000-000000000001"},
    {.uuid = "GPU-c0a42222-0000-0000-0000-000000000002"},
};

/* A whole GPU, and one that is cut in two. */
static const struct yk_nvml_gpu cut[] = {
    {.uuid = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"},
    {
        .uuid = "GPU-c0a41111-0000-0000-0000-000000000001",
        .mig = true,
        .instances = {{.uuid = "MIG-aaaa1111-0000-0000-0000-000000000001"},
                      {.uuid = "MIG-bbbb2222-0000-0000-0000-000000000002"}},
        .instance_count = 2,
    },
};

/* The GPUs that are shown, as digits in CUDA's order. */
static const char *shown(const char *text)
{
    static char digits[8];
    int count = 0;
    for (int number = 0; number < 7; number++) {
        const struct yk_visible_device found = yk_visible_devices_find_gpu(text, whole, 3, number);
        assert_int_equal(found.instance, -1);
        if (found.gpu >= 0) {
            assert_int_equal(count, number); /* no gaps */
            digits[count++] = (char)('0' + found.gpu);
        }
    }
    digits[count] = '\0';
    return digits;
}

static void where_the_variable_is_not_set_numbers_are_the_drivers(void **state)
{
    (void)state;
    assert_string_equal(shown(NULL), "012");
    assert_int_equal(yk_visible_devices_find_gpu(NULL, whole, 3, -1).gpu, -1);
    assert_int_equal(yk_visible_devices_find_gpu(NULL, whole, 0, 0).gpu, -1);
}

/* The two examples of the CUDA C++ programming guide among them. */
static void numbers_are_shown_in_the_order_of_the_list(void **state)
{
    (void)state;
    assert_string_equal(shown("2,1"), "21");
    assert_string_equal(shown("0,2,-1,1"), "02");
    assert_string_equal(shown("1"), "1");
    assert_string_equal(shown(" 2 , 0 "), "20");
}

static void the_list_ends_at_what_names_no_gpu(void **state)
{
    (void)state;
    assert_string_equal(shown(""), "");
    assert_string_equal(shown("-1"), "");
    assert_string_equal(shown("NoDevFiles"), "");
    assert_string_equal(shown("1,3,0"), "1");
    assert_string_equal(shown("1,99999999999999999999,0"), "1");
    assert_string_equal(shown("1,,0"), "1");
    assert_string_equal(shown("0,GPU-c0a41"), "0");
    assert_string_equal(shown("1gpu,2"), "12");
}

static void a_gpu_listed_twice_hides_all(void **state)
{
    (void)state;
    assert_string_equal(shown("0,1,0"), "");
    assert_string_equal(shown("GPU-8932,GPU-8932f937"), "");
}

static void the_beginning_of_a_uuid_names_the_gpu_that_alone_has_it(void **state)
{
    (void)state;
    assert_string_equal(shown("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"), "0");
    assert_string_equal(shown("GPU-c0a42,GPU-8"), "20");
    assert_string_equal(shown("GPU-8932,GPU-c0a4"), "0"); /* two GPUs begin so */
    assert_string_equal(shown("GPU-8932,1"), "0");
    assert_string_equal(shown("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6f"), "");
    assert_string_equal(shown("MIG-GPU-c0a41111-0000-0000-0000-000000000001/3/0"), "1");
    assert_string_equal(shown("MIG-aaaa1111"), "");
}

static void assert_instance(const char *text, int number, int gpu, int instance)
{
    const struct yk_visible_device found = yk_visible_devices_find_gpu(text, cut, 2, number);
    assert_int_equal(found.gpu, gpu);
    assert_int_equal(found.instance, instance);
}

static void of_instances_one_is_shown_and_nothing_else(void **state)
{
    (void)state;
    assert_instance("MIG-bbbb2222-0000-0000-0000-000000000002", 0, 1, 1);
    assert_instance("MIG-aaaa,MIG-bbbb", 0, 1, 0);
    assert_instance("MIG-aaaa,MIG-bbbb", 1, -1, -1);
    assert_instance("1", 0, 1, 0);
    assert_instance("0", 0, 0, -1);
    assert_instance(NULL, 0, 1, 0);
    assert_instance(NULL, 1, -1, -1);
    assert_instance("MIG-cccc", 0, -1, -1);
}

static void the_processs_own_variable_is_read(void **state)
{
    (void)state;
    assert_int_equal(setenv("CUDA_VISIBLE_DEVICES", "2,0", 1), 0);
    assert_int_equal(yk_visible_devices_driver_index(whole, 3, 0), 2);
    assert_int_equal(yk_visible_devices_driver_index(whole, 3, 1), 0);
    assert_int_equal(yk_visible_devices_driver_index(whole, 3, 2), -1);
    assert_int_equal(unsetenv("CUDA_VISIBLE_DEVICES"), 0);
    assert_int_equal(yk_visible_devices_driver_index(whole, 3, 2), 2);
}

/* A driver of one GPU that is cut into instances 0 and 2; handles are numbers. */
static char handles[16];

static int succeed(void)
{
    return 0;
}

static int fake_count(unsigned *out)
{
    *out = 1;
    return 0;
}

static int fake_handle(unsigned index, void **out)
{
    *out = &handles[index];
    return 0;
}

static int fake_text(void *device, char *out, unsigned size)
{
    snprintf(out, size, "text of %d", (int)((char *)device - handles));
    return 0;
}

static int fake_memory(void *device, struct yk_nvml_memory *out)
{
    (void)device;
    out->total = 80ULL << 30;
    return 0;
}

static int fake_capability(void *device, int *major, int *minor)
{
    (void)device;
    *major = 9;
    *minor = 0;
    return 0;
}

static int fake_mig(void *device, unsigned *current, unsigned *pending)
{
    (void)device;
    *current = 1;
    *pending = 1;
    return 0;
}

static int fake_instance(void *device, unsigned index, void **out)
{
    (void)device;
    if (index != 0 && index != 2) {
        return 6; /* not found */
    }
    *out = &handles[10 + index];
    return 0;
}

static int fake_attributes(void *instance, struct yk_nvml_mig_attributes *out)
{
    *out = (struct yk_nvml_mig_attributes){
        .multiprocessors = 16 * (unsigned)((char *)instance - handles - 9),
        .memory_mib = 10240,
    };
    return 0;
}

static void the_driver_reports_what_instances_have(void **state)
{
    (void)state;
    const struct yk_nvml_functions driver = {
        .begin = succeed,
        .count = fake_count,
        .handle = fake_handle,
        .name = fake_text,
        .memory = fake_memory,
        .capability = fake_capability,
        .mig_mode = fake_mig,
        .uuid = fake_text,
        .instance = fake_instance,
        .attributes = fake_attributes,
    };
    struct yk_nvml_gpu gpu;
    assert_int_equal(yk_nvml_list_gpus(&driver, &gpu, 1), 1);
    assert_string_equal(gpu.uuid, "text of 0");
    assert_int_equal(gpu.instance_count, 2);
    assert_string_equal(gpu.instances[0].uuid, "text of 10");
    assert_int_equal(gpu.instances[0].sm_count, 16);
    assert_string_equal(gpu.instances[1].uuid, "text of 12");
    assert_int_equal(gpu.instances[1].sm_count, 48);
    assert_true(gpu.instances[1].memory_bytes == 10.0 * (1 << 30));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_the_variable_is_not_set_numbers_are_the_drivers),
        cmocka_unit_test(numbers_are_shown_in_the_order_of_the_list),
        cmocka_unit_test(the_list_ends_at_what_names_no_gpu),
        cmocka_unit_test(a_gpu_listed_twice_hides_all),
        cmocka_unit_test(the_beginning_of_a_uuid_names_the_gpu_that_alone_has_it),
        cmocka_unit_test(of_instances_one_is_shown_and_nothing_else),
        cmocka_unit_test(the_processs_own_variable_is_read),
        cmocka_unit_test(the_driver_reports_what_instances_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
