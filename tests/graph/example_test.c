/* The expected numbers are those of the paper: Topcuoglu, Hariri, Wu, 2002, figure 2. */
#include "support/support.h"

static void the_example_is_the_graph_of_the_heft_paper(void **state)
{
    (void)state;
    static const int costs[10][3] = {{14, 16, 9},  {13, 19, 18}, {11, 13, 19}, {13, 8, 17},
                                     {12, 13, 10}, {13, 16, 9},  {7, 15, 11},  {5, 11, 14},
                                     {18, 12, 20}, {21, 7, 16}};
    static const int edges[15][3] = {{1, 2, 18}, {1, 3, 12}, {1, 4, 9},   {1, 5, 11},  {1, 6, 14},
                                     {2, 8, 19}, {2, 9, 16}, {3, 7, 23},  {4, 8, 27},  {4, 9, 23},
                                     {5, 9, 13}, {6, 8, 15}, {7, 10, 17}, {8, 10, 11}, {9, 10, 13}};
    struct yk_graph *graph = support_read_graph(yk_graph_heft_example_json, NULL);
    assert_int_equal(graph->task_count, 10);
    assert_int_equal(graph->device_count, 3);
    assert_int_equal(graph->edge_count, 15);
    for (int32_t i = 0; i < 10; i++) {
        for (int32_t p = 0; p < 3; p++) {
            assert_true(yk_graph_ticks_to_time(graph, yk_graph_task_cost(graph, i, p)) ==
                        costs[i][p]);
        }
    }
    for (int32_t e = 0; e < 15; e++) {
        assert_int_equal(graph->edges[e].from, edges[e][0] - 1);
        assert_int_equal(graph->edges[e].to, edges[e][1] - 1);
        assert_true(yk_graph_ticks_to_time(graph, graph->edges[e].cost) == edges[e][2]);
    }
    assert_string_equal(graph->tasks[9].name, "10");
    assert_string_equal(graph->devices[0].name, "P1");
    yk_graph_destroy(graph);
}

static void the_example_cut_off_anywhere_is_refused(void **state)
{
    (void)state;
    /* Without the line end after its last brace the text is still whole. */
    assert_int_equal(support_count_accepted_prefixes(yk_graph_heft_example_json, NULL), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_is_the_graph_of_the_heft_paper),
        cmocka_unit_test(the_example_cut_off_anywhere_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
