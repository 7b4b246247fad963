/* What programs hold at most: a whole step by hand, messages between ranks, and walks at chance. */
#include "program/memory/memory.h"

#include "base/random.h"
#include "cost/cost.h"
#include "support/programs/random_walk.h"
#include "support/programs/tiny_step.h"
#include "support/support.h"

enum {
    PARAMETERS = TINY_EMBED + TINY_BLOCK + TINY_NORM + TINY_HEAD,
};

static struct tiny_step tiny;

static int tear_down(void **state)
{
    (void)state;
    tiny_step_free(&tiny);
    tiny = (struct tiny_step){0};
    return 0;
}

/* While the block goes backward: 16 bytes a parameter, tokens and labels of two micro-batches, what
 * it and the embedding saved, the gradients of both outputs, its workspace. */
static void one_rank_holds_all_of_it(void **state)
{
    (void)state;
    struct yk_memory_peak peak;
    tiny = tiny_step_make((struct tiny_options){.cluster = "cpu:1", .blocks = 1});
    tiny_step_compile(&tiny);
    assert_ok(yk_program_memory_find_peak(tiny.program, 0, tiny_step_memory(&tiny, 0), &peak));
    const double tokens = 2 * 8 * (TINY_SEQUENCE + TINY_SEQUENCE);
    const double activations =
        TINY_SEQUENCE * (TINY_EMBED_SAVES + TINY_BLOCK_SAVES + 2 * TINY_HIDDEN);
    const double workspace = TINY_SEQUENCE * TINY_BLOCK_WORKSPACE;
    const double context = yk_device_measurements_context_bytes(NULL, tiny.cluster, 0);
    assert_bytes(peak.bytes, 16 * PARAMETERS + tokens + activations + workspace + context);
    assert_bytes(peak.by_kind[YK_MEMORY_PARAMETERS], 4 * PARAMETERS);
    assert_bytes(peak.by_kind[YK_MEMORY_GATHERED], 0);
    assert_bytes(peak.by_kind[YK_MEMORY_GRADIENTS], 4 * PARAMETERS);
    assert_bytes(peak.by_kind[YK_MEMORY_OPTIMIZER], 8 * PARAMETERS);
    assert_bytes(peak.by_kind[YK_MEMORY_ACTIVATIONS], activations);
    assert_bytes(peak.by_kind[YK_MEMORY_BUFFERS], tokens + workspace);
    assert_bytes(peak.by_kind[YK_MEMORY_CONTEXT], context);
    const struct yk_op *op = &tiny.program->ranks[0].ops[peak.compute_op];
    assert_int_equal(op->kind, YK_OP_BACKWARD);
    assert_int_equal(op->layer, 1);
    assert_int_equal(peak.comm_op, -1);
}

/* Messages. */

static void make_pipeline(int32_t micro_batches)
{
    static const int32_t groups[] = {0, 0, 1, 1};
    tiny = tiny_step_make((struct tiny_options){
        .cluster = "2xcpu:1", .groups = 2, .blocks = 1, .batch = micro_batches});
    tiny_step_set_stages(&tiny, groups);
    tiny.plan->micro_batches = micro_batches;
    tiny.plan->pipeline = YK_PIPELINE_1F1B;
    tiny_step_compile(&tiny);
}

/* The output on its way there, and its gradient on its way back, are never there at once. */
static void one_micro_batch_needs_one_message(void **state)
{
    (void)state;
    make_pipeline(1);
    assert_bytes(tiny_step_most_messages(&tiny, 0), TINY_SEQUENCE * TINY_HIDDEN);
    assert_bytes(tiny_step_most_messages(&tiny, 1), TINY_SEQUENCE * TINY_HIDDEN);
}

/*
 * Rank 0 goes F0 F1 B0 F2 …: both outputs may wait to be sent. Rank 1 goes F0 B0 F1 B1 …: B1 may
 * make a gradient to send before that of B0 is sent.
 */
static void two_stages_need_two_messages(void **state)
{
    (void)state;
    make_pipeline(4);
    assert_bytes(tiny_step_most_messages(&tiny, 0), 2 * TINY_SEQUENCE * TINY_HIDDEN);
    assert_bytes(tiny_step_most_messages(&tiny, 1), 2 * TINY_SEQUENCE * TINY_HIDDEN);
}

/* A stage that is saved for: at most K − k micro-batches of what it saves. */
static void stages_save_as_many_micro_batches_as_are_under_way(void **state)
{
    (void)state;
    make_pipeline(6);
    /* Rank 0 in B0: two micro-batches saved, the gradient of the embedding's output. That of the
     * block's output came as a message. Rank 1 in B0: the input of F1 may have come. */
    assert_bytes(tiny_step_most(&tiny, 0, YK_MEMORY_ACTIVATIONS),
                 TINY_SEQUENCE * (2 * (TINY_EMBED_SAVES + TINY_BLOCK_SAVES) + TINY_HIDDEN));
    assert_bytes(tiny_step_most(&tiny, 1, YK_MEMORY_ACTIVATIONS),
                 TINY_SEQUENCE * (TINY_NORM_SAVES + TINY_HEAD_SAVES + 2 * TINY_HIDDEN));
}

