/* Waits between lanes that keep memory within its limit, on plans at chance and by hand. */
#include "program/compile/step_ops.h"

#include "base/random.h"
#include "program/memory/memory.h"
#include "support/programs/random_walk.h"
#include "support/programs/tiny_step.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_RANKS = 3,
    ROUNDS = 3,
    CASES = 150,
};

static struct tiny_step tiny;

static int tear_down(void **state)
{
    (void)state;
    tiny_step_free(&tiny);
    tiny = (struct tiny_step){0};
    return 0;
}

static double peak_of(int32_t rank)
{
    struct yk_memory_peak peak;
    assert_ok(
        yk_program_memory_find_peak(tiny.program, rank, tiny_step_memory(&tiny, rank), &peak));
    return peak.bytes;
}

static double list_order_of(int32_t rank)
{
    return walk_in_list_order(&tiny.program->ranks[rank], 3, tiny_step_memory(&tiny, rank));
}

static void set_limits(double bytes)
{
    for (int32_t r = 0; r < tiny.plan->rank_count; r++) {
        tiny.plan->ranks[r].limit_bytes = bytes;
    }
}

/* Runs to the end however ranks and lanes go, and never holds more than the peaks. */
static void assert_runs(uint64_t seed)
{
    struct yk_program_memory *memories[MOST_RANKS];
    double most[MOST_RANKS] = {0};
    double peaks[MOST_RANKS] = {0};
    struct yk_random random = yk_random_from_seed(seed);
    for (int32_t r = 0; r < tiny.plan->rank_count; r++) {
        memories[r] = tiny_step_memory(&tiny, r);
        peaks[r] = peak_of(r);
    }
    for (int32_t walk = 0; walk < 4; walk++) {
        const int64_t left = walk_program(tiny.program, ROUNDS, &random, memories, most);
        if (left > 0) {
            fail_msg("seed %d: %d ops wait for ever", (int)seed, (int)left);
        }
        for (int32_t r = 0; r < tiny.plan->rank_count; r++) {
            if (most[r] > peaks[r] * (1 + 1e-12)) {
                fail_msg("seed %d: rank %d holds %g bytes, over %g", (int)seed, (int)r, most[r],
                         peaks[r]);
            }
        }
    }
}

/* All layers as sharded state on two ranks: nothing in backward waits for the comm lane, so whole
 * gradients pile up when it is slow. In the order of the list, each goes before the next comes. */
static void make_piling(void)
{
    tiny = tiny_step_make((struct tiny_options){.cluster = "2xcpu:1", .blocks = 6});
    tiny_step_set_strategy(&tiny, YK_SHARDING_SHARDED_STATE);
    tiny_step_compile(&tiny);
}

static void gradients_do_not_pile_up_where_there_is_no_room(void **state)
{
    (void)state;
    make_piling();
    const double free_peak = peak_of(0);
    const double limit = list_order_of(0);
    assert_true(limit <= free_peak - 2 * 4 * TINY_BLOCK); /* two whole gradients, at least */
    for (int32_t steps = 0; steps <= 8; steps++) {
        set_limits(limit + (free_peak - limit) * steps / 8);
        tiny_step_compile(&tiny);
        assert_true(peak_of(0) <= tiny.plan->ranks[0].limit_bytes);
        assert_runs((uint64_t)steps + 1);
    }
}

/* Waits of rank 0 that `other` does not have, of the same ops. */
static int32_t count_added_waits(const struct yk_program *program, const struct yk_program *plain)
{
    const struct yk_op_list *a = &program->ranks[0];
    const struct yk_op_list *b = &plain->ranks[0];
    int32_t count = 0;
    assert_int_equal(a->op_count, b->op_count);
    for (int32_t i = 0; i < a->op_count; i++) {
        const struct yk_op *op = &a->ops[i];
        assert_int_equal(op->kind, b->ops[i].kind);
        assert_true(op->wait_count >= b->ops[i].wait_count);
        for (int32_t w = 0; w < op->wait_count; w++) {
            const struct yk_op_wait *wait = &a->waits[op->first_wait + w];
            const struct yk_op_wait *before = &b->waits[b->ops[i].first_wait + w];
            count += w >= b->ops[i].wait_count || wait->op != before->op || wait->lag != before->lag
                         ? 1
                         : 0;
        }
    }
    return count;
}

/* Compiles with that limit; the number of waits that were added. */
static int32_t waits_within(double limit, const struct yk_program *plain)
{
    set_limits(limit);
    tiny_step_compile(&tiny);
    return count_added_waits(tiny.program, plain);
}

