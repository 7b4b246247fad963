#include "report/run/summary.h"

#include "support/support.h"

#include <math.h>
#include <string.h>

struct fixture {
    struct yk_arena *arena;
    struct yk_run_summary summary;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){0};
    assert_ok(yk_arena_create(&fixture.arena));
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    yk_arena_destroy(fixture->arena);
    return 0;
}

static yk_status read(struct fixture *fixture, const char *text)
{
    return yk_run_summary_parse(text, strlen(text), "summary.json", fixture->arena,
                                &fixture->summary);
}

static void what_is_known_of_a_rank_is_written(void **state)
{
    (void)state;
    struct yk_run_rank_summary ranks[] = {yk_run_summary_make_unknown_rank(),
                                          yk_run_summary_make_unknown_rank()};
    struct yk_text text = {0};
    ranks[0].device = "cpu \"0\"";
    ranks[0].share = 8;
    ranks[0].measured = (struct yk_trace_breakdown){0.5, 0.25, 0};
    ranks[0].predicted = (struct yk_trace_breakdown){0.375, 0.125, 0.0625};
    ranks[0].measured_bytes = 1024;
    ranks[0].predicted_bytes = 2048;
    ranks[0].limit_bytes = 4096;
    yk_run_summary_write_ranks_json(ranks, 2, &text);
    assert_string_equal(text.bytes,
                        "[{\"rank\":0,\"device\":\"cpu \\\"0\\\"\",\"share\":8,\"compute_s\":0.5,"
                        "\"exposed_s\":0.25,\"idle_s\":0,\"peak_bytes\":1024,"
                        "\"predicted_compute_s\":0.375,\"predicted_exposed_s\":0.125,"
                        "\"predicted_idle_s\":0.0625,\"predicted_peak_bytes\":2048,"
                        "\"limit_bytes\":4096},{\"rank\":1}]");
    yk_text_free(&text);
}

static void what_was_written_is_read(void **state)
{
    struct fixture *fixture = *state;
    assert_ok(
        read(fixture,
             "{\"yoke\": 1, \"steps\": 4, \"peak_bytes\": 99, \"predicted_step_s\": 7, \"ranks\": ["
             "{\"rank\": 0, \"device\": \"a\", \"share\": 3, \"compute_s\": 0.5, "
             "\"exposed_s\": null, \"peak_bytes\": 77, \"others\": []},"
             "{\"predicted_compute_s\": 0.25, \"predicted_exposed_s\": 0.5, "
             "\"predicted_idle_s\": 1, \"predicted_peak_bytes\": 5, "
             "\"limit_bytes\": 6, \"idle_s\": 2}]}"));
    const struct yk_run_summary *summary = &fixture->summary;
    assert_true(summary->peak_bytes == 99);
    assert_true(summary->predicted_step_s == 7);
    assert_int_equal(summary->rank_count, 2);
    assert_string_equal(summary->ranks[0].device, "a");
    assert_true(summary->ranks[0].share == 3);
    assert_true(summary->ranks[0].measured.compute_s == 0.5);
    assert_true(isnan(summary->ranks[0].measured.exposed_s));
    assert_true(summary->ranks[0].measured_bytes == 77);
    assert_true(isnan(summary->ranks[0].limit_bytes));
    assert_null(summary->ranks[1].device);
    assert_true(isnan(summary->ranks[1].share));
    assert_true(summary->ranks[1].predicted.compute_s == 0.25);
    assert_true(summary->ranks[1].predicted.exposed_s == 0.5);
    assert_true(summary->ranks[1].predicted.idle_s == 1);
    assert_true(summary->ranks[1].measured.idle_s == 2);
    assert_true(summary->ranks[1].predicted_bytes == 5);
    assert_true(summary->ranks[1].limit_bytes == 6);
}

static void a_summary_of_one_rank_need_not_list_it(void **state)
{
    struct fixture *fixture = *state;
    assert_ok(read(fixture, "{}"));
    assert_true(isnan(fixture->summary.peak_bytes));
    assert_int_equal(fixture->summary.rank_count, 0);
}

static void what_makes_no_sense_is_refused_by_its_place(void **state)
{
    struct fixture *fixture = *state;
    assert_fails(read(fixture, "[]"), YK_ERROR_INPUT,
                 "summary.json: this must be an object, not a list");
    assert_fails(read(fixture, "{\"ranks\": 3}"), YK_ERROR_INPUT,
                 "summary.json: \"ranks\" must be a list, not a number");
    assert_fails(read(fixture, "{\"ranks\": [{\"rank\": 1}]}"), YK_ERROR_INPUT,
                 "summary.json: ranks[0]: rank 1 stands where 0 should be");
    assert_fails(read(fixture, "{\"ranks\": [{}, 7]}"), YK_ERROR_INPUT,
                 "summary.json: ranks[1]: a rank must be an object, not a number");
    assert_fails(read(fixture, "{\"ranks\": [{\"share\": -1}]}"), YK_ERROR_INPUT,
                 "summary.json: ranks[0]: \"share\" must be a number from 0 up");
    assert_fails(read(fixture, "{\"ranks\": [{\"compute_s\": \"fast\"}]}"), YK_ERROR_INPUT,
                 "summary.json: ranks[0]: \"compute_s\" must be a number from 0 up");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_known_of_a_rank_is_written),
        cmocka_unit_test_setup_teardown(what_was_written_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_summary_of_one_rank_need_not_list_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_makes_no_sense_is_refused_by_its_place, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
