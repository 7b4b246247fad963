#include "support/support.h"

#include "base/log.h"

#include <stdio.h>

static const struct yk_graph_read_options two = {.device_count = 2};

/* A workflow around the members given. */
#define WORKFLOW(tasks, files, runs)                                                               \
    "{\"schemaVersion\": \"1.5\", \"extra\": 1, \"workflow\": {\"specification\": {\"tasks\": "    \
    "[" tasks "], \"files\": [" files "]}, \"execution\": {\"tasks\": [" runs "]}}}"
#define RUN_A "{\"id\": \"a\", \"runtimeInSeconds\": 2}"
#define RUN_B "{\"id\": \"b\", \"runtimeInSeconds\": 4.5}"
#define FILE_X "{\"id\": \"x\", \"sizeInBytes\": 100}"
#define FILE_Y "{\"id\": \"y\", \"sizeInBytes\": 20}"
#define TASK_A                                                                                     \
    "{\"id\": \"a\", \"children\": [\"b\"], \"parents\": [], \"inputFiles\": [\"y\"], "            \
    "\"outputFiles\": [\"x\", \"x\"]}"
#define TASK_B                                                                                     \
    "{\"id\": \"b\", \"parents\": [\"a\"], \"children\": [], \"inputFiles\": [\"y\", \"x\"]}"
#define WHOLE WORKFLOW(TASK_A ", " TASK_B, FILE_X ", " FILE_Y, RUN_B ", " RUN_A)

static void tasks_files_and_run_times_come_together(void **state)
{
    (void)state;
    static const double speeds[] = {1, 2};
    const struct yk_graph_read_options options = {
        .speeds = speeds, .speed_count = 2, .latency_s = 0.5, .bandwidth_bytes_per_s = 50};
    struct yk_graph *graph = support_read_graph(WHOLE, &options);
    assert_int_equal(graph->task_count, 2);
    assert_int_equal(graph->edge_count, 1);
    assert_string_equal(graph->tasks[1].name, "b");
    assert_true(yk_graph_ticks_to_time(graph, yk_graph_task_cost(graph, 0, 0)) == 2);
    assert_true(yk_graph_ticks_to_time(graph, yk_graph_task_cost(graph, 1, 1)) == 2.25);
    assert_int_equal(graph->edges[0].bytes, 100);
    assert_true(yk_graph_ticks_to_time(graph, yk_graph_transfer_ticks(graph, graph->edges, 0, 1)) ==
                2.5);
    yk_graph_destroy(graph);
}

static void an_edge_that_one_end_lists_is_enough(void **state)
{
    (void)state;
    static const char *const texts[] = {
        WORKFLOW("{\"id\": \"a\", \"children\": [\"b\", \"b\"]}, {\"id\": \"b\"}", "",
                 RUN_A ", " RUN_B),
        WORKFLOW("{\"id\": \"a\"}, {\"id\": \"b\", \"parents\": [\"a\"]}", "", RUN_A ", " RUN_B),
    };
    for (size_t i = 0; i < 2; i++) {
        struct yk_graph *graph = support_read_graph(texts[i], &two);
        assert_int_equal(graph->edge_count, 1);
        assert_int_equal(graph->edges[0].from, 0);
        assert_int_equal(graph->edges[0].bytes, 0);
        yk_graph_destroy(graph);
    }
}

struct notes {
    int count;
    char line[256];
};

static void keep_note(void *user, enum yk_log_level level, const char *line)
{
    struct notes *notes = user;
    notes->count += level == YK_LOG_NOTE;
    snprintf(notes->line, sizeof notes->line, "%s", line);
}

static void an_assumed_bandwidth_is_noted(void **state)
{
    (void)state;
    struct notes notes = {0};
    yk_log_set_sink(keep_note, &notes);
    struct yk_graph *graph = support_read_graph(WHOLE, &two);
    assert_int_equal(notes.count, 1);
    assert_string_equal(notes.line,
                        "the workflow names no links: 1.25GB/s between any two devices is assumed, "
                        "as of ten-gigabit Ethernet; --bandwidth says otherwise");
    assert_true(
        fabs(yk_graph_ticks_to_time(graph, yk_graph_transfer_ticks(graph, graph->edges, 0, 1)) -
             8e-8) < 1e-11);
    yk_graph_destroy(graph);
    const struct yk_graph_read_options said = {.device_count = 2, .bandwidth_bytes_per_s = 1};
    yk_graph_destroy(support_read_graph(WHOLE, &said));
    assert_int_equal(notes.count, 1);
    yk_log_set_sink(NULL, NULL);
}

static void another_version_is_refused(void **state)
{
    (void)state;
    assert_refused("{\"schemaVersion\": \"1.4\", \"workflow\": {}}", &two,
                   "\"schemaVersion\" is \"1.4\"; WfCommons is read in version 1.5");
    assert_refused("{\"schemaVersion\": 1.5, \"workflow\": {}}", &two,
                   "\"schemaVersion\" must be the string \"1.5\", the one that is read, not a "
                   "number");
    assert_refused("{\"workflow\": {}}", &two,
                   "\"schemaVersion\" must be the string \"1.5\", the one that is read, not "
                   "nothing");
}

