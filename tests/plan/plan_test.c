#include "plan/plan.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

enum {
    RANKS = 3,
    BATCH = 10,
    EMBED = 0,
    FIRST_BLOCK = 1,
    HEAD = 14, /* of gpt2: embed, 12 blocks, norm, head */
    LAYERS = 15,
};

/* A plan that is right, for tests to break: gpt2, whose head uses the embedding's weights. */
struct made {
    struct yk_arena *arena;
    const struct yk_model *model;
    struct yk_plan *plan;
};

static const struct yk_workload workload = {
    .batch = BATCH, .sequence = 64, .precision = YK_PRECISION_BF16};

static int make(void **state)
{
    static const int64_t shares[RANKS] = {7, 3, 0};
    static const double parts[RANKS] = {0.5, 0.25, 0.25};
    static struct made made;
    const struct yk_model_config *config = NULL;
    assert_ok(yk_arena_create(&made.arena));
    assert_ok(yk_model_config_find_builtin("gpt2", &config));
    assert_ok(yk_model_build(config, &workload, made.arena, &made.model));
    assert_ok(yk_plan_create(made.arena, RANKS, 1, LAYERS, &made.plan));
    struct yk_plan *plan = made.plan;
    plan->model_source = "gpt2";
    plan->cluster_source = "3xa30 @ 1GB/s";
    plan->workload = workload;
    plan->micro_batches = 1;
    plan->prefetch = 1;
    plan->block_bytes = 1 << 20;
    plan->bucket_bytes = 25 << 20;
    for (int32_t i = 0; i < RANKS; i++) {
        plan->ranks[i] = (struct yk_plan_rank){.device = i, .limit_bytes = 1e9};
        plan->groups[0].members[i] = (struct yk_plan_group_member){
            .rank = i, .share = shares[i], .shard_fraction = parts[i]};
    }
    plan->groups[0].member_count = RANKS;
    for (int32_t i = 0; i < LAYERS; i++) {
        plan->layers[i].strategy = YK_SHARDING_KEPT_AFTER_FORWARD;
    }
    *state = &made;
    return 0;
}

static int unmake(void **state)
{
    struct made *made = *state;
    yk_arena_destroy(made->arena);
    return 0;
}

static yk_status check(void **state)
{
    const struct made *made = *state;
    return yk_plan_check(made->plan, made->model);
}

static struct yk_plan *plan_of(void **state)
{
    return ((struct made *)*state)->plan;
}

static struct yk_plan_group_member *member_of(void **state, int32_t number)
{
    return &plan_of(state)->groups[0].members[number];
}

/* A second group, all of whose samples go to the one rank. */
static void add_group(void **state, int32_t rank)
{
    struct made *made = *state;
    struct yk_plan *grown = NULL;
    assert_ok(yk_plan_create(made->arena, RANKS, 2, LAYERS, &grown));
    const struct yk_plan_group first = made->plan->groups[0];
    struct yk_plan_group *groups = grown->groups;
    *grown = *made->plan;
    grown->groups = groups;
    grown->group_count = 2;
    groups[0] = first;
    groups[1].members[0] =
        (struct yk_plan_group_member){.rank = rank, .share = BATCH, .shard_fraction = 1};
    groups[1].member_count = 1;
    made->plan = grown;
}

static void add_transfer(void **state, struct yk_plan_transfer transfer)
{
    struct made *made = *state;
    static struct yk_plan_transfer transfers[4];
    if (made->plan->transfer_count == 0) {
        made->plan->transfers = transfers;
    }
    transfers[made->plan->transfer_count++] = transfer;
}

