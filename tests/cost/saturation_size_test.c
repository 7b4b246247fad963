#include "support/support.h"

#include "base/random.h"
#include "cost/saturation_size.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST = 40,
    RUNS = 9, /* of a message, for its median */
};

/* What a link really does: T = (α + s/B)·bend(s), the bends given at sizes and straight in the
 * logarithm between them. */
struct truth {
    double latency_s;
    double bytes_per_s;
    double sizes[MOST];
    double bends[MOST];
    int count;
};

/* 8 bytes, 1 KiB, then four times as large each time, until `most` is reached. */
static void lay_sizes(struct truth *truth, double most)
{
    truth->count = 0;
    for (double size = 8; truth->count < MOST; size = size == 8 ? 1024 : 4 * size) {
        truth->sizes[truth->count] = size;
        truth->bends[truth->count++] = 1;
        if (size >= most) {
            break;
        }
    }
}

static double true_seconds(const struct truth *truth, double size)
{
    const double line = truth->latency_s + size / truth->bytes_per_s;
    int i = 0;
    while (i < truth->count - 1 && truth->sizes[i + 1] < size) {
        i++;
    }
    if (i >= truth->count - 1 || size <= truth->sizes[0]) {
        return line * truth->bends[size <= truth->sizes[0] ? 0 : truth->count - 1];
    }
    const double along = log(size / truth->sizes[i]) / log(truth->sizes[i + 1] / truth->sizes[i]);
    return line * pow(truth->bends[i], 1 - along) * pow(truth->bends[i + 1], along);
}

/* Bandwidth; beyond the last size that of the last. */
static double true_rate(const struct truth *truth, double size)
{
    const double last = truth->sizes[truth->count - 1];
    const double asked = fmin(size, last);
    return asked / true_seconds(truth, asked);
}

/* The rule, size by size. */
static double brute_force(const struct truth *truth, double plateau)
{
    const double last = truth->sizes[truth->count - 1];
    const int steps = (int)(256 * log2(last / truth->sizes[0]));
    for (int i = 0; i <= steps; i++) {
        const double size = truth->sizes[0] * exp2(i / 256.0);
        if (true_rate(truth, size) >= 0.9 * plateau &&
            true_rate(truth, 2 * size) >= 0.9 * plateau &&
            true_rate(truth, 4 * size) >= 0.9 * plateau) {
            return size;
        }
    }
    return NAN;
}

static int by_value(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* About normal, of deviation 1. */
static double noise(struct yk_random *random)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += yk_random_uniform(random);
    }
    return sum;
}

/* Medians and spreads of runs that are off by about `sigma` each; one in twelve waits for 100 ms.
 */
static struct yk_profile_curve measure(const struct truth *truth, double sigma,
                                       struct yk_random *random, struct yk_profile_point *points)
{
    for (int i = 0; i < truth->count; i++) {
        double runs[RUNS];
        for (int r = 0; r < RUNS; r++) {
            runs[r] = true_seconds(truth, truth->sizes[i]);
            if (sigma > 0) {
                runs[r] = runs[r] * exp(sigma * noise(random)) +
                          (yk_random_below(random, 12) == 0 ? 0.1 : 0);
            }
        }
        qsort(runs, RUNS, sizeof runs[0], by_value);
        points[i] = (struct yk_profile_point){truth->sizes[i], runs[RUNS / 2],
                                              (runs[6] - runs[2]) / 2 / runs[RUNS / 2]};
    }
    return (struct yk_profile_curve){points, truth->count};
}

static struct yk_saturation_size knee_of(const struct truth *truth, double sigma,
                                         struct yk_random *random)
{
    struct yk_profile_point points[MOST];
    const struct yk_profile_curve curve = measure(truth, sigma, random, points);
    struct yk_saturation_size saturation;
    assert_true(yk_saturation_size_from_curve(&curve, 1, &saturation));
    return saturation;
}

static void assert_within(double actual, double expected, double factor)
{
    if (!(actual <= expected * factor && actual * factor >= expected)) {
        fail_msg("%.6g is not within %g times of %.6g", actual, factor, expected);
    }
}