static void devices_must_be_given(void **state)
{
    (void)state;
    assert_misused(WHOLE, NULL,
                   "this form has no devices of its own; say how many with --devices N or how "
                   "fast they are with --speeds");
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    assert_refused("{\"schemaVersion\": \"1.5\", \"workflow\": {}}", &two,
                   "workflow.execution.tasks must be a list, not nothing");
    assert_refused(WORKFLOW(TASK_A ", " TASK_B, FILE_X ", " FILE_Y, RUN_A), &two,
                   "task \"b\": workflow.execution.tasks has no runtimeInSeconds for it");
    assert_refused(WORKFLOW(TASK_A, FILE_X ", " FILE_Y, "{\"id\": \"a\"}"), &two,
                   "workflow.execution.tasks: \"a\" needs \"runtimeInSeconds\", a number of 0 or "
                   "more");
    assert_refused(WORKFLOW(TASK_A ", " TASK_B, FILE_X, RUN_A ", " RUN_B), &two,
                   "task \"a\": \"inputFiles\" names the file \"y\", which "
                   "workflow.specification.files does not list");
    assert_refused(WORKFLOW(TASK_B, FILE_X ", " FILE_Y, RUN_B), &two,
                   "task \"b\": its parent \"a\" is no task");
    assert_refused(WORKFLOW(TASK_A, FILE_X ", " FILE_Y, RUN_A), &two,
                   "task \"a\": its child \"b\" is no task");
    assert_refused(WORKFLOW("", "", ""), &two, "the graph has no tasks");
}

static void wrong_types_are_refused(void **state)
{
    (void)state;
    assert_refused("{\"schemaVersion\": \"1.5\", \"workflow\": 7}", &two,
                   "workflow.execution.tasks must be a list, not nothing");
    assert_refused("{\"schemaVersion\": \"1.5\", \"workflow\": {\"specification\": "
                   "{\"files\": {}}}}",
                   &two, "workflow.specification.files must be a list, not an object");
    assert_refused(WORKFLOW("7", "", ""), &two,
                   "workflow.specification.tasks[0]: \"id\" must be a string");
    assert_refused(WORKFLOW("{\"id\": 7}", "", ""), &two,
                   "workflow.specification.tasks[0]: \"id\" must be a string");
    assert_refused(WORKFLOW("{\"id\": \"a\", \"parents\": \"b\"}", "", RUN_A), &two,
                   "task \"a\": \"parents\" must be a list, not a string");
    assert_refused(WORKFLOW("{\"id\": \"a\", \"inputFiles\": [1]}", "", RUN_A), &two,
                   "task \"a\": \"inputFiles\" must be a list of strings");
    assert_refused(WORKFLOW("", "{\"id\": \"x\", \"sizeInBytes\": \"1\"}", ""), &two,
                   "workflow.specification.files: \"x\" needs \"sizeInBytes\", a number of 0 or "
                   "more");
    assert_refused(WORKFLOW("", "{\"id\": \"x\", \"sizeInBytes\": -1}", ""), &two,
                   "workflow.specification.files: \"x\" needs \"sizeInBytes\", a number of 0 or "
                   "more");
}

static void names_given_twice_are_refused(void **state)
{
    (void)state;
    assert_refused(WORKFLOW("", FILE_X ", " FILE_X, ""), &two,
                   "workflow.specification.files: \"x\" is given twice");
    assert_refused(WORKFLOW("", "", RUN_A ", " RUN_A), &two,
                   "workflow.execution.tasks: \"a\" is given twice");
    assert_refused(WORKFLOW("{\"id\": \"a\"}, {\"id\": \"a\"}", "", RUN_A), &two,
                   "task \"a\" is given twice; names must differ");
}

static void a_cycle_is_refused(void **state)
{
    (void)state;
    assert_refused(WORKFLOW("{\"id\": \"a\", \"parents\": [\"b\"], \"children\": [\"b\"]}, "
                            "{\"id\": \"b\"}",
                            "", RUN_A ", " RUN_B),
                   &two, "tasks wait for each other in a cycle: \"a\" -> \"b\" -> \"a\"");
}

static void a_file_cut_off_anywhere_is_refused(void **state)
{
    (void)state;
    assert_int_equal(support_count_accepted_prefixes(WHOLE, &two), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_files_and_run_times_come_together),
        cmocka_unit_test(an_edge_that_one_end_lists_is_enough),
        cmocka_unit_test(an_assumed_bandwidth_is_noted),
        cmocka_unit_test(another_version_is_refused),
        cmocka_unit_test(devices_must_be_given),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(wrong_types_are_refused),
        cmocka_unit_test(names_given_twice_are_refused),
        cmocka_unit_test(a_cycle_is_refused),
        cmocka_unit_test(a_file_cut_off_anywhere_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