static void names_are_those_of_the_vocabulary(void **state)
{
    (void)state;
    assert_string_equal(yk_plan_strategy_name(YK_SHARDING_REPLICATED), "replicated");
    assert_string_equal(yk_plan_strategy_name(YK_SHARDING_SHARDED_STATE), "sharded-state");
    assert_string_equal(yk_plan_strategy_name(YK_SHARDING_KEPT_AFTER_FORWARD), "kept");
    assert_string_equal(yk_plan_strategy_name(YK_SHARDING_FULLY_SHARDED), "fully-sharded");
    assert_string_equal(yk_plan_pipeline_schedule_name(YK_PIPELINE_GPIPE), "gpipe");
    assert_string_equal(yk_plan_pipeline_schedule_name(YK_PIPELINE_1F1B), "1f1b");
    assert_string_equal(yk_plan_transfer_kind_name(YK_TRANSFER_ALL_GATHER), "all_gather");
    assert_string_equal(yk_plan_transfer_kind_name(YK_TRANSFER_REDUCE_SCATTER), "reduce_scatter");
    assert_string_equal(yk_plan_transfer_kind_name(YK_TRANSFER_ALL_REDUCE), "all_reduce");
}

static void a_plan_that_makes_sense_passes(void **state)
{
    assert_ok(check(state));
}

static void a_new_plan_has_room_for_every_rank_in_every_group(void **state)
{
    struct made *made = *state;
    struct yk_plan *plan = NULL;
    assert_ok(yk_plan_create(made->arena, 4, 3, LAYERS, &plan));
    assert_int_equal(plan->rank_count, 4);
    assert_int_equal(plan->group_count, 3);
    assert_int_equal(plan->layer_count, LAYERS);
    assert_int_equal(plan->transfer_count, 0);
    for (int32_t g = 0; g < 3; g++) {
        assert_int_equal(plan->groups[g].member_count, 0);
        for (int32_t i = 0; i < 4; i++) {
            plan->groups[g].members[i].rank = 4 * g + i;
        }
    }
    for (int32_t g = 0; g < 3; g++) {
        for (int32_t i = 0; i < 4; i++) {
            assert_int_equal(plan->groups[g].members[i].rank, 4 * g + i);
        }
    }
}

static void a_copy_is_equal_and_shares_nothing(void **state)
{
    struct made *made = *state;
    struct yk_plan *plan = made->plan;
    struct yk_plan *copy = NULL;
    char source[] = "gpt2";
    plan->model_source = source;
    plan->profile_source = "here.profile";
    add_transfer(state, (struct yk_plan_transfer){.layer = 3, .block_count = 2, .slot = 4});
    assert_ok(yk_plan_copy(plan, made->arena, &copy));
    plan->ranks[1].limit_bytes = 5;
    plan->layers[2].strategy = YK_SHARDING_REPLICATED;
    plan->groups[0].members[0].share = 1;
    plan->groups[0].member_count = 1;
    plan->transfers[0].block_count = 9;
    source[0] = '?';
    assert_string_equal(copy->model_source, "gpt2");
    assert_string_equal(copy->cluster_source, "3xa30 @ 1GB/s");
    assert_string_equal(copy->profile_source, "here.profile");
    assert_true(copy->ranks[1].limit_bytes == 1e9);
    assert_int_equal(copy->layers[2].strategy, YK_SHARDING_KEPT_AFTER_FORWARD);
    assert_int_equal(copy->groups[0].member_count, RANKS);
    assert_int_equal(copy->groups[0].members[0].share, 7);
    assert_int_equal(copy->transfer_count, 1);
    assert_int_equal(copy->transfers[0].block_count, 2);
    assert_int_equal(copy->workload.batch, BATCH);
    assert_ok(yk_plan_check(copy, made->model));
}

/* 7 and 3 samples in 4 micro-batches: 2 2 2 1 and 1 1 1 0. */
static void shares_are_cut_evenly_larger_ones_first(void **state)
{
    static const int64_t counts[2][4] = {{2, 2, 2, 1}, {1, 1, 1, 0}};
    struct yk_plan *plan = plan_of(state);
    plan->micro_batches = 4;
    assert_ok(check(state));
    for (int32_t k = 0; k < 4; k++) {
        int64_t first = -1;
        assert_int_equal(yk_plan_member_sample_range(plan, 0, 0, k, &first), counts[0][k]);
        assert_int_equal(first, 0);
        assert_int_equal(yk_plan_member_sample_range(plan, 0, 1, k, &first), counts[1][k]);
        assert_int_equal(first, counts[0][k]);
        assert_int_equal(yk_plan_member_sample_range(plan, 0, 2, k, &first), 0);
        assert_int_equal(first, counts[0][k] + counts[1][k]);
    }
}

