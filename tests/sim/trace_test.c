#include "sim/sim.h"
#include "support/programs/row_program.h"
#include "support/support.h"

#include <string.h>

/* Two stages; layers of 2 s, and 3 s for what travels. */
static const struct hand_op first[] = {
    {YK_OP_LOAD, .layer = YK_LAYER_NONE, .samples = 1},
    {YK_OP_FORWARD, .layer = 0, .samples = 1, .waits = "0"},
    {YK_OP_SEND, .layer = 0, .bytes = 3, .peer = 1, .match = 0, .waits = "1"},
    {YK_OP_RELEASE, .layer = 0},
    HAND_END,
};
static const struct hand_op second[] = {
    {YK_OP_RECV, .layer = 0, .bytes = 3, .peer = 0, .match = 0, .waits = "1'"},
    {YK_OP_FORWARD, .layer = 1, .samples = 1, .waits = "0"},
    HAND_END,
};

static void a_trace_has_the_ops_that_last_and_what_they_sent(void **state)
{
    (void)state;
    const struct hand_spec spec = {
        .rank_count = 2,
        .devices = {{.layer_s = 2}, {.layer_s = 2}},
        .within = {0, 1},
        .groups = {{.ranks = {0}, .count = 1}, {.ranks = {1}, .count = 1}},
        .group_count = 2,
        .lists = {first, second},
    };
    struct hand_program *hand = hand_program_make(&spec);
    const struct yk_sim_options options = {.slowdown = 1};
    struct yk_sim_result *sim = NULL;
    struct yk_trace *trace = NULL;
    assert_ok(yk_sim_run(&hand->program, hand->costs, &options, &sim));
    assert_ok(yk_sim_make_trace(sim, &trace));
    assert_int_equal(yk_trace_rank_count(trace), 2);
    assert_string_equal(yk_trace_rank_device_name(trace, 1), "device");
    assert_int_equal(yk_trace_event_count(trace), 4); /* forward, send; recv, forward */
    const struct yk_trace_event *send = yk_trace_event_at(trace, 1);
    assert_int_equal(send->rank, 0);
    assert_int_equal(send->lane, YK_LANE_COMM);
    assert_true(send->bytes == 3);
    assert_true(send->start_s == sim->ranks[0].start_s[2]);
    assert_true(send->end_s == sim->ranks[0].end_s[2]);
    const struct yk_trace_event *computation = yk_trace_event_at(trace, 3);
    struct yk_text name = {0};
    yk_op_describe(&hand->program, &hand->program.ranks[1].ops[1], &name);
    assert_int_equal(computation->rank, 1);
    assert_string_equal(computation->op, yk_text_chars(&name));
    assert_int_equal(yk_trace_flow_count(trace), 1);
    assert_int_equal(yk_trace_flow_at(trace, 0).from_event, 1);
    assert_int_equal(yk_trace_flow_at(trace, 0).to_event, 3);
    yk_text_free(&name);
    yk_trace_destroy(trace);
    yk_sim_result_destroy(sim);
    hand_program_free(hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_has_the_ops_that_last_and_what_they_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
