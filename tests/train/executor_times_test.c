/* Times of a round by hand: what is whole, and the trace that is made from it. */
#include "train/executor/executor.h"

#include "support/programs/row_program.h"
#include "support/support.h"

enum {
    OPS = 3,
};

static struct hand_program *make(void)
{
    static const struct hand_op list[] = {
        {YK_OP_ALL_GATHER, .layer = 1, .bytes = 8, .match = 0},
        {YK_OP_FORWARD, .layer = 1, .samples = 2, .waits = "0"},
        {YK_OP_BACKWARD, .layer = 1, .samples = 2},
        HAND_END,
    };
    return hand_program_make(&(struct hand_spec){
        .rank_count = 2,
        .devices = {{.layer_s = 1, .update_s = 1}, {.layer_s = 1, .update_s = 1}},
        .within = {0, 1},
        .strategy = YK_SHARDING_FULLY_SHARDED,
        .lists = {list, list},
    });
}

static void a_round_is_whole_when_all_its_ops_ran(void **state)
{
    (void)state;
    struct hand_program *hand = make();
    struct yk_op_interval ops[OPS] = {{0, 10, 11}, {1, 11, 13}, {2, 13, 13}};
    struct yk_op_timeline timeline = {
        .program = &hand->program, .rank = 1, .ops = ops, .count = OPS};
    assert_true(yk_op_timeline_is_complete(&timeline));
    timeline.count = OPS - 1;
    assert_false(yk_op_timeline_is_complete(&timeline));
    timeline.count = OPS;
    ops[1].end_s = 10;
    assert_false(yk_op_timeline_is_complete(&timeline));
    hand_program_free(hand);
}

static void a_trace_counts_from_the_begin_of_the_round(void **state)
{
    (void)state;
    struct hand_program *hand = make();
    struct yk_op_interval ops[] = {{0, 10, 11}, {2, 13, 14.5}};
    const struct yk_op_timeline timeline = {
        .program = &hand->program, .rank = 1, .ops = ops, .count = 2, .began_s = 9.5};
    struct yk_trace *trace = NULL;
    assert_ok(yk_op_timeline_to_trace(&timeline, &trace));
    assert_int_equal(yk_trace_rank_count(trace), 1);
    assert_string_equal(yk_trace_rank_device_name(trace, 0), hand->cluster.devices[1].name);
    assert_int_equal(yk_trace_event_count(trace), 2);
    const struct yk_trace_event *gather = yk_trace_event_at(trace, 0);
    const struct yk_trace_event *backward = yk_trace_event_at(trace, 1);
    assert_int_equal(gather->lane, YK_LANE_COMM);
    assert_true(gather->start_s == 0.5 && gather->end_s == 1.5 && gather->bytes == 8);
    assert_string_equal(backward->op, "backward layer 0");
    assert_true(backward->start_s == 3.5 && backward->end_s == 5 && backward->bytes == 0);
    yk_trace_destroy(trace);
    hand_program_free(hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_is_whole_when_all_its_ops_ran),
        cmocka_unit_test(a_trace_counts_from_the_begin_of_the_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