/* Both groups must see the same micro-batches: 5 and 5 of 10, of 6 + 4 + 0 in the one group. */
static void several_groups_cut_the_batch_alike(void **state)
{
    add_group(state, 2);
    struct yk_plan *plan = plan_of(state);
    plan->micro_batches = 2;
    plan->groups[0].members[0].share = 6;
    plan->groups[0].members[1].share = 4;
    assert_ok(check(state));
    for (int32_t k = 0; k < 2; k++) {
        int64_t first = -1;
        assert_int_equal(yk_plan_member_sample_range(plan, 0, 0, k, &first), 3);
        assert_int_equal(yk_plan_member_sample_range(plan, 0, 1, k, &first), 2);
        assert_int_equal(first, 3);
        assert_int_equal(yk_plan_member_sample_range(plan, 1, 0, k, &first), 5);
        assert_int_equal(first, 0);
    }
}

/* Alone, a member takes all: 10 samples in 4 micro-batches are 3 3 2 2, in every group. */
static void groups_of_one_rank_have_uneven_micro_batches(void **state)
{
    static const int64_t counts[4] = {3, 3, 2, 2};
    add_group(state, 2);
    struct yk_plan *plan = plan_of(state);
    plan->micro_batches = 4;
    plan->groups[0].members[0] =
        (struct yk_plan_group_member){.rank = 0, .share = BATCH, .shard_fraction = 1};
    plan->groups[0].member_count = 1;
    assert_ok(check(state));
    for (int32_t k = 0; k < 4; k++) {
        int64_t first = -1;
        assert_int_equal(yk_plan_member_sample_range(plan, 0, 0, k, &first), counts[k]);
        assert_int_equal(yk_plan_member_sample_range(plan, 1, 0, k, &first), counts[k]);
    }
}

/* Of 10 samples, 7 are rank 0's in the first turn, 3 the others' in the second; alone, a member
 * takes what is left to it of either. */
static void members_alternate(void **state)
{
    add_group(state, 2);
    struct yk_plan *plan = plan_of(state);
    struct yk_plan_group_member *members = plan->groups[0].members;
    plan->micro_batches = 2;
    members[0] = (struct yk_plan_group_member){
        .rank = 0, .share = 7, .shard_fraction = 0.5, .micro_batch_number = 1};
    members[1] = (struct yk_plan_group_member){
        .rank = 1, .share = 3, .shard_fraction = 0.5, .micro_batch_number = 2};
    plan->groups[0].member_count = 2;
    assert_ok(check(state));
    assert_true(yk_plan_has_alternating_members(plan));
    static const int64_t counts[2][3] = {{7, 0, 7}, {0, 3, 3}};
    for (int32_t k = 0; k < 2; k++) {
        int64_t first = -1;
        assert_int_equal(yk_plan_member_sample_range(plan, 0, 0, k, &first), counts[k][0]);
        assert_int_equal(yk_plan_member_sample_range(plan, 0, 1, k, &first), counts[k][1]);
        assert_int_equal(first, counts[k][0]);
        assert_int_equal(yk_plan_member_sample_range(plan, 1, 0, k, &first), counts[k][2]);
    }
    members[1].micro_batch_number = 1;
    assert_fails(check(state), YK_ERROR_INPUT, "group 0: no member has micro-batch 1");
    members[1].micro_batch_number = 3;
    assert_fails(check(state), YK_ERROR_INPUT,
                 "group 0: \"micro_batch\" of rank 1 is 2; where members alternate, each of a "
                 "group of several has one below 2, and one that is alone has none");
    members[0].micro_batch_number = 0;
    members[1].micro_batch_number = 2;
    assert_fails(
        check(state), YK_ERROR_INPUT,
        "group 0: \"micro_batch\" of rank 0 is missing; where members alternate, each of a "
        "group of several has one below 2, and one that is alone has none");
}

