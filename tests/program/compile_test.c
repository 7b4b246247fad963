/* Programs of tiny plans without an order of transfers, written out by hand. */
#include "program/program.h"

#include "support/programs/program_lines.h"
#include "support/programs/tiny_step.h"
#include "support/support.h"

#include <string.h>

static struct tiny_step tiny;

static int tear_down(void **state)
{
    (void)state;
    tiny_step_free(&tiny);
    tiny = (struct tiny_step){0};
    return 0;
}

/* Lists. */

static void replicated_layers_are_reduced_and_updated(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_REPLICATED, false);
    assert_list(tiny.program, 0, "L F0 F1 F2 F3 B3 B2 B1 B0 R0 U3 U2 U1 U0");
}

static void sharded_state_is_scattered_and_new_parameters_gathered(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_SHARDED_STATE, false);
    assert_list(tiny.program, 0,
                "L F0 F1 F2 F3 B3 S3 B2 S2 B1 S1 B0 S0 U3 G3+ U2 G2+ U1 G1+ U0 G0+");
}

static void kept_layers_are_gathered_once(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_KEPT_AFTER_FORWARD, false);
    assert_list(tiny.program, 0,
                "G0 G1 L F0 G2 F1 G3 F2 F3 B3 X3b S3 B2 X2b S2 B1 X1b S1 B0 X0b S0 U3 U2 U1 U0");
}

static void fully_sharded_layers_are_gathered_twice(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_FULLY_SHARDED, false);
    assert_list(tiny.program, 0,
                "G0 G1 L F0 X0 G2 F1 X1 G3 F2 X2 F3 X3 G3b G2b B3 X3b S3 G1b B2 X2b S2 G0b B1 X1b "
                "S1 B0 X0b S0 U3 U2 U1 U0");
}

static void more_prefetch_gathers_earlier(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_KEPT_AFTER_FORWARD, false);
    tiny.plan->prefetch = 2;
    tiny_step_compile(&tiny);
    assert_list(tiny.program, 0,
                "G0 G1 G2 L F0 G3 F1 F2 F3 B3 X3b S3 B2 X2b S2 B1 X1b S1 B0 X0b S0 U3 U2 U1 U0");
}

/* The head has no weights of its own; the embedding's stay for it, and their gradient is complete
 * when the embedding has gone backward. */
static void tied_weights_travel_as_the_embedding(void **state)
{
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_KEPT_AFTER_FORWARD, true);
    assert_list(tiny.program, 0,
                "G0 G1 L F0 G2 F1 F2 F3 B3 B2 X2b S2 B1 X1b S1 B0 X0b S0 U2 U1 U0");
    tear_down(state);
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_FULLY_SHARDED, true);
    assert_list(tiny.program, 0,
                "G0 G1 L F0 G2 F1 X1 F2 X2 G2b F3 B3 G1b B2 X2b S2 B1 X1b S1 B0 X0b S0 U2 U1 U0");
    tear_down(state);
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_REPLICATED, true);
    assert_list(tiny.program, 0, "L F0 F1 F2 F3 B3 B2 B1 B0 R0 U2 U1 U0");
}

static void recomputation_goes_before_backward(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_FULLY_SHARDED, false);
    tiny.plan->layers[1].recompute = true;
    tiny_step_compile(&tiny);
    assert_list(tiny.program, 0,
                "G0 G1 L F0 X0 G2 F1 X1 G3 F2 X2 F3 X3 G3b G2b B3 X3b S3 G1b B2 X2b S2 G0b C1 B1 "
                "X1b S1 B0 X0b S0 U3 U2 U1 U0");
}

/* The frozen embedding goes forward only; adapters are in the block alone. */
static void frozen_layers_are_neither_reduced_nor_updated(void **state)
{
    (void)state;
    tiny = tiny_step_make((struct tiny_options){.cluster = "2xcpu:1", .blocks = 1, .lora_rank = 2});
    tiny_step_set_strategy(&tiny, YK_SHARDING_KEPT_AFTER_FORWARD);
    tiny_step_compile(&tiny);
    assert_list(tiny.program, 0, "G0 G1 L F0 X0 G2 F1 G3 F2 F3 B3 X3b B2 X2b B1 X1b S1 U1");
    tiny_step_set_strategy(&tiny, YK_SHARDING_SHARDED_STATE);
    tiny_step_compile(&tiny);
    assert_list(tiny.program, 0, "L F0 F1 F2 F3 B3 B2 B1 S1 U1 G1+");
}

