#include "support/support.h"

#include "graph/builder.h"

#include <stdio.h>

static int make_builder(void **state)
{
    struct yk_graph_builder *builder = NULL;
    yk_status status = yk_graph_builder_create(&builder);
    *state = builder;
    return (int)status;
}

static int drop_builder(void **state)
{
    yk_graph_builder_destroy(*state);
    return 0;
}

static void add_devices(struct yk_graph_builder *builder, int count)
{
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "P%d", i + 1);
        assert_ok(yk_graph_builder_add_device(builder, name, INFINITY));
    }
}

static void add_task(struct yk_graph_builder *builder, const char *name, double on_first,
                     double on_second)
{
    const double costs[] = {on_first, on_second};
    assert_ok(yk_graph_builder_add_task(builder, name, costs));
}

static yk_status add_edge(struct yk_graph_builder *builder, const char *from, const char *to,
                          double cost, double bytes)
{
    const struct yk_graph_builder_edge edge = {
        .from = from, .to = to, .cost = cost, .bytes = bytes};
    return yk_graph_builder_add_edge(builder, &edge);
}

static struct yk_graph *finish(struct yk_graph_builder *builder)
{
    struct yk_graph *graph = NULL;
    assert_ok(yk_graph_builder_finish(builder, &graph));
    assert_null(support_broken_promise(graph));
    return graph;
}

static void assert_unfinished(struct yk_graph_builder *builder, const char *message)
{
    struct yk_graph *graph = NULL;
    assert_fails(yk_graph_builder_finish(builder, &graph), YK_ERROR_INPUT, message);
    assert_null(graph);
}

static void costs_become_exact_ticks(void **state)
{
    add_devices(*state, 2);
    add_task(*state, "a", 0.1, 0.2);
    add_task(*state, "b", 0.3, NAN);
    assert_ok(add_edge(*state, "a", "b", 0.7, 5));
    struct yk_graph *graph = finish(*state);
    assert_int_equal(yk_graph_task_cost(graph, 0, 0) + yk_graph_task_cost(graph, 0, 1),
                     yk_graph_task_cost(graph, 1, 0));
    assert_false(yk_graph_task_can_run_on(graph, 1, 1));
    assert_true(yk_graph_ticks_to_time(graph, graph->edges[0].cost) == 0.7);
    assert_int_equal(graph->edges[0].bytes, 5);
    yk_graph_destroy(graph);
}

static void edges_are_sorted_by_their_first_task_and_then_as_given(void **state)
{
    add_devices(*state, 2);
    add_task(*state, "a", 1, 1);
    add_task(*state, "b", 1, 1);
    add_task(*state, "c", 1, 1);
    assert_ok(add_edge(*state, "c", "b", 1, 0));
    assert_ok(add_edge(*state, "a", "c", 2, 0));
    assert_ok(add_edge(*state, "a", "b", 3, 0));
    struct yk_graph *graph = finish(*state);
    assert_true(yk_graph_ticks_to_time(graph, graph->edges[0].cost) == 2);
    assert_true(yk_graph_ticks_to_time(graph, graph->edges[1].cost) == 3);
    assert_true(yk_graph_ticks_to_time(graph, graph->edges[2].cost) == 1);
    static const int32_t order[] = {0, 2, 1};
    assert_memory_equal(graph->order, order, sizeof order);
    yk_graph_destroy(graph);
}

static void a_cycle_is_reported_with_its_tasks_in_order(void **state)
{
    add_devices(*state, 2);
    static const char *const names[] = {"start", "a", "b", "c", "end"};
    for (int i = 0; i < 5; i++) {
        add_task(*state, names[i], 1, 1);
    }
    assert_ok(add_edge(*state, "start", "a", 0, 0));
    assert_ok(add_edge(*state, "a", "b", 0, 0));
    assert_ok(add_edge(*state, "b", "c", 0, 0));
    assert_ok(add_edge(*state, "c", "a", 0, 0));
    assert_ok(add_edge(*state, "c", "end", 0, 0));
    assert_unfinished(*state,
                      "tasks wait for each other in a cycle: \"a\" -> \"b\" -> \"c\" -> \"a\"");
}

