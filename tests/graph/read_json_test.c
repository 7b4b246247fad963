#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A whole graph around the members given, on the devices P1 and P2. */
#define GRAPH(members)                                                                             \
    "{\"yoke\": 1, \"kind\": \"graph\", \"devices\": [\"P1\", \"P2\"], " members "}"
#define TASK_A "{\"name\": \"a\", \"cost\": 1}"
#define TASK_B "{\"name\": \"b\", \"cost\": 1}"
#define TASKS(tasks) GRAPH("\"tasks\": [" tasks "]")
#define EDGES(edges) GRAPH("\"tasks\": [" TASK_A ", " TASK_B "], \"edges\": [" edges "]")
#define LINKS(links)                                                                               \
    GRAPH("\"links\": " links ", \"tasks\": [" TASK_A ", " TASK_B                                  \
          "], \"edges\": [{\"from\": \"a\", \"to\": \"b\", \"bytes\": 100}]")

static double cost_of(const struct yk_graph *graph, int32_t task, int32_t device)
{
    return yk_graph_ticks_to_time(graph, yk_graph_task_cost(graph, task, device));
}

static void a_cost_is_for_all_devices_or_for_each(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(TASKS("{\"name\": \"a\", \"cost\": 3.5}, "
                                                      "{\"name\": \"b\", \"cost\": [1, null]}"),
                                                NULL);
    assert_true(cost_of(graph, 0, 0) == 3.5 && cost_of(graph, 0, 1) == 3.5);
    assert_true(cost_of(graph, 1, 0) == 1);
    assert_false(yk_graph_task_can_run_on(graph, 1, 1));
    yk_graph_destroy(graph);
}

static void units_make_the_second_the_unit_of_time(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(
        "{\"yoke\": 1, \"kind\": \"graph\", \"name\": \"n\", \"comment\": \"c\","
        " \"devices\": [{\"name\": \"gpu\", \"memory\": \"1KiB\"}, {\"name\": \"cpu\"}],"
        " \"links\": {\"latency\": \"1ms\", \"bandwidth\": \"1KB/s\"},"
        " \"tasks\": [{\"name\": \"a\", \"cost\": [\"10ms\", 2], \"memory\": \"2KB\"},"
        "             {\"name\": \"b\", \"cost\": \"1s\"}],"
        " \"edges\": [{\"from\": \"a\", \"to\": \"b\", \"bytes\": \"500B\"}]}",
        NULL);
    assert_true(cost_of(graph, 0, 0) == 0.01 && cost_of(graph, 0, 1) == 2);
    assert_int_equal(graph->devices[0].memory_bytes, 1024);
    assert_true(graph->devices[1].memory_bytes == YK_GRAPH_UNLIMITED_MEMORY);
    assert_int_equal(graph->tasks[0].memory_bytes, 2000);
    assert_int_equal(graph->edges[0].bytes, 500);
    assert_true(yk_graph_ticks_to_time(graph, yk_graph_transfer_ticks(graph, graph->edges, 0, 1)) ==
                0.501);
    yk_graph_destroy(graph);
}

static void an_edge_with_cost_and_bytes_has_the_cost(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(
        EDGES("{\"from\": \"a\", \"to\": \"b\", \"cost\": 4, \"bytes\": 10}"), NULL);
    assert_true(yk_graph_ticks_to_time(graph, graph->edges[0].cost) == 4);
    assert_int_equal(graph->edges[0].bytes, 10);
    yk_graph_destroy(graph);
}

static void edges_may_be_left_out(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(TASKS(TASK_A), NULL);
    assert_int_equal(graph->edge_count, 0);
    yk_graph_destroy(graph);
}

