/* Lists of several ranks: what groups send each other, what is one list, what matches. */
#include "program/program.h"

#include "base/random.h"
#include "support/programs/program_lines.h"
#include "support/programs/tiny_step.h"
#include "support/support.h"

static struct tiny_step tiny;

static int tear_down(void **state)
{
    (void)state;
    tiny_step_free(&tiny);
    tiny = (struct tiny_step){0};
    return 0;
}

/* Stages embed and block, norm and head; by the timetable of 1F1B, F:1 of the first is over when
 * B:0 of the second begins. */
static void make_stages(int32_t micro_batches)
{
    static const int32_t groups[] = {0, 0, 1, 1};
    tiny = tiny_step_make((struct tiny_options){
        .cluster = "2xcpu:1", .groups = 2, .blocks = 1, .batch = micro_batches});
    tiny_step_set_stages(&tiny, groups);
    tiny.plan->micro_batches = micro_batches;
    tiny.plan->pipeline = YK_PIPELINE_1F1B;
    tiny_step_compile(&tiny);
}

static void stages_send_outputs_and_get_gradients_back(void **state)
{
    make_stages(1);
    assert_list_and_waits(tiny.program, 0,
                          "L(U0') F0(L) F1(s1>1' L) s1>1(F1) r1b<1(F1) B1(r1b<1) B0 U1 U0");
    assert_list_and_waits(tiny.program, 1,
                          "L(U2') r1<0(U2') F2(r1<0 L) F3(L) B3 B2 s1b>0(B2) U3 U2");
    tear_down(state);
    make_stages(2);
    assert_list(tiny.program, 0,
                "L:0 L:1 F0:0 F1:0 s1:0>1 F0:1 F1:1 s1:1>1 r1b:0<1 B1:0 B0:0 r1b:1<1 B1:1 B0:1 U1 "
                "U0");
    assert_list(tiny.program, 1,
                "L:0 L:1 r1:0<0 F2:0 F3:0 r1:1<0 B3:0 B2:0 s1b:0>0 F2:1 F3:1 B3:1 B2:1 s1b:1>0 U3 "
                "U2");
}

/* All groups are done when all agree. */
static void stages_agree_after_the_last_of_them(void **state)
{
    (void)state;
    make_stages(1);
    tiny.plan->clip = true;
    tiny_step_compile(&tiny);
    assert_list(tiny.program, 0, "L F0 F1 s1>1 r1b<1 B1 B0 A U1 U0");
    assert_list(tiny.program, 1, "L r1<0 F2 F3 B3 B2 s1b>0 A U3 U2");
    assert_int_equal(tiny.program->ranks[0].ops[7].match, tiny.program->ranks[1].ops[7].match);
}

/* Embedding and head are one stage, between which the block is another. */
static void a_rank_of_both_ends_sends_and_receives_both_ways(void **state)
{
    (void)state;
    static const int32_t groups[] = {0, 1, 1, 0};
    tiny = tiny_step_make((struct tiny_options){
        .cluster = "2xcpu:1", .groups = 2, .blocks = 1, .tied = true, .batch = 1});
    tiny_step_set_stages(&tiny, groups);
    tiny_step_compile(&tiny);
    assert_list(tiny.program, 0, "L F0 s0>1 r2<1 F3 B3 s2b>1 r0b<1 B0 U0");
    assert_list(tiny.program, 1, "r0<0 F1 F2 s2>0 r2b<0 B2 B1 s0b>0 U2 U1");
}

/* Both layers of the decoder take the encoder's output: it is sent once, and its gradient goes back
 * when both have gone backward. */
static void an_output_that_several_need_is_sent_once(void **state)
{
    (void)state;
    static const int32_t groups[] = {0, 0, 0, 1, 1, 0};
    tiny = tiny_step_make((struct tiny_options){
        .cluster = "2xcpu:1", .config = TINY_TRANSLATOR, .groups = 2, .batch = 1});
    tiny_step_set_stages(&tiny, groups);
    tiny_step_compile(&tiny);
    assert_list(tiny.program, 0,
                "L F0 F1 s1>1 F2 s2>1 r4<1 F5 B5 s4b>1 r1b<1 r2b<1 B2 B1 B0 U1 U0");
    assert_list_and_waits(tiny.program, 1,
                          "r1<0(U3') r2<0(U3') F3(r2<0) F4(r1<0) s4>0(F4) r4b<0(F4) B4(r4b<0) B3 "
                          "s1b>0(B3) s2b>0(B3) U4 U3");
}

