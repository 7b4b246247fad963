#include "support/support.h"

#include "cluster/datasheet.h"

#include <math.h>
#include <string.h>

static const struct yk_datasheet *find(const char *name)
{
    const struct yk_datasheet *sheet = yk_datasheet_find(name);
    if (!sheet) {
        fail_msg("no datasheet answers to \"%s\"", name);
    }
    return sheet;
}

static double rate(const char *name, enum yk_precision precision)
{
    return find(name)->matrix_flops[precision];
}

static void assert_near(double value, double expected, double tolerance, const char *what)
{
    if (!(fabs(value / expected - 1) <= tolerance)) {
        fail_msg("%s: %g is not within %g%% of %g", what, value, tolerance * 100, expected);
    }
}

/* Cores and boost clocks in MHz as the makers list them: fp32 is two operations a core and cycle.
 */
static void fp32_is_twice_the_cores_times_the_boost_clock(void **state)
{
    static const struct {
        const char *name;
        double cores;
        double mhz;
    } chips[] = {
        {"gtx1060", 1280, 1708},    {"gtx1070", 1920, 1683},       {"gtx1080", 2560, 1733},
        {"gtx1080ti", 3584, 1582},  {"titanxp", 3840, 1582},       {"titanv", 5120, 1455},
        {"rtx2060", 1920, 1680},    {"rtx2070", 2304, 1620},       {"rtx2080", 2944, 1710},
        {"rtx2080ti", 4352, 1545},  {"titanrtx", 4608, 1770},      {"rtx3060", 3584, 1777},
        {"rtx3070", 5888, 1725},    {"rtx3080", 8704, 1710},       {"rtx3090", 10496, 1695},
        {"rtx3090ti", 10752, 1860}, {"rtx4060", 3072, 2460},       {"rtx4070", 5888, 2475},
        {"rtx4080", 9728, 2505},    {"rtx4090", 16384, 2520},      {"rtx5070", 6144, 2512},
        {"rtx5080", 10752, 2617},   {"rtx5090", 21760, 2407},      {"a4000", 6144, 1560},
        {"a5000", 8192, 1695},      {"a6000", 10752, 1800},        {"rtx6000ada", 18176, 2505},
        {"p40", 3840, 1531},        {"p100", 3584, 1480},          {"v100-16", 5120, 1530},
        {"t4", 2560, 1590},         {"a10", 9216, 1695},           {"a40", 10752, 1740},
        {"a100-80", 6912, 1410},    {"h100", 16896, 1980},         {"h100-pcie", 14592, 1755},
        {"l4", 7424, 2040},         {"l40s", 18176, 2520},         {"a30", 3584, 1440},
        {"gtx1070ti", 2432, 1683},  {"rtx2070s", 2560, 1770},      {"rtx2080s", 3072, 1815},
        {"rtx3060ti", 4864, 1665},  {"rtx4070tis", 8448, 2610},    {"rtx4080s", 10240, 2550},
        {"a4500", 7168, 1650},      {"rtx4070ti", 7680, 2610},     {"rtx5070ti", 8960, 2452},
        {"rtx3080ti", 10240, 1665}, {"quadrortx8000", 4608, 1770},
    };
    (void)state;
    for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++) {
        assert_near(find(chips[i].name)->vector_flops, 2 * chips[i].cores * chips[i].mhz * 1e6,
                    0.015, chips[i].name);
    }
}

