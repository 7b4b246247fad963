#include "milp/milp.h"

#include "base/random.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Nothing here takes nearly as long. */
static const double budget_s = 60;

#define assert_near(found, expected, tolerance)                                                    \
    assert_true(fabs((found) - (expected)) <= (tolerance))

struct fixture {
    struct yk_arena *arena;
    struct yk_milp *milp;
    struct yk_milp_options options;
    struct yk_milp_result result;
};

static void begin(struct fixture *fixture)
{
    *fixture = (struct fixture){.options = {.budget_s = budget_s}};
    assert_ok(yk_arena_create(&fixture->arena));
    assert_ok(yk_milp_create(&fixture->milp));
}

static void end(struct fixture *fixture)
{
    yk_milp_destroy(fixture->milp);
    yk_arena_destroy(fixture->arena);
}

static int32_t column(struct fixture *fixture, double lower, double upper, double objective,
                      bool whole)
{
    int32_t number = -1;
    assert_ok(yk_milp_add_column(fixture->milp, lower, upper, objective, whole, &number));
    return number;
}

static int32_t row(struct fixture *fixture, double lower, double upper)
{
    int32_t number = -1;
    assert_ok(yk_milp_add_row(fixture->milp, lower, upper, &number));
    return number;
}

static void entry(struct fixture *fixture, int32_t in_row, int32_t in_column, double value)
{
    assert_ok(yk_milp_add_coefficient(fixture->milp, in_row, in_column, value));
}

static void solve(struct fixture *fixture)
{
    assert_ok(yk_milp_solve(fixture->milp, &fixture->options, fixture->arena, &fixture->result));
}

/* Makes most of 3x + 5y with x ≤ 4, 2y ≤ 12 and 3x + 2y ≤ 18: the textbook's example, 36 at (2, 6),
 * with shadow prices 0, 3/2 and 1. */
static void add_textbook(struct fixture *fixture)
{
    const int32_t x = column(fixture, 0, INFINITY, -3, false);
    const int32_t y = column(fixture, 0, INFINITY, -5, false);
    const int32_t rows[] = {row(fixture, -INFINITY, 4), row(fixture, -INFINITY, 12),
                            row(fixture, -INFINITY, 18)};
    entry(fixture, rows[0], x, 1);
    entry(fixture, rows[1], y, 2);
    entry(fixture, rows[2], x, 3);
    entry(fixture, rows[2], y, 2);
}

static void a_linear_program_gives_values_and_prices(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    add_textbook(&fixture);
    solve(&fixture);
    assert_int_equal(fixture.result.outcome, YK_MILP_OPTIMAL);
    assert_near(fixture.result.objective, -36, 1e-9);
    assert_near(fixture.result.bound, -36, 1e-9);
    assert_near(fixture.result.values[0], 2, 1e-9);
    assert_near(fixture.result.values[1], 6, 1e-9);
    assert_near(fixture.result.prices[0], 0, 1e-9);
    assert_near(fixture.result.prices[1], -1.5, 1e-9);
    assert_near(fixture.result.prices[2], -1, 1e-9);
    end(&fixture);
}

static void a_row_added_later_counts(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    add_textbook(&fixture);
    solve(&fixture);
    entry(&fixture, row(&fixture, -INFINITY, 5), 1, 1); /* y ≤ 5: x = 8/3 */
    solve(&fixture);
    assert_near(fixture.result.objective, -33, 1e-9);
    end(&fixture);
}

static void entries_named_twice_add_up(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    const int32_t x = column(&fixture, 0, INFINITY, 1, false);
    const int32_t only = row(&fixture, 6, INFINITY);
    entry(&fixture, only, x, 1);
    entry(&fixture, only, x, 2);
    solve(&fixture);
    assert_near(fixture.result.values[0], 2, 1e-9);
    end(&fixture);
}

static void what_cannot_be_is_infeasible(void **state)
{
    struct fixture fixture;
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        begin(&fixture);
        const int32_t x = column(&fixture, 0, 10, 1, whole == 1);
        entry(&fixture, row(&fixture, 11, INFINITY), x, 1);
        solve(&fixture);
        assert_int_equal(fixture.result.outcome, YK_MILP_INFEASIBLE);
        assert_null(fixture.result.values);
        end(&fixture);
    }
}

