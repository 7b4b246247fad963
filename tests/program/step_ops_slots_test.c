/* Programs of tiny plans with an order of transfers, written out by hand. */
#include "program/program.h"

#include "base/random.h"
#include "support/programs/program_lines.h"
#include "support/programs/tiny_step.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

static struct tiny_step tiny;

static int tear_down(void **state)
{
    (void)state;
    tiny_step_free(&tiny);
    tiny = (struct tiny_step){0};
    return 0;
}

/* Orders of transfers: forward of layers 0 to 3 in slots 0 to 3, a gap, backward of 3 to 0 in slots
 * 5 to 8, gaps 9 and 10. */

static void plan_transfers(const struct yk_plan_transfer *transfers, int32_t count)
{
    tiny.plan->transfers = yk_arena_allocate(tiny.arena, (size_t)count, sizeof *transfers);
    assert_non_null(tiny.plan->transfers);
    memcpy(tiny.plan->transfers, transfers, (size_t)count * sizeof *transfers);
    tiny.plan->transfer_count = count;
    tiny_step_compile(&tiny);
}

#define PLAN_TRANSFERS(...)                                                                        \
    do {                                                                                           \
        const struct yk_plan_transfer transfers[] = {__VA_ARGS__};                                 \
        plan_transfers(transfers, (int32_t)(sizeof transfers / sizeof transfers[0]));              \
    } while (0)
#define GATHER(layer_, slot_)                                                                      \
    {                                                                                              \
        .kind = YK_TRANSFER_ALL_GATHER, .layer = (layer_), .block_count = 1, .slot = (slot_)       \
    }
#define SCATTER(layer_, slot_)                                                                     \
    {                                                                                              \
        .kind = YK_TRANSFER_REDUCE_SCATTER, .layer = (layer_), .block_count = 1, .slot = (slot_)   \
    }
#define REDUCE(layer_, slot_)                                                                      \
    {                                                                                              \
        .kind = YK_TRANSFER_ALL_REDUCE, .layer = (layer_), .block_count = 1, .slot = (slot_)       \
    }

/* Gathers after backward are for the step after, those in forward for this one. An update is just
 * before the gather, or at the end of the round. */
static void transfers_go_in_their_slots(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_KEPT_AFTER_FORWARD, false);
    PLAN_TRANSFERS(GATHER(1, 0), GATHER(2, 1), SCATTER(3, 6), SCATTER(2, 8), GATHER(3, 8),
                   SCATTER(0, 9), SCATTER(1, 10), GATHER(0, 10));
    assert_list_and_waits(
        tiny.program, 0,
        "G1(U1') L(U1') F0(G0+' L) G2(F0) F1(G1 L) F2(G2 L) F3(G3+' L) B3(G3+') X3b "
        "S3(B3) B2(G2) X2b B1(G1) X1b U3(S3) S2(B2) G3+(U3) B0(G0+') X0b S0(B0) U0(S0) "
        "S1(B1) G0+(U0) U2(S2) U1(S1)");
}

/* A scatter that is put off past the end finishes the step before, and so does the update. */
static void late_reduce_scatters_finish_the_step_before(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_KEPT_AFTER_FORWARD, false);
    PLAN_TRANSFERS(GATHER(1, 0), SCATTER(3, 0), GATHER(2, 1), GATHER(3, 2), SCATTER(2, 8),
                   SCATTER(0, 9), SCATTER(1, 10), GATHER(0, 10));
    assert_list_and_waits(
        tiny.program, 0,
        "G1(U1') S3-(B3') L(U1') F0(G0+' L) G2(F0) F1(G1 L) U3-(S3-) G3(U3-) F2(G2 L) "
        "F3(G3 L) B3(G3) X3b B2(G2) X2b B1(G1) X1b S2(B2) B0(G0+') X0b S0(B0) U0(S0) "
        "S1(B1) G0+(U0) U2(S2) U1(S1)");
}

/* The norm, in slots 2 and 6, is gathered again at the turn. */
static void gathers_between_forward_and_backward_are_for_backward(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_REPLICATED, false);
    tiny.plan->layers[2].strategy = YK_SHARDING_FULLY_SHARDED;
    PLAN_TRANSFERS(GATHER(2, 0), GATHER(2, 4), SCATTER(2, 7));
    assert_list(tiny.program, 0, "G2 L F0 F1 F2 X2 F3 G2b B3 B2 X2b S2 B1 B0 R0 U3 U2 U1 U0");
}

