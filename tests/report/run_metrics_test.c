#include "report/run_metrics.h"

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
    return yk_run_metrics_read(text, strlen(text), "metrics.jsonl", fixture->arena,
                               &fixture->metrics);
}

static void steps_and_evaluations_are_told_apart(void **state)
{
    struct fixture *fixture = *state;
    assert_ok(read(fixture, "{\"step\": 1, \"loss\": 4.5, \"norm\": 1.8, \"rate\": 0.25, "
                            "\"seconds\": 0.5, \"tokens_per_s\": 73142}\n"
                            "{\"step\": 1, \"evaluation_loss\": 2.75, \"tokens\": 111540}\n"
                            "{\"step\": 2, \"loss\": null, \"norm\": 3, \"loss_scale\": 1024, "
                            "\"skipped\": true}\n"));
    const struct yk_run_metrics *metrics = &fixture->metrics;
    assert_int_equal(metrics->step_count, 2);
    assert_int_equal(metrics->steps[0].step, 1);
    assert_true(metrics->steps[0].loss == 4.5);
    assert_true(metrics->steps[0].norm == 1.8);
    assert_true(metrics->steps[0].rate == 0.25);
    assert_true(metrics->steps[0].seconds == 0.5);
    assert_true(metrics->steps[0].tokens_per_s == 73142);
    assert_false(metrics->steps[0].skipped);
    assert_int_equal(metrics->steps[1].step, 2);
    assert_true(isnan(metrics->steps[1].loss));
    assert_true(isnan(metrics->steps[1].seconds));
    assert_true(metrics->steps[1].skipped);
    assert_int_equal(metrics->evaluation_count, 1);
    assert_int_equal(metrics->evaluations[0].step, 1);
    assert_true(metrics->evaluations[0].loss == 2.75);
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
        cmocka_unit_test_setup_teardown(steps_and_evaluations_are_told_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_median_is_of_the_middle_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_line_that_is_being_written_is_left_out, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(bad_lines_are_refused_by_their_number, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
