#include "planner/search/plan_evaluation.h"

#include "base/random.h"
#include "support/support.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    MOST_RANKS = 4,
    MOST_SAMPLES = 12,
    MANY_RANKS = 64,
    MANY_SAMPLES = 4096,
};

/* Seconds of every rank for 0, 1, … samples. */
struct table {
    double s[MOST_RANKS][MOST_SAMPLES + 1];
};

static yk_status look_up(void *user, int32_t rank, int64_t samples, double *out_s)
{
    const struct table *table = user;
    assert_in_range(samples, 0, MOST_SAMPLES);
    *out_s = table->s[rank][samples];
    return YK_OK;
}

struct answer {
    int64_t shares[MOST_RANKS];
    double slowest_s;
    double sum_s;
};

/* Every split, the ones in which lower ranks take more first, so that an equal one does not
 * replace an earlier one. Sums in another order differ in their last digits. */
static void try_splits(const struct yk_sample_shares_problem *problem, int32_t rank, int64_t left,
                       struct answer *trial, struct answer *best)
{
    const struct table *table = problem->user;
    if (rank == problem->rank_count) {
        if (left > 0) {
            return;
        }
        trial->slowest_s = 0;
        trial->sum_s = 0;
        for (int32_t i = 0; i < rank; i++) {
            const double time_s = table->s[i][trial->shares[i]];
            trial->slowest_s = fmax(trial->slowest_s, time_s);
            trial->sum_s += time_s;
        }
        if (trial->slowest_s < best->slowest_s ||
            (trial->slowest_s == best->slowest_s && trial->sum_s < best->sum_s * (1 - 1e-12))) {
            *best = *trial;
        }
        return;
    }
    const int64_t max = problem->max[rank] < left ? problem->max[rank] : left;
    for (int64_t share = max; share >= 0; share--) {
        trial->shares[rank] = share;
        try_splits(problem, rank + 1, left - share, trial, best);
    }
}

/* One rank's curve: whole or broken numbers, straight, bent either way, in steps, with and without
 * seconds for nothing. Whole numbers give many equal sums. */
static void draw_curve(struct yk_random *random, double *s)
{
    const bool whole = yk_random_below(random, 2) == 0;
    const int64_t form = yk_random_below(random, 5);
    const double base = yk_random_below(random, 3) == 0 ? (double)yk_random_below(random, 12) : 0;
    const double slope = 1 + (double)yk_random_below(random, 4);
    double time_s = base;
    s[0] = base;
    for (int b = 1; b <= MOST_SAMPLES; b++) {
        const double line = slope * b;
        switch (form) {
        case 0:
            time_s = base + line;
            break;
        case 1:
            time_s = base + line * line / 8;
            break;
        case 2:
            time_s = base + 6 * sqrt(line);
            break;
        case 3:
            time_s = fmax(base + line, 12); /* communication that hides computation */
            break;
        default:
            time_s += (double)(yk_random_below(random, 3) * yk_random_below(random, 5));
            break;
        }
        s[b] = whole ? floor(time_s) : time_s * 1.1;
    }
}

static void shares_are_those_of_brute_force(void **state)
{
    (void)state;
    int refused = 0;
    int idle = 0;
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        struct table table;
        int64_t max[MOST_RANKS] = {0};
        struct yk_sample_shares_problem problem = {
            .rank_count = 1 + (int32_t)yk_random_below(&random, MOST_RANKS),
            .max = max,
            .time = look_up,
            .user = &table,
        };
        problem.samples = yk_random_below(&random, MOST_SAMPLES + 1);
        for (int32_t i = 0; i < problem.rank_count; i++) {
            draw_curve(&random, table.s[i]);
            max[i] = yk_random_below(&random, 2) == 0 ? yk_random_below(&random, 10)
                                                      : 3 * problem.samples;
        }
        struct answer trial = {0};
        struct answer best = {.slowest_s = INFINITY};
        try_splits(&problem, 0, problem.samples, &trial, &best);
        int64_t shares[MOST_RANKS];
        double slowest_s = 0;
        const yk_status status = yk_sample_shares_find(&problem, shares, &slowest_s);
        if (isinf(best.slowest_s)) {
            assert_int_equal(status, YK_ERROR_NO_FIT);
            refused++;
            continue;
        }
        assert_ok(status);
        for (int32_t i = 0; i < problem.rank_count; i++) {
            if (shares[i] != best.shares[i] || slowest_s != best.slowest_s) {
                fail_msg("seed %d rank %d: %d is not %d (%g, %g)", (int)seed, i, (int)shares[i],
                         (int)best.shares[i], slowest_s, best.slowest_s);
            }
            idle += shares[i] == 0 ? 1 : 0;
        }
    }
    assert_in_range(refused, 500, 10000);
    assert_in_range(idle, 500, 40000);
}