static void blocks_travel_apart(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_REPLICATED, false);
    tiny.plan->layers[1].strategy = YK_SHARDING_KEPT_AFTER_FORWARD;
    tiny.plan->block_bytes = 1000; /* of 3488 */
    PLAN_TRANSFERS(
        {.kind = YK_TRANSFER_ALL_GATHER, .layer = 1, .block_count = 3, .slot = 0},
        {.kind = YK_TRANSFER_ALL_GATHER, .layer = 1, .first_block = 3, .block_count = 1, .slot = 1},
        {.kind = YK_TRANSFER_REDUCE_SCATTER, .layer = 1, .block_count = 1, .slot = 8},
        {.kind = YK_TRANSFER_REDUCE_SCATTER,
         .layer = 1,
         .first_block = 1,
         .block_count = 3,
         .slot = 9});
    assert_list_and_waits(
        tiny.program, 0,
        "G1(U0') L(U0') F0(L) G1(F0) F1(G1 L) F2(L) F3(L) B3 B2 B1(G1) X1b S1(B1) B0 "
        "R0(B0) S1(B1) U3(R0) U2(R0) U1(S1) U0(R0)");
    const struct yk_op *ops = tiny.program->ranks[0].ops;
    assert_int_equal(tiny.program->layers[1].block_count, 4);
    assert_bytes(ops[0].bytes, 3488 * 3 / 4.0);
    assert_bytes(ops[3].bytes, 3488 / 4.0);
    assert_int_equal(ops[3].first_block, 3);
    assert_int_equal(ops[3].block_count, 1);
}

/* A message costs a latency: those that are never apart are one. */
static void blocks_that_travel_together_are_one(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_REPLICATED, false);
    tiny.plan->layers[0].strategy = YK_SHARDING_SHARDED_STATE;
    tiny.plan->layers[1].strategy = YK_SHARDING_KEPT_AFTER_FORWARD;
    tiny.plan->block_bytes = 436; /* of 864 and of 3488 */
    PLAN_TRANSFERS({.kind = YK_TRANSFER_ALL_GATHER, .layer = 1, .block_count = 8, .slot = 0},
                   {.kind = YK_TRANSFER_REDUCE_SCATTER, .layer = 1, .block_count = 4, .slot = 8},
                   {.kind = YK_TRANSFER_REDUCE_SCATTER,
                    .layer = 1,
                    .first_block = 4,
                    .block_count = 4,
                    .slot = 9},
                   {.kind = YK_TRANSFER_REDUCE_SCATTER, .layer = 0, .block_count = 2, .slot = 9},
                   {.kind = YK_TRANSFER_ALL_GATHER, .layer = 0, .block_count = 2, .slot = 10});
    assert_int_equal(tiny.program->layers[0].block_count, 1);
    assert_int_equal(tiny.program->layers[1].block_count, 2);
    for (int32_t i = 0; i < tiny.program->ranks[0].op_count; i++) {
        const struct yk_op *op = &tiny.program->ranks[0].ops[i];
        if (op->kind == YK_OP_ALL_GATHER || op->kind == YK_OP_REDUCE_SCATTER) {
            const bool whole = op->kind == YK_OP_ALL_GATHER && op->layer == 1;
            assert_bytes(op->bytes, op->layer == 0 ? 864 : whole ? 3488 : 3488 / 2.0);
            assert_int_equal(op->block_count, whole ? 2 : 1);
        }
    }
}

/* A layer is updated as a whole, so that no block of it is gathered before its last one is
 * scattered; and in a later slot. */
static void gathers_wait_for_the_whole_gradient(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_REPLICATED, false);
    tiny.plan->layers[1].strategy = YK_SHARDING_KEPT_AFTER_FORWARD;
    tiny.plan->block_bytes = 1000; /* of 3488 */
    PLAN_TRANSFERS({.kind = YK_TRANSFER_REDUCE_SCATTER, .layer = 1, .block_count = 2, .slot = 8},
                   {.kind = YK_TRANSFER_REDUCE_SCATTER,
                    .layer = 1,
                    .first_block = 2,
                    .block_count = 2,
                    .slot = 9},
                   {.kind = YK_TRANSFER_ALL_GATHER, .layer = 1, .block_count = 2, .slot = 9},
                   {.kind = YK_TRANSFER_ALL_GATHER,
                    .layer = 1,
                    .first_block = 2,
                    .block_count = 2,
                    .slot = 10});
    assert_list_and_waits(tiny.program, 0,
                          "L(U0') F0(L) F1(G1+' L) F2(L) F3(L) B3 B2 B1(G1+') X1b S1(B1) B0 R0(B0) "
                          "S1(B1) U1(S1) G1+(U1) G1+(U1) U3(R0) U2(R0) U0(R0)");
    PLAN_TRANSFERS({.kind = YK_TRANSFER_REDUCE_SCATTER, .layer = 1, .block_count = 4, .slot = 10},
                   {.kind = YK_TRANSFER_ALL_GATHER, .layer = 1, .block_count = 4, .slot = 10});
    assert_list_and_waits(tiny.program, 0,
                          "G1(U0') L(U0') F0(L) F1(G1 L) F2(L) F3(L) B3 B2 B1(G1) X1b B0 R0(B0) "
                          "S1(B1) U3(R0) U2(R0) U1(S1) U0(R0)");
}