static void a_task_that_waits_for_itself_is_a_cycle(void **state)
{
    add_devices(*state, 2);
    add_task(*state, "a", 1, 1);
    assert_ok(add_edge(*state, "a", "a", 0, 0));
    assert_unfinished(*state, "tasks wait for each other in a cycle: \"a\" -> \"a\"");
}

static void a_long_cycle_is_shortened(void **state)
{
    enum {
        LENGTH = 1000
    };
    char name[16];
    char next[16];
    add_devices(*state, 2);
    for (int i = 0; i < LENGTH; i++) {
        snprintf(name, sizeof name, "%d", i);
        add_task(*state, name, 1, 1);
    }
    for (int i = 0; i < LENGTH; i++) {
        snprintf(name, sizeof name, "%d", i);
        snprintf(next, sizeof next, "%d", (i + 1) % LENGTH);
        assert_ok(add_edge(*state, name, next, 0, 0));
    }
    assert_unfinished(*state, "tasks wait for each other in a cycle: \"0\" -> \"1\" -> \"2\" -> "
                              "\"3\" -> \"4\" -> \"5\" -> \"6\" -> \"7\" -> \"8\" -> … (991 more) "
                              "-> \"0\"");
}

static void a_graph_needs_devices_and_tasks(void **state)
{
    assert_unfinished(*state, "the graph has no tasks");
    const double cost = 1;
    assert_fails(yk_graph_builder_add_task(*state, "a", &cost), YK_ERROR_INPUT,
                 "there is no device to run anything on");
}

static void names_must_differ(void **state)
{
    const double costs[] = {1, 1};
    add_devices(*state, 2);
    add_task(*state, "a", 1, 1);
    assert_fails(yk_graph_builder_add_device(*state, "P1", INFINITY), YK_ERROR_INPUT,
                 "device \"P1\" is given twice; names must differ");
    assert_fails(yk_graph_builder_add_task(*state, "a", costs), YK_ERROR_INPUT,
                 "task \"a\" is given twice; names must differ");
    assert_fails(yk_graph_builder_add_task(*state, "", costs), YK_ERROR_INPUT,
                 "a task has an empty name");
}

static void costs_must_be_finite_and_not_negative(void **state)
{
    const double negative[] = {1, -2.5};
    const double infinite[] = {INFINITY, 1};
    add_devices(*state, 2);
    assert_fails(yk_graph_builder_add_task(*state, "a", negative), YK_ERROR_INPUT,
                 "task \"a\": its cost -2.5 is negative");
    assert_fails(yk_graph_builder_add_task(*state, "a", infinite), YK_ERROR_INPUT,
                 "task \"a\": its cost is not finite");
    add_task(*state, "a", 1, 1);
    add_task(*state, "b", 1, 1);
    assert_fails(add_edge(*state, "a", "b", -1, 0), YK_ERROR_INPUT,
                 "edge \"a\" -> \"b\": its cost must be 0 or more");
    assert_fails(add_edge(*state, "a", "b", 0, -1), YK_ERROR_INPUT,
                 "edge \"a\" -> \"b\": its bytes must be from 0 to 9 petabytes");
    assert_fails(add_edge(*state, "a", "b", 0, NAN), YK_ERROR_INPUT,
                 "edge \"a\" -> \"b\": its bytes must be from 0 to 9 petabytes");
}

static void an_edge_needs_both_of_its_tasks(void **state)
{
    add_devices(*state, 2);
    add_task(*state, "a", 1, 1);
    assert_fails(add_edge(*state, "a", "nowhere", 1, 0), YK_ERROR_INPUT,
                 "edge \"a\" -> \"nowhere\": there is no task \"nowhere\"");
    assert_fails(add_edge(*state, "b", "a", 1, 0), YK_ERROR_INPUT,
                 "edge \"b\" -> \"a\": there is no task \"b\"");
}

static void every_task_needs_a_device(void **state)
{
    add_devices(*state, 2);
    add_task(*state, "a", NAN, NAN);
    assert_unfinished(*state, "task \"a\": no device can run it");
}

