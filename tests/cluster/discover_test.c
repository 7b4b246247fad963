#include "support/support.h"

#include "cluster/discover.h"
#include "support/clusters/same_cluster.h"

#include <stdio.h>
#include <string.h>

#define GIB 1073741824.0

/* A driver of two GPUs, of which the tests choose names and links. */
static const char *names[2];
static unsigned nvlinks;
static unsigned gpu_count;
static int begins;
static int handles[2] = {0, 1};

static int number_of(void *device)
{
    return *(int *)device;
}

static int fake_begin(void)
{
    return begins;
}

static int fake_count(unsigned *out)
{
    *out = gpu_count;
    return 0;
}

static int fake_handle(unsigned index, void **out)
{
    *out = &handles[index];
    return 0;
}

static int fake_name(void *device, char *out, unsigned size)
{
    snprintf(out, size, "%s", names[number_of(device)]);
    return 0;
}

static int fake_memory(void *device, struct yk_nvml_memory *out)
{
    out->total = number_of(device) == 0 ? 24ULL << 30 : 48ULL << 30;
    return 0;
}

static int fake_capability(void *device, int *major, int *minor)
{
    (void)device;
    *major = 8;
    *minor = 6;
    return 0;
}

static int fake_generation(void *device, unsigned *out)
{
    *out = number_of(device) == 0 ? 4 : 3;
    return 0;
}

static int fake_width(void *device, unsigned *out)
{
    (void)device;
    *out = 16;
    return 0;
}

static int fake_nvlink(void *device, unsigned link, unsigned *active)
{
    (void)device;
    *active = link < nvlinks;
    return 0;
}

/* 3 is what a driver answers for what the GPU cannot do, whatever it leaves in the values. */
static int fake_mig(void *device, unsigned *current, unsigned *pending)
{
    (void)device;
    *current = 1;
    *pending = 1;
    return 3;
}

static int fake_cores(void *device, unsigned *out)
{
    (void)device;
    *out = 10496;
    return 0;
}

/* The clocks and bus of an RTX 3090. */
static int fake_clock(void *device, unsigned domain, unsigned *mhz)
{
    (void)device;
    *mhz = domain == 1 ? 1695 : 9751;
    return 0;
}

static int fake_bus(void *device, unsigned *bits)
{
    (void)device;
    *bits = 384;
    return 0;
}

static const struct yk_nvml_functions driver = {
    .begin = fake_begin,
    .count = fake_count,
    .handle = fake_handle,
    .name = fake_name,
    .memory = fake_memory,
    .capability = fake_capability,
    .pcie_generation = fake_generation,
    .pcie_width = fake_width,
    .nvlink_state = fake_nvlink,
    .mig_mode = fake_mig,
    .cores = fake_cores,
    .clock = fake_clock,
    .memory_bus_width = fake_bus,
};

/* A driver that is too old for all that may be missing. */
static const struct yk_nvml_functions old_driver = {
    .begin = fake_begin,
    .count = fake_count,
    .handle = fake_handle,
    .name = fake_name,
    .memory = fake_memory,
    .capability = fake_capability,
};

static int reset(void **state)
{
    (void)state;
    names[0] = "NVIDIA GeForce RTX 3090";
    names[1] = "NVIDIA RTX A6000";
    nvlinks = 0;
    gpu_count = 2;
    begins = 0;
    return 0;
}

static struct yk_cluster *cluster_of(const struct yk_machine *machine)
{
    struct yk_cluster *cluster = NULL;
    assert_ok(yk_discover_make_cluster(machine, &cluster));
    const char *broken = support_cluster_broken_promise(cluster);
    if (broken) {
        fail_msg("broken promise: %s", broken);
    }
    return cluster;
}