static void links_may_be_given_by_pair_with_one_for_the_rest(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(
        "{\"yoke\": 1, \"kind\": \"graph\", \"devices\": [\"P1\", \"P2\", \"P3\"],"
        " \"links\": [{\"bandwidth\": 10},"
        "             {\"between\": [\"P3\", \"P1\"], \"latency\": 1, \"bandwidth\": 50}],"
        " \"tasks\": [" TASK_A ", " TASK_B "],"
        " \"edges\": [{\"from\": \"a\", \"to\": \"b\", \"bytes\": 100}]}",
        NULL);
    assert_true(yk_graph_ticks_to_time(graph, yk_graph_transfer_ticks(graph, graph->edges, 0, 2)) ==
                3);
    assert_true(yk_graph_ticks_to_time(graph, yk_graph_transfer_ticks(graph, graph->edges, 2, 0)) ==
                3);
    assert_true(yk_graph_ticks_to_time(graph, yk_graph_transfer_ticks(graph, graph->edges, 1, 2)) ==
                10);
    yk_graph_destroy(graph);
}

static void groups_gather_their_tasks_and_resident_bytes(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(
        GRAPH("\"groups\": [{\"name\": \"g\", \"resident\": \"1KiB\"}, {\"name\": \"h\"}],"
              "\"tasks\": [{\"name\": \"1\", \"cost\": 1, \"group\": \"h\"},"
              "            {\"name\": \"2\", \"cost\": 1, \"group\": \"g\", \"resident\": 1024},"
              "            {\"name\": \"3\", \"cost\": 1, \"group\": \"g\"},"
              "            {\"name\": \"4\", \"cost\": 1},"
              "            {\"name\": \"5\", \"cost\": 1, \"group\": \"k\", \"resident\": 7}]"),
        NULL);
    assert_int_equal(graph->group_count, 3);
    assert_int_equal(graph->tasks[1].group, graph->tasks[2].group);
    assert_int_equal(graph->tasks[3].group, YK_GRAPH_NO_GROUP);
    assert_string_equal(graph->groups[graph->tasks[1].group].name, "g");
    assert_int_equal(graph->groups[graph->tasks[0].group].resident_bytes, 0);
    assert_int_equal(graph->groups[graph->tasks[1].group].resident_bytes, 1024);
    assert_int_equal(graph->groups[graph->tasks[4].group].resident_bytes, 7);
    yk_graph_destroy(graph);
}

#define STORES(list, store)                                                                        \
    GRAPH("\"stores\": [" list "], \"groups\": [{\"name\": \"g\", \"store\": " store               \
          "}, {\"name\": \"h\", \"store\": \"w\"}],"                                               \
          "\"tasks\": [{\"name\": \"1\", \"cost\": 1, \"group\": \"h\"},"                          \
          "{\"name\": \"2\", \"cost\": 1, \"group\": \"g\"}]")

static void groups_may_use_one_store(void **state)
{
    (void)state;
    struct yk_graph *graph =
        support_read_graph(STORES("{\"name\": \"w\", \"bytes\": \"1KiB\"}", "\"w\""), NULL);
    assert_int_equal(graph->store_count, 1);
    assert_int_equal(graph->shared_stores[0].bytes, 1024);
    assert_int_equal(graph->groups[graph->tasks[0].group].shared_store, 0);
    assert_int_equal(graph->groups[graph->tasks[1].group].shared_store, 0);
    yk_graph_destroy(graph);
}

static void stores_that_do_not_add_up_are_refused(void **state)
{
    (void)state;
    assert_refused(STORES("{\"name\": \"w\", \"bytes\": 1}", "\"v\""), NULL,
                   "groups[0] (\"g\"): there is no store \"v\" in \"stores\"");
    assert_refused(STORES("{\"name\": \"w\", \"bytes\": 1}", "7"), NULL,
                   "groups[0] (\"g\"): \"store\" must be a string: \"7\", not 7");
    assert_refused(STORES("{\"name\": \"w\"}", "\"w\""), NULL,
                   "stores[0] (\"w\"): \"bytes\" is missing");
    assert_refused(STORES("{\"name\": \"w\", \"bytes\": -1}", "\"w\""), NULL,
                   "stores[0] (\"w\"): store \"w\": bytes must be a number of bytes, 0 or more");
    assert_refused(
        STORES("{\"name\": \"w\", \"bytes\": 1}, {\"name\": \"w\", \"bytes\": 1}", "\"w\""), NULL,
        "stores[1] (\"w\"): this store is given twice");
    assert_refused(
        STORES("{\"name\": \"w\", \"bytes\": 1}, {\"name\": \"v\", \"bytes\": 1}", "\"w\""), NULL,
        "stores[1] (\"v\"): no group uses this store");
}

