#include "support/support.h"

static const char small[] = "# planted optimum\n"
                            "3 2 2 10\n"
                            "4 2.5\n"
                            "3 6 # the second\n"
                            "8 7\n"
                            "0 1 5\n"
                            "0 2 0\n"
                            "# 0 0 0\n";

static void costs_and_edges_are_read(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(small, NULL);
    assert_int_equal(graph->task_count, 3);
    assert_int_equal(graph->device_count, 2);
    assert_int_equal(graph->edge_count, 2);
    assert_string_equal(graph->tasks[0].name, "0");
    assert_string_equal(graph->devices[1].name, "P2");
    assert_true(yk_graph_ticks_to_time(graph, yk_graph_task_cost(graph, 0, 1)) == 2.5);
    assert_true(yk_graph_ticks_to_time(graph, graph->edges[0].cost) == 5);
    assert_int_equal(graph->edges[1].to, 2);
    yk_graph_destroy(graph);
}

static void a_file_cut_off_anywhere_is_refused(void **state)
{
    (void)state;
    /* Only the line end and the comment after the last edge may be missing. */
    static const char whole_from[] = "\n# 0 0 0\n";
    assert_int_equal(support_count_accepted_prefixes(small, NULL), sizeof whole_from - 1);
}

static void counts_are_strict(void **state)
{
    (void)state;
    assert_refused("2 2 1 9\n1 2\n3 4\n# nothing more\n", NULL,
                   "line 5: the file ends after 0 of 1 edges");
    assert_refused("2 2 0 9\n1 2\n# nothing more\n", NULL,
                   "line 4: the file ends after 1 of 2 tasks");
    assert_refused("1 2 0 9\n1 2\n3 4\n", NULL,
                   "line 3: the file goes on after the last of 0 edges");
    assert_refused("1 2 0 9\n1 2 3\n", NULL,
                   "line 2, column 5: the line should end here, but goes on with \"3\"");
    assert_refused("1 2 0 9\n1\n2\n", NULL,
                   "line 2, column 2: the line ends where a cost should be");
    assert_refused("1 2 0 9 7\n1 2\n", NULL,
                   "line 1, column 9: the line should end here, but goes on with \"7\"");
    assert_refused("1 2 0\n1 2\n", NULL,
                   "line 1, column 6: the line ends where the planted optimum should be");
}

static void sizes_are_checked_before_anything_is_done_with_them(void **state)
{
    (void)state;
    assert_refused("2147483647 1024 2147483647 1\n1\n", NULL,
                   "line 1: 2147483647 tasks on 1024 devices and 2147483647 edges do not fit in a "
                   "file this short; is it whole?");
    assert_refused("1 1025 0 1\n1\n", NULL,
                   "line 1, column 3: the number of devices should be a whole number from 1 to "
                   "1024, not \"1025\"");
    assert_refused("9223372036854775808 1 0 1\n1\n", NULL,
                   "line 1, column 1: the number of tasks should be a whole number from 1 to "
                   "2147483647, not \"9223372036854775808\"");
    assert_refused("1 1 -1 1\n1\n", NULL,
                   "line 1, column 5: the number of edges should be a whole number from 0 to "
                   "2147483647, not \"-1\"");
    assert_refused("0 1 0 1\n1\n", NULL,
                   "line 1, column 1: the number of tasks should be a whole number from 1 to "
                   "2147483647, not \"0\"");
}

static void wrong_numbers_are_refused(void **state)
{
    (void)state;
    assert_refused("1 2 0 9\n1 -2\n", NULL, "line 2: task \"0\": its cost -2 is negative");
    assert_refused("1 2 0 9\n1 nan\n", NULL,
                   "line 2, column 3: a cost should be a number, not \"nan\"");
    assert_refused("1 2 0 9\n1 1e999\n", NULL,
                   "line 2, column 3: a cost should be a number, not \"1e999\"");
    assert_refused("2 1 1 9\n1\n1\n0 2 1\n", NULL,
                   "line 4, column 3: a task should be a whole number from 0 to 1, not \"2\"");
    assert_refused("2 1 1 9\n1\n1\n0 1 -1\n", NULL,
                   "line 4: edge \"0\" -> \"1\": its cost must be 0 or more");
    assert_refused("2 1 2 9\n1\n1\n0 1 1\n1 0 1\n", NULL,
                   "tasks wait for each other in a cycle: \"0\" -> \"1\" -> \"0\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_and_edges_are_read),
        cmocka_unit_test(a_file_cut_off_anywhere_is_refused),
        cmocka_unit_test(counts_are_strict),
        cmocka_unit_test(sizes_are_checked_before_anything_is_done_with_them),
        cmocka_unit_test(wrong_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
