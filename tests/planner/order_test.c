#include "planner/order.h"

#include "base/random.h"
#include "planner/order_bound.h"
#include "planner/order_tidy.h"
#include "support/order_brute.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

/* Tiny problems take a hundredth of it. */
static const double budget_s = 60;

/* A problem with its own room, and an order for it. */
struct tiny {
    struct yk_order_problem problem;
    struct yk_order_layer layers[ORDER_BRUTE_LAYERS];
    double compute_s[ORDER_BRUTE_SLOTS];
    double room_bytes[ORDER_BRUTE_SLOTS];
    struct yk_order order;
    bool kept[ORDER_BRUTE_LAYERS];
    int32_t scatters[ORDER_BRUTE_LAYERS * ORDER_BRUTE_SLOTS];
    int32_t gathers[ORDER_BRUTE_LAYERS * ORDER_BRUTE_SLOTS];
};

static void begin(struct tiny *tiny, int32_t layers)
{
    *tiny = (struct tiny){.problem = {.layer_count = layers}};
    tiny->problem.layers = tiny->layers;
    tiny->problem.compute_s = tiny->compute_s;
    tiny->problem.room_bytes = tiny->room_bytes;
    tiny->order =
        (struct yk_order){.kept = tiny->kept, .scatters = tiny->scatters, .gathers = tiny->gathers};
}

/* Slots of three layers. */
enum {
    F0,
    F1,
    F2,
    TURN,
    B2,
    B1,
    B0,
    END,
    BEGIN,
};

static int32_t *scatter(struct tiny *tiny, int32_t layer, int32_t slot)
{
    return &tiny->scatters[layer * ORDER_BRUTE_SLOTS + slot];
}

static int32_t *gather(struct tiny *tiny, int32_t layer, int32_t slot)
{
    return &tiny->gathers[layer * ORDER_BRUTE_SLOTS + slot];
}

/*
 * Three layers of two blocks, a second and ten bytes to gather or scatter, a second in every slot
 * but the gaps, and more memory than they need. The order: layer 2 is kept; all others travel right
 * before they are used and right after they are there.
 */
static void begin_three(struct tiny *tiny)
{
    begin(tiny, 3);
    for (int i = 0; i < 3; i++) {
        tiny->layers[i] = (struct yk_order_layer){YK_ORDER_OPEN, 2, 1, 1, 10, 10};
    }
    for (int t = 0; t < ORDER_BRUTE_SLOTS; t++) {
        tiny->compute_s[t] = t == TURN || t >= END ? 0 : 1;
        tiny->room_bytes[t] = 100;
    }
    tiny->kept[2] = true;
    *scatter(tiny, 2, B1) = 2;
    *scatter(tiny, 1, B0) = 2;
    *scatter(tiny, 0, END) = 2;
    *gather(tiny, 0, BEGIN) = 2;
    *gather(tiny, 1, F0) = 2;
    *gather(tiny, 2, F1) = 2;
    *gather(tiny, 1, B2) = 2;
    *gather(tiny, 0, B1) = 2;
}

static yk_status check(struct tiny *tiny)
{
    double step_s = 0;
    return yk_order_check(&tiny->problem, &tiny->order, &step_s);
}

static void an_order_takes_the_longer_of_both_in_every_slot(void **state)
{
    struct tiny tiny;
    double step_s = 0;
    (void)state;
    begin_three(&tiny);
    assert_ok(yk_order_check(&tiny.problem, &tiny.order, &step_s));
    /* Slots of 1 s but for B1, where two transfers take 2, and the gaps: 0, 1 and 1. */
    assert_true(fabs(step_s - (5 + 2 + 0 + 1 + 1)) < 1e-12);
}

static void every_block_travels_once(void **state)
{
    struct tiny tiny;
    (void)state;
    begin_three(&tiny);
    *scatter(&tiny, 1, B0) = 1;
    assert_fails(check(&tiny), YK_ERROR_INPUT, "1 of the 2 blocks of layer 1 are scattered");
    begin_three(&tiny);
    *gather(&tiny, 1, F0) = 3;
    assert_fails(check(&tiny), YK_ERROR_INPUT,
                 "3 of the 2 blocks of layer 1 are gathered for forward");
    begin_three(&tiny);
    *gather(&tiny, 1, B2) = 0;
    assert_fails(check(&tiny), YK_ERROR_INPUT,
                 "0 of the 2 blocks of layer 1 are gathered for backward");
    begin_three(&tiny);
    *gather(&tiny, 1, B2) = -1;
    assert_fails(check(&tiny), YK_ERROR_INPUT,
                 "layer 1 has a negative number of blocks in slot backward 2");
}

