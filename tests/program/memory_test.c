/* What programs hold, against DESIGN's table and tensors counted by hand, on the tiny GPT: embed
 * 216 parameters, blocks 872 each, norm 16, head 88. */
#include "program/memory/memory.h"

#include "cost/cost.h"
#include "support/programs/tiny_step.h"
#include "support/support.h"

enum {
    FP32 = 4,
    BF16 = 2,
    ONE_BLOCK = TINY_EMBED + TINY_BLOCK + TINY_NORM + TINY_HEAD, /* 1192 */
    THREE_BLOCKS = ONE_BLOCK + 2 * TINY_BLOCK,
};

static struct tiny_step tiny;

static int tear_down(void **state)
{
    (void)state;
    tiny_step_free(&tiny);
    tiny = (struct tiny_step){0};
    return 0;
}

static double most_gathered(void)
{
    return tiny_step_most(&tiny, 0, YK_MEMORY_GATHERED);
}

static double most_gradients(void)
{
    return tiny_step_most(&tiny, 0, YK_MEMORY_GRADIENTS);
}

static double most_activations(void)
{
    return tiny_step_most(&tiny, 0, YK_MEMORY_ACTIVATIONS);
}

/* State: DESIGN's table. */

/* Two ranks with parts 3/4 and 1/4. */
static void make_uneven(enum yk_precision precision, enum yk_sharding_strategy strategy,
                        int64_t lora_rank, bool nf4)
{
    tiny = tiny_step_make((struct tiny_options){.cluster = "2xcpu:1",
                                                .groups = 1,
                                                .blocks = 1,
                                                .batch = 2,
                                                .precision = precision,
                                                .lora_rank = lora_rank,
                                                .nf4 = nf4});
    tiny_step_add_member(&tiny, 0, 0, 1, 0.75);
    tiny_step_add_member(&tiny, 0, 1, 1, 0.25);
    tiny_step_set_strategy(&tiny, strategy);
    tiny_step_compile(&tiny);
}

static void assert_state(int32_t rank, double parameters, double gradients, double optimizer)
{
    assert_bytes(tiny_step_always(&tiny, rank, YK_MEMORY_PARAMETERS), parameters);
    assert_bytes(tiny_step_always(&tiny, rank, YK_MEMORY_GRADIENTS), gradients);
    assert_bytes(tiny_step_always(&tiny, rank, YK_MEMORY_OPTIMIZER), optimizer);
    assert_bytes(tiny_step_always(&tiny, rank, YK_MEMORY_GATHERED), 0);
    assert_bytes(tiny_step_always(&tiny, rank, YK_MEMORY_ACTIVATIONS), 0);
}

struct row {
    enum yk_precision precision;
    enum yk_sharding_strategy strategy;
    double whole[3]; /* bytes a parameter of weights, gradient and optimizer state, kept whole */
    double part[3];  /* and in parts */
};

static void state_is_kept_as_the_table_says(void **state)
{
    static const struct row table[] = {
        {YK_PRECISION_BF16, YK_SHARDING_REPLICATED, {2, 2, 12}, {0, 0, 0}},
        {YK_PRECISION_BF16, YK_SHARDING_SHARDED_STATE, {2, 0, 0}, {0, 2, 12}},
        {YK_PRECISION_BF16, YK_SHARDING_KEPT_AFTER_FORWARD, {0, 0, 0}, {2, 2, 12}},
        {YK_PRECISION_BF16, YK_SHARDING_FULLY_SHARDED, {0, 0, 0}, {2, 2, 12}},
        {YK_PRECISION_FP16, YK_SHARDING_FULLY_SHARDED, {0, 0, 0}, {2, 2, 12}},
        {YK_PRECISION_FP32, YK_SHARDING_REPLICATED, {4, 4, 8}, {0, 0, 0}},
        {YK_PRECISION_FP32, YK_SHARDING_SHARDED_STATE, {4, 0, 0}, {0, 4, 8}},
        {YK_PRECISION_FP32, YK_SHARDING_KEPT_AFTER_FORWARD, {0, 0, 0}, {4, 4, 8}},
        {YK_PRECISION_FP32, YK_SHARDING_FULLY_SHARDED, {0, 0, 0}, {4, 4, 8}},
        {YK_PRECISION_TF32, YK_SHARDING_KEPT_AFTER_FORWARD, {0, 0, 0}, {4, 4, 8}},
    };
    static const double parts[] = {0.75, 0.25};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct row *row = &table[i];
        make_uneven(row->precision, row->strategy, 0, false);
        for (int32_t r = 0; r < 2; r++) {
            assert_state(r, ONE_BLOCK * (row->whole[0] + row->part[0] * parts[r]),
                         ONE_BLOCK * (row->whole[1] + row->part[1] * parts[r]),
                         ONE_BLOCK * (row->whole[2] + row->part[2] * parts[r]));
        }
        tear_down(state);
    }
}