static void a_task_with_resident_bytes_alone_is_a_group_of_its_own(void **state)
{
    (void)state;
    struct yk_graph *graph =
        support_read_graph(TASKS("{\"name\": \"x\", \"cost\": 1, \"resident\": 5},"
                                 "{\"name\": \"y\", \"cost\": 1, \"resident\": 6},"
                                 "{\"name\": \"z\", \"cost\": 1, \"group\": \"x\"}"),
                           NULL);
    assert_int_equal(graph->group_count, 3);
    assert_string_equal(graph->groups[graph->tasks[0].group].name, "x (2)");
    assert_int_equal(graph->groups[graph->tasks[0].group].resident_bytes, 5);
    assert_string_equal(graph->groups[graph->tasks[1].group].name, "y");
    assert_string_equal(graph->groups[graph->tasks[2].group].name, "x");
    assert_int_equal(graph->groups[graph->tasks[2].group].resident_bytes, 0);
    yk_graph_destroy(graph);
}

static void groups_that_contradict_each_other_are_refused(void **state)
{
    (void)state;
    assert_refused(TASKS("{\"name\": \"x\", \"cost\": 1, \"group\": \"g\", \"resident\": 5},"
                         "{\"name\": \"y\", \"cost\": 1, \"group\": \"g\", \"resident\": 6}"),
                   NULL,
                   "tasks[1] (\"y\"): \"resident\" is 6 here, but 5 bytes were given for group "
                   "\"g\" before");
    assert_refused(GRAPH("\"groups\": [{\"name\": \"g\"}, {\"name\": \"g\"}], \"tasks\": []"), NULL,
                   "groups[1] (\"g\"): this group is given twice");
}

static void a_group_with_no_tasks_is_refused(void **state)
{
    (void)state;
    assert_refused(GRAPH("\"groups\": [{\"name\": \"encodr\", \"resident\": 1}], "
                         "\"tasks\": [{\"name\": \"a\", \"cost\": 1, \"group\": \"encoder\"}]"),
                   NULL,
                   "groups[0] (\"encodr\"): no task is in this group; did you mean \"encoder\"?");
    assert_refused(GRAPH("\"groups\": [{\"name\": \"g\"}], \"tasks\": [" TASK_A "]"), NULL,
                   "groups[0] (\"g\"): no task is in this group");
}

static void the_version_and_kind_must_be_right(void **state)
{
    (void)state;
    assert_refused("{\"tasks\": []}", NULL,
                   "\"yoke\" is missing; a graph says \"yoke\": 1, the version of its form");
    assert_refused("{\"yoke\": 2, \"new\": 1}", NULL,
                   "\"yoke\" is 2, but this program reads version 1");
    assert_refused("{\"yoke\": \"1\"}", NULL, "\"yoke\" must be 1, not a string");
    assert_refused("{\"yoke\": 1}", NULL, "\"kind\" is missing");
    assert_refused("{\"yoke\": 1, \"kind\": \"plan\"}", NULL,
                   "\"kind\" is \"plan\", but a \"graph\" is needed here");
    assert_refused("{\"yoke\": 1, \"kind\": 3}", NULL, "\"kind\" must be a string: \"3\", not 3");
}