/* Times that fall in their last digits only, as a sum of measured seconds may. */
static void rounding_costs_no_more_than_rounding(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        static const int64_t max[] = {12, 7, 12};
        struct table table;
        struct yk_sample_shares_problem problem = {
            .rank_count = 3, .samples = 12, .max = max, .time = look_up, .user = &table};
        for (int i = 0; i < 3; i++) {
            draw_curve(&random, table.s[i]);
            for (int b = 0; b <= MOST_SAMPLES; b++) {
                table.s[i][b] *= 1 + (double)(yk_random_below(&random, 5) - 2) * DBL_EPSILON;
            }
        }
        struct answer trial = {0};
        struct answer best = {.slowest_s = INFINITY};
        try_splits(&problem, 0, problem.samples, &trial, &best);
        int64_t shares[MOST_RANKS];
        double slowest_s = 0;
        assert_ok(yk_sample_shares_find(&problem, shares, &slowest_s));
        assert_int_equal(shares[0] + shares[1] + shares[2], 12);
        assert_true(shares[1] <= 7);
        assert_true(slowest_s <= best.slowest_s * (1 + 1e-12));
    }
}

/* Whatever the times do, all samples are taken, nobody takes more than it may, and the time is that
 * of the slowest. */
static void shares_add_up_even_where_times_fall(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        struct table table;
        int64_t max[MOST_RANKS];
        struct yk_sample_shares_problem problem = {
            .rank_count = MOST_RANKS, .samples = 12, .max = max, .time = look_up, .user = &table};
        for (int i = 0; i < MOST_RANKS; i++) {
            max[i] = 3 + yk_random_below(&random, 10);
            for (int b = 0; b <= MOST_SAMPLES; b++) {
                table.s[i][b] = (double)yk_random_below(&random, 20);
            }
        }
        int64_t shares[MOST_RANKS];
        double slowest_s = 0;
        double expected_s = 0;
        int64_t sum = 0;
        assert_ok(yk_sample_shares_find(&problem, shares, &slowest_s));
        for (int i = 0; i < MOST_RANKS; i++) {
            assert_in_range(shares[i], 0, max[i]);
            sum += shares[i];
            expected_s = fmax(expected_s, table.s[i][shares[i]]);
        }
        assert_int_equal(sum, 12);
        assert_true(slowest_s == expected_s);
    }
}

static yk_status by_speed(void *user, int32_t rank, int64_t samples, double *out_s)
{
    const double *speeds = user;
    *out_s = (double)samples / speeds[rank];
    return YK_OK;
}

/* Sequences a second of BERT-large in fp16: one RTX 6000 Ada, two RTX 3090. 28/79 s is the slowest;
 * 27 and 19 samples take 19/52 s, 29 take 29/79 s. */
static void measured_speeds_give_28_18_18(void **state)
{
    (void)state;
    double speeds[] = {79, 52, 52};
    static const int64_t max[] = {64, 64, 64};
    const struct yk_sample_shares_problem problem = {
        .rank_count = 3, .samples = 64, .max = max, .time = by_speed, .user = speeds};
    int64_t shares[3];
    double slowest_s = 0;
    assert_ok(yk_sample_shares_find(&problem, shares, &slowest_s));
    assert_int_equal(shares[0], 28);
    assert_int_equal(shares[1], 18);
    assert_int_equal(shares[2], 18);
    assert_true(slowest_s == 28 / 79.0);
}

/* Four times as slow, it would take the first sample in the time the others take two more each. */
static void a_slow_rank_is_left_out(void **state)
{
    (void)state;
    double speeds[] = {4, 1, 4};
    static const int64_t max[] = {8, 8, 8};
    const struct yk_sample_shares_problem problem = {
        .rank_count = 3, .samples = 6, .max = max, .time = by_speed, .user = speeds};
    int64_t shares[3];
    double slowest_s = 0;
    assert_ok(yk_sample_shares_find(&problem, shares, &slowest_s));
    assert_int_equal(shares[0], 3);
    assert_int_equal(shares[1], 0);
    assert_int_equal(shares[2], 3);
    assert_true(slowest_s == 0.75);
}

static void what_no_rank_has_room_for_is_refused(void **state)
{
    (void)state;
    double speeds[] = {1, 1};
    static const int64_t max[] = {4, 2};
    struct yk_sample_shares_problem problem = {
        .rank_count = 2, .samples = 8, .max = max, .time = by_speed, .user = speeds};
    int64_t shares[2] = {-1, -1};
    double slowest_s = -1;
    assert_fails(yk_sample_shares_find(&problem, shares, &slowest_s), YK_ERROR_NO_FIT,
                 "the ranks have room for 6 samples of 8; use a smaller batch, more micro-batches "
                 "or recomputation");
    speeds[1] = 0;
    problem.samples = 6;
    assert_fails(yk_sample_shares_find(&problem, shares, &slowest_s), YK_ERROR_NUMBERS,
                 "the time of rank 1 for 1 samples is not a number");
    assert_int_equal(shares[0], -1);
    assert_true(slowest_s == -1);
}

