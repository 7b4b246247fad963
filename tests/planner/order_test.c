#include "planner/order/transfer_order.h"

#include "support/graphs/order_tiny.h"
#include "support/support.h"

#include <math.h>

static int32_t *scatter(struct order_tiny *tiny, int32_t layer, int32_t slot)
{
    return order_tiny_scatter(tiny, layer, slot);
}

static int32_t *gather(struct order_tiny *tiny, int32_t layer, int32_t slot)
{
    return order_tiny_gather(tiny, layer, slot);
}

static yk_status check(struct order_tiny *tiny)
{
    double step_s = 0;
    return yk_transfer_order_check(&tiny->problem, &tiny->order, &step_s);
}

static void an_order_lasts_the_longer_of_both_in_every_slot(void **state)
{
    struct order_tiny tiny;
    double step_s = 0;
    (void)state;
    order_tiny_three(&tiny);
    assert_ok(yk_transfer_order_check(&tiny.problem, &tiny.order, &step_s));
    /* Slots of 1 s but for B1, where two transfers take 2, and the gaps: 0, 1 and 1. */
    assert_true(fabs(step_s - (5 + 2 + 0 + 1 + 1)) < 1e-12);
}

static void every_block_travels_once(void **state)
{
    struct order_tiny tiny;
    (void)state;
    order_tiny_three(&tiny);
    *scatter(&tiny, 1, B0) = 1;
    assert_fails(check(&tiny), YK_ERROR_INPUT, "1 of the 2 blocks of layer 1 are scattered");
    order_tiny_three(&tiny);
    *gather(&tiny, 1, F0) = 3;
    assert_fails(check(&tiny), YK_ERROR_INPUT,
                 "3 of the 2 blocks of layer 1 are gathered for forward");
    order_tiny_three(&tiny);
    *gather(&tiny, 1, B2) = 0;
    assert_fails(check(&tiny), YK_ERROR_INPUT,
                 "0 of the 2 blocks of layer 1 are gathered for backward");
    order_tiny_three(&tiny);
    *gather(&tiny, 1, B2) = -1;
    assert_fails(check(&tiny), YK_ERROR_INPUT,
                 "layer 1 has a negative number of blocks in slot backward 2");
}

static void blocks_stand_where_they_may(void **state)
{
    struct order_tiny tiny;
    (void)state;
    order_tiny_three(&tiny);
    *scatter(&tiny, 1, B1) = 1; /* while backward makes it */
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 1 cannot be scattered in slot backward 1");
    order_tiny_three(&tiny);
    *scatter(&tiny, 1, F0) = 1; /* no later slot is left to gather it in */
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 1 cannot be scattered in slot forward 0");
    order_tiny_three(&tiny);
    *gather(&tiny, 1, F1) = 1; /* while forward uses it */
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 1 cannot be gathered in slot forward 1");
    order_tiny_three(&tiny);
    *gather(&tiny, 2, TURN) = 2; /* what is kept is there */
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 2 cannot be gathered in slot middle");
}

static void a_block_is_gathered_after_it_is_scattered(void **state)
{
    struct order_tiny tiny;
    (void)state;
    order_tiny_three(&tiny);
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
    struct order_tiny tiny;
    (void)state;
    order_tiny_three(&tiny);
    tiny.problem.barrier = true;
    assert_ok(check(&tiny));
    *gather(&tiny, 2, F1) = 0;
    *gather(&tiny, 2, END) = 2;
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 2 cannot be gathered in slot end");
    order_tiny_three(&tiny);
    tiny.problem.barrier = true;
    *scatter(&tiny, 2, B1) = 0;
    *scatter(&tiny, 2, F0) = 2;
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 2 cannot be scattered in slot forward 0");
    tiny.problem.barrier = false;
    assert_ok(check(&tiny));
}

static void only_what_is_open_may_be_kept_or_not(void **state)
{
    struct order_tiny tiny;
    (void)state;
    order_tiny_three(&tiny);
    tiny.layers[2].choice = YK_TRANSFER_ORDER_FULLY_SHARDED;
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 2 cannot be kept");
    order_tiny_three(&tiny);
    tiny.layers[1].choice = YK_TRANSFER_ORDER_KEPT;
    assert_fails(check(&tiny), YK_ERROR_INPUT, "layer 1 must be kept");
}

