#include "planner/order/transfer_order.h"

#include "planner/order/formulation.h"
#include "support/graphs/order_tiny.h"
#include "support/support.h"

#include <math.h>

/* Tiny problems take a hundredth of it. */
static const double budget_s = 60;

static void assert_sound(const struct order_tiny *tiny, const struct yk_transfer_order *order,
                         double optimum_s)
{
    double step_s = 0;
    assert_ok(yk_transfer_order_check(&tiny->problem, order, &step_s));
    assert_true(fabs(order->step_s - step_s) <= 1e-9);
    assert_true(order->step_s >= optimum_s - 1e-9);
    assert_true(order->bound_s <= optimum_s + 1e-9);
    assert_false(order_brute_exceeds(&tiny->problem, order));
}

/* Both ways against every order there is. */
static void tiny_problems_are_solved(void **state)
{
    struct yk_random random = yk_random_from_seed(3);
    const struct yk_transfer_order_milp_options options = {.budget_s = budget_s};
    double greedy_s = 0;
    double optimal_s = 0;
    int fitting = 0;
    (void)state;
    for (int trial = 0; trial < 150; trial++) {
        struct order_tiny tiny;
        struct yk_arena *arena = NULL;
        struct yk_transfer_order *greedy = NULL;
        struct yk_transfer_order *milp = NULL;
        order_tiny_random(&tiny, &random);
        const double optimum_s = order_brute_optimum(&tiny.problem);
        assert_ok(yk_arena_create(&arena));
        if (optimum_s == INFINITY) {
            assert_int_equal(yk_transfer_order_solve_greedy(&tiny.problem, arena, &greedy),
                             YK_ERROR_NO_FIT);
            assert_int_equal(yk_transfer_order_solve_milp(&tiny.problem, &options, arena, &milp),
                             YK_ERROR_NO_FIT);
            yk_arena_destroy(arena);
            continue;
        }
        fitting++;
        assert_ok(yk_transfer_order_solve_greedy(&tiny.problem, arena, &greedy));
        assert_ok(yk_transfer_order_solve_milp(&tiny.problem, &options, arena, &milp));
        assert_sound(&tiny, greedy, optimum_s);
        assert_sound(&tiny, milp, optimum_s);
        assert_true(milp->step_s <= optimum_s * (1 + 2e-4));
        assert_true(milp->bound_s >= optimum_s * (1 - 2e-4));
        greedy_s += greedy->step_s;
        optimal_s += optimum_s;
        yk_arena_destroy(arena);
    }
    assert_in_range(fitting, 80, 140);
    assert_true(greedy_s <= optimal_s * 1.01);
}

/* The program by itself, without an order to begin with. */
static void the_program_has_the_optimum_of_all_orders(void **state)
{
    struct yk_random random = yk_random_from_seed(4);
    const struct yk_transfer_order_formulation_options form = {.apart = true};
    const struct yk_milp_options whole = {.budget_s = budget_s};
    const struct yk_milp_options relaxed = {.budget_s = budget_s, .relaxed = true};
    (void)state;
    for (int trial = 0; trial < support_trials(200); trial++) {
        struct order_tiny tiny;
        struct yk_arena *arena = NULL;
        struct yk_transfer_order_formulation *program = NULL;
        struct yk_milp_result result = {0};
        double bound_s = 0;
        order_tiny_random(&tiny, &random);
        const double optimum_s = order_brute_optimum(&tiny.problem);
        assert_ok(yk_arena_create(&arena));
        assert_ok(yk_transfer_order_formulation_create(&tiny.problem, &form, arena, &program));
        assert_ok(yk_transfer_order_formulation_solve(program, &whole, NULL, arena, &result));
        if (optimum_s == INFINITY) {
            assert_int_equal(result.outcome, YK_MILP_INFEASIBLE);
        } else {
            assert_int_equal(result.outcome, YK_MILP_OPTIMAL);
            assert_true(fabs(result.objective - optimum_s) <= 1e-5);
            assert_ok(yk_transfer_order_formulation_solve(program, &relaxed, NULL, arena, &result));
            assert_true(result.objective <= optimum_s + 1e-6);
            assert_ok(
                yk_transfer_order_formulation_dual_bound(program, result.prices, arena, &bound_s));
            assert_true(fabs(bound_s - result.objective) <= 1e-5);
        }
        yk_transfer_order_formulation_destroy(program);
        yk_arena_destroy(arena);
    }
}