static void each_layer_is_kept_its_own_way(void **state)
{
    (void)state;
    tiny = tiny_step_make((struct tiny_options){.cluster = "4xcpu:1", .blocks = 1});
    tiny.plan->layers[0].strategy = YK_SHARDING_FULLY_SHARDED;
    tiny.plan->layers[1].strategy = YK_SHARDING_SHARDED_STATE;
    tiny.plan->layers[2].strategy = YK_SHARDING_REPLICATED;
    tiny.plan->layers[3].strategy = YK_SHARDING_KEPT_AFTER_FORWARD;
    tiny_step_compile(&tiny);
    assert_state(2, 4 * (216 / 4.0 + 872 + 16 + 88 / 4.0), 4 * (216 + 872 + 88) / 4.0 + 4 * 16,
                 8 * (216 + 872 + 88) / 4.0 + 8 * 16);
}

/* Adapters of rank 2 on qkv, out, up and down. */
enum {
    ADAPTERS = 2 * ((8 + 24) + (8 + 8) + (8 + 32) + (32 + 8)),
    BLOCK_WEIGHTS = 8 * 24 + 8 * 8 + 8 * 32 + 32 * 8,
};

static void frozen_layers_have_weights_alone(void **state)
{
    (void)state;
    make_uneven(YK_PRECISION_BF16, YK_SHARDING_SHARDED_STATE, 2, false);
    assert_state(0, BF16 * (ONE_BLOCK + ADAPTERS), 0.75 * BF16 * ADAPTERS, 0.75 * 12 * ADAPTERS);
    tear_down(state);
    make_uneven(YK_PRECISION_BF16, YK_SHARDING_FULLY_SHARDED, 2, false);
    assert_state(1, 0.25 * BF16 * (ONE_BLOCK + ADAPTERS), 0.25 * BF16 * ADAPTERS,
                 0.25 * 12 * ADAPTERS);
}

static const double nf4_weights =
    BLOCK_WEIGHTS * (0.5 + 0.127 / 8) + FP32 * (TINY_BLOCK - BLOCK_WEIGHTS) + BF16 * ADAPTERS;

static void nf4_is_kept_and_gathered_as_it_is(void **state)
{
    (void)state;
    make_uneven(YK_PRECISION_BF16, YK_SHARDING_KEPT_AFTER_FORWARD, 2, true);
    const double weights = nf4_weights + FP32 * (ONE_BLOCK - TINY_BLOCK);
    assert_state(0, 0.75 * weights, 0.75 * BF16 * ADAPTERS, 0.75 * 12 * ADAPTERS);
    /* The embedding goes before the norm comes: frozen, it is not wanted in backward. */
    assert_bytes(most_gathered(), FP32 * TINY_EMBED + nf4_weights);
    assert_bytes(most_gradients(), BF16 * ADAPTERS);
}

