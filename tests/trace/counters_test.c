#include "trace/counters.h"

#include "base/random.h"
#include "support/support.h"
#include "trace/bounded_fit.h"

#include <math.h>
#include <string.h>

enum {
    PARTS = 4,
    MOST_SPANS = 4000,
    MOST_READINGS = 2000,
};

/* What a device does: parts one after the other, step by step, with a pause at the end. */
struct doing {
    double lengths_s[PARTS + 1]; /* the last is the pause */
    double values[PARTS + 1];
    struct yk_counter_part_span spans[MOST_SPANS];
    int32_t span_count;
    double end_s;
};

static struct yk_counter_reading nothing_read(double begin_s, double end_s)
{
    struct yk_counter_reading reading = {.begin_s = begin_s, .end_s = end_s};
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        reading.values[c] = NAN;
    }
    return reading;
}

/* `jitter` is how much a part's length differs from step to step. */
static void do_steps(struct doing *doing, int32_t steps, double jitter, struct yk_random *random)
{
    double at_s = 0;
    doing->span_count = 0;
    for (int32_t s = 0; s < steps; s++) {
        for (int32_t p = 0; p <= PARTS; p++) {
            const double length_s =
                doing->lengths_s[p] * (1 + jitter * (yk_random_uniform(random) - 0.5));
            if (p < PARTS) {
                doing->spans[doing->span_count++] =
                    (struct yk_counter_part_span){at_s, at_s + length_s, p};
            }
            at_s += length_s;
        }
    }
    doing->end_s = at_s;
}

/* The average of what was done from one moment to another: every span by itself. */
static double average(const struct doing *doing, double begin_s, double end_s)
{
    double sum = 0;
    double left_s = end_s - begin_s;
    for (int32_t i = 0; i < doing->span_count; i++) {
        const struct yk_counter_part_span *span = &doing->spans[i];
        const double within_s = fmin(span->end_s, end_s) - fmax(span->begin_s, begin_s);
        if (within_s > 0) {
            sum += within_s * doing->values[span->part];
            left_s -= within_s;
        }
    }
    return (sum + left_s * doing->values[PARTS]) / (end_s - begin_s);
}

/* Readings one after the other, from `low_s` to `high_s` long. */
static int32_t read_all(const struct doing *doing, double low_s, double high_s, double noise,
                        struct yk_random *random, struct yk_counter_reading *out)
{
    int32_t count = 0;
    double at_s = 0;
    while (count < MOST_READINGS) {
        const double end_s = at_s + low_s + (high_s - low_s) * yk_random_uniform(random);
        if (end_s > doing->end_s) {
            return count;
        }
        out[count] = nothing_read(at_s, end_s);
        out[count].values[YK_COUNTER_SM] =
            average(doing, at_s, end_s) + noise * (yk_random_uniform(random) - 0.5);
        count++;
        at_s = end_s;
    }
    return count;
}

struct shared {
    double values[PARTS][YK_COUNTER_COUNT];
    double seconds[PARTS];
};

/* Every part by itself. */
static yk_status share_parts(const struct yk_counter_reading *readings, int32_t reading_count,
                             const struct yk_counter_part_span *spans, int32_t span_count,
                             int32_t part_count, double *out, double *seconds)
{
    bool members[64 * 64] = {false};
    for (int32_t p = 0; p < part_count; p++) {
        members[p * part_count + p] = true;
    }
    return yk_counters_fit_part_groups(
        readings, reading_count, spans, span_count,
        &(struct yk_counter_part_groups){members, part_count, part_count, NULL, 0}, out, seconds);
}

static void share(const struct doing *doing, const struct yk_counter_reading *readings,
                  int32_t count, struct shared *out)
{
    assert_ok(share_parts(readings, count, doing->spans, doing->span_count, PARTS,
                          &out->values[0][0], out->seconds));
}