static void one_member_has_nothing_to_shard(void **state)
{
    add_group(state, 0);
    struct yk_plan *plan = plan_of(state);
    plan->layers[FIRST_BLOCK].group = 1;
    assert_int_equal(yk_plan_effective_strategy(plan, FIRST_BLOCK), YK_SHARDING_REPLICATED);
    assert_int_equal(yk_plan_effective_strategy(plan, FIRST_BLOCK + 1),
                     YK_SHARDING_KEPT_AFTER_FORWARD);
}

static void shares_must_add_up_to_the_batch(void **state)
{
    member_of(state, 0)->share = 6;
    assert_fails(check(state), YK_ERROR_INPUT,
                 "the shares of group 0 add up to 9, but the batch has 10 samples");
    member_of(state, 0)->share = 8;
    assert_fails(check(state), YK_ERROR_INPUT,
                 "the shares of group 0 are more than the batch of "
                 "10");
    member_of(state, 0)->share = -3;
    assert_fails(check(state), YK_ERROR_INPUT, "group 0: rank 0 takes -3 samples of a batch of 10");
    member_of(state, 0)->share = INT64_MAX;
    assert_fails(check(state), YK_ERROR_INPUT,
                 "group 0: rank 0 takes 9223372036854775807 samples of a batch of 10");
}

static void parts_must_add_up_to_one(void **state)
{
    member_of(state, 1)->shard_fraction = 0.75;
    assert_fails(check(state), YK_ERROR_INPUT, "the parts of group 0 add up to 1.5, not to 1");
    member_of(state, 1)->shard_fraction = -0.25;
    assert_fails(check(state), YK_ERROR_INPUT,
                 "group 0: the part of rank 1 must be from 0 to 1, not -0.25");
    member_of(state, 1)->shard_fraction = (double)NAN;
    assert_int_equal(check(state), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "group 0: the part of rank 1"));
    member_of(state, 0)->shard_fraction = 1.0 / 3;
    member_of(state, 1)->shard_fraction = 1.0 / 3;
    member_of(state, 2)->shard_fraction = 0.33333333;
    assert_ok(check(state));
}

static void members_are_ranks_that_exist_each_once(void **state)
{
    member_of(state, 2)->rank = 3;
    assert_fails(check(state), YK_ERROR_INPUT, "group 0 has rank 3, but ranks are 0 to 2");
    member_of(state, 2)->rank = -1;
    assert_fails(check(state), YK_ERROR_INPUT, "group 0 has rank -1, but ranks are 0 to 2");
    member_of(state, 2)->rank = 0;
    assert_fails(check(state), YK_ERROR_INPUT, "group 0 has rank 0 twice");
    plan_of(state)->groups[0].member_count = 0;
    assert_fails(check(state), YK_ERROR_INPUT, "group 0 has 0 members of 3 ranks");
}

static void a_rank_has_a_device_of_its_own_and_a_limit(void **state)
{
    struct yk_plan *plan = plan_of(state);
    plan->ranks[1].device = 2;
    assert_fails(check(state), YK_ERROR_INPUT, "device 2 has two ranks; give it one");
    plan->ranks[1].device = -1;
    assert_fails(check(state), YK_ERROR_INPUT, "rank 1 has no device");
    plan->ranks[1].device = 5;
    assert_ok(check(state));
    plan->ranks[1].limit_bytes = 0;
    assert_fails(check(state), YK_ERROR_INPUT,
                 "rank 1: its limit must be more than 0 bytes, not 0");
    plan->ranks[1].limit_bytes = (double)INFINITY;
    assert_int_equal(check(state), YK_ERROR_INPUT);
}

static void blocks_and_buckets_have_a_size(void **state)
{
    struct yk_plan *plan = plan_of(state);
    plan->block_bytes = 0;
    assert_fails(check(state), YK_ERROR_INPUT, "a block must be more than 0 bytes, not 0");
    plan->block_bytes = 1;
    plan->bucket_bytes = -1;
    assert_fails(check(state), YK_ERROR_INPUT, "a bucket must be 0 bytes or more, not -1");
    plan->bucket_bytes = 0;
    assert_ok(check(state));
}

static void gathers_go_ahead_of_their_use(void **state)
{
    plan_of(state)->prefetch = 0;
    assert_fails(check(state), YK_ERROR_INPUT, "gathers go 1 or more ahead of their use, not 0");
}

