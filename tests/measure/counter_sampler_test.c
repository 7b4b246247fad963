#include "support/support.h"

#include "measure/counters/counter_sampler.h"

#include "cluster/nvml.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576.0

/* A driver of one GPU. A sample of it is the moment at which it was taken. */
static struct {
    unsigned supported;
    int sample_error;
    int metrics_error;
    double now_s;
    int allocated;
    unsigned clock_mhz;
    unsigned long long nvlink_kib;
    int pcie_asked;
    bool signals_come;
    unsigned watts;
    bool mig; /* the GPU is cut, and its instance 4 is the only one */
} driver;

static int the_gpu;
static int the_instance;

static int fake_begin(void)
{
    return 0;
}

static int fake_count(unsigned *out)
{
    *out = 1;
    return 0;
}

static int fake_name(void *device, char *out, unsigned size)
{
    (void)device;
    (void)snprintf(out, size, "NVIDIA H200");
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
    *current = *pending = driver.mig;
    return 0;
}

static int fake_uuid(void *device, char *out, unsigned size)
{
    (void)snprintf(out, size, device == &the_gpu ? "GPU-1" : "MIG-2");
    return 0;
}

static int fake_instance(void *device, unsigned index, void **out)
{
    (void)device;
    *out = &the_instance;
    return index == 5 ? 0 : 6;
}

static int fake_attributes(void *instance, struct yk_nvml_mig_attributes *out)
{
    assert_ptr_equal(instance, &the_instance);
    out->multiprocessors = 16;
    return 0;
}

static int fake_by_uuid(const char *uuid, void **out)
{
    *out = &the_instance;
    return strcmp(uuid, "MIG-2") == 0 ? 0 : 6;
}

static int fake_instance_number(void *instance, unsigned *out)
{
    assert_ptr_equal(instance, &the_instance);
    *out = 4;
    return 0;
}

static int fake_handle(unsigned index, void **out)
{
    *out = &the_gpu;
    return index == 0 ? 0 : 2;
}

static int fake_memory(void *device, struct yk_nvml_memory *out)
{
    sigset_t blocked;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    driver.signals_come = sigismember(&blocked, SIGINT) == 0;
    out->used = device == &the_gpu ? 5ULL << 30 : 1ULL << 30;
    return 0;
}

static int fake_clock(void *device, unsigned domain, unsigned *mhz)
{
    (void)device;
    *mhz = domain == 1 ? driver.clock_mhz : 0;
    return 0;
}

static int fake_power(void *device, unsigned *milliwatts)
{
    (void)device;
    *milliwatts = 311500;
    return 0;
}

static int fake_pcie(void *device, unsigned counter, unsigned *kilobytes_per_s)
{
    (void)device;
    driver.pcie_asked++;
    *kilobytes_per_s = counter == 1 ? 7000 : 9000;
    return 0;
}

/* Counts what went over all its links; its power now is known where it is not 0. */
static int fake_fields(void *device, int count, struct yk_nvml_field_value *fields)
{
    (void)device;
    for (int i = 0; i < count; i++) {
        const bool nvlink = fields[i].id == 138 || fields[i].id == 139;
        fields[i].status = nvlink && fields[i].scope == ~0U ? 0 : 3;
        if (fields[i].id == 186 && driver.watts > 0) {
            fields[i].status = 0;
            fields[i].value.word = 1000 * driver.watts;
            continue;
        }
        fields[i].value.wide = driver.nvlink_kib * (fields[i].id == 138 ? 1 : 2);
    }
    return 0;
}

static int fake_support(void *device, struct yk_nvml_gpm_support *out)
{
    (void)device;
    assert_int_equal(out->version, 1);
    out->supported = driver.supported;
    return 0;
}

static int fake_alloc(void **sample)
{
    *sample = calloc(1, sizeof(double));
    driver.allocated++;
    return 0;
}

static int fake_free(void *sample)
{
    free(sample);
    driver.allocated--;
    return 0;
}

static int fake_sample(void *device, void *sample)
{
    assert_ptr_equal(device, &the_gpu);
    *(double *)sample = driver.now_s;
    return driver.sample_error;
}