static void blocks_stand_where_they_may(void **state)
{
    struct tiny tiny;
    (void)state;
    begin_three(&tiny);
    *scatter(&tiny, 1, B1) = 1; /* while backward makes it */
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 1 cannot be scattered in slot backward 1");
    begin_three(&tiny);
    *scatter(&tiny, 1, F0) = 1; /* no later slot is left to gather it in */
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 1 cannot be scattered in slot forward 0");
    begin_three(&tiny);
    *gather(&tiny, 1, F1) = 1; /* while forward uses it */
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 1 cannot be gathered in slot forward 1");
    begin_three(&tiny);
    *gather(&tiny, 2, TURN) = 2; /* what is kept is there */
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 2 cannot be gathered in slot turn");
}

static void a_block_is_gathered_after_it_is_scattered(void **state)
{
    struct tiny tiny;
    (void)state;
    begin_three(&tiny);
    *scatter(&tiny, 1, B0) = 0;
    *scatter(&tiny, 1, END) = 1;
    *scatter(&tiny, 1, BEGIN) = 1;
    assert_ok(check(&tiny));
    *gather(&tiny, 1, F0) = 0;
    *gather(&tiny, 1, BEGIN) = 2;
    assert_fails(check(&tiny), YK_ERROR_INPUT,
                 "layer 1 has 2 blocks gathered up to slot begin, but only 1 scattered before it");
}

static void a_barrier_parts_scatters_from_gathers(void **state)
{
    struct tiny tiny;
    (void)state;
    begin_three(&tiny);
    tiny.problem.barrier = true;
    assert_ok(check(&tiny));
    *gather(&tiny, 2, F1) = 0;
    *gather(&tiny, 2, END) = 2;
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 2 cannot be gathered in slot end");
    begin_three(&tiny);
    tiny.problem.barrier = true;
    *scatter(&tiny, 2, B1) = 0;
    *scatter(&tiny, 2, F0) = 2;
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 2 cannot be scattered in slot forward 0");
    tiny.problem.barrier = false;
    assert_ok(check(&tiny));
}

static void only_what_is_open_may_be_kept_or_not(void **state)
{
    struct tiny tiny;
    (void)state;
    begin_three(&tiny);
    tiny.layers[2].choice = YK_ORDER_FULLY_SHARDED;
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 2 cannot be kept");
    begin_three(&tiny);
    tiny.layers[1].choice = YK_ORDER_KEPT;
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 1 must be kept");
}

/* In slot B1: layer 1 with its gradient, layer 0 that is gathered, the gradient of layer 2 that is
 * scattered: 40 bytes. */
static void memory_holds_through_the_slot_that_blocks_travel_in(void **state)
{
    struct tiny tiny;
    (void)state;
    begin_three(&tiny);
    tiny.room_bytes[B1] = 40;
    assert_ok(check(&tiny));
    tiny.room_bytes[B1] = 39;
    assert_fails(check(&tiny), YK_ERROR_NO_FIT,
                 "backward 1 lacks 1B of memory beyond the 39B there is for gathered parameters "
                 "and gradients");
}

static void layers_of_other_strategies_need_what_they_need(void **state)
{
    struct tiny tiny;
    (void)state;
    begin_three(&tiny);
    tiny.layers[0].choice = YK_ORDER_ALONE;
    tiny.layers[1].choice = YK_ORDER_REPLICATED;
    tiny.layers[2].choice = YK_ORDER_SHARDED_STATE;
    tiny.kept[2] = false;
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 0 cannot be gathered in slot backward 1");
    *scatter(&tiny, 0, END) = 0;
    *gather(&tiny, 0, BEGIN) = 0;
    *gather(&tiny, 0, B1) = 0;
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 1 cannot be gathered in slot forward 0");
    *gather(&tiny, 1, F0) = 0;
    *gather(&tiny, 1, B2) = 0;
    *scatter(&tiny, 1, B0) = 0;
    *scatter(&tiny, 1, F0) = 2; /* up to the last slot, as nothing is gathered after it */
    assert_ok(check(&tiny));
    /* The gradients of layers 1 and 2, no parameters. */
    tiny.room_bytes[B1] = 20;
    assert_ok(check(&tiny));
    *scatter(&tiny, 1, F0) = 1;
    assert_fails(check(&tiny), YK_ERROR_INPUT, "1 of the 2 blocks of layer 1 are reduced");
}