/* T = α + βs has nine tenths of its bandwidth at 9α/β; of a ring of n whose links have α and B,
 * T = (n - 1)(α + s/(nB)), that is 9nαB. With 61.1 µs and 1.25 GB/s, eight ranks: 5.5 MB. */
static void the_knee_of_a_line_is_nine_times_latency_over_slope(void **state)
{
    (void)state;
    const int32_t ranks = 8;
    struct truth truth = {.latency_s = (ranks - 1) * 61.1e-6,
                          .bytes_per_s = 1.25e9 * ranks / (ranks - 1)};
    struct yk_profile_point points[MOST];
    struct yk_saturation_size saturation;
    lay_sizes(&truth, 64e6);
    const struct yk_profile_curve curve = measure(&truth, 0, NULL, points);
    assert_true(yk_saturation_size_from_curve(
        &curve, yk_saturation_size_bus_bandwidth_factor("all_gather", ranks), &saturation));
    assert_within(saturation.bytes, 5.5e6, 1.001);
    assert_within(saturation.plateau_bytes_per_s, 1.25e9, 1 + 1e-9);
    assert_within(saturation.latency_s, truth.latency_s, 1 + 1e-6);
    assert_within(saturation.uncertainty, 1, 1 + 1e-6);
    assert_true(saturation.reached && !saturation.exceeds_measured_sizes);
}

static void a_part_of_the_bytes_goes_over_each_link(void **state)
{
    (void)state;
    assert_true(yk_saturation_size_bus_bandwidth_factor("send", 2) == 1);
    assert_true(yk_saturation_size_bus_bandwidth_factor("all_gather", 4) == 0.75);
    assert_true(yk_saturation_size_bus_bandwidth_factor("reduce_scatter", 4) == 0.75);
    assert_true(yk_saturation_size_bus_bandwidth_factor("all_reduce", 4) == 1.5);
}

/* Of 300 links between 2 µs and 400 µs, 0.1 and 20 GB/s. */
static void noise_and_waits_hardly_move_it(void **state)
{
    (void)state;
    int off = 0;
    int far_off = 0;
    int doubted = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        struct truth truth = {.latency_s = 2e-6 * exp(yk_random_uniform(&random) * log(200)),
                              .bytes_per_s = 1e8 * exp(yk_random_uniform(&random) * log(200))};
        const double expected = 9 * truth.latency_s * truth.bytes_per_s;
        lay_sizes(&truth, expected * 4 * exp(yk_random_uniform(&random) * log(32)));
        const struct yk_saturation_size saturation =
            knee_of(&truth, 0.02 * (double)(1 + seed % 5), &random);
        const double error = fabs(log(saturation.bytes / expected));
        off += error > log(1.2);
        far_off += error > log(2);
        doubted += error > 2 * log(saturation.uncertainty) + 0.01;
        assert_within(saturation.plateau_bytes_per_s, truth.bytes_per_s, 1.25);
    }
    assert_in_range(off, 0, 9);
    assert_in_range(far_off, 0, 2);
    assert_in_range(doubted, 0, 30); /* two standard errors: one in twenty would be outside */
}

/* All runs of one size waited for 100 ms. */
static void a_size_that_was_held_up_does_not_move_it(void **state)
{
    (void)state;
    struct truth truth = {.latency_s = 20e-6, .bytes_per_s = 8e9};
    lay_sizes(&truth, 16e6);
    for (int held = 0; held < truth.count; held++) {
        struct yk_profile_point points[MOST];
        const struct yk_profile_curve curve = measure(&truth, 0, NULL, points);
        struct yk_saturation_size saturation;
        points[held].seconds += 0.1;
        assert_true(yk_saturation_size_from_curve(&curve, 1, &saturation));
        assert_within(saturation.bytes, 9 * 20e-6 * 8e9, 1.02);
        assert_within(saturation.plateau_bytes_per_s, 8e9, 1.02);
        assert_true(saturation.reached);
    }
}