static void a_group_of_one_keeps_everything_whole(void **state)
{
    (void)state;
    tiny = tiny_step_make((struct tiny_options){.cluster = "cpu:1", .blocks = 1});
    tiny_step_set_strategy(&tiny, YK_SHARDING_FULLY_SHARDED);
    tiny_step_compile(&tiny);
    assert_state(0, 4 * ONE_BLOCK, 4 * ONE_BLOCK, 8 * ONE_BLOCK);
    assert_bytes(most_gathered(), 0);
    assert_bytes(most_gradients(), 0);
}

/* Two stages: embed and block, norm and head; a third rank has nothing. */
static void ranks_keep_the_layers_of_their_groups(void **state)
{
    (void)state;
    static const int32_t groups[] = {0, 0, 1, 1};
    tiny = tiny_step_make(
        (struct tiny_options){.cluster = "3xcpu:1", .groups = 2, .blocks = 1, .batch = 1});
    tiny_step_set_stages(&tiny, groups);
    tiny_step_compile(&tiny);
    assert_state(0, 4 * (216 + 872), 4 * (216 + 872), 8 * (216 + 872));
    assert_state(1, 4 * (16 + 88), 4 * (16 + 88), 8 * (16 + 88));
    assert_state(2, 0, 0, 0);
    assert_bytes(tiny_step_always(&tiny, 2, YK_MEMORY_BUFFERS), 0);
}

static void every_process_has_a_context(void **state)
{
    (void)state;
    tiny = tiny_step_make((struct tiny_options){.cluster = "1xa30 + cpu:1", .blocks = 1});
    tiny_step_compile(&tiny);
    assert_bytes(tiny_step_always(&tiny, 0, YK_MEMORY_CONTEXT),
                 yk_device_measurements_context_bytes(NULL, tiny.cluster, 0));
    assert_true(tiny_step_always(&tiny, 0, YK_MEMORY_CONTEXT) > 1e8);
    assert_bytes(tiny_step_always(&tiny, 1, YK_MEMORY_CONTEXT),
                 yk_device_measurements_context_bytes(NULL, tiny.cluster, 1));
    assert_true(tiny_step_always(&tiny, 1, YK_MEMORY_CONTEXT) > 1e7);
}

/* Two blocks, or two of the largest layer; tokens and labels of two micro-batches, 8 bytes each. */
static void buffers_are_two_blocks_and_two_batches(void **state)
{
    (void)state;
    tiny = tiny_step_make((struct tiny_options){.cluster = "2xcpu:1", .blocks = 1, .batch = 6});
    tiny_step_compile(&tiny);
    assert_bytes(tiny_step_always(&tiny, 0, YK_MEMORY_BUFFERS),
                 2 * 4 * TINY_BLOCK + 2 * 8 * 3 * (4 + 4));
    tiny.plan->block_bytes = 100;
    tiny.plan->micro_batches = 2; /* of 2 samples and 1 */
    tiny_step_compile(&tiny);
    assert_bytes(tiny_step_always(&tiny, 0, YK_MEMORY_BUFFERS), 2 * 100 + 2 * 8 * 2 * (4 + 4));
}

/* Gathered parameters. */

static void make_sharded(enum yk_sharding_strategy strategy, bool tied, int32_t prefetch)
{
    tiny = tiny_step_make(
        (struct tiny_options){.cluster = "2xcpu:1", .blocks = 3, .tied = tied, .batch = 8});
    tiny_step_set_strategy(&tiny, strategy);
    tiny.plan->prefetch = prefetch;
    tiny.plan->pipeline = YK_PIPELINE_1F1B;
    tiny_step_compile(&tiny);
}

/* The layer in use and `prefetch` more: two blocks, three blocks, the embedding and three. */
static void fully_sharded_layers_are_gathered_a_few_at_a_time(void **state)
{
    static const int32_t parameters[] = {2 * TINY_BLOCK, 3 * TINY_BLOCK,
                                         TINY_EMBED + 3 * TINY_BLOCK};
    for (int32_t prefetch = 1; prefetch <= 3; prefetch++) {
        for (int32_t micro_batches = 1; micro_batches <= 3; micro_batches++) {
            make_sharded(YK_SHARDING_FULLY_SHARDED, false, prefetch);
            tiny.plan->micro_batches = micro_batches;
            tiny_step_compile(&tiny);
            assert_bytes(most_gathered(), FP32 * parameters[prefetch - 1]);
            tear_down(state);
        }
    }
}