static void assert_transfer(const struct yk_plan_transfer *found, enum yk_transfer_kind kind,
                            int32_t layer, int32_t first_block, int32_t block_count, int32_t slot)
{
    assert_int_equal(found->kind, kind);
    assert_int_equal(found->layer, layer);
    assert_int_equal(found->first_block, first_block);
    assert_int_equal(found->block_count, block_count);
    assert_int_equal(found->slot, slot);
}

static void transfers_stand_by_slot_with_scatters_first(void **state)
{
    struct tiny tiny;
    struct yk_arena *arena = NULL;
    struct yk_plan_transfer *found = NULL;
    int32_t count = 0;
    (void)state;
    begin_three(&tiny);
    tiny.layers[2].gradient_bytes = 0; /* frozen: nothing to scatter */
    tiny.layers[2].scatter_s = 0;
    *gather(&tiny, 2, F1) = 1; /* one block before the other, around the end of the cycle */
    *gather(&tiny, 2, BEGIN) = 1;
    assert_ok(check(&tiny));
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_order_transfers(&tiny.problem, &tiny.order, arena, &found, &count));
    assert_int_equal(count, 8);
    assert_transfer(&found[0], YK_TRANSFER_GATHER, 1, 0, 2, F0);
    assert_transfer(&found[1], YK_TRANSFER_GATHER, 2, 1, 1, F1);
    assert_transfer(&found[2], YK_TRANSFER_GATHER, 1, 0, 2, B2);
    assert_transfer(&found[3], YK_TRANSFER_GATHER, 0, 0, 2, B1);
    assert_transfer(&found[4], YK_TRANSFER_SCATTER, 1, 0, 2, B0);
    assert_transfer(&found[5], YK_TRANSFER_SCATTER, 0, 0, 2, END);
    assert_transfer(&found[6], YK_TRANSFER_GATHER, 0, 0, 2, BEGIN);
    assert_transfer(&found[7], YK_TRANSFER_GATHER, 2, 0, 1, BEGIN);
    yk_arena_destroy(arena);
}

static void tidied_gathers_travel_in_the_order_of_use(void **state)
{
    struct tiny tiny;
    struct yk_arena *arena = NULL;
    double before_s = 0;
    double after_s = 0;
    (void)state;
    begin_three(&tiny);
    tiny.kept[2] = false;
    *gather(&tiny, 1, B2) = 0;
    *gather(&tiny, 0, B1) = 1;
    *gather(&tiny, 2, TURN) = 2;
    *gather(&tiny, 0, F2) = 1; /* for backward, before the gathers of layer 1 */
    *gather(&tiny, 1, TURN) = 1;
    *gather(&tiny, 1, B2) = 1;
    *gather(&tiny, 1, F0) = 1; /* for forward, with layer 2 before */
    *gather(&tiny, 1, BEGIN) = 1;
    *gather(&tiny, 2, F1) = 0;
    *gather(&tiny, 2, END) = 1;
    *gather(&tiny, 2, F1) = 1;
    assert_ok(yk_order_check(&tiny.problem, &tiny.order, &before_s));
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_order_tidy(&tiny.problem, &tiny.order, arena));
    yk_arena_destroy(arena);
    assert_ok(yk_order_check(&tiny.problem, &tiny.order, &after_s));
    assert_true(before_s == after_s);
    assert_int_equal(*gather(&tiny, 1, F2), 1); /* layer 2 computes there */
    assert_int_equal(*gather(&tiny, 2, TURN), 2);
    assert_int_equal(*gather(&tiny, 1, TURN), 1);
    assert_int_equal(*gather(&tiny, 0, B2), 1);
    assert_int_equal(*gather(&tiny, 0, B1), 1);
    assert_int_equal(*gather(&tiny, 1, END), 1);
    assert_int_equal(*gather(&tiny, 1, BEGIN), 1);
    assert_int_equal(*gather(&tiny, 2, F0), 1);
    assert_int_equal(*gather(&tiny, 2, F1), 1);
}