/* In slot B1: layer 1 with its gradient, layer 0 that is gathered, the gradient of layer 2 that is
 * scattered: 40 bytes. */
static void memory_holds_through_the_slot_that_blocks_travel_in(void **state)
{
    struct order_tiny tiny;
    (void)state;
    order_tiny_three(&tiny);
    tiny.room_bytes[B1] = 40;
    assert_ok(check(&tiny));
    tiny.room_bytes[B1] = 39;
    assert_fails(check(&tiny), YK_ERROR_NO_FIT,
                 "backward 1 lacks 1B of memory beyond the 39B there is for gathered parameters "
                 "and gradients");
}

static void layers_of_other_strategies_need_what_they_need(void **state)
{
    struct order_tiny tiny;
    (void)state;
    order_tiny_three(&tiny);
    tiny.layers[0].choice = YK_TRANSFER_ORDER_NO_COMMUNICATION;
    tiny.layers[1].choice = YK_TRANSFER_ORDER_REPLICATED;
    tiny.layers[2].choice = YK_TRANSFER_ORDER_SHARDED_STATE;
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
    struct order_tiny tiny;
    struct yk_arena *arena = NULL;
    struct yk_plan_transfer *found = NULL;
    int32_t count = 0;
    (void)state;
    order_tiny_three(&tiny);
    tiny.layers[2].gradient_bytes = 0; /* frozen: nothing to scatter */
    tiny.layers[2].scatter_s = 0;
    *gather(&tiny, 2, F1) = 1; /* one block before the other, around the end of the cycle */
    *gather(&tiny, 2, BEGIN) = 1;
    assert_ok(check(&tiny));
    assert_ok(yk_arena_create(&arena));
    assert_ok(
        yk_transfer_order_to_plan_transfers(&tiny.problem, &tiny.order, arena, &found, &count));
    assert_int_equal(count, 8);
    assert_transfer(&found[0], YK_TRANSFER_ALL_GATHER, 1, 0, 2, F0);
    assert_transfer(&found[1], YK_TRANSFER_ALL_GATHER, 2, 1, 1, F1);
    assert_transfer(&found[2], YK_TRANSFER_ALL_GATHER, 1, 0, 2, B2);
    assert_transfer(&found[3], YK_TRANSFER_ALL_GATHER, 0, 0, 2, B1);
    assert_transfer(&found[4], YK_TRANSFER_REDUCE_SCATTER, 1, 0, 2, B0);
    assert_transfer(&found[5], YK_TRANSFER_REDUCE_SCATTER, 0, 0, 2, END);
    assert_transfer(&found[6], YK_TRANSFER_ALL_GATHER, 0, 0, 2, BEGIN);
    assert_transfer(&found[7], YK_TRANSFER_ALL_GATHER, 2, 0, 1, BEGIN);
    yk_arena_destroy(arena);
}

static void tidied_gathers_travel_in_the_order_of_use(void **state)
{
    struct order_tiny tiny;
    struct yk_arena *arena = NULL;
    double before_s = 0;
    double after_s = 0;
    (void)state;
    order_tiny_three(&tiny);
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
    assert_ok(yk_transfer_order_check(&tiny.problem, &tiny.order, &before_s));
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_transfer_order_sort_gathers(&tiny.problem, &tiny.order, arena));
    yk_arena_destroy(arena);
    assert_ok(yk_transfer_order_check(&tiny.problem, &tiny.order, &after_s));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_lasts_the_longer_of_both_in_every_slot),
        cmocka_unit_test(every_block_travels_once),
        cmocka_unit_test(blocks_stand_where_they_may),
        cmocka_unit_test(a_block_is_gathered_after_it_is_scattered),
        cmocka_unit_test(a_barrier_parts_scatters_from_gathers),
        cmocka_unit_test(only_what_is_open_may_be_kept_or_not),
        cmocka_unit_test(memory_holds_through_the_slot_that_blocks_travel_in),
        cmocka_unit_test(layers_of_other_strategies_need_what_they_need),
        cmocka_unit_test(transfers_stand_by_slot_with_scatters_first),
        cmocka_unit_test(tidied_gathers_travel_in_the_order_of_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