static void unknown_keys_come_with_a_suggestion_and_a_place(void **state)
{
    (void)state;
    assert_refused(GRAPH("\"taks\": []"), NULL, "unknown key \"taks\"; did you mean \"tasks\"?");
    assert_refused(TASKS(TASK_A ", {\"name\": \"x\", \"cots\": 1}"), NULL,
                   "tasks[1] (\"x\"): unknown key \"cots\"; did you mean \"cost\"?");
    assert_refused(TASKS("{\"nmae\": \"x\", \"cost\": 1}"), NULL,
                   "tasks[0]: unknown key \"nmae\"; did you mean \"name\"?");
    assert_refused(EDGES("{\"from\": \"a\", \"too\": \"b\", \"cost\": 1}"), NULL,
                   "edges[0]: unknown key \"too\"; did you mean \"to\"?");
    assert_refused(LINKS("{\"bandwith\": 1}"), NULL,
                   "links: unknown key \"bandwith\"; did you mean \"bandwidth\"?");
    assert_refused(LINKS("[{\"betwen\": [], \"bandwidth\": 1}]"), NULL,
                   "links[0]: unknown key \"betwen\"; did you mean \"between\"?");
    assert_refused(GRAPH("\"groups\": [{\"name\": \"g\", \"bytes\": 1}], \"tasks\": []"), NULL,
                   "groups[0] (\"g\"): unknown key \"bytes\"");
    assert_refused("{\"yoke\": 1, \"kind\": \"graph\", \"devices\": [{\"name\": \"P1\", "
                   "\"memroy\": 1}], \"tasks\": []}",
                   NULL, "devices[0]: unknown key \"memroy\"; did you mean \"memory\"?");
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    assert_refused("{\"yoke\": 1, \"kind\": \"graph\", \"tasks\": []}", NULL,
                   "\"devices\" is missing");
    assert_refused("{\"yoke\": 1, \"kind\": \"graph\", \"devices\": [], \"tasks\": []}", NULL,
                   "\"devices\" is empty");
    assert_refused(GRAPH("\"edges\": []"), NULL, "\"tasks\" is missing");
    assert_refused(TASKS(""), NULL, "the graph has no tasks");
    assert_refused(TASKS("{\"cost\": 1}"), NULL, "tasks[0]: \"name\" is missing");
    assert_refused(TASKS("{\"name\": \"a\"}"), NULL, "tasks[0] (\"a\"): \"cost\" is missing");
    assert_refused(EDGES("{\"from\": \"a\", \"cost\": 1}"), NULL, "edges[0]: \"to\" is missing");
    assert_refused(EDGES("{\"from\": \"a\", \"to\": \"b\"}"), NULL,
                   "edges[0]: \"cost\" is missing; give the edge a cost or bytes");
    assert_refused(LINKS("{\"latency\": 1}"), NULL, "links: \"bandwidth\" is missing");
}