static void one_rank_communicates_with_none(void **state)
{
    (void)state;
    tiny = tiny_step_make((struct tiny_options){.cluster = "cpu:1", .blocks = 1});
    tiny_step_set_strategy(&tiny, YK_SHARDING_FULLY_SHARDED);
    tiny_step_compile(&tiny);
    assert_list(tiny.program, 0, "L F0 F1 F2 F3 B3 B2 B1 B0 U3 U2 U1 U0");
}

/* Micro-batches. */

static void micro_batches_reduce_each_or_once(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_SHARDED_STATE, false);
    tiny.plan->micro_batches = 2;
    tiny_step_compile(&tiny);
    assert_list(tiny.program, 0,
                "L:0 L:1 F0:0 F1:0 F2:0 F3:0 B3:0 S3:0 B2:0 S2:0 B1:0 S1:0 B0:0 S0:0 "
                "F0:1 F1:1 F2:1 F3:1 B3:1 S3:1 B2:1 S2:1 B1:1 S1:1 B0:1 S0:1 "
                "U3 G3+ U2 G2+ U1 G1+ U0 G0+");
    tiny.plan->no_sync = true;
    tiny_step_compile(&tiny);
    assert_list(tiny.program, 0,
                "L:0 L:1 F0:0 F1:0 F2:0 F3:0 B3:0 B2:0 B1:0 B0:0 "
                "F0:1 F1:1 F2:1 F3:1 B3:1 S3:1 B2:1 S2:1 B1:1 S1:1 B0:1 S0:1 "
                "U3 G3+ U2 G2+ U1 G1+ U0 G0+");
}

/* Replicated gradients, too: in every micro-batch, or summed up where they are and with the last.
 */
static void replicated_layers_are_reduced_each_or_once(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_REPLICATED, false);
    tiny.plan->micro_batches = 2;
    tiny_step_compile(&tiny);
    assert_list(tiny.program, 0,
                "L:0 L:1 F0:0 F1:0 F2:0 F3:0 B3:0 B2:0 B1:0 B0:0 R0:0 F0:1 F1:1 F2:1 F3:1 B3:1 "
                "B2:1 B1:1 B0:1 R0:1 U3 U2 U1 U0");
    tiny.plan->no_sync = true;
    tiny_step_compile(&tiny);
    assert_list(
        tiny.program, 0,
        "L:0 L:1 F0:0 F1:0 F2:0 F3:0 B3:0 B2:0 B1:0 B0:0 F0:1 F1:1 F2:1 F3:1 B3:1 B2:1 B1:1 "
        "B0:1 R0:1 U3 U2 U1 U0");
}

static void every_bucket_is_reduced_in_every_micro_batch(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_REPLICATED, false);
    tiny.plan->bucket_bytes = 400; /* three buckets */
    tiny.plan->micro_batches = 4;
    tiny_step_compile(&tiny);
    assert_ok(yk_program_check(tiny.program));
    int32_t reductions[3] = {0};
    for (int32_t i = 0; i < tiny.program->ranks[0].op_count; i++) {
        const struct yk_op *op = &tiny.program->ranks[0].ops[i];
        if (op->kind == YK_OP_ALL_REDUCE) {
            assert_true(reductions[op->bucket] == op->micro_batch); /* in their order */
            reductions[op->bucket]++;
        }
    }
    for (int32_t b = 0; b < 3; b++) {
        assert_int_equal(reductions[b], 4);
    }
}