static void parts_come_back_from_readings_longer_than_they_are(void **state)
{
    (void)state;
    static struct doing room;
    struct doing *doing = &room;
    static struct yk_counter_reading readings[MOST_READINGS];
    struct yk_random random = yk_random_from_seed(7);
    for (int trial = 0; trial < 20; trial++) {
        struct shared shared;
        for (int32_t p = 0; p <= PARTS; p++) {
            doing->lengths_s[p] = 0.002 + 0.008 * yk_random_uniform(&random);
            doing->values[p] = yk_random_uniform(&random);
        }
        do_steps(doing, 300, 0.02, &random);
        const int32_t exact = read_all(doing, 0.01, 0.01, 0, &random, readings);
        share(doing, readings, exact, &shared);
        for (int32_t p = 0; p < PARTS; p++) {
            assert_true(fabs(shared.values[p][YK_COUNTER_SM] - doing->values[p]) < 1e-4);
            assert_true(isnan(shared.values[p][YK_COUNTER_DRAM]));
            assert_true(fabs(shared.seconds[p] / (300 * doing->lengths_s[p]) - 1) < 0.02);
        }
        /* Noise of 0.03, and what few readings and bounds leave of it. */
        const int32_t noisy = read_all(doing, 0.008, 0.016, 0.1, &random, readings);
        share(doing, readings, noisy, &shared);
        for (int32_t p = 0; p < PARTS; p++) {
            const double value = shared.values[p][YK_COUNTER_SM];
            assert_true(isnan(value) || fabs(value - doing->values[p]) < 0.1);
            assert_true(isnan(value) || (value >= 0 && value <= 1));
        }
    }
}

/* Readings as long as a step, or twice: every one has the same share of each part. */
static void what_readings_cannot_separate_is_not_shown(void **state)
{
    (void)state;
    static struct doing room;
    struct doing *doing = &room;
    static struct yk_counter_reading readings[MOST_READINGS];
    struct yk_random random = yk_random_from_seed(8);
    struct shared shared;
    memcpy(doing->lengths_s, (double[]){0.004, 0.008, 0.002, 0.001, 0.001}, 5 * sizeof(double));
    memcpy(doing->values, (double[]){0.9, 0.7, 0.4, 0.2, 0}, 5 * sizeof(double));
    do_steps(doing, 400, 0, &random);
    for (int steps = 1; steps <= 2; steps++) {
        const int32_t count =
            read_all(doing, steps * 0.016, steps * 0.016, 0.02, &random, readings);
        share(doing, readings, count, &shared);
        for (int32_t p = 0; p < PARTS; p++) {
            assert_true(isnan(shared.values[p][YK_COUNTER_SM]));
            assert_true(shared.seconds[p] > 0);
        }
    }
    /* The same with readings of other lengths among them: now they tell. */
    const int32_t count = read_all(doing, 0.010, 0.022, 0, &random, readings);
    share(doing, readings, count, &shared);
    for (int32_t p = 0; p < PARTS; p++) {
        assert_true(fabs(shared.values[p][YK_COUNTER_SM] - doing->values[p]) < 1e-4);
    }
}

/* Two parts that are always seen together in one ratio are not told; the third is. */
static void only_what_goes_together_stays_open(void **state)
{
    (void)state;
    static const struct yk_counter_part_span spans[] = {
        {0, 1, 0}, {1, 2, 1}, {2, 3, 2}, {4, 5, 0}, {5, 6, 1}, {6, 9, 2}, {9, 10, 2},
    };
    /* Parts 0 and 1 half and half; then with ever more of part 2: 0.5, 0.1, 0.3. */
    struct yk_counter_reading readings[] = {
        nothing_read(0, 2),
        nothing_read(4, 6),
        nothing_read(0, 3),
        nothing_read(4, 10),
    };
    double values[3][YK_COUNTER_COUNT];
    double seconds[3];
    readings[0].values[YK_COUNTER_DRAM] = 0.5;
    readings[1].values[YK_COUNTER_DRAM] = 0.5;
    readings[2].values[YK_COUNTER_DRAM] = (2 * 0.5 + 0.1) / 3;
    readings[3].values[YK_COUNTER_DRAM] = (2 * 0.5 + 4 * 0.1) / 6;
    assert_ok(share_parts(readings, 4, spans, 7, 3, &values[0][0], seconds));
    assert_true(isnan(values[0][YK_COUNTER_DRAM]));
    assert_true(isnan(values[1][YK_COUNTER_DRAM]));
    assert_true(fabs(values[2][YK_COUNTER_DRAM] - 0.1) < 1e-6);
}