/* After the first size that would do, one is 1.3 to 2.8 times as slow: another protocol begins. */
static void a_dip_after_it_moves_it_behind_the_dip(void **state)
{
    (void)state;
    int moved = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        struct truth truth = {.latency_s = 5e-6 * exp(yk_random_uniform(&random) * log(10)),
                              .bytes_per_s = 1e9 * exp(yk_random_uniform(&random) * log(10))};
        const double clean = 9 * truth.latency_s * truth.bytes_per_s;
        int first = 0;
        lay_sizes(&truth, clean * 2000);
        while (truth.sizes[first] < clean) {
            first++;
        }
        truth.bends[first] = 1.3 + 1.5 * yk_random_uniform(&random);
        const double expected = brute_force(&truth, truth.bytes_per_s);
        const double sigma = seed % 2 == 0 ? 0 : 0.02;
        const struct yk_saturation_size saturation = knee_of(&truth, sigma, &random);
        assert_within(saturation.bytes, expected, sigma > 0 ? 1.35 : 1.02);
        assert_true(saturation.reached);
        moved += expected > 2 * clean;
    }
    assert_in_range(moved, 150, 200);
}

/* Two sizes that stay in a cache are twice as fast as the large ones, of which the plateau is. */
static void a_fast_spot_is_not_the_plateau(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        struct truth truth = {.latency_s = 10e-6, .bytes_per_s = 5e9};
        lay_sizes(&truth, 64e6);
        const int spot = truth.count - 6 + (int)yk_random_below(&random, 2);
        truth.bends[spot] = 0.5;
        truth.bends[spot + 1] = 0.5;
        const struct yk_saturation_size saturation = knee_of(&truth, 0.02, &random);
        assert_within(saturation.plateau_bytes_per_s, 5e9, 1.1);
        assert_within(saturation.bytes, brute_force(&truth, 5e9), 1.35);
        assert_true(saturation.bytes < truth.sizes[spot + 1]);
    }
}

/* 1 Gbit/s behind a bucket that lets 256 KiB through at 10 GB/s. */
static void a_bucket_is_not_the_plateau(void **state)
{
    (void)state;
    struct truth truth = {0};
    struct yk_profile_point points[MOST];
    const struct yk_profile_curve curve = {points, 10};
    struct yk_saturation_size saturation;
    lay_sizes(&truth, 64 * 1024 * 1024);
    for (int i = 0; i < curve.count; i++) {
        const double free_bytes = fmin(truth.sizes[i], 262144);
        points[i] = (struct yk_profile_point){
            truth.sizes[i], 50e-6 + free_bytes / 1e10 + (truth.sizes[i] - free_bytes) / 125e6, 0};
    }
    assert_true(yk_saturation_size_from_curve(&curve, 1, &saturation));
    assert_within(saturation.plateau_bytes_per_s, 125e6, 1.02);
    /* 50 µs + s/10 GB/s is 0.9 of 125 MB/s at 5.7 kB, where all larger ones do, too. */
    assert_within(saturation.bytes, 50e-6 / (1 / (0.9 * 125e6) - 1e-10), 1.1);
}

static void what_never_saturates_is_computed_from_the_line(void **state)
{
    (void)state;
    struct truth truth = {.latency_s = 1e-3, .bytes_per_s = 1e9};
    struct yk_random random = yk_random_from_seed(3);
    lay_sizes(&truth, 1e6);
    const struct yk_saturation_size clean = knee_of(&truth, 0, &random);
    assert_false(clean.reached);
    assert_true(clean.exceeds_measured_sizes);
    assert_within(clean.bytes, 9e6, 1.001);
    const struct yk_saturation_size noisy = knee_of(&truth, 0.03, &random);
    assert_false(noisy.reached);
    assert_within(noisy.bytes, 9e6, 1.5);

    /* T ~ s^0.7: bandwidth grows as long as messages do. */
    struct yk_profile_point points[12];
    struct yk_saturation_size saturation;
    for (int i = 0; i < 12; i++) {
        points[i] = (struct yk_profile_point){pow(4, i + 3), 1e-6 * pow(4, 0.7 * i), 0};
    }
    assert_true(
        yk_saturation_size_from_curve(&(struct yk_profile_curve){points, 12}, 1, &saturation));
    assert_true(saturation.exceeds_measured_sizes);
    assert_true(saturation.bytes >= points[11].size / 4);

    /* All latency. */
    for (int i = 0; i < 12; i++) {
        points[i].seconds = 1e-3;
    }
    assert_true(
        yk_saturation_size_from_curve(&(struct yk_profile_curve){points, 12}, 1, &saturation));
    assert_false(saturation.reached);
    assert_true(saturation.bytes == points[11].size && isinf(saturation.uncertainty));
}