/* The layer of a bucket that has its gradient last stands for all; what the plan does not say is
 * reduced at once. */
static void reductions_go_in_their_slots(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_REPLICATED, false);
    tiny.plan->bucket_bytes = 400; /* head and norm, block, embedding */
    PLAN_TRANSFERS(REDUCE(2, 8), REDUCE(1, 10));
    assert_list(tiny.program, 0, "L F0 F1 F2 F3 B3 B2 B1 R0 B0 R2 R1 U3 U2 U1 U0");
    PLAN_TRANSFERS(REDUCE(2, 1), REDUCE(1, 8));
    assert_list_and_waits(
        tiny.program, 0,
        "L(U0') F0(L) R0-(B2') F1(L) U2-(R0-) F2(L) U3-(R0-) F3(L) B3 B2 B1 R1(B1) B0 "
        "R2(B0) U1(R1) U0(R2)");
}

/* New parameters of sharded state may come as late as their use. */
static void sharded_state_is_refreshed_in_its_slot(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_REPLICATED, false);
    tiny.plan->layers[3].strategy = YK_SHARDING_SHARDED_STATE;
    PLAN_TRANSFERS(GATHER(3, 3), SCATTER(3, 7));
    assert_list_and_waits(
        tiny.program, 0,
        "L(U0') F0(L) F1(L) F2(L) G3(F2) F3(G3 L) B3(G3) B2 S3(B3) B1 B0 R0(B0) U3(S3) "
        "U2(R0) U1(R0) U0(R0)");
}

/* Scatters before, gathers after. */
static void slots_agree_before_the_next_step(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_KEPT_AFTER_FORWARD, false);
    tiny.plan->clip = true;
    PLAN_TRANSFERS(GATHER(1, 0), GATHER(2, 1), GATHER(3, 2), SCATTER(3, 6), SCATTER(2, 8),
                   SCATTER(1, 9), SCATTER(0, 10), GATHER(0, 10));
    assert_list_and_waits(
        tiny.program, 0,
        "G1(U0') L(U0') F0(G0+' L) G2(F0) F1(G1 L) G3(F1) F2(G2 L) F3(G3 L) B3(G3) X3b "
        "S3(B3) B2(G2) X2b B1(G1) X1b S2(B2) B0(G0+') X0b S1(B1) S0(B0) A(X0b) U3(A) U2(A) "
        "U1(A) U0(A) G0+(U0)");
}

/* The block's parameters from the end of a round to backward in the next; the head's gradient from
 * backward to the scatter in the next, with that of the block, which goes at once. */
static void what_travels_over_the_end_is_held_over_it(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_REPLICATED, false);
    tiny.plan->layers[1].strategy = YK_SHARDING_KEPT_AFTER_FORWARD;
    tiny.plan->layers[3].strategy = YK_SHARDING_SHARDED_STATE;
    PLAN_TRANSFERS(SCATTER(3, 0), GATHER(3, 2), SCATTER(1, 8), GATHER(1, 10));
    assert_bytes(tiny_step_most(&tiny, 0, YK_MEMORY_GATHERED), 3488);
    assert_bytes(tiny_step_most(&tiny, 0, YK_MEMORY_GRADIENTS), 352 + 3488);
    PLAN_TRANSFERS(SCATTER(3, 6), SCATTER(1, 8), GATHER(1, 10), GATHER(3, 10));
    assert_bytes(tiny_step_most(&tiny, 0, YK_MEMORY_GATHERED), 3488);
}

/* Orders at chance. */

enum {
    MOST_TRANSFERS = 256,
};

static void add_block(enum yk_transfer_kind kind, int32_t layer, int32_t block, int32_t slot)
{
    struct yk_plan *plan = tiny.plan;
    assert_in_range(plan->transfer_count, 0, MOST_TRANSFERS - 1);
    plan->transfers[plan->transfer_count++] = (struct yk_plan_transfer){
        .kind = kind, .layer = layer, .first_block = block, .block_count = 1, .slot = slot};
}

static int32_t between(struct yk_random *random, int32_t first, int32_t last)
{
    return first + (int32_t)yk_random_below(random, last - first + 1);
}

/* Each block is scattered after the layer's backward and gathered in a later slot, before its next
 * forward, one after the other; with a barrier, scatters before it and gathers after. */