/* All of them, between forward and backward. */
static void kept_layers_are_all_there_at_the_turn(void **state)
{
    for (int32_t prefetch = 1; prefetch <= 2; prefetch++) {
        for (int32_t micro_batches = 1; micro_batches <= 3; micro_batches++) {
            make_sharded(YK_SHARDING_KEPT_AFTER_FORWARD, false, prefetch);
            tiny.plan->micro_batches = micro_batches;
            tiny_step_compile(&tiny);
            assert_bytes(most_gathered(), FP32 * THREE_BLOCKS);
            tear_down(state);
        }
    }
}

/* The embedding stays for the head, besides two blocks. */
static void tied_weights_stay_from_one_end_to_the_other(void **state)
{
    (void)state;
    make_sharded(YK_SHARDING_FULLY_SHARDED, true, 1);
    assert_bytes(most_gathered(), FP32 * (TINY_EMBED + 2 * TINY_BLOCK));
}

/* A kept embedding and first block, two fully sharded blocks at a time after them. */
static void kept_and_fully_sharded_layers_add_up(void **state)
{
    (void)state;
    make_sharded(YK_SHARDING_FULLY_SHARDED, false, 1);
    tiny.plan->layers[0].strategy = YK_SHARDING_KEPT_AFTER_FORWARD;
    tiny.plan->layers[1].strategy = YK_SHARDING_KEPT_AFTER_FORWARD;
    tiny_step_compile(&tiny);
    assert_bytes(most_gathered(), FP32 * (TINY_EMBED + 3 * TINY_BLOCK));
}

static void whole_parameters_are_not_gathered(void **state)
{
    make_sharded(YK_SHARDING_SHARDED_STATE, false, 1);
    assert_bytes(most_gathered(), 0);
    tear_down(state);
    make_sharded(YK_SHARDING_REPLICATED, false, 1);
    assert_bytes(most_gathered(), 0);
    assert_bytes(most_gradients(), 0); /* those it has, it always has */
}

/* Whole gradients. */

/* Nothing in backward waits for a scatter, so that in the worst case none has ended before the
 * last gradient is there. */
static void whole_gradients_pile_up_until_their_scatter(void **state)
{
    make_sharded(YK_SHARDING_SHARDED_STATE, false, 1);
    assert_bytes(most_gradients(), FP32 * THREE_BLOCKS);
    tear_down(state);
    make_sharded(YK_SHARDING_KEPT_AFTER_FORWARD, false, 2);
    assert_bytes(most_gradients(), FP32 * THREE_BLOCKS);
}

/* Backward of layer l waits for its gather, which goes after the scatter of layer l + 1 + prefetch:
 * two whole gradients, or three. */
static void gathers_between_scatters_keep_gradients_few(void **state)
{
    make_sharded(YK_SHARDING_FULLY_SHARDED, false, 1);
    assert_bytes(most_gradients(), FP32 * 2 * TINY_BLOCK);
    tear_down(state);
    make_sharded(YK_SHARDING_FULLY_SHARDED, false, 2);
    assert_bytes(most_gradients(), FP32 * 3 * TINY_BLOCK);
}

static void under_no_sync_gradients_stay_whole_until_the_last_micro_batch(void **state)
{
    (void)state;
    make_sharded(YK_SHARDING_FULLY_SHARDED, false, 1);
    tiny.plan->micro_batches = 4;
    tiny_step_compile(&tiny);
    assert_bytes(most_gradients(), FP32 * 2 * TINY_BLOCK);
    tiny.plan->no_sync = true;
    tiny_step_compile(&tiny);
    assert_bytes(most_gradients(), FP32 * THREE_BLOCKS);
}