static int fake_instance_sample(void *device, unsigned instance, void *sample)
{
    assert_int_equal(instance, 4);
    return fake_sample(device, sample);
}

/* SM: as many percent as seconds passed. The GPU has no meter of tensor cores. */
static int fake_metrics(struct yk_nvml_gpm_metrics *out)
{
    assert_int_equal(out->version, 1);
    for (unsigned i = 0; i < out->count; i++) {
        struct yk_nvml_gpm_metric *metric = &out->metrics[i];
        metric->status = metric->id == 5 ? 3 : 0;
        metric->value =
            metric->id == 2 ? *(double *)out->after - *(double *)out->before : (double)metric->id;
    }
    return driver.metrics_error;
}

static const struct yk_nvml_functions table = {
    .begin = fake_begin,
    .count = fake_count,
    .handle = fake_handle,
    .name = fake_name,
    .memory = fake_memory,
    .capability = fake_capability,
    .mig_mode = fake_mig,
    .uuid = fake_uuid,
    .instance = fake_instance,
    .attributes = fake_attributes,
    .by_uuid = fake_by_uuid,
    .instance_number = fake_instance_number,
    .clock_now = fake_clock,
    .power = fake_power,
    .pcie_traffic = fake_pcie,
    .fields = fake_fields,
    .gpm_support = fake_support,
    .gpm_alloc = fake_alloc,
    .gpm_free = fake_free,
    .gpm_sample = fake_sample,
    .gpm_instance_sample = fake_instance_sample,
    .gpm_metrics = fake_metrics,
};

/* In place, which takes no memory that nobody gives back. */
static void set_path(const char *sentence)
{
    static char assignment[64];
    (void)snprintf(assignment, sizeof assignment, "PATH=%s", sentence);
    (void)putenv(assignment);
}

static int set_up(void **state)
{
    (void)state;
    memset(&driver, 0, sizeof driver);
    driver.supported = 1;
    set_path("/nowhere"); /* there is no dcgmi */
    return unsetenv("CUDA_VISIBLE_DEVICES");
}

static int tear_down(void **state)
{
    (void)state;
    set_path("/usr/bin:/bin");
    return 0;
}

static struct yk_counter_sampler *open_gpu(int32_t number)
{
    struct yk_counter_sampler *sampler = NULL;
    assert_ok(yk_counter_sampler_open(
        &(struct yk_counter_sampler_options){.gpu = true, .number = number, .nvml = &table},
        &sampler));
    return sampler;
}

static void poll_at(struct yk_counter_sampler *sampler, double now_s)
{
    driver.now_s = now_s;
    yk_counter_sampler_poll(sampler, now_s);
}

/* As the thread does. */
static void run_until(struct yk_counter_sampler *sampler, double until_s)
{
    while (yk_counter_sampler_next_poll_s(sampler) <= until_s) {
        poll_at(sampler, yk_counter_sampler_next_poll_s(sampler));
    }
}

static int32_t count_of(const struct yk_counter_sampler *sampler)
{
    const struct yk_counter_reading *readings = NULL;
    int32_t count = 0;
    yk_counter_sampler_get_readings(sampler, &readings, &count);
    return count;
}

/* The last one, of so many. */
static const struct yk_counter_reading *last_of(const struct yk_counter_sampler *sampler,
                                                int32_t expected)
{
    const struct yk_counter_reading *readings = NULL;
    int32_t count = 0;
    yk_counter_sampler_get_readings(sampler, &readings, &count);
    assert_int_equal(count, expected);
    return &readings[count - 1];
}

static void assert_described(const struct yk_counter_sampler *sampler, const char *sentence)
{
    struct yk_text text = {0};
    yk_counter_sampler_describe(sampler, &text);
    assert_string_equal(yk_text_chars(&text), sentence);
    yk_text_free(&text);
}

static void assert_near(double value, double expected)
{
    assert_true(fabs(value - expected) <= 1e-12 * fabs(expected));
}

/* Meters that have seen that counters always are new, with a reading that ends at 100. */
static struct yk_counter_sampler *open_steady(int32_t *count)
{
    struct yk_counter_sampler *sampler = open_gpu(0);
    poll_at(sampler, 99);
    run_until(sampler, 99.9);
    poll_at(sampler, 100);
    *count = count_of(sampler);
    assert_near(last_of(sampler, *count)->end_s, 100);
    return sampler;
}