static void a_group_runs_where_all_of_its_tasks_can(void **state)
{
    add_devices(*state, 2);
    add_task(*state, "a", 1, 1);
    assert_ok(yk_graph_builder_set_last_task_group(*state, "g"));
    add_task(*state, "b", 1, NAN);
    assert_ok(yk_graph_builder_set_last_task_group(*state, "g"));
    struct yk_graph *graph = finish(*state);
    assert_true(yk_graph_task_can_run_on(graph, 0, 0));
    assert_false(yk_graph_task_can_run_on(graph, 0, 1));
    yk_graph_destroy(graph);
}

static void a_group_no_device_can_run_is_refused(void **state)
{
    add_devices(*state, 2);
    add_task(*state, "a", NAN, 1);
    assert_ok(yk_graph_builder_set_last_task_group(*state, "g"));
    add_task(*state, "b", 1, NAN);
    assert_ok(yk_graph_builder_set_last_task_group(*state, "g"));
    assert_unfinished(*state, "group \"g\": no device can run all of its tasks");
}

static void memory_must_be_a_number_of_bytes(void **state)
{
    assert_fails(yk_graph_builder_add_device(*state, "P1", -1), YK_ERROR_INPUT,
                 "device \"P1\": memory must be a number of bytes, 0 or more");
    add_devices(*state, 2);
    add_task(*state, "a", 1, 1);
    assert_fails(yk_graph_builder_set_last_task_bytes(*state, NAN), YK_ERROR_INPUT,
                 "task \"a\": memory must be a number of bytes, 0 or more");
    assert_fails(yk_graph_builder_set_last_task_bytes(*state, 1e17), YK_ERROR_INPUT,
                 "task \"a\": memory of 1e+17 bytes is too large");
    assert_fails(yk_graph_builder_set_group_resident_bytes(*state, "g", -1), YK_ERROR_INPUT,
                 "group \"g\": resident must be a number of bytes, 0 or more");
}

static void bytes_cost_the_time_of_their_link(void **state)
{
    add_devices(*state, 3);
    const double costs[] = {1, 1, 1};
    assert_ok(yk_graph_builder_add_task(*state, "a", costs));
    assert_ok(yk_graph_builder_add_task(*state, "b", costs));
    assert_ok(add_edge(*state, "a", "b", NAN, 100));
    assert_ok(yk_graph_builder_set_link(*state, "P1", "P2", 1, 50));
    assert_ok(yk_graph_builder_set_default_link(*state, 2, 20));
    struct yk_graph *graph = finish(*state);
    const struct yk_graph_edge *edge = &graph->edges[0];
    assert_true(yk_graph_ticks_to_time(graph, yk_graph_edge_delay_ticks(graph, edge, 0, 1)) == 3);
    assert_true(yk_graph_ticks_to_time(graph, yk_graph_edge_delay_ticks(graph, edge, 1, 0)) == 3);
    assert_true(yk_graph_ticks_to_time(graph, yk_graph_edge_delay_ticks(graph, edge, 0, 2)) == 7);
    assert_true(yk_graph_edge_delay_ticks(graph, edge, 2, 2) == 0);
    const double mean = yk_graph_ticks_to_time(graph, yk_graph_mean_transfer_ticks(graph, edge));
    assert_true(fabs(mean - (3 + 7 + 7) / 3.0) < 1e-9);
    yk_graph_destroy(graph);
}

static void links_must_make_sense(void **state)
{
    add_devices(*state, 2);
    assert_fails(yk_graph_builder_set_default_link(*state, -1, 1), YK_ERROR_INPUT,
                 "links: a latency must be 0 or more");
    assert_fails(yk_graph_builder_set_default_link(*state, 0, 0), YK_ERROR_INPUT,
                 "links: a bandwidth must be more than 0");
    assert_fails(yk_graph_builder_set_default_link(*state, 0, 1e-300), YK_ERROR_INPUT,
                 "links: a bandwidth of 1e-300 is too small");
    assert_fails(yk_graph_builder_set_link(*state, "P1", "P9", 0, 1), YK_ERROR_INPUT,
                 "links: there is no device \"P9\"");
    assert_fails(yk_graph_builder_set_link(*state, "P1", "P1", 0, 1), YK_ERROR_INPUT,
                 "links: \"P1\" is linked to itself");
    assert_ok(yk_graph_builder_set_link(*state, "P1", "P2", 0, 1));
    assert_fails(yk_graph_builder_set_link(*state, "P2", "P1", 0, 1), YK_ERROR_INPUT,
                 "links: the link between \"P2\" and \"P1\" is given twice");
}