/* One whole gradient besides that which a rank keeps, in one bucket or in many, however many
 * micro-batches: the next sum waits until the last is reduced. Without, none. */
static void gradients_reduced_in_every_micro_batch_are_held_once_more(void **state)
{
    static const double bucket_bytes[] = {1, 1e9};
    for (int i = 0; i < 4; i++) {
        make_sharded(YK_SHARDING_REPLICATED, i / 2 == 1, 1);
        const double whole = FP32 * (THREE_BLOCKS - (i / 2 == 1 ? TINY_HEAD : 0));
        tiny.plan->bucket_bytes = bucket_bytes[i % 2];
        tiny.plan->micro_batches = 4;
        tiny_step_compile(&tiny);
        assert_bytes(tiny_step_always(&tiny, 0, YK_MEMORY_GRADIENTS), whole);
        assert_bytes(most_gradients(), whole);
        tiny.plan->no_sync = true;
        tiny_step_compile(&tiny);
        assert_bytes(most_gradients(), 0);
        tear_down(state);
    }
}

/* From the head's backward, which is the first, to the embedding's scatter, which is the last. */
static void a_tied_gradient_is_whole_all_through_backward(void **state)
{
    (void)state;
    make_sharded(YK_SHARDING_FULLY_SHARDED, true, 1);
    assert_bytes(most_gradients(), FP32 * (TINY_EMBED + 2 * TINY_BLOCK));
}

/* Activations. */

static void make_alone(int64_t blocks, int64_t batch, int32_t micro_batches,
                       enum yk_pipeline_schedule_kind pipeline)
{
    tiny =
        tiny_step_make((struct tiny_options){.cluster = "cpu:1", .blocks = blocks, .batch = batch});
    tiny.plan->micro_batches = micro_batches;
    tiny.plan->pipeline = pipeline;
    tiny_step_compile(&tiny);
}

/* While the head goes backward: all that is saved, and the gradient of its input. */
static void activations_peak_between_forward_and_backward(void **state)
{
    (void)state;
    make_alone(2, 1, 1, YK_PIPELINE_1F1B);
    assert_bytes(most_activations(),
                 TINY_SEQUENCE * (TINY_EMBED_SAVES + 2 * TINY_BLOCK_SAVES + TINY_NORM_SAVES +
                                  TINY_HEAD_SAVES + TINY_HIDDEN));
}

static void gpipe_saves_every_micro_batch_and_1f1b_one(void **state)
{
    const double saved =
        TINY_EMBED_SAVES + 2 * TINY_BLOCK_SAVES + TINY_NORM_SAVES + TINY_HEAD_SAVES;
    make_alone(2, 3, 3, YK_PIPELINE_GPIPE);
    assert_bytes(most_activations(), TINY_SEQUENCE * (3 * saved + TINY_HIDDEN));
    tear_down(state);
    make_alone(2, 3, 3, YK_PIPELINE_1F1B);
    assert_bytes(most_activations(), TINY_SEQUENCE * (saved + TINY_HIDDEN));
}

/* While block 1 goes backward: its own again, the inputs of both, the gradients of both outputs. */
static void recomputing_blocks_save_their_inputs(void **state)
{
    (void)state;
    make_alone(2, 1, 1, YK_PIPELINE_1F1B);
    tiny.plan->layers[1].recompute = true;
    tiny.plan->layers[2].recompute = true;
    tiny_step_compile(&tiny);
    assert_bytes(most_activations(), TINY_SEQUENCE * (TINY_EMBED_SAVES + TINY_HIDDEN +
                                                      TINY_BLOCK_SAVES + 2 * TINY_HIDDEN));
}