static void waits_are_as_many_as_the_limit_needs(void **state)
{
    (void)state;
    make_piling();
    const double most = peak_of(0);
    const double lowest = list_order_of(0);
    struct yk_program *plain = tiny.program;
    tiny.program = NULL;
    const int32_t none = waits_within(most, plain);
    const int32_t some = waits_within((lowest + 3 * most) / 4, plain);
    const int32_t many = waits_within(lowest, plain);
    yk_program_destroy(plain);
    assert_int_equal(none, 0);
    assert_in_range(some, 1, many - 1);
}

/* Rank 2 is in no group; all it does is agree. */
static void a_rank_that_stands_by_is_left_alone(void **state)
{
    (void)state;
    tiny = tiny_step_make(
        (struct tiny_options){.cluster = "3xcpu:1", .groups = 1, .blocks = 6, .batch = 2});
    tiny_step_set_strategy(&tiny, YK_SHARDING_SHARDED_STATE);
    tiny_step_add_member(&tiny, 0, 0, 1, 0.5);
    tiny_step_add_member(&tiny, 0, 1, 1, 0.5);
    tiny.plan->clip = true;
    tiny_step_compile(&tiny);
    const double limit = list_order_of(0);
    assert_true(limit < peak_of(0));
    set_limits(limit);
    tiny_step_compile(&tiny);
    assert_int_equal(tiny.program->ranks[2].op_count, 1);
    assert_int_equal(tiny.program->ranks[2].ops[0].kind, YK_OP_AGREE);
    assert_int_equal(tiny.program->ranks[2].ops[0].wait_count, 0);
    assert_true(peak_of(0) <= limit);
    assert_true(peak_of(1) <= limit);
    assert_runs(1);
}

static bool toss(struct yk_random *random)
{
    return yk_random_below(random, 2) == 0;
}

/* Shares and parts of two or three ranks, some without samples. */
static void add_random_members(struct yk_random *random, int32_t ranks)
{
    static const double parts[] = {0.5, 0.25, 0.25};
    static const double pair[] = {0.625, 0.375, 0};
    const int64_t batch = tiny.plan->workload.batch;
    const int64_t first = yk_random_below(random, batch + 1);
    const int64_t second = ranks == 2 ? batch - first : yk_random_below(random, batch - first + 1);
    const int64_t shares[MOST_RANKS] = {first, second, batch - first - second};
    for (int32_t r = 0; r < ranks && r < MOST_RANKS; r++) {
        tiny_step_add_member(&tiny, 0, r, shares[r], ranks == 2 ? pair[r] : parts[r]);
    }
}

/* One group; every layer kept as chance says, but tied ones alike. */
static void make_random(struct yk_random *random)
{
    const int32_t ranks = 2 + (int32_t)yk_random_below(random, MOST_RANKS - 1);
    const bool lora = yk_random_below(random, 4) == 0;
    tiny = tiny_step_make((struct tiny_options){
        .cluster = ranks == 2 ? "2xcpu:1" : "3xcpu:1",
        .groups = 1,
        .blocks = 1 + yk_random_below(random, 5),
        .tied = toss(random),
        .batch = 12,
        .precision = toss(random) ? YK_PRECISION_BF16 : YK_PRECISION_FP32,
        .lora_rank = lora ? 2 : 0,
        .nf4 = lora && toss(random),
    });
    struct yk_plan *plan = tiny.plan;
    add_random_members(random, ranks);
    plan->micro_batches = 1 + (int32_t)yk_random_below(random, 3);
    plan->pipeline = toss(random) ? YK_PIPELINE_1F1B : YK_PIPELINE_GPIPE;
    plan->no_sync = toss(random);
    plan->clip = toss(random);
    plan->prefetch = 1 + (int32_t)yk_random_below(random, 3);
    plan->bucket_bytes = toss(random) ? 1e9 : 1000;
    for (int32_t l = 0; l < plan->layer_count; l++) {
        plan->layers[l].strategy =
            (enum yk_sharding_strategy)yk_random_below(random, YK_SHARDING_STRATEGY_COUNT);
        plan->layers[l].recompute = yk_random_below(random, 3) == 0;
    }
    if (tiny.model->layers[plan->layer_count - 1].shares_weights_of != YK_LAYER_NONE) {
        plan->layers[plan->layer_count - 1].strategy = plan->layers[0].strategy;
    }
}

static void add_transfer(enum yk_transfer_kind kind, int32_t layer, int32_t slot)
{
    tiny.plan->transfers[tiny.plan->transfer_count++] =
        (struct yk_plan_transfer){.kind = kind, .layer = layer, .block_count = 1, .slot = slot};
}

static int by_slot(const void *left, const void *right)
{
    const struct yk_plan_transfer *a = left;
    const struct yk_plan_transfer *b = right;
    return a->slot < b->slot ? -1 : a->slot > b->slot ? 1 : 0;
}

