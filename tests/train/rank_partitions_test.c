#include "train/rank_partitions.h"

#include "nn/store/layer_partition.h"
#include "support/plans/valid_plan.h"
#include "support/programs/small_program.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_NUMBERS = 5000,
};

/* Counts who keeps each of a layer's `count` numbers. */
static void count_keepers(const struct yk_layer_partition *partition, int64_t count,
                          uint8_t *keepers)
{
    if (partition->kind == YK_LAYER_PARTITION_ABSENT) {
        return;
    }
    assert_true(partition->blocks >= 1);
    for (int32_t b = 0; b < partition->blocks; b++) {
        const int64_t end =
            yk_layer_partition_fraction_to_element(count, partition->blocks, b, partition->to);
        for (int64_t i = yk_layer_partition_fraction_to_element(count, partition->blocks, b,
                                                                partition->from);
             i < end; i++) {
            keepers[i]++;
        }
    }
}

static void check_layer(const struct yk_program *program,
                        struct yk_layer_partition *const *partitions, int32_t ranks, int32_t layer,
                        int64_t count)
{
    static uint8_t keepers[MAX_NUMBERS];
    const struct yk_plan *plan = program->plan;
    const struct yk_plan_group *group = &plan->groups[plan->layers[layer].group];
    const bool whole = partitions[group->members[0].rank][layer].kind == YK_LAYER_PARTITION_WHOLE;
    memset(keepers, 0, sizeof keepers);
    for (int32_t rank = 0; rank < ranks; rank++) {
        count_keepers(&partitions[rank][layer], count, keepers);
    }
    for (int64_t i = 0; i < count; i++) {
        if (keepers[i] != (whole ? group->member_count : 1)) {
            fail_msg("number %d of %d of layer %d is kept by %d", (int)i, (int)count, (int)layer,
                     keepers[i]);
        }
    }
}

static void every_number_is_kept_by_one_member(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct sound_plan sound = sound_plan_make(seed);
        struct yk_random random = yk_random_from_seed(seed);
        struct yk_program *program = NULL;
        struct yk_layer_partition *partitions[16] = {0};
        const int32_t ranks = sound.plan->rank_count;
        assert_ok(yk_program_compile(sound.plan, sound.cluster, sound.cache, &program));
        for (int32_t rank = 0; rank < ranks; rank++) {
            assert_ok(
                yk_rank_partitions_compute_stored(program, rank, sound.arena, &partitions[rank]));
        }
        for (int32_t l = 0; l < sound.plan->layer_count; l++) {
            check_layer(program, partitions, ranks, l, 1 + yk_random_below(&random, MAX_NUMBERS));
        }
        yk_program_destroy(program);
        sound_plan_free(&sound);
    }
}

static void parts_that_do_not_quite_add_up_leave_no_number_over(void **state)
{
    (void)state;
    struct small_program small =
        small_program_make(&(struct small_spec){.ranks = 3, .strategy = YK_SHARDING_FULLY_SHARDED});
    struct yk_plan_group_member *members = small.plan->groups[0].members;
    const double parts[][3] = {
        {0.3333333, 0.3333333, 0.3333333}, {0.5, 0.5, 0}, {0.4999999, 0.4999999, 0}, {0, 1, 0}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct yk_layer_partition *last = NULL;
        struct yk_layer_partition *middle = NULL;
        for (int32_t m = 0; m < 3; m++) {
            members[m].shard_fraction = parts[i][m];
        }
        assert_ok(yk_rank_partitions_compute_stored(small.program, 1, small.arena, &middle));
        assert_ok(yk_rank_partitions_compute_stored(small.program, 2, small.arena, &last));
        assert_true(last[SMALL_LAYER_0].to == 1);
        assert_true(middle[SMALL_LAYER_0].to == last[SMALL_LAYER_0].from);
        /* A member without a part keeps nothing, however large the layer. */
        assert_true(parts[i][2] > 0 || last[SMALL_LAYER_0].from == 1);
    }
    small_program_free(&small);
}

static void assert_kept(enum yk_sharding_strategy strategy, enum yk_layer_partition_kind expected)
{
    struct small_program small =
        small_program_make(&(struct small_spec){.ranks = 2, .strategy = strategy, .tied = true});
    struct yk_layer_partition *partitions = NULL;
    assert_ok(yk_rank_partitions_compute_stored(small.program, 1, small.arena, &partitions));
    assert_int_equal(partitions[SMALL_LAYER_0].kind, expected);
    assert_int_equal(partitions[SMALL_HEAD].kind,
                     YK_LAYER_PARTITION_WHOLE); /* the embedding's weights */
    small_program_free(&small);
}

static void the_strategy_says_what_is_kept(void **state)
{
    (void)state;
    assert_kept(YK_SHARDING_REPLICATED, YK_LAYER_PARTITION_WHOLE);
    assert_kept(YK_SHARDING_SHARDED_STATE, YK_LAYER_PARTITION_SHARDED_STATE);
    assert_kept(YK_SHARDING_KEPT_AFTER_FORWARD, YK_LAYER_PARTITION_FULLY_SHARDED);
    assert_kept(YK_SHARDING_FULLY_SHARDED, YK_LAYER_PARTITION_FULLY_SHARDED);
}

static void a_rank_of_another_group_keeps_nothing(void **state)
{
    (void)state;
    struct small_program small = small_program_make(
        &(struct small_spec){.ranks = 2, .groups = 2, .strategy = YK_SHARDING_FULLY_SHARDED});
    for (int32_t rank = 0; rank < 2; rank++) {
        struct yk_layer_partition *partitions = NULL;
        assert_ok(yk_rank_partitions_compute_stored(small.program, rank, small.arena, &partitions));
        for (int32_t l = 0; l < SMALL_LAYERS; l++) {
            const bool member = small.plan->layers[l].group == rank;
            assert_int_equal(partitions[l].kind,
                             member ? YK_LAYER_PARTITION_WHOLE : YK_LAYER_PARTITION_ABSENT);
        }
    }
    small_program_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_is_kept_by_one_member),
        cmocka_unit_test(parts_that_do_not_quite_add_up_leave_no_number_over),
        cmocka_unit_test(the_strategy_says_what_is_kept),
        cmocka_unit_test(a_rank_of_another_group_keeps_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
