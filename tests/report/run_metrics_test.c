#include "report/run/metrics.h"

#include "support/support.h"

#include <math.h>
#include <string.h>

struct fixture {
    struct yk_arena *arena;
    struct yk_run_metrics metrics;
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
    return yk_run_metrics_parse(text, strlen(text), "metrics.jsonl", fixture->arena,
                                &fixture->metrics);
}

static void steps_and_evaluations_are_distinguished(void **state)
{
    struct fixture *fixture = *state;
    assert_ok(read(fixture, "{\"step\": 1, \"loss\": 4.5, \"norm\": 1.8, \"lr\": 0.25, "
                            "\"seconds\": 0.5, \"tokens_per_s\": 73142}\n"
                            "{\"step\": 1, \"evaluation_loss\": 2.75, \"tokens\": 111540}\n"
                            "{\"step\": 2, \"loss\": null, \"norm\": 3, \"loss_scale\": 1024, "
                            "\"skipped\": true}\n"));
    const struct yk_run_metrics *metrics = &fixture->metrics;
    assert_int_equal(metrics->step_count, 2);
    assert_int_equal(metrics->steps[0].step, 1);
    assert_true(metrics->steps[0].loss == 4.5);
    assert_true(metrics->steps[0].norm == 1.8);
    assert_true(metrics->steps[0].lr == 0.25);
    assert_true(metrics->steps[0].seconds == 0.5);
    assert_true(metrics->steps[0].units_per_s == 73142);
    assert_false(metrics->steps[0].skipped);
    assert_int_equal(metrics->steps[1].step, 2);
    assert_true(isnan(metrics->steps[1].loss));
    assert_true(isnan(metrics->steps[1].seconds));
    assert_true(metrics->steps[1].skipped);
    assert_int_equal(metrics->evaluation_count, 1);
    assert_int_equal(metrics->evaluations[0].step, 1);
    assert_true(metrics->evaluations[0].loss == 2.75);
}

static void the_key_of_the_speed_says_what_is_counted(void **state)
{
    struct fixture *fixture = *state;
    assert_ok(read(fixture, "{\"step\": 1, \"tokens_per_s\": 73142}\n"));
    assert_string_equal(fixture->metrics.unit->speed, "tokens/s");
    assert_ok(read(fixture, "{\"step\": 1, \"images_per_s\": 256}\n"
                            "{\"step\": 1, \"evaluation_loss\": 0.5, \"images\": 360, "
                            "\"accuracy\": 0.75}\n"));
    assert_string_equal(fixture->metrics.unit->speed, "images/s");
    assert_true(fixture->metrics.steps[0].units_per_s == 256);
    assert_true(fixture->metrics.evaluations[0].accuracy == 0.75);
}

static void the_median_is_of_the_middle_steps(void **state)
{
    struct fixture *fixture = *state;
    assert_ok(read(fixture, "{\"step\": 1, \"seconds\": 9}\n{\"step\": 2, \"seconds\": 2}\n"
                            "{\"step\": 3, \"seconds\": 1}\n"));
    assert_true(fixture->metrics.median_step_s == 2);
    assert_ok(read(fixture, "{\"step\": 1, \"seconds\": 9}\n{\"step\": 2, \"seconds\": 2}\n"
                            "{\"step\": 3, \"seconds\": 1}\n{\"step\": 4, \"seconds\": 4}\n"));
    assert_true(fixture->metrics.median_step_s == 3);
    assert_ok(read(fixture, ""));
    assert_true(isnan(fixture->metrics.median_step_s));
}

static void a_tenth_of_the_steps_is_below_and_a_tenth_above(void **state)
{
    struct fixture *fixture = *state;
    struct yk_text text = {0};
    for (int i = 1; i <= 11; i++) {
        yk_text_addf(&text, "{\"step\": %d, \"seconds\": %d}\n", i, i);
    }
    assert_ok(read(fixture, yk_text_chars(&text)));
    assert_true(fixture->metrics.low_step_s == 2);
    assert_true(fixture->metrics.high_step_s == 10);
    assert_ok(read(fixture, ""));
    assert_true(isnan(fixture->metrics.low_step_s) && isnan(fixture->metrics.high_step_s));
    yk_text_free(&text);
}