/* A frozen embedding wants no gradient back, but sends no further than a round ahead. */
static void a_frozen_stage_waits_for_its_messages(void **state)
{
    (void)state;
    static const int32_t groups[] = {0, 1, 1, 1};
    tiny = tiny_step_make((struct tiny_options){
        .cluster = "2xcpu:1", .groups = 2, .blocks = 1, .batch = 1, .lora_rank = 2});
    tiny_step_set_stages(&tiny, groups);
    tiny_step_compile(&tiny);
    assert_list_and_waits(tiny.program, 0, "L(F0') F0(s0>1' L) s0>1(F0)");
    assert_list(tiny.program, 1, "L r0<0 F1 F2 F3 B3 B2 B1 U1");
}

/* The sends of outputs (or of gradients) of a micro-batch from one rank to another. */
static int64_t count_samples(int32_t from, int32_t to, int32_t micro_batch, bool backward,
                             enum yk_op_kind kind)
{
    const struct yk_op_list *list = &tiny.program->ranks[kind == YK_OP_SEND ? from : to];
    int64_t samples = 0;
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        if (op->kind == kind && op->peer == (kind == YK_OP_SEND ? to : from) &&
            op->micro_batch == micro_batch && op->backward == backward) {
            samples += op->samples;
            assert_bytes(op->bytes,
                         (double)op->samples * TINY_SEQUENCE * TINY_WIDTH * 4); /* fp32 */
        }
    }
    return samples;
}

/*
 * Micro-batches of 4 samples. Of the first group, rank 0 has samples 0 to 2 and rank 1 sample 3; of
 * the second, rank 2 has 0 and 1, rank 0 has 2, which it sends to nobody, and rank 3 has 3.
 */
static void messages_cover_every_sample_once(void **state)
{
    (void)state;
    tiny = tiny_step_make(
        (struct tiny_options){.cluster = "4xcpu:1", .groups = 2, .blocks = 1, .batch = 8});
    tiny.plan->micro_batches = 2;
    tiny_step_add_member(&tiny, 0, 0, 6, 0.5);
    tiny_step_add_member(&tiny, 0, 1, 2, 0.5);
    tiny_step_add_member(&tiny, 1, 2, 4, 0.25);
    tiny_step_add_member(&tiny, 1, 0, 2, 0.25);
    tiny_step_add_member(&tiny, 1, 3, 2, 0.5);
    tiny.plan->layers[2].group = 1;
    tiny.plan->layers[3].group = 1;
    tiny_step_compile(&tiny);
    static const int64_t expected[4][4] = {[0][2] = 2, [1][3] = 1};
    for (int32_t m = 0; m < 2; m++) {
        for (int32_t a = 0; a < 4; a++) {
            for (int32_t b = 0; b < 4; b++) {
                assert_int_equal(count_samples(a, b, m, false, YK_OP_SEND), expected[a][b]);
                assert_int_equal(count_samples(a, b, m, false, YK_OP_RECV), expected[a][b]);
                assert_int_equal(count_samples(b, a, m, true, YK_OP_SEND), expected[a][b]);
                assert_int_equal(count_samples(b, a, m, true, YK_OP_RECV), expected[a][b]);
            }
        }
    }
}

/* The owner of a sample of a micro-batch, by plan.h: members in order, shares in proportion. */
static int32_t owner_of(int32_t group, int64_t sample)
{
    const struct yk_plan *plan = tiny.plan;
    const struct yk_plan_group *planned = &plan->groups[group];
    int32_t member = 0;
    while (sample >= planned->members[member].share / plan->micro_batches) {
        sample -= planned->members[member++].share / plan->micro_batches;
    }
    return planned->members[member].rank;
}

/* The same of shares at chance, sample by sample. */
static void messages_go_from_owner_to_owner(void **state)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        const int32_t M = 1 + (int32_t)yk_random_below(&random, 3);
        tiny = tiny_step_make((struct tiny_options){
            .cluster = "4xcpu:1", .groups = 2, .blocks = 1, .batch = INT64_C(7) * M});
        tiny.plan->micro_batches = M;
        for (int32_t g = 0; g < 2; g++) {
            const int32_t rank = (int32_t)yk_random_below(&random, 4);
            const int64_t first = yk_random_below(&random, 8);
            const int64_t second = yk_random_below(&random, 8 - first);
            const int64_t shares[] = {first, second, 7 - first - second};
            for (int32_t i = 0; i < 3; i++) {
                tiny_step_add_member(&tiny, g, (rank + i) % 4, shares[i] * M, i == 0 ? 1 : 0);
            }
            tiny.plan->layers[2 + g].group = 1;
        }
        tiny_step_compile(&tiny);
        int64_t expected[4][4] = {0};
        for (int64_t sample = 0; sample < 7; sample++) {
            expected[owner_of(0, sample)][owner_of(1, sample)]++;
        }
        for (int32_t a = 0; a < 4; a++) {
            for (int32_t b = 0; b < 4; b++) {
                const int64_t samples = a == b ? 0 : expected[a][b];
                assert_int_equal(count_samples(a, b, M - 1, false, YK_OP_SEND), samples);
                assert_int_equal(count_samples(b, a, M - 1, true, YK_OP_RECV), samples);
            }
        }
        tear_down(state);
    }
}