static void layers_are_in_groups_that_exist(void **state)
{
    plan_of(state)->layers[FIRST_BLOCK + 3].group = 1;
    assert_fails(check(state), YK_ERROR_INPUT,
                 "\"layer 3\" goes to group 1, but groups are 0 to 0");
    plan_of(state)->layers[FIRST_BLOCK + 3].group = -1;
    assert_fails(check(state), YK_ERROR_INPUT,
                 "\"layer 3\" goes to group -1, but groups are 0 to 0");
}

static void layers_that_share_weights_stay_together(void **state)
{
    add_group(state, 1);
    struct yk_plan *plan = plan_of(state);
    plan->layers[HEAD].group = 1;
    assert_fails(check(state), YK_ERROR_INPUT,
                 "\"head\" uses the weights of \"embed\"; both must be in one group");
    plan->layers[EMBED].group = 1;
    assert_ok(check(state));
    plan->layers[HEAD].strategy = YK_SHARDING_REPLICATED;
    assert_fails(check(state), YK_ERROR_INPUT,
                 "\"head\" uses the weights of \"embed\"; both must have one strategy");
}

static void several_groups_want_shares_that_micro_batches_divide(void **state)
{
    add_group(state, 0);
    plan_of(state)->micro_batches = 2;
    assert_fails(check(state), YK_ERROR_INPUT,
                 "group 0: the share of rank 0, 7, must be a multiple of the 2 micro-batches, "
                 "since there are several groups");
}

static void no_micro_batch_is_empty(void **state)
{
    plan_of(state)->micro_batches = 7;
    assert_ok(check(state));
    plan_of(state)->micro_batches = 8;
    assert_fails(check(state), YK_ERROR_INPUT,
                 "8 micro-batches are more than the shares of group 0 can be cut into");
    plan_of(state)->micro_batches = 0;
    assert_fails(check(state), YK_ERROR_INPUT, "there must be 1 micro-batch or more, not 0");
}

static void a_plan_is_for_the_workload_of_its_model(void **state)
{
    struct yk_plan *plan = plan_of(state);
    plan->workload.precision = YK_PRECISION_FP32;
    assert_fails(check(state), YK_ERROR_INPUT,
                 "the plan's workload is not the one that the model is described for");
    plan->workload.precision = YK_PRECISION_BF16;
    plan->layer_count = 14;
    assert_fails(check(state), YK_ERROR_INPUT, "the plan has 14 layers, but the model has 15");
}

static void transfers_are_for_one_group_and_one_micro_batch(void **state)
{
    add_transfer(state, (struct yk_plan_transfer){.layer = 3, .block_count = 1, .slot = 1});
    plan_of(state)->prefetch = 0;
    assert_ok(check(state));
    plan_of(state)->micro_batches = 2;
    assert_fails(check(state), YK_ERROR_INPUT,
                 "an order of transfers is for plans with one group and one micro-batch, not 1 "
                 "and 2");
}

static void transfers_suit_the_strategy(void **state)
{
    add_transfer(state, (struct yk_plan_transfer){
                            .kind = YK_TRANSFER_ALL_REDUCE, .layer = 4, .block_count = 1});
    assert_fails(check(state), YK_ERROR_INPUT,
                 "all_reduce of \"layer 3\": that is not done with a layer that is kept");
    plan_of(state)->layers[4].strategy = YK_SHARDING_REPLICATED;
    assert_ok(check(state));
    plan_of(state)->transfers[0].kind = YK_TRANSFER_REDUCE_SCATTER;
    assert_fails(check(state), YK_ERROR_INPUT,
                 "reduce_scatter of \"layer 3\": that is not done with a layer that is replicated");
}

static void weights_in_common_travel_as_the_first_layer(void **state)
{
    add_transfer(state, (struct yk_plan_transfer){.layer = HEAD, .block_count = 1});
    assert_fails(check(state), YK_ERROR_INPUT,
                 "all_gather of \"head\": it uses the weights of \"embed\", and travels with that");
}