/* Not before the embedding of the first has been released is it gathered for the second. */
static void kept_layers_are_gathered_once_a_micro_batch(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_KEPT_AFTER_FORWARD, false);
    tiny.plan->micro_batches = 2;
    tiny.plan->no_sync = true;
    tiny_step_compile(&tiny);
    assert_list(
        tiny.program, 0,
        "G0:0 G1:0 L:0 L:1 F0:0 G2:0 F1:0 G3:0 F2:0 F3:0 B3:0 X3b:0 B2:0 X2b:0 B1:0 X1b:0 "
        "B0:0 X0b:0 G0:1 G1:1 F0:1 G2:1 F1:1 G3:1 F2:1 F3:1 B3:1 X3b:1 S3:1 B2:1 X2b:1 S2:1 "
        "B1:1 X1b:1 S1:1 B0:1 X0b:1 S0:1 U3 U2 U1 U0");
    tiny.plan->pipeline = YK_PIPELINE_GPIPE;
    tiny_step_compile(&tiny);
    assert_list(tiny.program, 0,
                "G0:0 G1:0 L:0 L:1 F0:0 G2:0 F1:0 G3:0 F2:0 F3:0 F0:1 F1:1 F2:1 F3:1 "
                "B3:0 B2:0 B1:0 B0:0 B3:1 X3b:1 S3:1 B2:1 X2b:1 S2:1 B1:1 X1b:1 S1:1 B0:1 X0b:1 "
                "S0:1 U3 U2 U1 U0");
}

/* Bytes on the way in a round, an all-reduce counted twice, over those of all layers. */
static double volume(enum yk_sharding_strategy strategy, int32_t micro_batches, bool no_sync)
{
    double bytes = 0;
    tiny = tiny_step_make_on_two_ranks(strategy, false);
    tiny.plan->micro_batches = micro_batches;
    tiny.plan->no_sync = no_sync;
    tiny_step_compile(&tiny);
    const struct yk_op_list *list = &tiny.program->ranks[0];
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        bytes += op->kind == YK_OP_ALL_REDUCE                                       ? 2 * op->bytes
                 : op->kind == YK_OP_ALL_GATHER || op->kind == YK_OP_REDUCE_SCATTER ? op->bytes
                                                                                    : 0;
    }
    tiny_step_free(&tiny);
    tiny = (struct tiny_step){0};
    return bytes / (4.0 * (TINY_EMBED + TINY_BLOCK + TINY_NORM + TINY_HEAD));
}

/* Over K micro-batches: where whole gradients are kept, replicated and sharded state 2, kept K + 1,
 * fully sharded 2K + 1; else K − 1 scatters more, or all-reduces, which are two. */
static void volumes_are_those_of_the_strategies(void **state)
{
    (void)state;
    for (int32_t K = 1; K <= 4; K++) {
        assert_bytes(volume(YK_SHARDING_REPLICATED, K, true), 2);
        assert_bytes(volume(YK_SHARDING_REPLICATED, K, false), 2 * K);
        assert_bytes(volume(YK_SHARDING_SHARDED_STATE, K, true), 2);
        assert_bytes(volume(YK_SHARDING_SHARDED_STATE, K, false), K + 1);
        assert_bytes(volume(YK_SHARDING_KEPT_AFTER_FORWARD, K, true), K + 1);
        assert_bytes(volume(YK_SHARDING_KEPT_AFTER_FORWARD, K, false), 2 * K);
        assert_bytes(volume(YK_SHARDING_FULLY_SHARDED, K, true), 2 * K + 1);
        assert_bytes(volume(YK_SHARDING_FULLY_SHARDED, K, false), 3 * K);
    }
}

/* 5 samples and 3, in two: the larger halves first. */
static void shares_are_cut_into_micro_batches(void **state)
{
    (void)state;
    tiny = tiny_step_make(
        (struct tiny_options){.cluster = "3xcpu:1", .groups = 1, .blocks = 1, .batch = 8});
    tiny_step_add_member(&tiny, 0, 0, 5, 0.5);
    tiny_step_add_member(&tiny, 0, 1, 3, 0.5);
    tiny_step_add_member(&tiny, 0, 2, 0, 0);
    tiny.plan->micro_batches = 2;
    tiny_step_compile(&tiny);
    static const int64_t samples[3][2] = {{3, 2}, {2, 1}, {0, 0}};
    for (int32_t r = 0; r < 3; r++) {
        const struct yk_op_list *list = &tiny.program->ranks[r];
        for (int32_t i = 0; i < list->op_count; i++) {
            const struct yk_op *op = &list->ops[i];
            const bool reads =
                op->kind == YK_OP_LOAD || op->kind == YK_OP_FORWARD || op->kind == YK_OP_BACKWARD;
            assert_int_equal(op->samples, reads ? samples[r][op->micro_batch] : 0);
        }
    }
}

