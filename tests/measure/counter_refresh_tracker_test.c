#include "support/support.h"

#include "measure/counters/counter_sampler.h"

#include "cluster/nvml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_REFRESHES = 4000
};

/* A GPU whose counters are refreshed at given instants; a sample is the number of the last refresh
 * before it. Between refreshes i and i + 1 the GPU is at work for works[i] of the time. */
static struct {
    double now_s;
    double instants_s[MOST_REFRESHES];
    double works[MOST_REFRESHES];
    int count;
    int sample_count;
    bool idle; /* memory's bus only */
    unsigned random;
} driver;

static int the_gpu;

static int fake_begin(void)
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
    *out = &the_gpu;
    return index == 0 ? 0 : 2;
}

static int fake_name(void *device, char *out, unsigned size)
{
    (void)device;
    (void)snprintf(out, size, "NVIDIA H200");
    return 0;
}

static int fake_memory(void *device, struct yk_nvml_memory *out)
{
    (void)device;
    out->used = 5ULL << 30;
    return 0;
}

static int fake_capability(void *device, int *major, int *minor)
{
    (void)device;
    *major = 9;
    *minor = 0;
    return 0;
}

static int fake_support(void *device, struct yk_nvml_gpm_support *out)
{
    (void)device;
    out->supported = 1;
    return 0;
}

static int fake_alloc(void **sample)
{
    *sample = calloc(1, sizeof(int));
    return 0;
}

static int fake_free(void *sample)
{
    free(sample);
    return 0;
}

static int fake_sample(void *device, void *sample)
{
    (void)device;
    int last = -1;
    while (last + 1 < driver.count && driver.instants_s[last + 1] <= driver.now_s) {
        last++;
    }
    *(int *)sample = last;
    driver.sample_count++;
    return 0;
}

/* By hand: each stretch counts by its length. */
static double mean_work(int first, int last)
{
    double sum = 0;
    for (int i = first; i < last; i++) {
        sum += driver.works[i] * (driver.instants_s[i + 1] - driver.instants_s[i]);
    }
    return sum / (driver.instants_s[last] - driver.instants_s[first]);
}

static int fake_metrics(struct yk_nvml_gpm_metrics *out)
{
    const int before = *(int *)out->before;
    const int after = *(int *)out->after;
    /* What was before the first refresh nobody knows. */
    const double work = after == before ? 0 : before < 0 ? 1e6 : mean_work(before, after);
    for (unsigned i = 0; i < out->count; i++) {
        struct yk_nvml_gpm_metric *metric = &out->metrics[i];
        metric->status = metric->id == 10 && after == before ? 999 : 0;
        metric->value = driver.idle && metric->id != 10 ? 0 : 100 * work;
    }
    return 0;
}

static const struct yk_nvml_functions table = {
    .begin = fake_begin,
    .count = fake_count,
    .handle = fake_handle,
    .name = fake_name,
    .memory = fake_memory,
    .capability = fake_capability,
    .gpm_support = fake_support,
    .gpm_alloc = fake_alloc,
    .gpm_free = fake_free,
    .gpm_sample = fake_sample,
    .gpm_metrics = fake_metrics,
};

static double random_part(void)
{
    driver.random = driver.random * 1664525U + 1013904223U;
    return driver.random / 4294967296.0;
}

/* More refreshes, each `min_s` to `max_s` after the one before. */
static void add_refreshes(int count, double min_s, double max_s)
{
    for (int i = 0; i < count; i++) {
        const double last_s = driver.count > 0 ? driver.instants_s[driver.count - 1] : 0;
        assert_true(driver.count < MOST_REFRESHES);
        driver.works[driver.count] = 0.1 + 0.8 * random_part();
        driver.instants_s[driver.count++] = last_s + min_s + (max_s - min_s) * random_part();
    }
}