static void gpm_is_reported_in_parts_and_bytes(void **state)
{
    (void)state;
    int32_t count = 0;
    struct yk_counter_sampler *sampler = open_steady(&count);
    poll_at(sampler, 120);
    const struct yk_counter_reading *reading = last_of(sampler, count + 1);
    assert_near(reading->begin_s, 100);
    assert_near(reading->end_s, 120);
    assert_near(reading->values[YK_COUNTER_SM], 0.20);
    assert_near(reading->values[YK_COUNTER_OCCUPANCY], 0.03);
    assert_near(reading->values[YK_COUNTER_DRAM], 0.10);
    assert_near(reading->values[YK_COUNTER_PCIE_OUT], 20 * MIB);
    assert_near(reading->values[YK_COUNTER_PCIE_IN], 21 * MIB);
    assert_near(reading->values[YK_COUNTER_NVLINK_IN], 60 * MIB);
    assert_near(reading->values[YK_COUNTER_NVLINK_OUT], 61 * MIB);
    assert_near(reading->values[YK_COUNTER_POWER], 311.5);
    assert_near(reading->values[YK_COUNTER_MEMORY], 5.0 * 1024 * MIB);
    assert_true(isnan(reading->values[YK_COUNTER_TENSOR]));
    assert_true(isnan(reading->values[YK_COUNTER_CORES]));
    assert_int_equal(driver.pcie_asked, 0);
    assert_described(sampler, "NVML GPM every 20 ms");
    yk_counter_sampler_close(sampler);
    assert_int_equal(driver.allocated, 0);
}

/* Readings of about 20 ms, each as many percent as seconds long, and one poll a reading. */
static void gpm_that_always_is_new_is_read_once_a_period(void **state)
{
    (void)state;
    int32_t count = 0;
    struct yk_counter_sampler *sampler = open_steady(&count);
    run_until(sampler, 110);
    const int32_t more = count_of(sampler) - count;
    assert_in_range(more, 490, 510);
    const struct yk_counter_reading *last = last_of(sampler, count + more);
    for (int32_t i = 0; i < more; i++) {
        const struct yk_counter_reading *reading = last - i;
        const double length_s = reading->end_s - reading->begin_s;
        assert_true(length_s > 0.0149 && length_s < 0.0251);
        assert_true(fabs(100 * reading->values[YK_COUNTER_SM] - length_s) < 1e-9);
        assert_true(reading->begin_s == reading[-1].end_s);
    }
    yk_counter_sampler_close(sampler);
}

/* A second without an answer is a reading of the rest; then GPM begins anew. */
static void gpm_that_does_not_answer_leaves_the_rest(void **state)
{
    (void)state;
    int32_t count = 0;
    struct yk_counter_sampler *sampler = open_steady(&count);
    driver.metrics_error = 999;
    run_until(sampler, 102.5);
    const struct yk_counter_reading *last = last_of(sampler, count + 2);
    assert_true(isnan(last->values[YK_COUNTER_SM]));
    assert_near(last->values[YK_COUNTER_POWER], 311.5);
    assert_near(last[-1].begin_s, 100);
    assert_true(isnan(last[-1].values[YK_COUNTER_SM]));
    driver.metrics_error = 0;
    run_until(sampler, 103.5);
    const int32_t more = count_of(sampler) - count;
    last = last_of(sampler, count + more);
    assert_true(more > 20);
    for (int32_t i = 0; i < more - 2; i++) {
        assert_true(last[-i].begin_s > 102.48);
        assert_true(last[-i].values[YK_COUNTER_SM] > 0);
    }
    yk_counter_sampler_close(sampler);
}

static void a_lost_sample_is_not_compared_with(void **state)
{
    (void)state;
    int32_t count = 0;
    struct yk_counter_sampler *sampler = open_steady(&count);
    driver.sample_error = 999;
    run_until(sampler, 100.1);
    assert_int_equal(count_of(sampler), count);
    driver.sample_error = 0;
    run_until(sampler, 100.2);
    const struct yk_counter_reading *next = last_of(sampler, count_of(sampler));
    assert_true(next->begin_s > 100.099);
    while (next[-1].end_s > 100) {
        next--;
    }
    assert_true(next->begin_s > 100.099);
    assert_true(100 * next->values[YK_COUNTER_SM] < 0.1);
    yk_counter_sampler_close(sampler);
}