static void bytes_need_a_link_between_every_two_devices(void **state)
{
    add_devices(*state, 3);
    const double costs[] = {1, 1, 1};
    assert_ok(yk_graph_builder_add_task(*state, "a", costs));
    assert_ok(yk_graph_builder_add_task(*state, "b", costs));
    assert_ok(add_edge(*state, "a", "b", NAN, 100));
    assert_unfinished(*state, "edge \"a\" -> \"b\" has bytes but the graph has no \"links\" to "
                              "carry them; give it a cost, add links or say --bandwidth");
    assert_ok(yk_graph_builder_set_link(*state, "P1", "P2", 1, 50));
    assert_unfinished(*state, "links: there is none between \"P1\" and \"P3\"");
}

/* Bytes are held whole, so part of a byte on a very slow link takes as long as a whole one. */
static void part_of_a_byte_counts_as_one(void **state)
{
    add_devices(*state, 2);
    add_task(*state, "a", 1, 1);
    add_task(*state, "b", 1, 1);
    assert_ok(add_edge(*state, "a", "b", NAN, 0.001));
    assert_ok(yk_graph_builder_set_default_link(*state, 0, 0.001));
    struct yk_graph *graph = finish(*state);
    assert_true(yk_graph_ticks_to_time(graph, yk_graph_transfer_ticks(graph, graph->edges, 0, 1)) ==
                1000);
    yk_graph_destroy(graph);
}

static void costs_too_large_for_ticks_are_refused(void **state)
{
    add_devices(*state, 2);
    add_task(*state, "a", 1e16, 1);
    assert_unfinished(
        *state, "all costs together are 1e+16, which is too large; use a larger unit of time");
}

static void there_may_be_as_many_devices_as_the_limit(void **state)
{
    add_devices(*state, YK_GRAPH_MAX_DEVICES);
    assert_fails(yk_graph_builder_add_device(*state, "one more", INFINITY), YK_ERROR_INPUT,
                 "more than 1024 devices");
}

#define BUILDER_TEST(test) cmocka_unit_test_setup_teardown(test, make_builder, drop_builder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BUILDER_TEST(costs_become_exact_ticks),
        BUILDER_TEST(edges_are_sorted_by_their_first_task_and_then_as_given),
        BUILDER_TEST(a_cycle_is_reported_with_its_tasks_in_order),
        BUILDER_TEST(a_task_that_waits_for_itself_is_a_cycle),
        BUILDER_TEST(a_long_cycle_is_shortened),
        BUILDER_TEST(a_graph_needs_devices_and_tasks),
        BUILDER_TEST(names_must_differ),
        BUILDER_TEST(costs_must_be_finite_and_not_negative),
        BUILDER_TEST(an_edge_needs_both_of_its_tasks),
        BUILDER_TEST(every_task_needs_a_device),
        BUILDER_TEST(a_group_runs_where_all_of_its_tasks_can),
        BUILDER_TEST(a_group_no_device_can_run_is_refused),
        BUILDER_TEST(memory_must_be_a_number_of_bytes),
        BUILDER_TEST(bytes_cost_the_time_of_their_link),
        BUILDER_TEST(links_must_make_sense),
        BUILDER_TEST(bytes_need_a_link_between_every_two_devices),
        BUILDER_TEST(part_of_a_byte_counts_as_one),
        BUILDER_TEST(costs_too_large_for_ticks_are_refused),
        BUILDER_TEST(there_may_be_as_many_devices_as_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