/* Bus width in bits and data rate in Gbit/s a pin. */
static void memory_bandwidth_is_bus_width_times_data_rate(void **state)
{
    static const struct {
        const char *name;
        double bits;
        double gbit;
    } buses[] = {
        {"gtx1060", 192, 8},        {"gtx1080", 256, 10},
        {"gtx1080ti", 352, 11},     {"titanx", 384, 10},
        {"titanxp", 384, 11.4},     {"titanv", 3072, 1.7},
        {"rtx2060", 192, 14},       {"rtx2080", 256, 14},
        {"rtx2080s", 256, 15.5},    {"rtx2080ti", 352, 14},
        {"titanrtx", 384, 14},      {"rtx3060", 192, 15},
        {"rtx3070ti", 256, 19},     {"rtx3080", 320, 19},
        {"rtx3090", 384, 19.5},     {"rtx3090ti", 384, 21},
        {"rtx4060", 128, 17},       {"rtx4060ti", 128, 18},
        {"rtx4070", 192, 21},       {"rtx4080", 256, 22.4},
        {"rtx4080s", 256, 23},      {"rtx4090", 384, 21},
        {"rtx5070", 192, 28},       {"rtx5080", 256, 30},
        {"rtx5090", 512, 28},       {"a2000", 192, 12},
        {"a4000", 256, 14},         {"a4500", 320, 16},
        {"a5000", 384, 16},         {"a6000", 384, 16},
        {"rtx4000ada", 160, 18},    {"rtx4500ada", 192, 18},
        {"rtx5000ada", 256, 18},    {"rtx6000ada", 384, 20},
        {"p40", 384, 7.2},          {"p100", 4096, 1.43},
        {"v100-16", 4096, 1.75},    {"t4", 256, 10},
        {"a10", 384, 12.5},         {"a30", 3072, 2.43},
        {"a40", 384, 14.5},         {"a100-40", 5120, 2.43},
        {"a100-80", 5120, 3.186},   {"l4", 192, 12.5},
        {"l40", 384, 18},           {"h100", 5120, 5.2344},
        {"h100-pcie", 5120, 3.186}, {"mi250x", 8192, 3.2},
        {"mi300x", 8192, 5.2},      {"quadrortx5000", 256, 14},
        {"rtx4070tis", 256, 21},
    };
    (void)state;
    for (size_t i = 0; i < sizeof buses / sizeof buses[0]; i++) {
        assert_near(find(buses[i].name)->memory_bytes_per_s,
                    buses[i].bits * buses[i].gbit / 8 * 1e9, 0.006, buses[i].name);
    }
}

static void sixteen_bits_run_twice_as_fast_as_tf32(void **state)
{
    (void)state;
    int compared = 0;
    for (size_t i = 0; i < yk_datasheet_count; i++) {
        const struct yk_datasheet *sheet = &yk_datasheets[i];
        if (sheet->matrix_flops[YK_PRECISION_TF32] > 0) {
            assert_near(sheet->matrix_flops[YK_PRECISION_FP16],
                        2 * sheet->matrix_flops[YK_PRECISION_TF32], 0.015, sheet->name);
            compared++;
        }
    }
    assert_true(compared > 40);
}

/* Flops a cycle and SM of 128 cores with fp32 sums: 512 on GeForce, 1024 on their siblings. */
static void geforce_runs_at_half_the_tensor_rate_of_its_workstation_sibling(void **state)
{
    (void)state;
    static const char *const geforce[] = {"rtx3060", "rtx3090", "rtx3070ti", "rtx4060",
                                          "rtx4090", "rtx4080", "rtx5080",   "rtx5090"};
    static const char *const full[] = {"a4000", "a5000", "a6000", "a10", "a40", "rtx6000ada", "l4"};
    for (size_t i = 0; i < sizeof geforce / sizeof geforce[0]; i++) {
        assert_near(rate(geforce[i], YK_PRECISION_BF16), 2 * find(geforce[i])->vector_flops, 0.01,
                    geforce[i]);
    }
    for (size_t i = 0; i < sizeof full / sizeof full[0]; i++) {
        assert_near(rate(full[i], YK_PRECISION_BF16), 4 * find(full[i])->vector_flops, 0.01,
                    full[i]);
    }
    /* Turing: 64 cores an SM, 512 against 1024. */
    assert_near(rate("rtx2080ti", YK_PRECISION_FP16), 4 * find("rtx2080ti")->vector_flops, 0.01,
                "rtx2080ti");
    assert_near(rate("titanrtx", YK_PRECISION_FP16), 8 * find("titanrtx")->vector_flops, 0.01,
                "titanrtx");
    assert_near(rate("t4", YK_PRECISION_FP16), 8 * find("t4")->vector_flops, 0.01, "t4");
    assert_near(rate("v100-16", YK_PRECISION_FP16), 8 * find("v100-16")->vector_flops, 0.01,
                "v100-16");
}

static void published_ratios_hold(void **state)
{
    (void)state;
    assert_near(rate("rtx6000ada", YK_PRECISION_BF16) / rate("rtx3090", YK_PRECISION_BF16), 5.13,
                0.005, "RTX 6000 Ada to RTX 3090");
    assert_near(rate("h100", YK_PRECISION_BF16) / rate("a100-80", YK_PRECISION_BF16), 3.17, 0.005,
                "H100 to A100");
    assert_near(rate("a100-40", YK_PRECISION_TF32) / find("a100-40")->vector_flops, 8, 0.001,
                "tf32 to fp32 of an A100");
    assert_near(find("h200")->memory_bytes_per_s / find("h100")->memory_bytes_per_s, 1.43, 0.005,
                "memory of H200 to H100");
    assert_true(rate("h200", YK_PRECISION_BF16) == rate("h100", YK_PRECISION_BF16));
}