static yk_status fail_at_once(void *user, int32_t rank, int64_t samples, double *out_s)
{
    (void)user;
    (void)rank;
    (void)samples;
    *out_s = 0;
    return yk_fail(YK_ERROR_LOST, "gone");
}

static void a_failing_time_is_passed_on(void **state)
{
    (void)state;
    static const int64_t max[] = {5};
    const struct yk_sample_shares_problem problem = {
        .rank_count = 1, .samples = 1, .max = max, .time = fail_at_once};
    int64_t shares[1];
    double slowest_s = 0;
    assert_fails(yk_sample_shares_find(&problem, shares, &slowest_s), YK_ERROR_LOST, "gone");
}

struct many {
    double speeds[MANY_RANKS];
    double min_s;  /* hides what is quicker */
    double none_s; /* of rank 5, whatever it takes */
    int64_t calls;
};

static double many_s(const struct many *many, int32_t rank, int64_t samples)
{
    const double b = (double)samples;
    const double time_s = b / many->speeds[rank] + sqrt(b) / 7;
    return fmax(samples > 0 ? fmax(time_s, many->min_s) : 0, rank == 5 ? many->none_s : 0);
}

static yk_status time_many(void *user, int32_t rank, int64_t samples, double *out_s)
{
    struct many *many = user;
    many->calls++;
    *out_s = many_s(many, rank, samples);
    return YK_OK;
}

/* The samples that can be taken in less than `limit_s`: too few, or the limit is not the least. */
static int64_t count_below(const struct many *many, double limit_s)
{
    int64_t count = 0;
    for (int32_t i = 0; i < MANY_RANKS; i++) {
        for (int64_t b = 1; b <= MANY_SAMPLES && many_s(many, i, b) < limit_s; b++) {
            count++;
        }
    }
    return count;
}

static double solve_many(struct many *many)
{
    int64_t max[MANY_RANKS];
    int64_t shares[MANY_RANKS];
    double slowest_s = 0;
    int64_t sum = 0;
    for (int i = 0; i < MANY_RANKS; i++) {
        max[i] = MANY_SAMPLES;
    }
    const struct yk_sample_shares_problem problem = {.rank_count = MANY_RANKS,
                                                     .samples = MANY_SAMPLES,
                                                     .max = max,
                                                     .time = time_many,
                                                     .user = many};
    assert_ok(yk_sample_shares_find(&problem, shares, &slowest_s));
    for (int32_t i = 0; i < MANY_RANKS; i++) {
        sum += shares[i];
        assert_true(many_s(many, i, shares[i]) <= slowest_s);
    }
    assert_int_equal(sum, MANY_SAMPLES);
    return slowest_s;
}

static void many_ranks_need_few_calls(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        struct many many = {.calls = 0};
        for (int i = 0; i < MANY_RANKS; i++) {
            many.speeds[i] = 1 + 9 * yk_random_uniform(&random);
        }
        const double slowest_s = solve_many(&many);
        assert_true(count_below(&many, slowest_s) < MANY_SAMPLES);
        assert_in_range(many.calls, 1, 8000);
    }
}

/* Communication hides all computation up to a point, so that nearly every split is as fast. */
static void wide_plateaus_need_few_calls(void **state)
{
    (void)state;
    struct many many = {.min_s = 40};
    for (int i = 0; i < MANY_RANKS; i++) {
        many.speeds[i] = 1 + i % 8;
    }
    assert_true(solve_many(&many) == 40);
    assert_in_range(many.calls, 1, 8000);
}

/* One rank takes a minute whatever it takes: the others are spread as if it were not there. */
static void a_rank_that_is_slow_with_nothing_sets_the_time(void **state)
{
    (void)state;
    struct many many = {.none_s = 60};
    for (int i = 0; i < MANY_RANKS; i++) {
        many.speeds[i] = 1 + i % 8;
    }
    assert_true(solve_many(&many) == 60);
    assert_in_range(many.calls, 1, 8000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_those_of_brute_force),
        cmocka_unit_test(rounding_costs_no_more_than_rounding),
        cmocka_unit_test(shares_add_up_even_where_times_fall),
        cmocka_unit_test(measured_speeds_give_28_18_18),
        cmocka_unit_test(a_slow_rank_is_left_out),
        cmocka_unit_test(what_no_rank_has_room_for_is_refused),
        cmocka_unit_test(a_failing_time_is_passed_on),
        cmocka_unit_test(many_ranks_need_few_calls),
        cmocka_unit_test(wide_plateaus_need_few_calls),
        cmocka_unit_test(a_rank_that_is_slow_with_nothing_sets_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
