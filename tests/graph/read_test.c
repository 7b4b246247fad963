#include "support/support.h"

#include "base/log.h"

#include <stdio.h>

static const char stg[] = "1\n0 0 0\n1 5 1 0\n2 0 1 1\n";
static const char planted[] = "1 2 0 5\n5 6\n";
static const char own[] = "{\"yoke\": 1, \"kind\": \"graph\", \"devices\": [\"P1\"], "
                          "\"tasks\": [{\"name\": \"a\", \"cost\": 5}]}";

static void the_form_is_recognised_by_the_content(void **state)
{
    (void)state;
    const struct yk_graph_read_options two = {.device_count = 2};
    struct yk_graph *graph = support_read_graph(stg, &two);
    assert_int_equal(graph->task_count, 3);
    yk_graph_destroy(graph);
    graph = support_read_graph(planted, NULL);
    assert_int_equal(graph->device_count, 2);
    yk_graph_destroy(graph);
    graph = support_read_graph(own, NULL);
    assert_int_equal(graph->device_count, 1);
    yk_graph_destroy(graph);
}

static void an_empty_file_is_called_empty(void **state)
{
    (void)state;
    assert_refused("", NULL, "the file is empty");
    assert_refused(" \n\t\r\n", NULL, "the file is empty");
    assert_refused("\xef\xbb\xbf", NULL, "the file is empty");
}

static void an_unknown_form_fails_with_the_known_ones(void **state)
{
    (void)state;
    static const char message[] = "this is no graph in a known form: JSON with \"yoke\": 1, "
                                  "WfCommons 1.5, STG or planted optimum";
    assert_refused("digraph { a -> b }", NULL, message);
    assert_refused("[1, 2]", NULL, message);
    assert_refused("{\"W\": [[1]]}", NULL, message);
    assert_refused("# only a comment\n", NULL, message);
}

static void a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    char text[400];
    snprintf(text, sizeof text, "\xef\xbb\xbf%s", own);
    yk_graph_destroy(support_read_graph(text, NULL));
}

static void broken_json_is_reported_with_file_line_and_column(void **state)
{
    (void)state;
    assert_refused("{\n  \"yoke\": 1,\n  \"kind\" \"graph\"\n}", NULL,
                   "line 3, column 16: broken JSON: ':' expected");
}

static void a_text_form_needs_devices_from_the_options(void **state)
{
    (void)state;
    assert_misused(stg, NULL,
                   "this form has no devices of its own; say how many with --devices N or how "
                   "fast they are with --speeds");
}

static void speeds_give_the_number_of_devices(void **state)
{
    (void)state;
    static const double speeds[] = {1, 2, 0.5};
    const struct yk_graph_read_options options = {.speeds = speeds, .speed_count = 3};
    struct yk_graph *graph = support_read_graph(stg, &options);
    assert_int_equal(graph->device_count, 3);
    assert_string_equal(graph->devices[2].name, "P3");
    assert_true(yk_graph_ticks_to_time(graph, yk_graph_task_cost(graph, 1, 0)) == 5);
    assert_true(yk_graph_ticks_to_time(graph, yk_graph_task_cost(graph, 1, 1)) == 2.5);
    assert_true(yk_graph_ticks_to_time(graph, yk_graph_task_cost(graph, 1, 2)) == 10);
    yk_graph_destroy(graph);
}

static void speeds_must_match_the_devices(void **state)
{
    (void)state;
    static const double speeds[] = {1, 2, 0.5};
    const struct yk_graph_read_options options = {
        .device_count = 2, .speeds = speeds, .speed_count = 3};
    assert_misused(stg, &options, "--speeds has 3 entries for 2 devices; give one for each device");
}

static void a_speed_must_be_above_zero_and_finite(void **state)
{
    (void)state;
    static const double bad[][2] = {{1, 0}, {1, -1}, {1, INFINITY}, {1, NAN}};
    static const char *const shown[] = {"0", "-1", "inf", "nan"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct yk_graph_read_options options = {.speeds = bad[i], .speed_count = 2};
        char message[100];
        snprintf(message, sizeof message, "--speeds: speed 2 is %s; a speed is a number above 0",
                 shown[i]);
        assert_misused(stg, &options, message);
    }
}