/* Of what is always seen together, what it shows together is told: 0.4 and 0.6, half and half. */
static void groups_are_shown_where_their_parts_are_not(void **state)
{
    (void)state;
    static const struct yk_counter_part_span spans[] = {{0, 1, 0}, {1, 2, 1}, {2, 4, 2}};
    static const bool members[] = {true, false, false, true, true, false, true, true, true};
    struct yk_counter_reading readings[] = {
        nothing_read(0, 2), nothing_read(0, 2), nothing_read(0, 3),
        nothing_read(2, 4), nothing_read(0, 4),
    };
    static const double shown[] = {0.5, 0.5, 1.1 / 3, 0.1, 0.3};
    double values[3][YK_COUNTER_COUNT];
    double seconds[3];
    for (int i = 0; i < 5; i++) {
        readings[i].values[YK_COUNTER_SM] = shown[i];
    }
    assert_ok(yk_counters_fit_part_groups(readings, 5, spans, 3,
                                          &(struct yk_counter_part_groups){members, 3, 3, NULL, 0},
                                          &values[0][0], seconds));
    assert_true(isnan(values[0][YK_COUNTER_SM]));
    assert_true(fabs(values[1][YK_COUNTER_SM] - 0.5) < 1e-6);
    /* Seen for 8 s and 5 s. */
    assert_true(fabs(values[2][YK_COUNTER_SM] - (8 * 0.5 + 5 * 0.1) / 13) < 1e-6);
    assert_true(fabs(seconds[0] - 4) < 1e-12 && fabs(seconds[2] - 13) < 1e-12);
}

/* 0–6 computes at 0.8; a message from 4 to 10 is seen only where it is waited for. */
static void what_overlaps_computation_is_not_counted_twice(void **state)
{
    (void)state;
    static const struct yk_counter_part_span spans[] = {{0, 6, 0}, {4, 10, 1}};
    struct yk_counter_reading readings[10];
    double values[2][YK_COUNTER_COUNT];
    double seconds[2];
    for (int i = 0; i < 10; i++) {
        readings[i] = nothing_read(i, i + 1);
        readings[i].values[YK_COUNTER_SM] = i < 6 ? 0.8 : 0.1;
    }
    assert_ok(share_parts(readings, 10, spans, 2, 2, &values[0][0], seconds));
    assert_true(fabs(seconds[0] - 6) < 1e-12 && fabs(seconds[1] - 4) < 1e-12);
    assert_true(fabs(values[0][YK_COUNTER_SM] - 0.8) < 1e-6);
    assert_true(fabs(values[1][YK_COUNTER_SM] - 0.1) < 1e-6);
}

static void readings_of_what_nobody_knows_do_not_count(void **state)
{
    (void)state;
    static const struct yk_counter_part_span spans[] = {
        {-INFINITY, 0, YK_COUNTER_UNKNOWN_PART},
        {0, 4, 0},
        {3, INFINITY, YK_COUNTER_UNKNOWN_PART},
    };
    struct yk_counter_reading readings[6];
    double values[YK_COUNTER_COUNT];
    double seconds = 0;
    for (int i = 0; i < 6; i++) {
        readings[i] = nothing_read(i - 1, i);
        readings[i].values[YK_COUNTER_POWER] = i >= 1 && i <= 3 ? 100 : 900;
        readings[i].values[YK_COUNTER_CLOCK] = i == 2 ? NAN : 2e9;
    }
    assert_ok(share_parts(readings, 6, spans, 3, 1, values, &seconds));
    assert_true(fabs(seconds - 3) < 1e-12);
    assert_true(fabs(values[YK_COUNTER_POWER] - 100) < 1e-6);
    assert_true(fabs(values[YK_COUNTER_CLOCK] / 2e9 - 1) < 1e-8);
}

static void no_readings_or_spans_show_nothing(void **state)
{
    (void)state;
    const struct yk_counter_part_span span = {0, 1, 0};
    const struct yk_counter_reading reading = nothing_read(0, 1);
    double values[YK_COUNTER_COUNT];
    double seconds = 5;
    assert_ok(share_parts(NULL, 0, &span, 1, 1, values, &seconds));
    assert_true(seconds == 0 && isnan(values[YK_COUNTER_SM]));
    assert_ok(share_parts(&reading, 1, NULL, 0, 1, values, &seconds));
    assert_true(seconds == 0 && isnan(values[YK_COUNTER_SM]));
    assert_int_equal(share_parts(NULL, 0, NULL, 0, 33, values, &seconds), YK_ERROR_INPUT);
}