static void an_older_gpu_has_what_nvml_reports_of_all(void **state)
{
    (void)state;
    driver.supported = 0;
    driver.clock_mhz = 1980;
    struct yk_counter_sampler *sampler = open_gpu(0);
    poll_at(sampler, 0);
    driver.nvlink_kib = 1000;
    poll_at(sampler, 0.5);
    const double *values = last_of(sampler, 1)->values;
    assert_near(values[YK_COUNTER_CLOCK], 1.98e9);
    assert_near(values[YK_COUNTER_POWER], 311.5);
    assert_near(values[YK_COUNTER_NVLINK_OUT], 2048000);
    assert_near(values[YK_COUNTER_NVLINK_IN], 4096000);
    assert_near(values[YK_COUNTER_PCIE_IN], 7e6);
    assert_near(values[YK_COUNTER_PCIE_OUT], 9e6);
    assert_true(isnan(values[YK_COUNTER_SM]));
    yk_counter_sampler_stop(sampler);
    assert_described(sampler, "NVML every 100 ms; GPM: not on this GPU (Hopper and newer have it); "
                              "DCGM: dcgmi is not installed");
    yk_counter_sampler_close(sampler);
}

static void power_is_that_of_both_ends(void **state)
{
    (void)state;
    driver.supported = 0;
    struct yk_counter_sampler *sampler = open_gpu(0);
    driver.watts = 100;
    poll_at(sampler, 0);
    driver.watts = 300;
    poll_at(sampler, 1);
    assert_near(last_of(sampler, 1)->values[YK_COUNTER_POWER], 200);
    driver.watts = 500;
    poll_at(sampler, 2);
    assert_near(last_of(sampler, 2)->values[YK_COUNTER_POWER], 400);
    yk_counter_sampler_close(sampler);
}

/* Asking takes long: once a second. */
static void pcie_is_asked_rarely(void **state)
{
    (void)state;
    driver.supported = 0;
    struct yk_counter_sampler *sampler = open_gpu(0);
    for (int i = 0; i <= 24; i++) {
        poll_at(sampler, 0.125 * i);
    }
    assert_int_equal(driver.pcie_asked, 2 * 3);
    yk_counter_sampler_close(sampler);
}

static void a_refused_sample_leaves_gpm_out(void **state)
{
    (void)state;
    driver.sample_error = 4;
    struct yk_counter_sampler *sampler = open_gpu(0);
    assert_int_equal(driver.allocated, 0);
    poll_at(sampler, 0);
    yk_counter_sampler_stop(sampler);
    assert_described(sampler, "NVML every 100 ms; GPM: the driver refuses it (NVML's error 4); "
                              "DCGM: dcgmi is not installed");
    yk_counter_sampler_close(sampler);
}

static void a_gpu_that_is_not_there_has_no_meters(void **state)
{
    (void)state;
    struct yk_counter_sampler *sampler = open_gpu(3);
    poll_at(sampler, 0);
    poll_at(sampler, 1);
    for (int i = 0; i < YK_COUNTER_COUNT; i++) {
        assert_true(isnan(last_of(sampler, 1)->values[i]));
    }
    assert_described(sampler, "NVML: there is no GPU 3");
    yk_counter_sampler_close(sampler);
}

static void an_instance_has_meters_of_its_own(void **state)
{
    (void)state;
    int32_t count = 0;
    driver.mig = true;
    struct yk_counter_sampler *sampler = open_steady(&count);
    poll_at(sampler, 103);
    assert_near(last_of(sampler, count + 1)->values[YK_COUNTER_SM], 0.03);
    assert_near(last_of(sampler, count + 1)->values[YK_COUNTER_MEMORY], 1024 * MIB);
    assert_near(last_of(sampler, count + 1)->values[YK_COUNTER_POWER], 311.5);
    assert_described(sampler, "NVML GPM every 20 ms");
    yk_counter_sampler_close(sampler);
}