/* Prices are changed one by one as long as the bound gets better by it: it must stay one. */
static void any_prices_give_a_bound(void **state)
{
    struct yk_random random = yk_random_from_seed(5);
    (void)state;
    for (int trial = 0; trial < 200; trial++) {
        struct order_tiny tiny;
        struct yk_arena *arena = NULL;
        double prices[2][ORDER_BRUTE_SLOTS] = {{0}};
        double best_s = 0;
        order_tiny_random(&tiny, &random);
        const double optimum_s = order_brute_optimum(&tiny.problem);
        assert_ok(yk_arena_create(&arena));
        for (int change = 0; change < 300; change++) {
            const bool memory = yk_random_below(&random, 2) == 1;
            const int64_t slot = yk_random_below(&random, 2 * tiny.problem.layer_count + 3);
            const double before = prices[memory][slot];
            double bound_s = 0;
            prices[memory][slot] =
                memory ? yk_random_uniform(&random) * 0.2 : fmin(1, yk_random_uniform(&random) * 2);
            assert_ok(yk_transfer_order_bound_from_prices(&tiny.problem, prices[0], prices[1],
                                                          arena, &bound_s));
            assert_true(bound_s <= optimum_s + 1e-9);
            if (bound_s < best_s) {
                prices[memory][slot] = before;
            }
            best_s = fmax(best_s, bound_s);
        }
        yk_arena_destroy(arena);
    }
}

enum {
    LARGER_LAYERS = 10
};

struct larger {
    struct yk_transfer_order_problem problem;
    struct yk_transfer_order_layer layers[LARGER_LAYERS];
    double compute_s[2 * LARGER_LAYERS + 3];
    double room_bytes[2 * LARGER_LAYERS + 3];
};

/* A slow link, so that all of memory is of use, and room for a few layers beyond what must be; half
 * of them all open, half with many that are replicated: their reductions can only be put off. */
static void make_larger(struct larger *larger, struct yk_random *random)
{
    const bool equal = yk_random_below(random, 2) == 0;
    const int64_t choices = yk_random_below(random, 2) == 0 ? 1 : 3;
    const double max_bytes = (double)(60 + yk_random_below(random, 80));
    larger->problem = (struct yk_transfer_order_problem){
        .layer_count = LARGER_LAYERS,
        .layers = larger->layers,
        .compute_s = larger->compute_s,
        .room_bytes = larger->room_bytes,
        .barrier = yk_random_below(random, 3) == 0,
    };
    for (int i = 0; i < LARGER_LAYERS; i++) {
        const double bytes = equal ? 20 : (double)(10 + yk_random_below(random, 20));
        const enum yk_transfer_order_sharding choice = yk_random_below(random, choices) == 0
                                                           ? YK_TRANSFER_ORDER_UNDECIDED
                                                           : YK_TRANSFER_ORDER_REPLICATED;
        larger->layers[i] =
            (struct yk_transfer_order_layer){choice, 8, bytes / 20, bytes / 20, bytes, bytes};
    }
    for (int t = 0; t < 2 * LARGER_LAYERS + 3; t++) {
        const bool gap = t == LARGER_LAYERS || t > 2 * LARGER_LAYERS;
        larger->compute_s[t] = gap ? 0 : yk_random_uniform(random) * (t < LARGER_LAYERS ? 2 : 4);
        larger->room_bytes[t] = max_bytes + (double)yk_random_below(random, 40);
    }
}

/* The relaxed program, which no order beats, as the judge. */
static void larger_problems_stay_within_memory_and_bounds(void **state)
{
    struct yk_random random = yk_random_from_seed(6);
    const struct yk_transfer_order_formulation_options form = {.apart = true};
    const struct yk_milp_options relaxed = {.budget_s = budget_s, .relaxed = true};
    double greedy_s = 0;
    double relaxed_s = 0;
    (void)state;
    for (int trial = 0; trial < 100; trial++) {
        struct larger larger;
        struct yk_arena *arena = NULL;
        struct yk_transfer_order *order = NULL;
        struct yk_transfer_order_formulation *program = NULL;
        struct yk_milp_result result = {0};
        double step_s = 0;
        make_larger(&larger, &random);
        assert_ok(yk_arena_create(&arena));
        assert_ok(yk_transfer_order_formulation_create(&larger.problem, &form, arena, &program));
        assert_ok(yk_transfer_order_formulation_solve(program, &relaxed, NULL, arena, &result));
        if (yk_transfer_order_solve_greedy(&larger.problem, arena, &order) == YK_OK) {
            assert_ok(yk_transfer_order_check(&larger.problem, order, &step_s));
            assert_true(fabs(order->step_s - step_s) <= 1e-9);
            assert_true(order->step_s >= result.objective - 1e-6);
            assert_true(order->bound_s <= result.objective + 1e-6);
            greedy_s += order->step_s;
            relaxed_s += result.objective;
        } else {
            assert_int_equal(result.outcome, YK_MILP_INFEASIBLE);
        }
        yk_transfer_order_formulation_destroy(program);
        yk_arena_destroy(arena);
    }
    assert_true(greedy_s <= relaxed_s * 1.01);
}