static void ranks_and_changes_of_their_shares_are_read(void **state)
{
    struct fixture *fixture = *state;
    assert_ok(read(fixture, "{\"step\": 1, \"seconds\": 9, \"ranks_s\": [0.5, null]}\n"
                            "{\"step\": 1, \"rebalanced\": true, \"shares\": [7, 5], "
                            "\"predicted_s\": [0.25, 0.75]}\n"
                            "{\"rebalanced\": 3, \"shares\": [6]}\n{\"step\": 4}\n"));
    const struct yk_run_metrics *metrics = &fixture->metrics;
    assert_int_equal(metrics->step_count, 2);
    assert_int_equal(metrics->steps[0].rank_count, 2);
    assert_true(metrics->steps[0].ranks_s[0] == 0.5 && isnan(metrics->steps[0].ranks_s[1]));
    assert_int_equal(metrics->steps[1].rank_count, 0);
    assert_int_equal(metrics->rebalancing_count, 2);
    assert_int_equal(metrics->rebalancings[0].step, 1);
    assert_int_equal(metrics->rebalancings[0].share_count, 2);
    assert_true(metrics->rebalancings[0].shares[1] == 5);
    assert_int_equal(metrics->rebalancings[0].predicted_count, 2);
    assert_true(metrics->rebalancings[0].predicted_s[1] == 0.75);
    assert_int_equal(metrics->rebalancings[1].step, 3);
    assert_int_equal(metrics->rebalancings[1].predicted_count, 0);
}

static void lists_that_hold_no_numbers_are_refused(void **state)
{
    struct fixture *fixture = *state;
    assert_fails(read(fixture, "{\"step\": 1, \"ranks_s\": 3}\n"), YK_ERROR_INPUT,
                 "metrics.jsonl: line 1: \"ranks_s\" must be a list of at most 65536 numbers");
    assert_fails(read(fixture, "{\"step\": 1, \"ranks_s\": [1, \"x\"]}\n"), YK_ERROR_INPUT,
                 "metrics.jsonl: line 1: \"ranks_s\": number 1 is a string");
    assert_fails(read(fixture, "{\"rebalanced\": true}\n"), YK_ERROR_INPUT,
                 "metrics.jsonl: line 1: \"step\" must be a whole number");
}

static void a_line_that_is_being_written_is_left_out(void **state)
{
    struct fixture *fixture = *state;
    assert_ok(read(fixture, "{\"step\": 1, \"loss\": 4}\n{\"step\": 2, \"lo"));
    assert_int_equal(fixture->metrics.step_count, 1);
}

static void bad_lines_are_refused_by_their_number(void **state)
{
    struct fixture *fixture = *state;
    assert_fails(read(fixture, "{\"step\": 1}\n{\"step\": 1.5}\n"), YK_ERROR_INPUT,
                 "metrics.jsonl: line 2: \"step\" must be a whole number");
    assert_fails(read(fixture, "[]\n"), YK_ERROR_INPUT,
                 "metrics.jsonl: line 1: \"step\" must be a whole number");
    assert_int_equal(read(fixture, "{\"step\": 1}\n\n"), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "metrics.jsonl: line 2: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(steps_and_evaluations_are_distinguished, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_key_of_the_speed_says_what_is_counted, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_median_is_of_the_middle_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_tenth_of_the_steps_is_below_and_a_tenth_above, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(ranks_and_changes_of_their_shares_are_read, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(lists_that_hold_no_numbers_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_line_that_is_being_written_is_left_out, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(bad_lines_are_refused_by_their_number, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