/* DCGM would show what other instances do. */
static void an_instance_with_no_gpm_has_less(void **state)
{
    (void)state;
    driver.mig = true;
    driver.supported = 0;
    struct yk_counter_sampler *sampler = open_gpu(0);
    poll_at(sampler, 0);
    poll_at(sampler, 3);
    assert_true(isnan(last_of(sampler, 1)->values[YK_COUNTER_SM]));
    assert_described(sampler, "NVML every 100 ms; GPM: not on this GPU (Hopper and newer have it)");
    yk_counter_sampler_close(sampler);
}

/* Reading k shows k: two of them show k + 1/2 together. */
static void many_readings_become_half_as_many(void **state)
{
    (void)state;
    driver.supported = 0;
    struct yk_counter_sampler *sampler = open_gpu(0);
    poll_at(sampler, 0);
    for (int i = 0; i < YK_COUNTER_SAMPLER_MAX_READINGS; i++) {
        driver.clock_mhz = (unsigned)i;
        poll_at(sampler, i + 1);
    }
    const struct yk_counter_reading *last = last_of(sampler, YK_COUNTER_SAMPLER_MAX_READINGS / 2);
    assert_near(last->begin_s, YK_COUNTER_SAMPLER_MAX_READINGS - 2);
    assert_near(last->end_s, YK_COUNTER_SAMPLER_MAX_READINGS);
    assert_near(last->values[YK_COUNTER_CLOCK], 1e6 * (YK_COUNTER_SAMPLER_MAX_READINGS - 1.5));
    assert_near(last[-1].values[YK_COUNTER_CLOCK], 1e6 * (YK_COUNTER_SAMPLER_MAX_READINGS - 3.5));
    assert_true(isnan(last->values[YK_COUNTER_TENSOR]));
    assert_near(yk_counter_sampler_period_s(sampler), 0.2);
    poll_at(sampler, YK_COUNTER_SAMPLER_MAX_READINGS + 1);
    (void)last_of(sampler, YK_COUNTER_SAMPLER_MAX_READINGS / 2 + 1);
    yk_counter_sampler_close(sampler);
}

static void what_was_not_watched_is_in_no_reading(void **state)
{
    (void)state;
    int32_t count = 0;
    struct yk_counter_sampler *sampler = open_steady(&count);
    yk_counter_sampler_stop(sampler);
    poll_at(sampler, 110);
    poll_at(sampler, 112);
    const struct yk_counter_reading *reading = last_of(sampler, count + 1);
    assert_near(reading->begin_s, 110);
    assert_near(reading->values[YK_COUNTER_SM], 0.02);
    yk_counter_sampler_close(sampler);
}

static void the_thread_leaves_signals_to_others(void **state)
{
    (void)state;
    driver.signals_come = true;
    struct yk_counter_sampler *sampler = open_gpu(0);
    assert_ok(yk_counter_sampler_start(sampler));
    assert_ok(yk_counter_sampler_start(sampler));
    yk_counter_sampler_stop(sampler);
    assert_false(driver.signals_come);
    assert_ok(yk_counter_sampler_start(sampler));
    yk_counter_sampler_close(sampler);
    sigset_t blocked;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    assert_int_equal(sigismember(&blocked, SIGINT), 0);
}

#define METERS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        METERS_TEST(gpm_is_reported_in_parts_and_bytes),
        METERS_TEST(gpm_that_always_is_new_is_read_once_a_period),
        METERS_TEST(gpm_that_does_not_answer_leaves_the_rest),
        METERS_TEST(a_lost_sample_is_not_compared_with),
        METERS_TEST(an_older_gpu_has_what_nvml_reports_of_all),
        METERS_TEST(power_is_that_of_both_ends),
        METERS_TEST(pcie_is_asked_rarely),
        METERS_TEST(a_refused_sample_leaves_gpm_out),
        METERS_TEST(a_gpu_that_is_not_there_has_no_meters),
        METERS_TEST(an_instance_has_meters_of_its_own),
        METERS_TEST(an_instance_with_no_gpm_has_less),
        METERS_TEST(many_readings_become_half_as_many),
        METERS_TEST(what_was_not_watched_is_in_no_reading),
        METERS_TEST(the_thread_leaves_signals_to_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