static void add_random_blocks(struct yk_random *random, int32_t layer)
{
    const struct yk_plan *plan = tiny.plan;
    const int32_t slots = yk_plan_slot_count(plan);
    const int32_t backward = 2 * plan->layer_count - layer;
    const int32_t forward = slots - backward + layer; /* slots after backward */
    const int32_t last = slots - 1 - backward;        /* of the round */
    const bool barrier = yk_plan_has_update_barrier(plan);
    const bool trained = tiny.model->layers[layer].trainable > 0;
    const int32_t blocks = yk_plan_layer_block_count(plan, tiny.model, layer);
    int32_t scatter = 1;
    int32_t gather = 0;
    for (int32_t b = 0; b < blocks; b++) {
        scatter = between(random, scatter, barrier ? last : forward - 2);
        const int32_t soonest = barrier ? last : scatter + 1;
        gather = between(random, gather > soonest ? gather : soonest, forward - 1);
        if (trained) {
            add_block(YK_TRANSFER_REDUCE_SCATTER, layer, b, (backward + scatter) % slots);
        }
        if (trained || plan->layers[layer].strategy != YK_SHARDING_SHARDED_STATE) {
            add_block(YK_TRANSFER_ALL_GATHER, layer, b, (backward + gather) % slots);
        }
        if (plan->layers[layer].strategy == YK_SHARDING_FULLY_SHARDED &&
            tiny.model->layers[layer].backward.count > 0 && (layer > 0 || !tiny.config->tied)) {
            add_block(YK_TRANSFER_ALL_GATHER, layer, b, between(random, layer + 1, backward - 1));
        }
    }
}

static int by_slot(const void *left, const void *right)
{
    const struct yk_plan_transfer *a = left;
    const struct yk_plan_transfer *b = right;
    return a->slot < b->slot ? -1 : a->slot > b->slot ? 1 : 0;
}

static void make_random_order(struct yk_random *random)
{
    tiny = tiny_step_make((struct tiny_options){
        .cluster = "2xcpu:1",
        .blocks = 1 + yk_random_below(random, 3),
        .tied = yk_random_below(random, 2) == 0,
        .lora_rank = yk_random_below(random, 4) == 0 ? 1 : 0,
    });
    struct yk_plan *plan = tiny.plan;
    plan->clip = yk_random_below(random, 3) == 0;
    plan->block_bytes = 1000;
    plan->bucket_bytes = yk_random_below(random, 2) == 0 ? 1e9 : 1000;
    plan->transfers = yk_arena_allocate(tiny.arena, MOST_TRANSFERS, sizeof *plan->transfers);
    assert_non_null(plan->transfers);
    for (int32_t l = 0; l < plan->layer_count; l++) {
        const int32_t shares = tiny.model->layers[l].shares_weights_of;
        plan->layers[l].strategy =
            shares == YK_LAYER_NONE
                ? (enum yk_sharding_strategy)yk_random_below(random, YK_SHARDING_STRATEGY_COUNT)
                : plan->layers[shares].strategy;
        plan->layers[l].recompute = yk_random_below(random, 4) == 0;
        if (shares == YK_LAYER_NONE && plan->layers[l].strategy != YK_SHARDING_REPLICATED) {
            add_random_blocks(random, l);
        }
    }
    qsort(plan->transfers, (size_t)plan->transfer_count, sizeof *plan->transfers, by_slot);
}

static void orders_that_keep_the_rules_make_programs_that_do(void **state)
{
    int ordered = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        make_random_order(&random);
        ordered += tiny.plan->transfer_count > 0 ? 1 : 0;
        tiny_step_compile(&tiny);
        if (yk_program_check(tiny.program) != YK_OK) {
            fail_msg("seed %d: %s", (int)seed, yk_status_message());
        }
        tear_down(state);
    }
    assert_in_range(ordered, 800, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(transfers_go_in_their_slots, tear_down),
        cmocka_unit_test_teardown(late_reduce_scatters_finish_the_step_before, tear_down),
        cmocka_unit_test_teardown(gathers_between_forward_and_backward_are_for_backward, tear_down),
        cmocka_unit_test_teardown(blocks_travel_apart, tear_down),
        cmocka_unit_test_teardown(blocks_that_travel_together_are_one, tear_down),
        cmocka_unit_test_teardown(gathers_wait_for_the_whole_gradient, tear_down),
        cmocka_unit_test_teardown(reductions_go_in_their_slots, tear_down),
        cmocka_unit_test_teardown(sharded_state_is_refreshed_in_its_slot, tear_down),
        cmocka_unit_test_teardown(slots_agree_before_the_next_step, tear_down),
        cmocka_unit_test_teardown(what_travels_over_the_end_is_held_over_it, tear_down),
        cmocka_unit_test(orders_that_keep_the_rules_make_programs_that_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