static int set_up(void **state)
{
    (void)state;
    memset(&driver, 0, sizeof driver);
    return unsetenv("CUDA_VISIBLE_DEVICES");
}

static struct yk_counter_sampler *open_meters(double period_s)
{
    struct yk_counter_sampler *sampler = NULL;
    assert_ok(yk_counter_sampler_open(
        &(struct yk_counter_sampler_options){.gpu = true, .nvml = &table, .period_s = period_s},
        &sampler));
    return sampler;
}

static void poll_at(struct yk_counter_sampler *sampler, double now_s)
{
    driver.now_s = now_s;
    yk_counter_sampler_poll(sampler, now_s);
}

/* As the thread does, each time up to `late_s` late. */
static void run_until(struct yk_counter_sampler *sampler, double until_s, double late_s)
{
    double next_s = yk_counter_sampler_next_poll_s(sampler);
    while (next_s <= until_s) {
        poll_at(sampler, next_s + late_s * random_part());
        next_s = yk_counter_sampler_next_poll_s(sampler);
    }
}

static double last_instant_s(void)
{
    return driver.instants_s[driver.count - 1];
}

/* The refresh at that instant, as near as half of `gap_s`. */
static int find_refresh(double instant_s, double gap_s)
{
    int nearest = 0;
    for (int i = 1; i < driver.count; i++) {
        if (fabs(driver.instants_s[i] - instant_s) < fabs(driver.instants_s[nearest] - instant_s)) {
            nearest = i;
        }
    }
    assert_true(fabs(driver.instants_s[nearest] - instant_s) <= 0.5 * gap_s + 1e-9);
    return nearest;
}

/* Every reading is the average between two refreshes, and follows the one before. Returns how many
 * there are. */
static int32_t check_readings(const struct yk_counter_sampler *sampler, double gap_s)
{
    const struct yk_counter_reading *readings = NULL;
    int32_t count = 0;
    yk_counter_sampler_get_readings(sampler, &readings, &count);
    for (int32_t i = 0; i < count; i++) {
        const int first = find_refresh(readings[i].begin_s, gap_s);
        const int last = find_refresh(readings[i].end_s, gap_s);
        assert_true(last > first);
        const double expected = mean_work(first, last);
        assert_true(fabs(readings[i].values[YK_COUNTER_SM] - expected) < 1e-12);
        assert_true(fabs(readings[i].values[YK_COUNTER_DRAM] - expected) < 1e-12);
        assert_true(readings[i].values[YK_COUNTER_MEMORY] == 5368709120.0);
        assert_true(i == 0 || readings[i].begin_s == readings[i - 1].end_s);
    }
    return count;
}

static void assert_described(const struct yk_counter_sampler *sampler, const char *sentence)
{
    struct yk_text text = {0};
    yk_counter_sampler_describe(sampler, &text);
    assert_string_equal(yk_text_chars(&text), sentence);
    yk_text_free(&text);
}

static void a_reading_is_from_refresh_to_refresh(void **state)
{
    (void)state;
    add_refreshes(100, 0.1, 0.1);
    struct yk_counter_sampler *sampler = open_meters(0);
    poll_at(sampler, 0.03);
    run_until(sampler, last_instant_s() + 0.005, 0);
    assert_int_equal(check_readings(sampler, 0.001), 99);
    /* 70 until the first refresh, then some 9 each. */
    assert_true(driver.sample_count < 75 + 99 * 10);
    assert_described(sampler, "NVML GPM, refreshed every 100 ms");
    yk_counter_sampler_close(sampler);
}

static void refreshes_may_waver_and_the_thread_be_late(void **state)
{
    (void)state;
    add_refreshes(500, 0.095, 0.11);
    struct yk_counter_sampler *sampler = open_meters(0);
    poll_at(sampler, 0.03);
    run_until(sampler, last_instant_s() + 0.005, 0.0005);
    assert_in_range(check_readings(sampler, 0.0015), 495, 499);
    assert_true(driver.sample_count < 100 + 499 * 15);
    assert_described(sampler, "NVML GPM, refreshed every 100 ms");
    yk_counter_sampler_close(sampler);
}