static void a_rank_of_no_samples_saves_nothing(void **state)
{
    (void)state;
    tiny = tiny_step_make(
        (struct tiny_options){.cluster = "2xcpu:1", .groups = 1, .blocks = 1, .batch = 4});
    tiny_step_add_member(&tiny, 0, 0, 0, 1);
    tiny_step_add_member(&tiny, 0, 1, 4, 0);
    tiny_step_set_strategy(&tiny, YK_SHARDING_FULLY_SHARDED);
    tiny_step_compile(&tiny);
    assert_bytes(most_activations(), 0);
    assert_bytes(tiny_step_most(&tiny, 0, YK_MEMORY_BUFFERS), 0);
    assert_state(0, 4 * ONE_BLOCK, 4 * ONE_BLOCK, 8 * ONE_BLOCK);
    assert_state(1, 0, 0, 0);
    assert_bytes(most_gathered(), FP32 * (TINY_EMBED + TINY_BLOCK));
    assert_bytes(tiny_step_most(&tiny, 1, YK_MEMORY_ACTIVATIONS),
                 4 * TINY_SEQUENCE *
                     (TINY_EMBED_SAVES + TINY_BLOCK_SAVES + TINY_NORM_SAVES + TINY_HEAD_SAVES +
                      TINY_HIDDEN));
}

static void kinds_have_names(void **state)
{
    (void)state;
    assert_string_equal(yk_memory_kind_name(YK_MEMORY_PARAMETERS), "parameters");
    assert_string_equal(yk_memory_kind_name(YK_MEMORY_GATHERED), "gathered");
    assert_string_equal(yk_memory_kind_name(YK_MEMORY_GRADIENTS), "gradients");
    assert_string_equal(yk_memory_kind_name(YK_MEMORY_OPTIMIZER), "optimizer");
    assert_string_equal(yk_memory_kind_name(YK_MEMORY_ACTIVATIONS), "activations");
    assert_string_equal(yk_memory_kind_name(YK_MEMORY_BUFFERS), "buffers");
    assert_string_equal(yk_memory_kind_name(YK_MEMORY_CONTEXT), "context");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_is_kept_as_the_table_says),
        cmocka_unit_test_teardown(each_layer_is_kept_its_own_way, tear_down),
        cmocka_unit_test_teardown(frozen_layers_have_weights_alone, tear_down),
        cmocka_unit_test_teardown(nf4_is_kept_and_gathered_as_it_is, tear_down),
        cmocka_unit_test_teardown(a_group_of_one_keeps_everything_whole, tear_down),
        cmocka_unit_test_teardown(ranks_keep_the_layers_of_their_groups, tear_down),
        cmocka_unit_test_teardown(every_process_has_a_context, tear_down),
        cmocka_unit_test_teardown(buffers_are_two_blocks_and_two_batches, tear_down),
        cmocka_unit_test(fully_sharded_layers_are_gathered_a_few_at_a_time),
        cmocka_unit_test(kept_layers_are_all_there_at_the_turn),
        cmocka_unit_test_teardown(tied_weights_stay_from_one_end_to_the_other, tear_down),
        cmocka_unit_test_teardown(kept_and_fully_sharded_layers_add_up, tear_down),
        cmocka_unit_test_teardown(whole_parameters_are_not_gathered, tear_down),
        cmocka_unit_test_teardown(whole_gradients_pile_up_until_their_scatter, tear_down),
        cmocka_unit_test_teardown(gathers_between_scatters_keep_gradients_few, tear_down),
        cmocka_unit_test_teardown(under_no_sync_gradients_stay_whole_until_the_last_micro_batch,
                                  tear_down),
        cmocka_unit_test_teardown(gradients_reduced_in_every_micro_batch_are_held_once_more,
                                  tear_down),
        cmocka_unit_test_teardown(a_tied_gradient_is_whole_all_through_backward, tear_down),
        cmocka_unit_test_teardown(activations_peak_between_forward_and_backward, tear_down),
        cmocka_unit_test_teardown(gpipe_saves_every_micro_batch_and_1f1b_one, tear_down),
        cmocka_unit_test_teardown(recomputing_blocks_save_their_inputs, tear_down),
        cmocka_unit_test_teardown(a_rank_of_no_samples_saves_nothing, tear_down),
        cmocka_unit_test(kinds_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