/* Pipelines at chance: whatever the lanes do, no rank holds more than its peak. */

enum {
    CASES = 100,
    WALK_ROUNDS = 5,
    MOST_RANKS = 4,
};

/* A group of one rank or two, which may be in other groups, too. */
static void add_random_group(struct yk_random *random, int32_t group)
{
    const struct yk_plan *plan = tiny.plan;
    const int64_t batch = plan->workload.batch;
    const int64_t M = plan->micro_batches;
    const int32_t rank = (int32_t)yk_random_below(random, plan->rank_count);
    const int32_t other =
        (rank + 1 + (int32_t)yk_random_below(random, plan->rank_count - 1)) % plan->rank_count;
    const int64_t share =
        yk_random_below(random, 2) == 0 ? batch : M * yk_random_below(random, batch / M);
    tiny_step_add_member(&tiny, group, rank, share, share == batch ? 1 : 0.25);
    if (share < batch) {
        tiny_step_add_member(&tiny, group, other, batch - share, 0.75);
    }
}

static void make_random_pipeline(struct yk_random *random)
{
    static const char *const clusters[] = {"2xcpu:1", "3xcpu:1", "4xcpu:1"};
    const int32_t groups = 2 + (int32_t)yk_random_below(random, 3);
    tiny = tiny_step_make((struct tiny_options){
        .cluster = clusters[yk_random_below(random, MOST_RANKS - 1)],
        .config = yk_random_below(random, 3) == 0 ? TINY_TRANSLATOR : NULL,
        .groups = groups,
        .blocks = 1 + yk_random_below(random, 4),
        .tied = yk_random_below(random, 2) == 0,
        .batch = 12,
        .lora_rank = yk_random_below(random, 2),
        .precision = yk_random_below(random, 3) == 0 ? YK_PRECISION_FP16 : YK_PRECISION_BF16,
    });
    struct yk_plan *plan = tiny.plan;
    plan->micro_batches = 1 + (int32_t)yk_random_below(random, 4);
    plan->pipeline =
        (enum yk_pipeline_schedule_kind)yk_random_below(random, YK_PIPELINE_SCHEDULE_COUNT);
    plan->no_sync = yk_random_below(random, 2) == 0;
    plan->prefetch = 1 + (int32_t)yk_random_below(random, 2);
    for (int32_t g = 0; g < groups; g++) {
        add_random_group(random, g);
    }
    for (int32_t l = 0; l < plan->layer_count; l++) {
        plan->layers[l] = (struct yk_plan_layer){
            .group = l < groups ? l : (int32_t)yk_random_below(random, groups),
            .strategy =
                (enum yk_sharding_strategy)yk_random_below(random, YK_SHARDING_STRATEGY_COUNT),
            .recompute = yk_random_below(random, 3) == 0,
        };
        if (tiny.model->layers[l].shares_weights_of != YK_LAYER_NONE) {
            plan->layers[l] = plan->layers[tiny.model->layers[l].shares_weights_of];
        }
    }
    tiny_step_compile(&tiny);
}

static void no_walk_holds_more_than_the_peak(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        struct yk_program_memory *memories[MOST_RANKS];
        double most[MOST_RANKS];
        make_random_pipeline(&random);
        for (int32_t r = 0; r < tiny.plan->rank_count; r++) {
            memories[r] = tiny_step_memory(&tiny, r);
        }
        for (int32_t walk = 0; walk < 8; walk++) {
            assert_int_equal(walk_program(tiny.program, WALK_ROUNDS, &random, memories, most), 0);
            for (int32_t r = 0; r < tiny.plan->rank_count; r++) {
                struct yk_memory_peak peak;
                assert_ok(yk_program_memory_find_peak(tiny.program, r, memories[r], &peak));
                if (most[r] > peak.bytes) {
                    fail_msg("seed %d: rank %d holds %g bytes, over %g", (int)seed, (int)r, most[r],
                             peak.bytes);
                }
            }
        }
        tear_down(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(one_rank_holds_all_of_it, tear_down),
        cmocka_unit_test_teardown(one_micro_batch_needs_one_message, tear_down),
        cmocka_unit_test_teardown(two_stages_need_two_messages, tear_down),
        cmocka_unit_test_teardown(stages_save_as_many_micro_batches_as_are_under_way, tear_down),
        cmocka_unit_test(no_walk_holds_more_than_the_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