/* Buckets. */

static void assert_bucket(int32_t number, const int32_t *layers, int32_t count, double bytes)
{
    const struct yk_gradient_bucket *bucket = &tiny.program->buckets[number];
    assert_int_equal(bucket->layer_count, count);
    assert_memory_equal(bucket->layers, layers, (size_t)count * sizeof *layers);
    assert_bytes(bucket->bytes, bytes);
}

/* Gradients come as 352, 64, 3488 and 864 bytes. Like those of PyTorch's DDP, a bucket takes what
 * comes until it has reached its size. */
static void buckets_close_when_they_are_full(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_REPLICATED, false);
    tiny.plan->bucket_bytes = 400;
    tiny_step_compile(&tiny);
    assert_list(tiny.program, 0, "L F0 F1 F2 F3 B3 B2 R0 B1 R1 B0 R2 U3 U2 U1 U0");
    assert_int_equal(tiny.program->bucket_count, 3);
    assert_bucket(0, (const int32_t[]){3, 2}, 2, 352 + 64);
    assert_bucket(1, (const int32_t[]){1}, 1, 3488);
    assert_bucket(2, (const int32_t[]){0}, 1, 864);
    tiny.plan->bucket_bytes = 352 + 64; /* full exactly */
    tiny_step_compile(&tiny);
    assert_bucket(0, (const int32_t[]){3, 2}, 2, 352 + 64);
    tiny.plan->bucket_bytes = 352 + 64 + 1;
    tiny_step_compile(&tiny);
    assert_list(tiny.program, 0, "L F0 F1 F2 F3 B3 B2 B1 R0 B0 R1 U3 U2 U1 U0");
    assert_bucket(0, (const int32_t[]){3, 2, 1}, 3, 352 + 64 + 3488);
    assert_bucket(1, (const int32_t[]){0}, 1, 864);
}

static void a_bucket_of_nothing_holds_one_layer(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_REPLICATED, false);
    tiny.plan->bucket_bytes = 0;
    tiny_step_compile(&tiny);
    assert_list(tiny.program, 0, "L F0 F1 F2 F3 B3 R0 B2 R1 B1 R2 B0 R3 U3 U2 U1 U0");
}

static void other_strategies_do_not_close_a_bucket(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_REPLICATED, false);
    tiny.plan->layers[2].strategy = YK_SHARDING_KEPT_AFTER_FORWARD;
    tiny_step_compile(&tiny);
    assert_list(tiny.program, 0, "G2 L F0 F1 F2 F3 B3 B2 X2b S2 B1 B0 R0 U3 U2 U1 U0");
    assert_bucket(0, (const int32_t[]){3, 1, 0}, 3, 352 + 3488 + 864);
}

/* Waits. */

static void ops_wait_for_what_they_need(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_KEPT_AFTER_FORWARD, false);
    assert_list_and_waits(
        tiny.program, 0,
        "G0(U0') G1(U0') L(U0') F0(G0 L) G2(F0) F1(G1 L) G3(F1) F2(G2 L) F3(G3 L) B3(G3) "
        "X3b S3(B3) B2(G2) X2b S2(B2) B1(G1) X1b S1(B1) B0(G0) X0b S0(B0) U3(S3) U2(S2) "
        "U1(S1) U0(S0)");
    tear_down(state);
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_SHARDED_STATE, false);
    assert_list_and_waits(
        tiny.program, 0,
        "L(U0') F0(G0+' L) F1(G1+' L) F2(G2+' L) F3(G3+' L) B3(G3+') S3(B3) B2(G2+') "
        "S2(B2) B1(G1+') S1(B1) B0(G0+') S0(B0) U3(S3) G3+(U3) U2(S2) G2+(U2) U1(S1) "
        "G1+(U1) U0(S0) G0+(U0)");
}