static double tenths(struct yk_random *random, int64_t below)
{
    return (double)yk_random_below(random, below) / 10;
}

/* Layers of any choice; some with a gradient far smaller than their parameters, as of adapters. */
static void make_random(struct yk_random *random, struct tiny *tiny)
{
    begin(tiny, (int32_t)(1 + yk_random_below(random, ORDER_BRUTE_LAYERS)));
    const bool mixed = yk_random_below(random, 2) == 0;
    const double most_bytes = (double)(20 + yk_random_below(random, 60));
    tiny->problem.barrier = yk_random_below(random, 3) == 0;
    for (int32_t i = 0; i < tiny->problem.layer_count; i++) {
        const double gather_s = 0.1 + tenths(random, 20);
        const double weight_bytes = (double)(4 + yk_random_below(random, 16));
        const double part = yk_random_below(random, 4) == 0 ? 0.125 : 1;
        tiny->layers[i] = (struct yk_order_layer){
            .choice = mixed ? (enum yk_order_choice)yk_random_below(random, YK_ORDER_ALONE + 1)
                            : YK_ORDER_OPEN,
            .blocks = (int32_t)(1 + yk_random_below(random, ORDER_BRUTE_BLOCKS)),
            .gather_s = gather_s,
            .scatter_s = gather_s * part,
            .weight_bytes = weight_bytes,
            .gradient_bytes = weight_bytes * part,
        };
    }
    for (int32_t t = 0; t < 2 * tiny->problem.layer_count + 3; t++) {
        tiny->compute_s[t] = tenths(random, 20);
        tiny->room_bytes[t] = most_bytes - (double)yk_random_below(random, 10);
    }
}

static void assert_sound(const struct tiny *tiny, const struct yk_order *order, double optimum_s)
{
    double step_s = 0;
    assert_ok(yk_order_check(&tiny->problem, order, &step_s));
    assert_true(fabs(order->step_s - step_s) <= 1e-9);
    assert_true(order->step_s >= optimum_s - 1e-9);
    assert_true(order->bound_s <= optimum_s + 1e-9);
    assert_false(order_brute_exceeds(&tiny->problem, order));
}

/* Both ways against every order there is; prices, whatever they are, give a bound. */
static void tiny_problems_are_solved(void **state)
{
    struct yk_random random = yk_random_from_seed(3);
    const struct yk_order_options options = {.budget_s = budget_s};
    double greedy_s = 0;
    double optimal_s = 0;
    int fitting = 0;
    (void)state;
    for (int trial = 0; trial < 150; trial++) {
        struct tiny tiny;
        struct yk_arena *arena = NULL;
        struct yk_order *greedy = NULL;
        struct yk_order *milp = NULL;
        double link[ORDER_BRUTE_SLOTS];
        double memory[ORDER_BRUTE_SLOTS];
        double bound_s = 0;
        make_random(&random, &tiny);
        const double optimum_s = order_brute_optimum(&tiny.problem);
        assert_ok(yk_arena_create(&arena));
        if (optimum_s == INFINITY) {
            assert_int_equal(yk_order_greedy(&tiny.problem, arena, &greedy), YK_ERROR_NO_FIT);
            assert_int_equal(yk_order_milp(&tiny.problem, &options, arena, &milp), YK_ERROR_NO_FIT);
            yk_arena_destroy(arena);
            continue;
        }
        fitting++;
        assert_ok(yk_order_greedy(&tiny.problem, arena, &greedy));
        assert_ok(yk_order_milp(&tiny.problem, &options, arena, &milp));
        assert_sound(&tiny, greedy, optimum_s);
        assert_sound(&tiny, milp, optimum_s);
        assert_true(milp->step_s <= optimum_s * (1 + 2e-4));
        assert_true(milp->bound_s >= optimum_s * (1 - 2e-4));
        for (int32_t t = 0; t < ORDER_BRUTE_SLOTS; t++) {
            link[t] = yk_random_unit(&random);
            memory[t] = yk_random_unit(&random) * 0.01;
        }
        assert_ok(yk_order_bound_from_prices(&tiny.problem, link, memory, arena, &bound_s));
        assert_true(bound_s <= optimum_s + 1e-9);
        greedy_s += greedy->step_s;
        optimal_s += optimum_s;
        yk_arena_destroy(arena);
    }
    assert_in_range(fitting, 80, 140);
    assert_true(greedy_s <= optimal_s * 1.01);
}