static void a_half_is_no_whole_number(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    const int32_t x = column(&fixture, 0, 10, 1, true);
    const int32_t y = column(&fixture, 0, 10, 1, true);
    const int32_t odd = row(&fixture, 7, 7);
    entry(&fixture, odd, x, 2);
    entry(&fixture, odd, y, 4);
    solve(&fixture);
    assert_int_equal(fixture.result.outcome, YK_MILP_INFEASIBLE);
    fixture.options.relaxed = true;
    solve(&fixture);
    assert_int_equal(fixture.result.outcome, YK_MILP_OPTIMAL);
    assert_near(fixture.result.objective, 1.75, 1e-9);
    end(&fixture);
}

static void what_has_no_limit_is_unbounded(void **state)
{
    struct fixture fixture;
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        begin(&fixture);
        const int32_t x = column(&fixture, 0, INFINITY, -1, whole == 1);
        const int32_t y = column(&fixture, 0, INFINITY, 0, false);
        const int32_t difference = row(&fixture, -1, 1);
        entry(&fixture, difference, x, 1);
        entry(&fixture, difference, y, -1);
        solve(&fixture);
        assert_int_equal(fixture.result.outcome, YK_MILP_UNBOUNDED);
        end(&fixture);
    }
}

enum {
    ITEMS = 12
};

struct knapsack {
    int64_t values[ITEMS];
    int64_t weights[ITEMS];
    int64_t room;
};

static struct knapsack random_knapsack(struct yk_random *random)
{
    struct knapsack knapsack = {.room = 0};
    for (int i = 0; i < ITEMS; i++) {
        knapsack.weights[i] = 5 + yk_random_below(random, 40);
        knapsack.values[i] = knapsack.weights[i] + yk_random_below(random, 20);
        knapsack.room += knapsack.weights[i];
    }
    knapsack.room /= 2;
    return knapsack;
}

/* Every set of items is looked at. */
static int64_t best_value(const struct knapsack *knapsack)
{
    int64_t best = 0;
    for (unsigned set = 0; set < 1U << ITEMS; set++) {
        int64_t value = 0;
        int64_t weight = 0;
        for (int i = 0; i < ITEMS; i++) {
            value += (set >> i & 1U) != 0 ? knapsack->values[i] : 0;
            weight += (set >> i & 1U) != 0 ? knapsack->weights[i] : 0;
        }
        best = weight <= knapsack->room && value > best ? value : best;
    }
    return best;
}

static void add_knapsack(struct fixture *fixture, const struct knapsack *knapsack)
{
    const int32_t room = row(fixture, -INFINITY, (double)knapsack->room);
    for (int i = 0; i < ITEMS; i++) {
        const int32_t item = column(fixture, 0, 1, -(double)knapsack->values[i], true);
        entry(fixture, room, item, (double)knapsack->weights[i]);
    }
}

static void knapsacks_are_filled_best(void **state)
{
    struct yk_random random = yk_random_from_seed(7);
    struct fixture fixture;
    (void)state;
    for (int trial = 0; trial < support_trials(40); trial++) {
        const struct knapsack knapsack = random_knapsack(&random);
        const double best = -(double)best_value(&knapsack);
        begin(&fixture);
        add_knapsack(&fixture, &knapsack);
        solve(&fixture);
        assert_int_equal(fixture.result.outcome, YK_MILP_OPTIMAL);
        assert_near(fixture.result.objective, best, 1e-6);
        assert_near(fixture.result.bound, best, 1e-6);
        double weight = 0;
        for (int i = 0; i < ITEMS; i++) {
            assert_near(fixture.result.values[i], round(fixture.result.values[i]), 1e-6);
            weight += fixture.result.values[i] * (double)knapsack.weights[i];
        }
        assert_true(weight <= (double)knapsack.room + 1e-6);
        assert_null(fixture.result.prices);
        end(&fixture);
    }
}