static void transfers_have_blocks_and_slots(void **state)
{
    add_transfer(state, (struct yk_plan_transfer){.layer = 2, .slot = 3});
    struct yk_plan_transfer *transfer = plan_of(state)->transfers;
    assert_fails(check(state), YK_ERROR_INPUT,
                 "all_gather of \"layer 1\": there are no 0 blocks from block 0 on; it has 8");
    transfer->block_count = INT32_MAX;
    transfer->first_block = 1;
    assert_int_equal(check(state), YK_ERROR_INPUT);
    transfer->block_count = 1;
    transfer->slot = 2 * LAYERS + 3;
    assert_fails(check(state), YK_ERROR_INPUT,
                 "all_gather of \"layer 1\": slots are 0 to 32, there is no slot 33");
    transfer->slot = 2 * LAYERS + 2;
    assert_ok(check(state));
    add_transfer(state, (struct yk_plan_transfer){.layer = 3, .block_count = 1, .slot = 3});
    assert_fails(check(state), YK_ERROR_INPUT,
                 "all_gather of \"layer 2\" stands after a transfer of a later slot; order them by "
                 "slot");
}

/* A block of GPT-2 has adapters of 32 × (3072 + 1536 + 3840 + 3840) numbers of two bytes: 768 KiB.
 * Frozen weights do not travel with a layer that is sharded-state; as parts they do. */
static void blocks_are_counted_by_what_travels(void **state)
{
    const struct yk_model_config *config = NULL;
    const struct yk_model *model = NULL;
    struct yk_workload adapters = workload;
    struct made *made = *state;
    adapters.lora_rank = 32;
    assert_ok(yk_model_config_find_builtin("gpt2", &config));
    assert_ok(yk_model_build(config, &adapters, made->arena, &model));
    made->plan->block_bytes = 4 << 20;
    made->plan->layers[1].strategy = YK_SHARDING_SHARDED_STATE;
    assert_int_equal(yk_plan_layer_block_count(made->plan, model, 1), 1);
    assert_int_equal(yk_plan_layer_block_count(made->plan, model, 2),
                     4); /* 14175744 bytes besides */
    made->plan->block_bytes = 256 << 10;
    assert_int_equal(yk_plan_layer_block_count(made->plan, model, 1), 3);
    assert_int_equal(yk_plan_layer_block_count(made->plan, model, 2), YK_PLAN_MAX_BLOCKS);
    made->plan->layers[EMBED].strategy = YK_SHARDING_SHARDED_STATE; /* nothing of it is trained */
    assert_int_equal(yk_plan_layer_block_count(made->plan, model, EMBED), 1);
    assert_int_equal(yk_plan_layer_block_count(made->plan, model, HEAD), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
    const struct CMUnitTest tests[] = {
        TEST(names_are_those_of_the_vocabulary),
        TEST(a_plan_that_makes_sense_passes),
        TEST(a_new_plan_has_room_for_every_rank_in_every_group),
        TEST(a_copy_is_equal_and_shares_nothing),
        TEST(shares_are_cut_evenly_larger_ones_first),
        TEST(several_groups_cut_the_batch_alike),
        TEST(groups_of_one_rank_have_uneven_micro_batches),
        TEST(members_alternate),
        TEST(one_member_has_nothing_to_shard),
        TEST(shares_must_add_up_to_the_batch),
        TEST(parts_must_add_up_to_one),
        TEST(members_are_ranks_that_exist_each_once),
        TEST(a_rank_has_a_device_of_its_own_and_a_limit),
        TEST(blocks_and_buckets_have_a_size),
        TEST(gathers_go_ahead_of_their_use),
        TEST(layers_are_in_groups_that_exist),
        TEST(layers_that_share_weights_stay_together),
        TEST(several_groups_want_shares_that_micro_batches_divide),
        TEST(no_micro_batch_is_empty),
        TEST(a_plan_is_for_the_workload_of_its_model),
        TEST(transfers_are_for_one_group_and_one_micro_batch),
        TEST(transfers_suit_the_strategy),
        TEST(weights_in_common_travel_as_the_first_layer),
        TEST(transfers_have_blocks_and_slots),
        TEST(blocks_are_counted_by_what_travels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