/* In place of the timetable: each scatter at some time after its backward, each gather after that
 * and before its use; all of one block. */
static void make_random_order(struct yk_random *random)
{
    struct yk_plan *plan = tiny.plan;
    const int32_t L = plan->layer_count;
    const int32_t slots = yk_plan_slot_count(plan);
    plan->micro_batches = 1;
    plan->transfers = yk_arena_allocate(tiny.arena, 3 * (size_t)L, sizeof *plan->transfers);
    assert_non_null(plan->transfers);
    for (int32_t l = 0; l < L; l++) {
        const struct yk_layer *layer = &tiny.model->layers[l];
        const int32_t backward = 2 * L - l;
        const int32_t window = slots - backward + l; /* to the next forward */
        /* The scatter within the round where all must agree, else up to two before forward. */
        const int32_t latest = yk_plan_has_update_barrier(plan) ? slots - 1 - backward : window - 2;
        const int32_t scatter = 1 + (int32_t)yk_random_below(random, latest);
        const int32_t soonest =
            yk_plan_has_update_barrier(plan) ? slots - 1 - backward : scatter + 1;
        const int32_t gather = soonest + (int32_t)yk_random_below(random, window - soonest);
        const bool gathered =
            plan->layers[l].strategy >= YK_SHARDING_KEPT_AFTER_FORWARD ||
            (plan->layers[l].strategy == YK_SHARDING_SHARDED_STATE && layer->trainable > 0);
        if (plan->layers[l].strategy == YK_SHARDING_REPLICATED ||
            layer->shares_weights_of != YK_LAYER_NONE || layer->parameters == 0) {
            continue;
        }
        if (layer->trainable > 0) {
            add_transfer(YK_TRANSFER_REDUCE_SCATTER, l, (backward + scatter) % slots);
        }
        if (gathered) {
            add_transfer(YK_TRANSFER_ALL_GATHER, l, (backward + gather) % slots);
        }
        if (plan->layers[l].strategy == YK_SHARDING_FULLY_SHARDED && layer->backward.count > 0 &&
            (l > 0 || tiny.model->layers[L - 1].shares_weights_of == YK_LAYER_NONE)) {
            add_transfer(YK_TRANSFER_ALL_GATHER, l,
                         l + 1 + (int32_t)yk_random_below(random, backward - l - 1));
        }
    }
    qsort(plan->transfers, (size_t)plan->transfer_count, sizeof *plan->transfers, by_slot);
}

/* As much as the list holds in its own order can always be kept to. */
static void what_fits_in_the_order_of_the_list_fits_with_waits(void **state)
{
    (void)state;
    int added = 0;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        bool over = false;
        make_random(&random);
        if (toss(&random)) {
            make_random_order(&random);
        }
        tiny_step_compile(&tiny);
        for (int32_t r = 0; r < tiny.plan->rank_count; r++) {
            const double lowest = list_order_of(r);
            const double most = peak_of(r);
            /* Of whole bytes: sums of NF4's fractions depend on their order. */
            const double limit =
                ceil(lowest + (most - lowest) * (double)yk_random_below(&random, 4) / 4);
            tiny.plan->ranks[r].limit_bytes = limit;
            over = over || most > limit;
        }
        tiny_step_compile(&tiny);
        for (int32_t r = 0; r < tiny.plan->rank_count; r++) {
            const double limit = tiny.plan->ranks[r].limit_bytes;
            if (peak_of(r) > limit) {
                fail_msg("seed %d: rank %d may hold %g bytes, over %g", (int)seed, (int)r,
                         peak_of(r), limit);
            }
        }
        assert_runs(seed);
        added += over ? 1 : 0;
        tear_down(state);
    }
    assert_in_range(added, CASES / 4, CASES);
}

/* Where nothing helps, the program still runs; that it does not fit is for the check to say. */
static void programs_that_cannot_fit_wait_for_nothing_in_vain(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        make_random(&random);
        if (toss(&random)) {
            make_random_order(&random);
        }
        tiny_step_compile(&tiny);
        for (int32_t r = 0; r < tiny.plan->rank_count; r++) {
            tiny.plan->ranks[r].limit_bytes =
                list_order_of(r) * (0.5 + (double)yk_random_below(&random, 50) / 100);
        }
        tiny_step_compile(&tiny);
        assert_runs(seed);
        tear_down(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(gradients_do_not_pile_up_where_there_is_no_room, tear_down),
        cmocka_unit_test_teardown(waits_are_as_many_as_the_limit_needs, tear_down),
        cmocka_unit_test_teardown(a_rank_that_stands_by_is_left_alone, tear_down),
        cmocka_unit_test(what_fits_in_the_order_of_the_list_fits_with_waits),
        cmocka_unit_test(programs_that_cannot_fit_wait_for_nothing_in_vain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