static void bf16_came_with_ampere(void **state)
{
    (void)state;
    for (size_t i = 0; i < yk_datasheet_count; i++) {
        const struct yk_datasheet *sheet = &yk_datasheets[i];
        const bool old = sheet->generation == YK_DEVICE_GENERATION_PASCAL ||
                         sheet->generation == YK_DEVICE_GENERATION_VOLTA ||
                         sheet->generation == YK_DEVICE_GENERATION_TURING ||
                         sheet->generation == YK_DEVICE_GENERATION_CPU;
        if (old != !(sheet->matrix_flops[YK_PRECISION_BF16] > 0)) {
            fail_msg("%s: bf16", sheet->name);
        }
    }
}

static void every_row_is_complete(void **state)
{
    (void)state;
    assert_true(yk_datasheet_count >= 45);
    for (size_t i = 0; i < yk_datasheet_count; i++) {
        const struct yk_datasheet *sheet = &yk_datasheets[i];
        assert_true(sheet->memory_bytes > 0 && sheet->memory_bytes_per_s > 0);
        assert_true(sheet->vector_flops > 0 && sheet->matrix_flops[YK_PRECISION_FP32] > 0);
        assert_true(sheet->generation != YK_DEVICE_GENERATION_UNKNOWN);
        assert_true(strlen(sheet->title) > 0 && strlen(sheet->source) > 10);
        assert_non_null(yk_interconnect_find(sheet->host_interconnect));
        assert_true(!sheet->peer_interconnect || yk_interconnect_find(sheet->peer_interconnect));
        assert_true(sheet->plan_only == (sheet->generation == YK_DEVICE_GENERATION_CDNA));
    }
}

static void no_two_rows_answer_to_one_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < yk_datasheet_count; i++) {
        const struct yk_datasheet *sheet = &yk_datasheets[i];
        assert_ptr_equal(find(sheet->name), sheet);
        assert_ptr_equal(find(sheet->title), sheet);
        for (const char *const *also = sheet->aliases; also && *also; also++) {
            assert_ptr_equal(find(*also), sheet);
        }
    }
}

static void names_are_found_however_they_are_spelt(void **state)
{
    (void)state;
    assert_string_equal(find("RTX 3090")->name, "rtx3090");
    assert_string_equal(find("rtx_6000-ada")->name, "rtx6000ada");
    assert_string_equal(find("A100_80GB")->name, "a100-80");
    assert_string_equal(find("GeForce RTX 4070 Ti SUPER")->name, "rtx4070tis");
    assert_null(yk_datasheet_find("rtx309"));
    assert_null(yk_datasheet_find("rtx30900"));
    assert_null(yk_datasheet_find(""));
}

static void a_misspelt_name_is_offered_the_nearest(void **state)
{
    (void)state;
    const char *names[3];
    assert_string_equal(yk_datasheet_nearest_name("rtx3900"), "rtx3090");
    assert_int_equal(yk_datasheet_nearest_names("rtx3900", names, 3), 3);
    assert_string_equal(names[0], "rtx3090");
    assert_null(yk_datasheet_nearest_name("abacus-of-wood"));
}

static void links_have_what_their_lanes_carry(void **state)
{
    (void)state;
    assert_true(yk_interconnect_find("PCIe4")->bytes_per_s == 32e9);
    assert_true(yk_interconnect_find("10gbe")->bytes_per_s == 1.25e9);
    assert_true(yk_interconnect_find("ib-hdr")->bytes_per_s == 25e9);
    /* Half of the bidirectional 600 GB/s and 900 GB/s that NVIDIA quotes. */
    assert_true(yk_interconnect_find("nvlink3")->bytes_per_s == 300e9);
    assert_true(yk_interconnect_find("nvlink4")->bytes_per_s == 450e9);
    assert_null(yk_interconnect_find("pcie9"));
    assert_string_equal(yk_interconnect_nearest_name("nvlnk3"), "nvlink3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fp32_is_twice_the_cores_times_the_boost_clock),
        cmocka_unit_test(memory_bandwidth_is_bus_width_times_data_rate),
        cmocka_unit_test(sixteen_bits_run_twice_as_fast_as_tf32),
        cmocka_unit_test(geforce_runs_at_half_the_tensor_rate_of_its_workstation_sibling),
        cmocka_unit_test(published_ratios_hold),
        cmocka_unit_test(bf16_came_with_ampere),
        cmocka_unit_test(every_row_is_complete),
        cmocka_unit_test(no_two_rows_answer_to_one_name),
        cmocka_unit_test(names_are_found_however_they_are_spelt),
        cmocka_unit_test(a_misspelt_name_is_offered_the_nearest),
        cmocka_unit_test(links_have_what_their_lanes_carry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