static void gpus_become_devices_with_the_numbers_of_their_datasheets(void **state)
{
    (void)state;
    struct yk_machine machine;
    assert_ok(yk_discover_machine(&driver, &machine));
    assert_int_equal(machine.gpu_count, 2);
    assert_null(machine.note);
    assert_int_equal(machine.gpus[0].sm_count, 82);
    assert_false(machine.gpus[0].mig);
    struct yk_cluster *cluster = cluster_of(&machine);
    assert_int_equal(cluster->device_count, 2);
    assert_string_equal(cluster->devices[0].name, "gpu0");
    assert_string_equal(cluster->devices[0].type, "rtx3090");
    assert_string_equal(cluster->devices[1].type, "a6000");
    assert_true(cluster->devices[1].memory_bytes == 48 * GIB);
    assert_true(cluster->host_memory_bytes == machine.host.memory_bytes);
    yk_cluster_destroy(cluster);
}

static void the_slower_slot_decides_between_two_gpus(void **state)
{
    (void)state;
    struct yk_machine machine;
    assert_ok(yk_discover_machine(&driver, &machine));
    struct yk_cluster *cluster = cluster_of(&machine);
    assert_true(yk_cluster_link_between(cluster, 0, 1)->bytes_per_s == 16e9);
    assert_null(cluster->assumption);
    yk_cluster_destroy(cluster);
}

static void nvlinks_that_are_up_are_added(void **state)
{
    (void)state;
    struct yk_machine machine;
    nvlinks = 4;
    assert_ok(yk_discover_machine(&driver, &machine));
    assert_int_equal(machine.gpus[0].nvlink_count, 4);
    struct yk_cluster *cluster = cluster_of(&machine);
    /* Half of the 112.5 GB/s that the GA102 whitepaper gives for both directions. */
    assert_true(yk_cluster_link_between(cluster, 0, 1)->bytes_per_s == 56.25e9);
    yk_cluster_destroy(cluster);
}

static void a_gpu_with_no_datasheet_counts_by_its_cores_and_clocks(void **state)
{
    (void)state;
    struct yk_machine machine;
    names[1] = "NVIDIA Something New";
    assert_ok(yk_discover_machine(&driver, &machine));
    struct yk_cluster *cluster = cluster_of(&machine);
    assert_null(cluster->devices[1].type);
    assert_true(cluster->devices[1].vector_flops == 2.0 * 10496 * 1695e6);
    assert_true(cluster->devices[1].memory_bytes_per_s == 2 * 9751e6 * 384 / 8);
    yk_cluster_destroy(cluster);
}

static void an_old_driver_reports_less(void **state)
{
    (void)state;
    struct yk_machine machine;
    assert_ok(yk_discover_machine(&old_driver, &machine));
    assert_int_equal(machine.gpu_count, 2);
    struct yk_cluster *cluster = cluster_of(&machine);
    assert_true(yk_cluster_link_between(cluster, 0, 1)->bytes_per_s == 32e9);
    assert_string_equal(cluster->assumption, "links not given: PCIe 4.0 x16 of rtx3090, 32GB/s");
    yk_cluster_destroy(cluster);
    names[0] = "NVIDIA Something New";
    assert_ok(yk_discover_machine(&old_driver, &machine));
    cluster = NULL;
    assert_fails(yk_discover_make_cluster(&machine, &cluster), YK_ERROR_INPUT,
                 "no datasheet knows the NVIDIA Something New, and its driver does not tell its "
                 "clocks; write a cluster file that says its memory, rates and memory_bandwidth");
}

static void where_there_is_no_gpu_the_cores_are_the_device(void **state)
{
    (void)state;
    struct yk_machine machine;
    gpu_count = 0;
    assert_ok(yk_discover_machine(&driver, &machine));
    assert_string_equal(machine.note, "no GPU: the NVIDIA driver knows of none");
    struct yk_cluster *cluster = cluster_of(&machine);
    assert_int_equal(cluster->device_count, 1);
    assert_true(cluster->devices[0].is_cpu);
    assert_int_equal(cluster->devices[0].cores, machine.host.core_count);
    assert_true(cluster->host_memory_bytes == 0);
    yk_cluster_destroy(cluster);
    begins = 999;
    assert_ok(yk_discover_machine(&driver, &machine));
    assert_string_equal(machine.note,
                        "no GPU: the NVIDIA driver does not answer; nvidia-smi may say why");
}