static void wrong_types_are_refused_everywhere(void **state)
{
    (void)state;
    assert_refused(GRAPH("\"tasks\": {}"), NULL, "\"tasks\" must be a list, not an object");
    assert_refused(GRAPH("\"tasks\": [" TASK_A "], \"edges\": 5"), NULL,
                   "\"edges\" must be a list, not a number");
    assert_refused(GRAPH("\"tasks\": [], \"groups\": true"), NULL,
                   "\"groups\" must be a list, not true or false");
    assert_refused(GRAPH("\"tasks\": [], \"name\": 5"), NULL,
                   "\"name\" must be a string, not a number");
    assert_refused(GRAPH("\"tasks\": [], \"comment\": []"), NULL,
                   "\"comment\" must be a string, not a list");
    assert_refused("{\"yoke\": 1, \"kind\": \"graph\", \"devices\": \"P1\", \"tasks\": []}", NULL,
                   "\"devices\" must be a list, not a string");
    assert_refused("{\"yoke\": 1, \"kind\": \"graph\", \"devices\": [4], \"tasks\": []}", NULL,
                   "devices[0]: \"name\" must be a string: \"4\", not 4");
    assert_refused("{\"yoke\": 1, \"kind\": \"graph\", \"devices\": [null], \"tasks\": []}", NULL,
                   "devices[0]: \"name\" must be a string, not null");
    assert_refused(TASKS("\"a\""), NULL, "tasks[0]: this must be an object, not a string");
    assert_refused(TASKS("{\"name\": 7, \"cost\": 1}"), NULL,
                   "tasks[0]: \"name\" must be a string: \"7\", not 7");
    assert_refused(TASKS("{\"name\": \"\", \"cost\": 1}"), NULL, "tasks[0]: \"name\" is empty");
    assert_refused(TASKS("{\"name\": \"a\", \"cost\": null}"), NULL,
                   "tasks[0] (\"a\"): \"cost\" must be a number, not null");
    assert_refused(TASKS("{\"name\": \"a\", \"cost\": [1, true]}"), NULL,
                   "tasks[0] (\"a\"): \"cost\" must be a number, not true or false");
    assert_refused(TASKS("{\"name\": \"a\", \"cost\": [1]}"), NULL,
                   "tasks[0] (\"a\"): \"cost\" has 1 entries for 2 devices");
    assert_refused(TASKS("{\"name\": \"a\", \"cost\": \"5\"}"), NULL,
                   "tasks[0] (\"a\"): cost: \"5\" has no unit; write a time like 10us");
    assert_refused(TASKS("{\"name\": \"a\", \"cost\": 1, \"memory\": []}"), NULL,
                   "tasks[0] (\"a\"): \"memory\" must be a number, not a list");
    assert_refused(TASKS("{\"name\": \"a\", \"cost\": 1, \"group\": 1.5}"), NULL,
                   "tasks[0] (\"a\"): \"group\" must be a string: \"1.5\", not 1.5");
    assert_refused(TASKS("{\"name\": \"a\", \"cost\": 1, \"group\": \"\"}"), NULL,
                   "tasks[0] (\"a\"): \"group\" is empty");
    assert_refused(TASKS("{\"name\": \"a\", \"cost\": 1, \"resident\": \"x\"}"), NULL,
                   "tasks[0] (\"a\"): resident: \"x\" is not a size; write it like 24GiB");
    assert_refused(EDGES("7"), NULL, "edges[0]: this must be an object, not a number");
    assert_refused(EDGES("{\"from\": 1, \"to\": \"b\", \"cost\": 1}"), NULL,
                   "edges[0]: \"from\" must be a string: \"1\", not 1");
    assert_refused(EDGES("{\"from\": \"a\", \"to\": \"b\", \"bytes\": null}"), NULL,
                   "edges[0]: \"bytes\" must be a number, not null");
    assert_refused(LINKS("5"), NULL, "links: this must be an object, not a number");
    assert_refused(LINKS("[{\"between\": \"P1\", \"bandwidth\": 1}]"), NULL,
                   "links[0]: \"between\" must be a list of two devices");
    assert_refused(LINKS("[{\"between\": [1, 2], \"bandwidth\": 1}]"), NULL,
                   "links[0]: \"between\" must be a string: \"1\", not 1");
}

static void wrong_numbers_are_refused(void **state)
{
    (void)state;
    assert_refused(TASKS("{\"name\": \"a\", \"cost\": -1}"), NULL,
                   "task \"a\": its cost -1 is negative");
    assert_refused(TASKS("{\"name\": \"a\", \"cost\": 1e999}"), NULL,
                   "line 1, column 91: broken JSON: real number overflow");
    assert_refused(TASKS("{\"name\": \"a\", \"cost\": 1e300}"), NULL,
                   "all costs together are 1e+300, which is too large; use a larger unit of time");
    assert_refused(TASKS("{\"name\": \"a\", \"cost\": 1, \"memory\": -1}"), NULL,
                   "task \"a\": memory must be a number of bytes, 0 or more");
    assert_refused(TASKS("{\"name\": \"a\", \"cost\": 1, \"resident\": 1e300}"), NULL,
                   "group \"a\": resident of 1e+300 bytes is too large");
    assert_refused(LINKS("{\"bandwidth\": 0}"), NULL, "links: a bandwidth must be more than 0");
    assert_refused(LINKS("{\"bandwidth\": 1, \"latency\": -1}"), NULL,
                   "links: a latency must be 0 or more");
    assert_refused(LINKS("[{\"bandwidth\": 1}, {\"bandwidth\": 2}]"), NULL,
                   "links[1]: a second link without \"between\"; only one can be for all other "
                   "pairs");
    assert_refused(LINKS("[]"), NULL,
                   "edge \"a\" -> \"b\" has bytes but the graph has no \"links\" to carry them; "
                   "give it a cost, add links or say --bandwidth");
}