/* A tied head waits for the embedding's weights; a bucket for its last gradient. */
static void shared_weights_and_buckets_are_waited_for(void **state)
{
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_KEPT_AFTER_FORWARD, true);
    assert_list_and_waits(
        tiny.program, 0,
        "G0(U0') G1(U0') L(U0') F0(G0 L) G2(F0) F1(G1 L) F2(G2 L) F3(G0 L) B3(G0) B2(G2) "
        "X2b S2(B2) B1(G1) X1b S1(B1) B0(G0) X0b S0(B0) U2(S2) U1(S1) U0(S0)");
    tear_down(state);
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_REPLICATED, false);
    assert_list_and_waits(
        tiny.program, 0,
        "L(U0') F0(L) F1(L) F2(L) F3(L) B3 B2 B1 B0 R0(B0) U3(R0) U2(R0) U1(R0) U0(R0)");
}

/* Barrier. */

static void all_agree_once_before_any_update(void **state)
{
    (void)state;
    tiny = tiny_step_make_on_two_ranks(YK_SHARDING_SHARDED_STATE, false);
    tiny.plan->clip = true;
    tiny_step_compile(&tiny);
    assert_list_and_waits(
        tiny.program, 0,
        "L(U0') F0(G0+' L) F1(G1+' L) F2(G2+' L) F3(G3+' L) B3(G3+') S3(B3) B2(G2+') "
        "S2(B2) B1(G1+') S1(B1) B0(G0+') S0(B0) A(B0) U3(A) G3+(U3) U2(A) G2+(U2) U1(A) "
        "G1+(U1) U0(A) G0+(U0)");
}

static void half_precision_agrees_on_overflow(void **state)
{
    (void)state;
    tiny = tiny_step_make(
        (struct tiny_options){.cluster = "2xcpu:1", .blocks = 1, .precision = YK_PRECISION_FP16});
    tiny_step_compile(&tiny);
    assert_list(tiny.program, 0, "L F0 F1 F2 F3 B3 B2 B1 B0 R0 A U3 U2 U1 U0");
    assert_bytes(tiny.program->ranks[0].ops[10].bytes, YK_OP_AGREE_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(replicated_layers_are_reduced_and_updated, tear_down),
        cmocka_unit_test_teardown(sharded_state_is_scattered_and_new_parameters_gathered,
                                  tear_down),
        cmocka_unit_test_teardown(kept_layers_are_gathered_once, tear_down),
        cmocka_unit_test_teardown(fully_sharded_layers_are_gathered_twice, tear_down),
        cmocka_unit_test_teardown(more_prefetch_gathers_earlier, tear_down),
        cmocka_unit_test_teardown(tied_weights_travel_as_the_embedding, tear_down),
        cmocka_unit_test_teardown(recomputation_goes_before_backward, tear_down),
        cmocka_unit_test_teardown(frozen_layers_are_neither_reduced_nor_updated, tear_down),
        cmocka_unit_test_teardown(one_rank_communicates_with_none, tear_down),
        cmocka_unit_test_teardown(micro_batches_reduce_each_or_once, tear_down),
        cmocka_unit_test_teardown(replicated_layers_are_reduced_each_or_once, tear_down),
        cmocka_unit_test_teardown(every_bucket_is_reduced_in_every_micro_batch, tear_down),
        cmocka_unit_test_teardown(kept_layers_are_gathered_once_a_micro_batch, tear_down),
        cmocka_unit_test(volumes_are_those_of_the_strategies),
        cmocka_unit_test_teardown(shares_are_cut_into_micro_batches, tear_down),
        cmocka_unit_test_teardown(buckets_close_when_they_are_full, tear_down),
        cmocka_unit_test_teardown(a_bucket_of_nothing_holds_one_layer, tear_down),
        cmocka_unit_test_teardown(other_strategies_do_not_close_a_bucket, tear_down),
        cmocka_unit_test_teardown(ops_wait_for_what_they_need, tear_down),
        cmocka_unit_test_teardown(shared_weights_and_buckets_are_waited_for, tear_down),
        cmocka_unit_test_teardown(all_agree_once_before_any_update, tear_down),
        cmocka_unit_test_teardown(half_precision_agrees_on_overflow, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