/* What nobody saw come makes a reading of two or three, right all the same. */
static void refreshes_that_were_missed_are_in_longer_readings(void **state)
{
    (void)state;
    add_refreshes(1000, 0.06, 0.14);
    struct yk_counter_sampler *sampler = open_meters(0);
    poll_at(sampler, 0.03);
    run_until(sampler, last_instant_s(), 0.0025);
    assert_true(check_readings(sampler, 0.02) > 500);
    yk_counter_sampler_close(sampler);
}

static void another_interval_is_learned(void **state)
{
    (void)state;
    static const double intervals_s[] = {0.25, 0.1, 0.07, 0.033, 0.01, 0.005, 0.1};
    static const int refreshes[] = {40, 100, 120, 200, 600, 1000, 100};
    struct yk_counter_sampler *sampler = open_meters(0);
    poll_at(sampler, 0.001);
    for (int i = 0; i < 7; i++) {
        const double begin_s = driver.count > 0 ? last_instant_s() : 0;
        const int before = driver.sample_count;
        add_refreshes(refreshes[i], intervals_s[i], intervals_s[i]);
        run_until(sampler, last_instant_s(), 0);
        const int32_t count = check_readings(sampler, 0.01 + 1e-3);
        const double length_s = last_instant_s() - begin_s;
        const struct yk_counter_reading *readings = NULL;
        int32_t all = 0;
        yk_counter_sampler_get_readings(sampler, &readings, &all);
        const double last_s = readings[count - 1].end_s - readings[count - 1].begin_s;
        assert_true(last_s < fmax(intervals_s[i], 0.031) + 1e-3);
        /* About a third at most of the polls that finding each by polling alone would take. */
        assert_true(driver.sample_count - before < 0.35 * length_s / 1e-3 + 200);
    }
    assert_described(sampler, "NVML GPM, refreshed every 100 ms");
    yk_counter_sampler_close(sampler);
}

static void a_longer_period_is_some_refreshes_long(void **state)
{
    (void)state;
    add_refreshes(301, 0.1, 0.1);
    struct yk_counter_sampler *sampler = open_meters(0.3);
    poll_at(sampler, 0.03);
    run_until(sampler, last_instant_s() + 0.005, 0);
    const int32_t count = check_readings(sampler, 0.001);
    assert_in_range(count, 95, 105);
    yk_counter_sampler_close(sampler);
}

/* Until then GPM is told of, then only what needs none of its counters; never 0. */
static void refreshes_that_stop_are_not_idleness(void **state)
{
    (void)state;
    add_refreshes(20, 0.1, 0.1);
    struct yk_counter_sampler *sampler = open_meters(0);
    poll_at(sampler, 0.03);
    run_until(sampler, 2.7, 0);
    assert_int_equal(check_readings(sampler, 0.001), 19);
    const int before = driver.sample_count;
    run_until(sampler, 6.5, 0);
    const struct yk_counter_reading *readings = NULL;
    int32_t count = 0;
    yk_counter_sampler_get_readings(sampler, &readings, &count);
    assert_int_equal(count, 19 + 4);
    assert_true(driver.sample_count - before <= 381);
    for (int32_t i = 19; i < count; i++) {
        assert_true(isnan(readings[i].values[YK_COUNTER_SM]));
        assert_true(isnan(readings[i].values[YK_COUNTER_DRAM]));
        assert_true(readings[i].values[YK_COUNTER_MEMORY] == 5368709120.0);
        assert_true(readings[i].begin_s == readings[i - 1].end_s);
    }
    /* They come back: the first reading of GPM begins at the first of them. */
    driver.works[driver.count] = 0.25;
    driver.instants_s[driver.count++] = 7;
    add_refreshes(10, 0.1, 0.1);
    run_until(sampler, last_instant_s() + 0.005, 0);
    yk_counter_sampler_get_readings(sampler, &readings, &count);
    assert_true(count >= 19 + 4 + 9);
    for (int32_t i = 23; i < count; i++) {
        const int first = find_refresh(readings[i].begin_s, 0.011);
        const int last = find_refresh(readings[i].end_s, 0.011);
        assert_true(first >= 20);
        assert_true(fabs(readings[i].values[YK_COUNTER_SM] - mean_work(first, last)) < 1e-12);
    }
    yk_counter_sampler_close(sampler);
}