/* Lists that are one. */

static void ranks_that_do_the_same_have_one_list(void **state)
{
    (void)state;
    tiny = tiny_step_make((struct tiny_options){
        .cluster = "1xa30 + 1xa40 + 5xcpu:1", .groups = 1, .blocks = 1, .batch = 7});
    for (int32_t r = 0; r < 7; r++) {
        tiny.plan->ranks[r].limit_bytes = 2e9;
        tiny_step_add_member(&tiny, 0, r, r == 5 ? 2 : r == 6 ? 0 : 1, r < 4 ? 0.2 : 0.2 / 3);
    }
    tiny.plan->ranks[3].limit_bytes = 1e9;
    tiny_step_compile(&tiny);
    const struct yk_op_list *ranks = tiny.program->ranks;
    assert_ptr_equal(ranks[0].ops, ranks[1].ops); /* two GPUs, of whatever speed */
    assert_ptr_equal(ranks[0].waits, ranks[1].waits);
    assert_ptr_not_equal(ranks[0].ops, ranks[2].ops); /* a GPU and a CPU */
    assert_ptr_not_equal(ranks[2].ops, ranks[3].ops); /* limits */
    assert_ptr_not_equal(ranks[2].ops, ranks[4].ops); /* parts */
    assert_ptr_not_equal(ranks[4].ops, ranks[5].ops); /* shares */
    assert_ptr_not_equal(ranks[5].ops, ranks[6].ops);
}

static void all_ranks_of_a_group_have_the_same_communication(void **state)
{
    (void)state;
    tiny = tiny_step_make(
        (struct tiny_options){.cluster = "3xcpu:1", .groups = 1, .blocks = 2, .batch = 9});
    tiny_step_add_member(&tiny, 0, 2, 5, 0.5);
    tiny_step_add_member(&tiny, 0, 0, 4, 0.25);
    tiny_step_add_member(&tiny, 0, 1, 0, 0.25);
    tiny_step_set_strategy(&tiny, YK_SHARDING_FULLY_SHARDED);
    tiny.plan->micro_batches = 2;
    tiny_step_compile(&tiny);
    const struct yk_op_list *ranks = tiny.program->ranks;
    int32_t communications = 0;
    for (int32_t i = 0; i < ranks[0].op_count; i++) {
        const struct yk_op *op = &ranks[0].ops[i];
        for (int32_t r = 1; r < 3; r++) {
            assert_int_equal(op->kind, ranks[r].ops[i].kind);
            assert_int_equal(op->match, ranks[r].ops[i].match);
            assert_bytes(op->bytes, ranks[r].ops[i].bytes);
        }
        assert_int_equal(op->match != YK_OP_NO_MATCH, op->lane == YK_LANE_COMM);
        assert_int_equal(op->group, op->lane == YK_LANE_COMM ? 0 : -1);
        communications += op->match != YK_OP_NO_MATCH ? 1 : 0;
    }
    assert_int_equal(communications, tiny.program->match_count);
    assert_int_equal(communications, 3 * 2 * 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(stages_send_outputs_and_get_gradients_back, tear_down),
        cmocka_unit_test_teardown(stages_agree_after_the_last_of_them, tear_down),
        cmocka_unit_test_teardown(a_rank_of_both_ends_sends_and_receives_both_ways, tear_down),
        cmocka_unit_test_teardown(an_output_that_several_need_is_sent_once, tear_down),
        cmocka_unit_test_teardown(a_frozen_stage_waits_for_its_messages, tear_down),
        cmocka_unit_test_teardown(messages_cover_every_sample_once, tear_down),
        cmocka_unit_test(messages_go_from_owner_to_owner),
        cmocka_unit_test_teardown(ranks_that_do_the_same_have_one_list, tear_down),
        cmocka_unit_test_teardown(all_ranks_of_a_group_have_the_same_communication, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