/* Eight equal layers of eight blocks that computation could hide, and memory for three of them at
 * a time; all but the ends is hidden. */
static void a_long_chain_is_hidden_but_for_its_ends(void **state)
{
    enum {
        N = 8
    };
    struct yk_transfer_order_layer layers[N];
    double compute_s[2 * N + 3];
    double room_bytes[2 * N + 3];
    struct yk_transfer_order_problem problem = {
        .layer_count = N, .layers = layers, .compute_s = compute_s, .room_bytes = room_bytes};
    struct yk_arena *arena = NULL;
    struct yk_transfer_order *order = NULL;
    (void)state;
    for (int i = 0; i < N; i++) {
        layers[i] =
            (struct yk_transfer_order_layer){YK_TRANSFER_ORDER_FULLY_SHARDED, 8, 1, 1, 8, 8};
    }
    for (int t = 0; t < 2 * N + 3; t++) {
        compute_s[t] = t == N || t > 2 * N ? 0 : (t < N ? 1 : 2);
        room_bytes[t] = 32;
    }
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_transfer_order_solve_greedy(&problem, arena, &order));
    /* Computation, 8 + 16. The first layer's scatter and gather have but the gaps, and the last
     * layer's second gather has but the turn between its forward and backward: 1 s each. */
    assert_true(fabs(order->step_s - (24 + 3)) < 1e-9);
    yk_arena_destroy(arena);
}

/* Four replicated layers of two blocks, and computation at the end of the step only, where there is
 * memory for five blocks of gradients: the other three are exposed, half a second each. */
static void reductions_are_delayed_as_far_as_memory_goes(void **state)
{
    enum {
        N = 4,
        END_SLOT = 2 * N + 1
    };
    struct yk_transfer_order_layer layers[N];
    double compute_s[2 * N + 3] = {0};
    double room_bytes[2 * N + 3];
    struct yk_transfer_order_problem problem = {
        .layer_count = N, .layers = layers, .compute_s = compute_s, .room_bytes = room_bytes};
    struct yk_arena *arena = NULL;
    struct yk_transfer_order *order = NULL;
    double step_s = 0;
    (void)state;
    for (int i = 0; i < N; i++) {
        layers[i] = (struct yk_transfer_order_layer){YK_TRANSFER_ORDER_REPLICATED, 2, 1, 1, 10, 10};
    }
    for (int t = 0; t < 2 * N + 3; t++) {
        room_bytes[t] = t == END_SLOT ? 25 : 100;
    }
    compute_s[END_SLOT] = 100;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_transfer_order_solve_greedy(&problem, arena, &order));
    assert_ok(yk_transfer_order_check(&problem, order, &step_s));
    assert_true(fabs(step_s - 101.5) < 1e-9);
    yk_arena_destroy(arena);
}

/* One layer travels, and only one slot computes: either its scatter or its gather is hidden in it,
 * as they cannot be in one slot. */
static void scatter_and_gather_do_not_share_a_slot(void **state)
{
    const struct yk_transfer_order_milp_options options = {.budget_s = budget_s};
    struct order_tiny tiny;
    struct yk_arena *arena = NULL;
    struct yk_transfer_order *greedy = NULL;
    struct yk_transfer_order *milp = NULL;
    double step_s = 0;
    (void)state;
    order_tiny_three(&tiny);
    tiny.layers[0].choice = YK_TRANSFER_ORDER_NO_COMMUNICATION;
    tiny.layers[1].choice = YK_TRANSFER_ORDER_SHARDED_STATE;
    tiny.layers[2].choice = YK_TRANSFER_ORDER_NO_COMMUNICATION;
    for (int t = 0; t < ORDER_BRUTE_SLOTS; t++) {
        tiny.compute_s[t] = t == END ? 10 : 0;
    }
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_transfer_order_solve_greedy(&tiny.problem, arena, &greedy));
    assert_ok(yk_transfer_order_check(&tiny.problem, greedy, &step_s));
    assert_true(fabs(step_s - 11) < 1e-9);
    assert_ok(yk_transfer_order_solve_milp(&tiny.problem, &options, arena, &milp));
    assert_true(fabs(milp->step_s - 11) < 1e-9);
    assert_true(fabs(milp->bound_s - 11) < 1e-2);
    yk_arena_destroy(arena);
}