static void graphs_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    assert_refused(TASKS(TASK_A ", " TASK_A), NULL, "task \"a\" is given twice; names must differ");
    assert_refused(TASKS("{\"name\": \"a\", \"cost\": [null, null]}"), NULL,
                   "task \"a\": no device can run it");
    assert_refused(TASKS("{\"name\": \"a\", \"cost\": [1, null], \"group\": \"g\"}, "
                         "{\"name\": \"b\", \"cost\": [null, 1], \"group\": \"g\"}"),
                   NULL, "group \"g\": no device can run all of its tasks");
    assert_refused(EDGES("{\"from\": \"a\", \"to\": \"c\", \"cost\": 1}"), NULL,
                   "edge \"a\" -> \"c\": there is no task \"c\"");
    assert_refused(EDGES("{\"from\": \"a\", \"to\": \"b\", \"cost\": 1}, "
                         "{\"from\": \"b\", \"to\": \"a\", \"cost\": 1}"),
                   NULL, "tasks wait for each other in a cycle: \"a\" -> \"b\" -> \"a\"");
    assert_refused("{\"yoke\": 1, \"kind\": \"graph\", \"devices\": [\"P1\", \"P1\"], "
                   "\"tasks\": []}",
                   NULL, "device \"P1\" is given twice; names must differ");
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    enum {
        DEPTH = 100000
    };
    char *text = malloc(DEPTH + 100);
    assert_non_null(text);
    const int length = snprintf(text, 100, "{\"yoke\": 1, \"tasks\": ");
    memset(text + length, '[', DEPTH);
    struct yk_graph *graph = NULL;
    assert_int_equal(yk_graph_read_text(text, (size_t)length + DEPTH, SUPPORT_SOURCE, NULL, &graph),
                     YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "depth"));
    free(text);
}

static void a_file_cut_off_anywhere_is_refused(void **state)
{
    (void)state;
    assert_int_equal(support_count_accepted_prefixes(LINKS("[{\"bandwidth\": \"1GB/s\"}]"), NULL),
                     0);
}

static void broken_utf8_is_refused_with_its_place(void **state)
{
    (void)state;
    assert_refused(TASKS("{\"name\": \"\xff\", \"cost\": 1}"), NULL,
                   "line 1, column 74: broken JSON: unable to decode byte 0xff");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cost_is_for_all_devices_or_for_each),
        cmocka_unit_test(units_make_the_second_the_unit_of_time),
        cmocka_unit_test(an_edge_with_cost_and_bytes_has_the_cost),
        cmocka_unit_test(edges_may_be_left_out),
        cmocka_unit_test(links_may_be_given_by_pair_with_one_for_the_rest),
        cmocka_unit_test(groups_gather_their_tasks_and_resident_bytes),
        cmocka_unit_test(groups_may_use_one_store),
        cmocka_unit_test(stores_that_do_not_add_up_are_refused),
        cmocka_unit_test(a_task_with_resident_bytes_alone_is_a_group_of_its_own),
        cmocka_unit_test(groups_that_contradict_each_other_are_refused),
        cmocka_unit_test(a_group_with_no_tasks_is_refused),
        cmocka_unit_test(the_version_and_kind_must_be_right),
        cmocka_unit_test(unknown_keys_come_with_a_suggestion_and_a_place),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(wrong_types_are_refused_everywhere),
        cmocka_unit_test(wrong_numbers_are_refused),
        cmocka_unit_test(graphs_that_make_no_sense_are_refused),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(a_file_cut_off_anywhere_is_refused),
        cmocka_unit_test(broken_utf8_is_refused_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