/* Eight equal layers of eight blocks that computation could hide, and memory for three of them at
 * a time; all but the ends is hidden. */
static void a_long_chain_is_hidden_but_for_its_ends(void **state)
{
    enum {
        N = 8
    };
    struct yk_order_layer layers[N];
    double compute_s[2 * N + 3];
    double room_bytes[2 * N + 3];
    struct yk_order_problem problem = {
        .layer_count = N, .layers = layers, .compute_s = compute_s, .room_bytes = room_bytes};
    struct yk_arena *arena = NULL;
    struct yk_order *order = NULL;
    (void)state;
    for (int i = 0; i < N; i++) {
        layers[i] = (struct yk_order_layer){YK_ORDER_FULLY_SHARDED, 8, 1, 1, 8, 8};
    }
    for (int t = 0; t < 2 * N + 3; t++) {
        compute_s[t] = t == N || t > 2 * N ? 0 : (t < N ? 1 : 2);
        room_bytes[t] = 32;
    }
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_order_greedy(&problem, arena, &order));
    /* Computation, 8 + 16. The first layer's scatter and gather have but the gaps, and the last
     * layer's second gather has but the turn between its forward and backward: 1 s each. */
    assert_true(fabs(order->step_s - (24 + 3)) < 1e-9);
    yk_arena_destroy(arena);
}

static void without_time_milp_is_greedy(void **state)
{
    const atomic_bool stop = true;
    const struct yk_order_options none = {.budget_s = 0};
    const struct yk_order_options stopped = {.budget_s = budget_s, .stop = &stop};
    struct tiny tiny;
    struct yk_arena *arena = NULL;
    struct yk_order *greedy = NULL;
    struct yk_order *milp = NULL;
    (void)state;
    begin_three(&tiny);
    tiny.room_bytes[TURN] = 15;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_order_greedy(&tiny.problem, arena, &greedy));
    assert_ok(yk_order_milp(&tiny.problem, &none, arena, &milp));
    assert_true(milp->step_s == greedy->step_s);
    assert_string_equal(milp->method, "greedy");
    assert_ok(yk_order_milp(&tiny.problem, &stopped, arena, &milp));
    assert_true(milp->step_s == greedy->step_s);
    yk_arena_destroy(arena);
}

/* On demand, B2 holds layer 2 with its gradient and layer 1, that is gathered: 30 bytes. */
static void what_fits_nowhere_says_where_it_lacks_most(void **state)
{
    const struct yk_order_options options = {.budget_s = budget_s};
    struct tiny tiny;
    struct yk_arena *arena = NULL;
    struct yk_order *order = NULL;
    (void)state;
    begin_three(&tiny);
    tiny.room_bytes[B2] = 24;
    tiny.room_bytes[F0] = 19; /* 1 less than layers 0 and 1 */
    assert_ok(yk_arena_create(&arena));
    assert_fails(yk_order_greedy(&tiny.problem, arena, &order), YK_ERROR_NO_FIT,
                 "no order fits: backward 2 lacks 6B of memory beyond the 24B there is for "
                 "gathered parameters "
                 "and gradients");
    assert_int_equal(yk_order_milp(&tiny.problem, &options, arena, &order), YK_ERROR_NO_FIT);
    yk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_takes_the_longer_of_both_in_every_slot),
        cmocka_unit_test(every_block_travels_once),
        cmocka_unit_test(blocks_stand_where_they_may),
        cmocka_unit_test(a_block_is_gathered_after_it_is_scattered),
        cmocka_unit_test(a_barrier_parts_scatters_from_gathers),
        cmocka_unit_test(only_what_is_open_may_be_kept_or_not),
        cmocka_unit_test(memory_holds_through_the_slot_that_blocks_travel_in),
        cmocka_unit_test(layers_of_other_strategies_need_what_they_need),
        cmocka_unit_test(transfers_stand_by_slot_with_scatters_first),
        cmocka_unit_test(tidied_gathers_travel_in_the_order_of_use),
        cmocka_unit_test(tiny_problems_are_solved),
        cmocka_unit_test(a_long_chain_is_hidden_but_for_its_ends),
        cmocka_unit_test(without_time_milp_is_greedy),
        cmocka_unit_test(what_fits_nowhere_says_where_it_lacks_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
