#include "support/support.h"

static const struct yk_graph_read_options two = {.device_count = 2};

static const char diamond[] = "# a diamond between two dummies\n"
                              "   4\n"
                              "   0   0   0\n"
                              "   1   5   1   0\n"
                              "   2   7   1   1\n"
                              "   3   2   1   1\n"
                              "   4   3   2   2   3\n"
                              "   5   0   1   4   # the exit\n"
                              "# the end\n";

static void tasks_times_and_predecessors_are_read(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(diamond, &two);
    assert_int_equal(graph->task_count, 6);
    assert_int_equal(graph->edge_count, 6);
    assert_int_equal(graph->device_count, 2);
    assert_string_equal(graph->tasks[4].name, "4");
    assert_true(yk_graph_ticks_to_time(graph, yk_graph_task_cost(graph, 2, 1)) == 7);
    assert_int_equal(graph->in_first[5] - graph->in_first[4], 2);
    for (int32_t e = 0; e < graph->edge_count; e++) {
        assert_int_equal(graph->edges[e].cost, 0);
        assert_int_equal(graph->edges[e].bytes, 0);
    }
    yk_graph_destroy(graph);
}

static void a_count_that_includes_the_dummies_is_accepted(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph("3\r\n0 0 0\r\n1 5 1 0\r\n2 0 1 1\r\n", &two);
    assert_int_equal(graph->task_count, 3);
    yk_graph_destroy(graph);
}

static void a_file_that_lacks_its_last_rows_is_refused(void **state)
{
    (void)state;
    assert_refused("2\n0 0 0\n1 5 1 0\n", &two,
                   "line 4: the file ends with 2 rows, but 2 tasks and two dummies make 4; is it "
                   "whole?");
    assert_refused("2\n0 0 0\n1 5 1 0\n2 5 1 0\n", &two,
                   "line 5: the file ends with 3 rows, but 2 tasks and two dummies make 4; is it "
                   "whole?");
    assert_refused("1\n0 0 0\n1 5 1 0\n2 0 1 1\n3 0 1 2\n", &two,
                   "line 6: the file ends with 4 rows, but 1 tasks and two dummies make 3; is it "
                   "whole?");
    assert_refused("50\n", &two,
                   "line 2: the file ends with 0 rows, but 50 tasks and two dummies make 52; is it "
                   "whole?");
}

static void a_file_cut_off_anywhere_is_refused(void **state)
{
    (void)state;
    /* Only what follows the last number may be missing. */
    static const char whole_from[] = "   # the exit\n# the end\n";
    const int accepted = support_count_accepted_prefixes(diamond, &two);
    assert_int_equal(accepted, sizeof whole_from - 1);
}

static void rows_must_be_in_order(void **state)
{
    (void)state;
    assert_refused("1\n0 0 0\n2 5 1 0\n1 0 1 1\n", &two,
                   "line 3, column 1: the task's number should be 1, not \"2\"");
}

static void a_row_must_be_as_long_as_it_says(void **state)
{
    (void)state;
    assert_refused("1\n0 0 0\n1 5 2 0\n2 0 1 1\n", &two,
                   "line 3, column 8: the line ends where a predecessor should be");
    assert_refused("1\n0 0 0\n1 5 1 0 0\n2 0 1 1\n", &two,
                   "line 3, column 9: the line should end here, but goes on with \"0\"");
    assert_refused("1\n0\n1 5 1 0\n2 0 1 1\n", &two,
                   "line 2, column 2: the line ends where the task's time should be");
}

static void wrong_numbers_are_refused(void **state)
{
    (void)state;
    assert_refused("1\n0 0 0\n1 -5 1 0\n2 0 1 1\n", &two,
                   "line 3: task \"1\": its cost -5 is negative");
    assert_refused("1\n0 0 0\n1 1e999 1 0\n2 0 1 1\n", &two,
                   "line 3, column 3: the task's time should be a number, not \"1e999\"");
    assert_refused("1\n0 0 0\n1 5 1 3\n2 0 1 1\n", &two,
                   "line 3, column 7: a predecessor should be a whole number from 0 to 2, not "
                   "\"3\"");
    assert_refused("1\n0 0 0\n1 5 99999999999 3\n2 0 1 1\n", &two,
                   "line 3, column 5: the number of predecessors should be a whole number from 0 "
                   "to 3, not \"99999999999\"");
    assert_refused("0\n", &two,
                   "line 1, column 1: the number of tasks should be a whole number from 1 to "
                   "2147483647, not \"0\"");
    assert_refused("99999999999999999999\n", &two,
                   "line 1, column 1: the number of tasks should be a whole number from 1 to "
                   "2147483647, not \"99999999999999999999\"");
}

static void a_cycle_is_refused(void **state)
{
    (void)state;
    assert_refused("2\n0 0 0\n1 5 1 2\n2 5 1 1\n3 0 1 2\n", &two,
                   "tasks wait for each other in a cycle: \"1\" -> \"2\" -> \"1\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_times_and_predecessors_are_read),
        cmocka_unit_test(a_count_that_includes_the_dummies_is_accepted),
        cmocka_unit_test(a_file_that_lacks_its_last_rows_is_refused),
        cmocka_unit_test(a_file_cut_off_anywhere_is_refused),
        cmocka_unit_test(rows_must_be_in_order),
        cmocka_unit_test(a_row_must_be_as_long_as_it_says),
        cmocka_unit_test(wrong_numbers_are_refused),
        cmocka_unit_test(a_cycle_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