/* Without computation the step is what travels. There is as much memory as on demand, and in the
 * slots between their forwards and backwards for both layers: then both are kept. */
static void what_memory_allows_is_kept(void **state)
{
    static const double room_bytes[] = {20, 20, 20, 30, 30, 10, 10};
    struct order_tiny tiny;
    struct yk_arena *arena = NULL;
    struct yk_transfer_order *order = NULL;
    (void)state;
    order_tiny_begin(&tiny, 2);
    for (int i = 0; i < 2; i++) {
        tiny.layers[i] =
            (struct yk_transfer_order_layer){YK_TRANSFER_ORDER_UNDECIDED, 2, 1, 1, 10, 10};
    }
    for (int t = 0; t < 7; t++) {
        tiny.room_bytes[t] = room_bytes[t];
    }
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_transfer_order_solve_greedy(&tiny.problem, arena, &order));
    assert_true(order->kept[0] && order->kept[1]);
    assert_true(fabs(order->step_s - 4) < 1e-9);
    assert_true(fabs(order->bound_s - 4) < 1e-9);
    tiny.room_bytes[2] = 15; /* half of layer 0 could be kept, were blocks kept one by one */
    assert_ok(yk_transfer_order_solve_greedy(&tiny.problem, arena, &order));
    assert_false(order->kept[0]);
    assert_true(fabs(order->step_s - 5) < 1e-9);
    assert_true(fabs(order->bound_s - 4.5) < 1e-9);
    yk_arena_destroy(arena);
}

static void with_no_time_milp_is_greedy(void **state)
{
    const atomic_bool stop = true;
    const struct yk_transfer_order_milp_options none = {.budget_s = 0};
    const struct yk_transfer_order_milp_options stopped = {.budget_s = budget_s, .stop = &stop};
    struct order_tiny tiny;
    struct yk_arena *arena = NULL;
    struct yk_transfer_order *greedy = NULL;
    struct yk_transfer_order *milp = NULL;
    (void)state;
    order_tiny_three(&tiny);
    tiny.room_bytes[TURN] = 15;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_transfer_order_solve_greedy(&tiny.problem, arena, &greedy));
    assert_ok(yk_transfer_order_solve_milp(&tiny.problem, &none, arena, &milp));
    assert_true(milp->step_s == greedy->step_s);
    assert_string_equal(milp->method, "greedy");
    assert_ok(yk_transfer_order_solve_milp(&tiny.problem, &stopped, arena, &milp));
    assert_true(milp->step_s == greedy->step_s);
    yk_arena_destroy(arena);
}

/* On demand, B2 holds layer 2 with its gradient and layer 1, that is gathered: 30 bytes. */
static void what_fits_nowhere_says_where_it_lacks_most(void **state)
{
    const struct yk_transfer_order_milp_options options = {.budget_s = budget_s};
    struct order_tiny tiny;
    struct yk_arena *arena = NULL;
    struct yk_transfer_order *order = NULL;
    (void)state;
    order_tiny_three(&tiny);
    tiny.room_bytes[B2] = 24;
    tiny.room_bytes[F0] = 19; /* 1 less than layers 0 and 1 */
    assert_ok(yk_arena_create(&arena));
    assert_fails(yk_transfer_order_solve_greedy(&tiny.problem, arena, &order), YK_ERROR_NO_FIT,
                 "no order fits: backward 2 lacks 6B of memory beyond the 24B there is for "
                 "gathered parameters "
                 "and gradients");
    assert_int_equal(yk_transfer_order_solve_milp(&tiny.problem, &options, arena, &order),
                     YK_ERROR_NO_FIT);
    yk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_problems_are_solved),
        cmocka_unit_test(the_program_has_the_optimum_of_all_orders),
        cmocka_unit_test(any_prices_give_a_bound),
        cmocka_unit_test(larger_problems_stay_within_memory_and_bounds),
        cmocka_unit_test(a_long_chain_is_hidden_but_for_its_ends),
        cmocka_unit_test(reductions_are_delayed_as_far_as_memory_goes),
        cmocka_unit_test(scatter_and_gather_do_not_share_a_slot),
        cmocka_unit_test(what_memory_allows_is_kept),
        cmocka_unit_test(with_no_time_milp_is_greedy),
        cmocka_unit_test(what_fits_nowhere_says_where_it_lacks_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