static void the_number_of_devices_has_bounds(void **state)
{
    (void)state;
    const struct yk_graph_read_options negative = {.device_count = -1};
    const struct yk_graph_read_options many = {.device_count = YK_GRAPH_MAX_DEVICES + 1};
    const struct yk_graph_read_options most = {.device_count = YK_GRAPH_MAX_DEVICES};
    assert_misused(stg, &negative, "--devices must be from 1 to 1024");
    assert_misused(stg, &many, "--devices must be from 1 to 1024");
    yk_graph_destroy(support_read_graph(stg, &most));
}

static void a_form_with_its_own_devices_accepts_no_others(void **state)
{
    (void)state;
    static const double speeds[] = {1, 2};
    const struct yk_graph_read_options count = {.device_count = 2};
    const struct yk_graph_read_options fast = {.speeds = speeds, .speed_count = 2};
    assert_misused(planted, &count,
                   "this file names its own devices; leave out --devices and --speeds");
    assert_misused(own, &fast, "this file names its own devices; leave out --devices and --speeds");
}

static void a_form_that_times_its_edges_accepts_no_links(void **state)
{
    (void)state;
    const struct yk_graph_read_options options = {.device_count = 2, .latency_s = 1};
    assert_misused(stg, &options,
                   "STG graphs have no bytes to send; leave out --latency and --bandwidth");
    const struct yk_graph_read_options negative = {.device_count = 2, .latency_s = -1};
    assert_misused(stg, &negative, "--latency must be 0 or more");
    const struct yk_graph_read_options infinite = {.bandwidth_bytes_per_s = INFINITY};
    assert_misused(stg, &infinite, "--bandwidth must be more than 0");
}

static void count_warnings(void *user, enum yk_log_level level, const char *line)
{
    (void)line;
    *(int *)user += level == YK_LOG_WARNING;
}

static void a_last_line_that_has_no_end_is_worth_a_warning(void **state)
{
    (void)state;
    int warnings = 0;
    yk_log_set_sink(count_warnings, &warnings);
    yk_graph_destroy(support_read_graph(planted, NULL));
    assert_int_equal(warnings, 0);
    yk_graph_destroy(support_read_graph("1 2 0 5\n5 6", NULL));
    assert_int_equal(warnings, 1);
    yk_log_set_sink(NULL, NULL);
}

static void zeros_and_stray_bytes_are_refused(void **state)
{
    (void)state;
    struct yk_graph *graph = NULL;
    static const char zero_in_json[] = "{\"yoke\": 1, \"kind\0\": 2}";
    static const char zero_in_text[] = "1 2 0 5\n5\0 6\n";
    static const char only_zeros[4] = {0};
    assert_int_equal(
        yk_graph_read_text(zero_in_json, sizeof zero_in_json - 1, SUPPORT_SOURCE, NULL, &graph),
        YK_ERROR_INPUT);
    assert_fails(
        yk_graph_read_text(zero_in_text, sizeof zero_in_text - 1, SUPPORT_SOURCE, NULL, &graph),
        YK_ERROR_INPUT, "test: line 2, column 1: a cost should be a number, not \"5?\"");
    assert_int_equal(
        yk_graph_read_text(only_zeros, sizeof only_zeros, SUPPORT_SOURCE, NULL, &graph),
        YK_ERROR_INPUT);
    assert_refused("1 2 0 \xff\xfe\n5 6\n", NULL,
                   "line 1, column 7: the planted optimum should be a number, not \"??\"");
    assert_null(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_form_is_recognised_by_the_content),
        cmocka_unit_test(an_empty_file_is_called_empty),
        cmocka_unit_test(an_unknown_form_fails_with_the_known_ones),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(broken_json_is_reported_with_file_line_and_column),
        cmocka_unit_test(a_text_form_needs_devices_from_the_options),
        cmocka_unit_test(speeds_give_the_number_of_devices),
        cmocka_unit_test(speeds_must_match_the_devices),
        cmocka_unit_test(a_speed_must_be_above_zero_and_finite),
        cmocka_unit_test(the_number_of_devices_has_bounds),
        cmocka_unit_test(a_form_with_its_own_devices_accepts_no_others),
        cmocka_unit_test(a_form_that_times_its_edges_accepts_no_links),
        cmocka_unit_test(a_last_line_that_has_no_end_is_worth_a_warning),
        cmocka_unit_test(zeros_and_stray_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