static void with_a_gap_the_bound_still_holds(void **state)
{
    struct yk_random random = yk_random_from_seed(8);
    struct fixture fixture;
    (void)state;
    for (int trial = 0; trial < support_trials(40); trial++) {
        const struct knapsack knapsack = random_knapsack(&random);
        const double best = -(double)best_value(&knapsack);
        begin(&fixture);
        add_knapsack(&fixture, &knapsack);
        fixture.options.gap = 0.1;
        solve(&fixture);
        assert_true(fixture.result.bound <= best + 1e-6);
        assert_true(fixture.result.objective >= best - 1e-6);
        assert_true(fixture.result.objective <= best * 0.9 + 1e-6);
        end(&fixture);
    }
}

/* Whole numbers beyond 0 and 1, with an equation: the fewest coins of 1, 7 and 10 that make 24 are
 * 7 + 7 + 10. */
static void coins_make_the_sum(void **state)
{
    const double coins[] = {1, 7, 10};
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    const int32_t sum = row(&fixture, 24, 24);
    for (int i = 0; i < 3; i++) {
        entry(&fixture, sum, column(&fixture, 0, INFINITY, 1, true), coins[i]);
    }
    solve(&fixture);
    assert_near(fixture.result.objective, 3, 1e-6);
    assert_near(fixture.result.values[1], 2, 1e-6);
    end(&fixture);
}

static void a_start_is_never_lost(void **state)
{
    struct yk_random random = yk_random_from_seed(9);
    const struct knapsack knapsack = random_knapsack(&random);
    const double start[ITEMS] = {1, 1};
    const double value = (double)(knapsack.values[0] + knapsack.values[1]);
    const atomic_bool stop = true;
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    add_knapsack(&fixture, &knapsack);
    fixture.options.start = start;
    solve(&fixture);
    assert_near(fixture.result.objective, -(double)best_value(&knapsack), 1e-6);
    fixture.options.stop = &stop;
    solve(&fixture);
    assert_int_equal(fixture.result.outcome, YK_MILP_FEASIBLE);
    assert_near(fixture.result.objective, -value, 1e-9);
    assert_memory_equal(fixture.result.values, start, sizeof start);
    end(&fixture);
}

static void stopped_at_once_nothing_is_known(void **state)
{
    const atomic_bool stop = true;
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    add_textbook(&fixture);
    fixture.options.stop = &stop;
    solve(&fixture);
    assert_int_equal(fixture.result.outcome, YK_MILP_NO_SOLUTION_FOUND);
    assert_null(fixture.result.values);
    assert_true(fixture.result.bound == -INFINITY);
    end(&fixture);
}

static void nothing_is_printed(void **state)
{
    struct yk_random random = yk_random_from_seed(10);
    const struct knapsack knapsack = random_knapsack(&random);
    struct fixture fixture;
    FILE *file = tmpfile();
    (void)state;
    assert_non_null(file);
    begin(&fixture);
    add_knapsack(&fixture, &knapsack);
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    assert_true(saved >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
    const yk_status whole =
        yk_milp_solve(fixture.milp, &fixture.options, fixture.arena, &fixture.result);
    fixture.options.relaxed = true;
    const yk_status relaxed =
        yk_milp_solve(fixture.milp, &fixture.options, fixture.arena, &fixture.result);
    fflush(stdout);
    assert_true(dup2(saved, STDOUT_FILENO) >= 0);
    close(saved);
    assert_ok(whole);
    assert_ok(relaxed);
    assert_int_equal(lseek(fileno(file), 0, SEEK_END), 0);
    (void)fclose(file);
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_linear_program_gives_values_and_prices),
        cmocka_unit_test(a_row_added_later_counts),
        cmocka_unit_test(entries_named_twice_add_up),
        cmocka_unit_test(what_cannot_be_is_infeasible),
        cmocka_unit_test(a_half_is_no_whole_number),
        cmocka_unit_test(what_has_no_limit_is_unbounded),
        cmocka_unit_test(knapsacks_are_filled_best),
        cmocka_unit_test(with_a_gap_the_bound_still_holds),
        cmocka_unit_test(coins_make_the_sum),
        cmocka_unit_test(a_start_is_never_lost),
        cmocka_unit_test(stopped_at_once_nothing_is_known),
        cmocka_unit_test(nothing_is_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