static void this_machine_has_cores_and_memory(void **state)
{
    (void)state;
    struct yk_topology host = {0};
    assert_ok(yk_topology_find(&host));
    assert_true(host.core_count > 0 && host.thread_count >= host.core_count);
    assert_true(host.memory_bytes > 64 * 1048576.0);
}

/* As `nvidia-smi -L` prints them. */
static void names_of_the_driver_lead_to_datasheets(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"NVIDIA H200", "h200"},
        {"NVIDIA H100 80GB HBM3", "h100"},
        {"NVIDIA H100 PCIe", "h100-pcie"},
        {"NVIDIA H100 NVL", "h100-nvl"},
        {"NVIDIA A100-SXM4-80GB", "a100-80"},
        {"NVIDIA A100 80GB PCIe", "a100-pcie-80"},
        {"A100-PCIE-40GB", "a100-pcie-40"},
        {"Tesla V100-SXM2-16GB", "v100-16"},
        {"Tesla V100-SXM3-32GB", "v100-32"},
        {"Tesla V100-PCIE-32GB", "v100-pcie-32"},
        {"Tesla P100-PCIE-16GB", "p100-pcie"},
        {"Tesla P40", "p40"},
        {"Tesla T4", "t4"},
        {"NVIDIA A10G", "a10g"},
        {"NVIDIA L4", "l4"},
        {"NVIDIA L40S", "l40s"},
        {"NVIDIA GH200 480GB", "gh200"},
        {"NVIDIA B200", "b200"},
        {"NVIDIA A16", "a16"},
        {"GeForce GTX 1080 Ti", "gtx1080ti"},
        {"NVIDIA GeForce GTX 1060 6GB", "gtx1060"},
        {"NVIDIA GeForce RTX 2080 Ti", "rtx2080ti"},
        {"NVIDIA GeForce RTX 4070 Ti SUPER", "rtx4070tis"},
        {"NVIDIA GeForce RTX 5090", "rtx5090"},
        {"NVIDIA TITAN RTX", "titanrtx"},
        {"NVIDIA TITAN X (Pascal)", "titanx"},
        {"TITAN Xp", "titanxp"},
        {"NVIDIA TITAN V", "titanv"},
        {"Quadro RTX 8000", "quadrortx8000"},
        {"NVIDIA RTX A6000", "a6000"},
        {"NVIDIA RTX A2000", "a2000"},
        {"NVIDIA RTX 6000 Ada Generation", "rtx6000ada"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const struct yk_datasheet *sheet = yk_discover_find_datasheet(pairs[i][0]);
        if (!sheet || strcmp(sheet->name, pairs[i][1]) != 0) {
            fail_msg("%s is %s", pairs[i][0], sheet ? sheet->name : "unknown");
        }
    }
    assert_null(yk_discover_find_datasheet("NVIDIA GeForce RTX 3080 Laptop GPU"));
    assert_null(yk_discover_find_datasheet("NVIDIA"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(gpus_become_devices_with_the_numbers_of_their_datasheets, reset),
        cmocka_unit_test_setup(the_slower_slot_decides_between_two_gpus, reset),
        cmocka_unit_test_setup(nvlinks_that_are_up_are_added, reset),
        cmocka_unit_test_setup(a_gpu_with_no_datasheet_counts_by_its_cores_and_clocks, reset),
        cmocka_unit_test_setup(an_old_driver_reports_less, reset),
        cmocka_unit_test_setup(where_there_is_no_gpu_the_cores_are_the_device, reset),
        cmocka_unit_test(this_machine_has_cores_and_memory),
        cmocka_unit_test(names_of_the_driver_lead_to_datasheets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