static void a_refresh_that_is_late_makes_one_long_reading(void **state)
{
    (void)state;
    add_refreshes(20, 0.1, 0.1);
    add_refreshes(1, 0.7, 0.7);
    add_refreshes(20, 0.1, 0.1);
    struct yk_counter_sampler *sampler = open_meters(0);
    poll_at(sampler, 0.03);
    run_until(sampler, last_instant_s() + 0.005, 0);
    assert_in_range(check_readings(sampler, 0.01), 39, 40);
    yk_counter_sampler_close(sampler);
}

static void an_idle_gpu_shows_none_of_its_parts_at_work(void **state)
{
    (void)state;
    driver.idle = true;
    add_refreshes(10, 0.1, 0.1);
    struct yk_counter_sampler *sampler = open_meters(0);
    poll_at(sampler, 0.03);
    run_until(sampler, last_instant_s() + 0.005, 0);
    const struct yk_counter_reading *readings = NULL;
    int32_t count = 0;
    yk_counter_sampler_get_readings(sampler, &readings, &count);
    assert_int_equal(count, 9);
    for (int32_t i = 0; i < count; i++) {
        assert_true(readings[i].values[YK_COUNTER_SM] == 0);
        assert_true(readings[i].values[YK_COUNTER_DRAM] > 0);
    }
    yk_counter_sampler_close(sampler);
}

static void what_is_not_whole_is_dropped(void **state)
{
    (void)state;
    add_refreshes(30, 0.1, 0.1);
    struct yk_counter_sampler *sampler = open_meters(0);
    poll_at(sampler, 0.03);
    assert_described(sampler, "NVML GPM: its counters were not refreshed meanwhile");
    run_until(sampler, 0.59, 0);
    assert_int_equal(check_readings(sampler, 0.001), 4);
    yk_counter_sampler_stop(sampler);
    assert_int_equal(check_readings(sampler, 0.001), 4);
    poll_at(sampler, 1.05);
    run_until(sampler, 1.35, 0);
    const struct yk_counter_reading *readings = NULL;
    int32_t count = 0;
    yk_counter_sampler_get_readings(sampler, &readings, &count);
    assert_int_equal(count, 6);
    assert_true(fabs(readings[4].begin_s - 1.1) <= 0.0005 + 1e-9);
    assert_true(fabs(readings[5].end_s - 1.3) <= 0.0005 + 1e-9);
    yk_counter_sampler_close(sampler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_reading_is_from_refresh_to_refresh, set_up),
        cmocka_unit_test_setup(refreshes_may_waver_and_the_thread_be_late, set_up),
        cmocka_unit_test_setup(refreshes_that_were_missed_are_in_longer_readings, set_up),
        cmocka_unit_test_setup(another_interval_is_learned, set_up),
        cmocka_unit_test_setup(a_longer_period_is_some_refreshes_long, set_up),
        cmocka_unit_test_setup(refreshes_that_stop_are_not_idleness, set_up),
        cmocka_unit_test_setup(a_refresh_that_is_late_makes_one_long_reading, set_up),
        cmocka_unit_test_setup(an_idle_gpu_shows_none_of_its_parts_at_work, set_up),
        cmocka_unit_test_setup(what_is_not_whole_is_dropped, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