static void two_or_three_sizes_give_the_line(void **state)
{
    (void)state;
    const struct yk_profile_point points[] = {
        {1e3, 100e-6 + 1e3 / 1e9, 0}, {1e6, 100e-6 + 1e6 / 1e9, 0}, {4e6, 100e-6 + 4e6 / 1e9, 0}};
    struct yk_saturation_size saturation;
    for (int32_t count = 2; count <= 3; count++) {
        assert_true(yk_saturation_size_from_curve(&(struct yk_profile_curve){points, count}, 1,
                                                  &saturation));
        assert_within(saturation.bytes, 9 * 100e-6 * 1e9, 1.001);
        assert_true(isinf(saturation.uncertainty));
        assert_true(saturation.reached);
        assert_true(saturation.exceeds_measured_sizes == (count == 2));
    }
    assert_false(
        yk_saturation_size_from_curve(&(struct yk_profile_curve){points, 1}, 1, &saturation));
    assert_false(
        yk_saturation_size_from_curve(&(struct yk_profile_curve){NULL, 0}, 1, &saturation));
}

/* More sizes than are looked at, and some that are no times. */
static void many_sizes_and_bad_ones_are_tolerated(void **state)
{
    (void)state;
    struct yk_profile_point points[1000];
    struct yk_saturation_size saturation;
    for (int i = 0; i < 1000; i++) {
        const double size = 8 * exp(i * log(8e6) / 1000);
        points[i] = (struct yk_profile_point){size, 10e-6 + size / 4e9, NAN};
    }
    points[999].seconds = NAN;
    points[500].seconds = 0;
    points[0].size = 0;
    assert_true(
        yk_saturation_size_from_curve(&(struct yk_profile_curve){points, 1000}, 1, &saturation));
    assert_within(saturation.bytes, 9 * 10e-6 * 4e9, 1.01);
}

/* Each time is so many times the one before that every size stands out from those around it. */
static void sizes_that_all_stand_out_are_kept(void **state)
{
    (void)state;
    const struct yk_profile_point points[] = {
        {1, 1e-6, 0}, {2, 1e-5, 0}, {3, 1e-3, 0}, {4, 1e-1, 0}};
    const struct yk_profile_curve curve = {points, 4};
    struct yk_saturation_size saturation;
    assert_true(yk_saturation_size_from_curve(&curve, 1, &saturation));
    assert_true(isfinite(saturation.bytes) && saturation.bytes >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_knee_of_a_line_is_nine_times_latency_over_slope),
        cmocka_unit_test(a_part_of_the_bytes_goes_over_each_link),
        cmocka_unit_test(noise_and_waits_hardly_move_it),
        cmocka_unit_test(a_size_that_was_held_up_does_not_move_it),
        cmocka_unit_test(a_dip_after_it_moves_it_behind_the_dip),
        cmocka_unit_test(a_fast_spot_is_not_the_plateau),
        cmocka_unit_test(a_bucket_is_not_the_plateau),
        cmocka_unit_test(what_never_saturates_is_computed_from_the_line),
        cmocka_unit_test(two_or_three_sizes_give_the_line),
        cmocka_unit_test(many_sizes_and_bad_ones_are_tolerated),
        cmocka_unit_test(sizes_that_all_stand_out_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
