#include "base/json.h"
#include "support/plans/one_group_plan.h"
#include "support/support.h"

#include <string.h>

static const int64_t shares[] = {8, 8, 8};

/* gpt2: 12 blocks of 7087872 parameters, an embedding of 39383808, a norm of 1536. */
static int make(void **state)
{
    static struct made_plan made;
    made_plan_begin(&made, "gpt2", "3xa30", shares, YK_SHARDING_FULLY_SHARDED);
    *state = &made;
    return 0;
}

static int end(void **state)
{
    made_plan_end(*state);
    return 0;
}

/* A number of the file, by its key, within "zero_optimization" where `stage` is true. */
static double number(const struct made_plan *made, bool stage, const char *key)
{
    struct yk_json *root = NULL;
    double value = -1;
    assert_ok(yk_json_parse(yk_text_chars(&made->out), made->out.length, &root));
    yk_json_number_value(
        yk_json_get_member(stage ? yk_json_get_member(root, "zero_optimization") : root, key),
        &value);
    yk_json_destroy(root);
    return value;
}

static void set_all(const struct made_plan *made, enum yk_sharding_strategy strategy)
{
    for (int32_t i = 0; i < made->plan->layer_count; i++) {
        made->plan->layers[i].strategy = strategy;
    }
}

static void the_stage_follows_the_strategy(void **state)
{
    static const double stages[YK_SHARDING_STRATEGY_COUNT] = {[YK_SHARDING_REPLICATED] = 0,
                                                              [YK_SHARDING_SHARDED_STATE] = 2,
                                                              [YK_SHARDING_KEPT_AFTER_FORWARD] = 3,
                                                              [YK_SHARDING_FULLY_SHARDED] = 3};
    struct made_plan *made = *state;
    for (int i = 0; i < YK_SHARDING_STRATEGY_COUNT; i++) {
        set_all(made, (enum yk_sharding_strategy)i);
        made_plan_export(made, "deepspeed");
        assert_true(number(made, true, "stage") == stages[i]);
        assert_false(made_plan_notes(made, "Layers differ"));
    }
}

static void batches_multiply(void **state)
{
    struct made_plan *made = *state;
    made->plan->micro_batches = 4;
    made_plan_export(made, "deepspeed");
    assert_true(number(made, false, "train_batch_size") == 24);
    assert_true(number(made, false, "train_micro_batch_size_per_gpu") == 2);
    assert_true(number(made, false, "gradient_accumulation_steps") == 4);
    assert_false(made_plan_notes(made, "does not divide"));
    assert_false(made_plan_notes(made, "Shares are unequal"));
}

static void unequal_shares_are_noted(void **state)
{
    struct made_plan *made = *state;
    made->plan->groups[0].members[0].share = 16;
    made->plan->groups[0].members[1].share = 0;
    made->plan->micro_batches = 3;
    made_plan_export(made, "deepspeed");
    assert_true(number(made, false, "train_micro_batch_size_per_gpu") == 3);
    assert_true(number(made, false, "train_batch_size") == 27);
    assert_true(made_plan_notes(made, "Shares are unequal in the plan (16, 0, 8)"));
    assert_true(made_plan_notes(made, "The batch of 24 does not divide by 3 ranks and 3 "
                                      "micro-batches; train_batch_size is 27 instead."));
    assert_true(made_plan_notes(made, "Rank 1 (gpu1) takes no samples in the plan"));
}

/* Elements of 2 bytes: 24 MiB are 12582912 of them. */
static void sizes_are_in_elements(void **state)
{
    struct made_plan *made = *state;
    made_plan_export(made, "deepspeed");
    assert_true(number(made, true, "reduce_bucket_size") == 12582912);
    assert_true(number(made, true, "stage3_prefetch_bucket_size") == 39383808);
    made->plan->workload.precision = YK_PRECISION_FP32;
    made_plan_describe(made);
    set_all(made, YK_SHARDING_SHARDED_STATE);
    made_plan_export(made, "deepspeed");
    assert_true(number(made, true, "reduce_bucket_size") == 6291456);
    assert_true(number(made, true, "allgather_bucket_size") == 1048576);
    assert_false(made_plan_says(made, "bf16"));
}

/* layer 10, layer 11 and the norm are kept: their reuse is at most twice their size away. */
static void kept_layers_at_the_end_are_within_reuse_distance(void **state)
{
    struct made_plan *made = *state;
    made_plan_export(made, "deepspeed");
    assert_true(number(made, true, "stage3_max_reuse_distance") == 0);
    for (int32_t i = 11; i < 14; i++) {
        made->plan->layers[i].strategy = YK_SHARDING_KEPT_AFTER_FORWARD;
    }
    made->plan->layers[14].strategy = YK_SHARDING_KEPT_AFTER_FORWARD;
    made->plan->layers[0].strategy = YK_SHARDING_KEPT_AFTER_FORWARD;
    made_plan_export(made, "deepspeed");
    assert_true(number(made, true, "stage3_max_reuse_distance") == 2 * (2 * 7087872.0 + 1536));
    assert_true(made_plan_notes(made, "Layers differ in the plan (5 kept, 10 fully-sharded); "
                                      "DeepSpeed has one stage for all, 3 here."));
    assert_true(made_plan_notes(made, "any others are gathered again"));
}

static void what_the_file_cannot_say_is_noted(void **state)
{
    struct made_plan *made = *state;
    struct yk_plan *plan = made->plan;
    static struct yk_plan_transfer transfer = {YK_TRANSFER_ALL_GATHER, 3, 0, 1, 0};
    plan->layers[1].recompute = true;
    plan->clip = true;
    plan->transfers = &transfer;
    plan->transfer_count = 1;
    plan->groups[0].members[0].shard_fraction = 0.5;
    plan->groups[0].members[1].shard_fraction = 0.25;
    plan->groups[0].members[2].shard_fraction = 0.25;
    made_plan_export(made, "deepspeed");
    assert_true(number(made, false, "gradient_clipping") == 1);
    assert_true(made_plan_notes(made, "layer 0: recomputed in the plan"));
    assert_true(made_plan_notes(made, "not at which norm"));
    assert_true(made_plan_notes(made, "order of transfers is not said"));
    assert_true(made_plan_notes(made, "from 0.25 to 0.5 of the sharded state; DeepSpeed"));
    assert_true(made_plan_notes(made, "Limits of memory are not said."));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, end)
    const struct CMUnitTest tests[] = {
        TEST(the_stage_follows_the_strategy),
        TEST(batches_multiply),
        TEST(unequal_shares_are_noted),
        TEST(sizes_are_in_elements),
        TEST(kept_layers_at_the_end_are_within_reuse_distance),
        TEST(what_the_file_cannot_say_is_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