/* The conditions of Karush, Kuhn and Tucker: within the range the slope is 0, at 0 it leads down,
 * at the most up. A fit that meets them is the best, for the sum of squares is convex. */
static void a_fit_is_the_best_within_its_bounds(void **state)
{
    (void)state;
    enum {
        COUNT = 6,
        ROWS = 60
    };
    struct yk_random random = yk_random_from_seed(9);
    for (int trial = 0; trial < 200; trial++) {
        struct yk_bounded_fit fit;
        double rows[ROWS][COUNT];
        double y[ROWS];
        double x[COUNT];
        struct yk_bounded_fit_solution answer;
        yk_bounded_fit_begin(&fit, COUNT);
        for (int r = 0; r < ROWS; r++) {
            for (int i = 0; i < COUNT; i++) {
                rows[r][i] = yk_random_uniform(&random);
            }
            y[r] = 6 * yk_random_uniform(&random) - 1 + 2 * rows[r][trial % COUNT];
            yk_bounded_fit_add_row(&fit, rows[r], y[r], 1);
        }
        yk_bounded_fit_solve(&fit, 1, &answer);
        memcpy(x, answer.values, sizeof x);
        for (int i = 0; i < COUNT; i++) {
            double slope = 0;
            for (int r = 0; r < ROWS; r++) {
                double left = y[r];
                for (int j = 0; j < COUNT; j++) {
                    left -= rows[r][j] * x[j];
                }
                slope += left * rows[r][i];
            }
            assert_true(x[i] >= 0 && x[i] <= 1 + 1e-12);
            assert_true(x[i] > 1e-12 || slope < 1e-5);
            assert_true(x[i] < 1 - 1e-12 || slope > -1e-5);
            assert_true(x[i] <= 1e-12 || x[i] >= 1 - 1e-12 || fabs(slope) < 1e-5);
            double weights[COUNT] = {0};
            double error = 0;
            weights[i] = 1;
            assert_true(yk_bounded_fit_weighted_sum(&answer, weights, &error) == x[i]);
            assert_true(isfinite(error) && error > 0);
        }
    }
}

static void numbers_have_their_units_and_what_is_missing_is_said(void **state)
{
    (void)state;
    static const struct {
        enum yk_counter counter;
        double value;
        const char *words;
    } cases[] = {
        {YK_COUNTER_SM, 0.621, "62.1 %"},      {YK_COUNTER_DRAM, NAN, "n/a"},
        {YK_COUNTER_CLOCK, 1.98e9, "1.98GHz"}, {YK_COUNTER_PCIE_IN, 312e9, "312GB/s"},
        {YK_COUNTER_POWER, 651.7, "652W"},     {YK_COUNTER_MEMORY, 1.5 * 1073741824, "1.50GiB"},
        {YK_COUNTER_CORES, 3.971, "3.97"},     {YK_COUNTER_INSTRUCTIONS, 12.34e9, "12.3G/s"},
        {YK_COUNTER_CYCLES, 999.7, "1.00k/s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[YK_COUNTER_TEXT_SIZE];
        yk_counter_format_value(cases[i].counter, cases[i].value, words);
        assert_string_equal(words, cases[i].words);
    }
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        for (int other = 0; other < c; other++) {
            assert_string_not_equal(yk_counter_json_key((enum yk_counter)c),
                                    yk_counter_json_key((enum yk_counter)other));
        }
        assert_true(yk_counter_name((enum yk_counter)c)[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_come_back_from_readings_longer_than_they_are),
        cmocka_unit_test(what_readings_cannot_separate_is_not_shown),
        cmocka_unit_test(only_what_goes_together_stays_open),
        cmocka_unit_test(groups_are_shown_where_their_parts_are_not),
        cmocka_unit_test(what_overlaps_computation_is_not_counted_twice),
        cmocka_unit_test(readings_of_what_nobody_knows_do_not_count),
        cmocka_unit_test(no_readings_or_spans_show_nothing),
        cmocka_unit_test(a_fit_is_the_best_within_its_bounds),
        cmocka_unit_test(numbers_have_their_units_and_what_is_missing_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
