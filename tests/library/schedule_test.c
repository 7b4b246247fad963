#include "public_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Topcuoglu, Hariri, Wu (2002), figure 2: HEFT's schedule ends at 80, the best one at 73. */
static const char paper[] =
    "{\"yoke\": 1, \"kind\": \"graph\", \"devices\": [\"P1\", \"P2\", \"P3\"], \"tasks\": ["
    "{\"name\": \"1\", \"cost\": [14, 16, 9]}, {\"name\": \"2\", \"cost\": [13, 19, 18]},"
    "{\"name\": \"3\", \"cost\": [11, 13, 19]}, {\"name\": \"4\", \"cost\": [13, 8, 17]},"
    "{\"name\": \"5\", \"cost\": [12, 13, 10]}, {\"name\": \"6\", \"cost\": [13, 16, 9]},"
    "{\"name\": \"7\", \"cost\": [7, 15, 11]}, {\"name\": \"8\", \"cost\": [5, 11, 14]},"
    "{\"name\": \"9\", \"cost\": [18, 12, 20]}, {\"name\": \"10\", \"cost\": [21, 7, 16]}],"
    "\"edges\": [{\"from\": \"1\", \"to\": \"2\", \"cost\": 18},"
    "{\"from\": \"1\", \"to\": \"3\", \"cost\": 12}, {\"from\": \"1\", \"to\": \"4\", \"cost\": 9},"
    "{\"from\": \"1\", \"to\": \"5\", \"cost\": 11}, {\"from\": \"1\", \"to\": \"6\", \"cost\": "
    "14},"
    "{\"from\": \"2\", \"to\": \"8\", \"cost\": 19}, {\"from\": \"2\", \"to\": \"9\", \"cost\": "
    "16},"
    "{\"from\": \"3\", \"to\": \"7\", \"cost\": 23}, {\"from\": \"4\", \"to\": \"8\", \"cost\": "
    "27},"
    "{\"from\": \"4\", \"to\": \"9\", \"cost\": 23}, {\"from\": \"5\", \"to\": \"9\", \"cost\": "
    "13},"
    "{\"from\": \"6\", \"to\": \"8\", \"cost\": 15}, {\"from\": \"7\", \"to\": \"10\", \"cost\": "
    "17},"
    "{\"from\": \"8\", \"to\": \"10\", \"cost\": 11}, {\"from\": \"9\", \"to\": \"10\", \"cost\": "
    "13}]}";

/* One task too large for its only device. */
static const char too_large[] =
    "{\"yoke\": 1, \"kind\": \"graph\", \"devices\": [{\"name\": \"P1\", \"memory\": \"1GiB\"}], "
    "\"tasks\": [{\"name\": \"a\", \"cost\": [1], \"memory\": \"2GiB\"}]}";

static yoke_graph *read_paper(void)
{
    yoke_graph *graph = NULL;
    assert_done(yoke_graph_read(paper, "paper", NULL, &graph));
    return graph;
}

static void a_graph_can_be_looked_at(void **state)
{
    (void)state;
    yoke_graph *graph = read_paper();
    assert_int_equal(yoke_graph_info(graph)->task_count, 10);
    assert_int_equal(yoke_graph_info(graph)->device_count, 3);
    assert_int_equal(yoke_graph_info(graph)->edge_count, 15);
    assert_string_equal(yoke_graph_task(graph, 9), "10");
    assert_string_equal(yoke_graph_device(graph, 2), "P3");
    assert_near(yoke_graph_cost(graph, 9, 1), 7);
    assert_null(yoke_graph_task(graph, 10));
    assert_null(yoke_graph_device(graph, -1));
    assert_true(isnan(yoke_graph_cost(graph, 0, 3)));
    yoke_graph_destroy(graph);
}

static void heft_ends_when_the_paper_says(void **state)
{
    (void)state;
    static const int32_t devices[] = {2, 0, 2, 1, 2, 1, 2, 0, 1, 1};
    static const double ends[] = {9, 40, 28, 26, 38, 42, 49, 62, 68, 80};
    yoke_graph *graph = read_paper();
    yoke_schedule *schedule = NULL;
    assert_done(yoke_schedule_find(graph, "heft", NULL, &schedule));
    yoke_graph_destroy(graph); /* the schedule holds it */
    assert_string_equal(yoke_schedule_info(schedule)->algorithm, "heft");
    assert_near(yoke_schedule_info(schedule)->makespan, 80);
    assert_true(yoke_schedule_info(schedule)->bound <= 73);
    for (int32_t i = 0; i < 10; i++) {
        const struct yoke_task *task = yoke_schedule_task(schedule, i);
        assert_int_equal(task->device, devices[i]);
        assert_near(task->end, ends[i]);
        assert_true(task->start < task->end);
    }
    assert_string_equal(yoke_schedule_task(schedule, 0)->name, "1");
    assert_null(yoke_schedule_task(schedule, 10));
    yoke_schedule_destroy(schedule);
}

static void exact_proves_the_best_end(void **state)
{
    (void)state;
    const struct yoke_search search = {.budget_s = 100};
    yoke_graph *graph = read_paper();
    yoke_schedule *schedule = NULL;
    assert_done(yoke_schedule_find(graph, "exact", &search, &schedule));
    assert_near(yoke_schedule_info(schedule)->makespan, 73);
    assert_near(yoke_schedule_info(schedule)->bound, 73);
    yoke_schedule_destroy(schedule);
    yoke_graph_destroy(graph);
}

static void a_map_is_followed(void **state)
{
    (void)state;
    static const char map[] = "{\"1\": \"P2\", \"2\": \"P2\", \"3\": \"P2\", \"4\": \"P2\", \"5\": "
                              "\"P2\", \"6\": \"P2\", \"7\": \"P2\", \"8\": \"P2\", \"9\": \"P2\", "
                              "\"10\": \"P2\"}";
    yoke_graph *graph = read_paper();
    yoke_schedule *schedule = NULL;
    assert_done(yoke_schedule_follow(graph, map, "map", &schedule));
    /* The sum of the second column. */
    assert_near(yoke_schedule_info(schedule)->makespan,
                16 + 19 + 13 + 8 + 13 + 16 + 15 + 11 + 12 + 7);
    assert_string_equal(yoke_schedule_info(schedule)->algorithm, "map");
    yoke_schedule_destroy(schedule);
    schedule = NULL;
    assert_mentions(yoke_schedule_follow(graph, "{\"1\": \"P4\"}", "map", &schedule),
                    YOKE_ERROR_INPUT, "map: ");
    assert_null(schedule);
    yoke_graph_destroy(graph);
}

static void a_schedule_is_written_in_every_form(void **state)
{
    (void)state;
    yoke_graph *graph = read_paper();
    yoke_schedule *schedule = NULL;
    char *text = NULL;
    assert_done(yoke_schedule_find(graph, "heft", NULL, &schedule));
    assert_done(yoke_schedule_write(schedule, YOKE_SCHEDULE_SUMMARY, &text));
    assert_contains(text, "80");
    yoke_free(text);
    assert_done(yoke_schedule_write(schedule, YOKE_SCHEDULE_JSON, &text));
    assert_contains(text, "\"makespan\"");
    check_text(text, "{", "}\n");
    assert_done(yoke_schedule_write(schedule, YOKE_SCHEDULE_SVG, &text));
    check_text(text, "<svg", "</svg>\n");
    assert_done(yoke_schedule_write(schedule, YOKE_SCHEDULE_HTML, &text));
    check_text(text, "<!doctype html>", "</html>\n");
    assert_done(yoke_schedule_write(schedule, YOKE_SCHEDULE_TRACE, &text));
    assert_contains(text, "traceEvents");
    check_text(text, "{", "}\n");
    text = NULL;
    assert_says(yoke_schedule_write(schedule, (enum yoke_schedule_form)9, &text), YOKE_ERROR_USAGE,
                "a schedule has no form 9");
    assert_null(text);
    yoke_schedule_destroy(schedule);
    yoke_graph_destroy(graph);
}

static void schedulers_are_listed_and_all_of_them_run(void **state)
{
    (void)state;
    const struct yoke_search search = {.moves = 100};
    yoke_graph *graph = read_paper();
    const char *summary = NULL;
    int32_t count = 0;
    for (const char *name; (name = yoke_scheduler(count, &summary)) != NULL; count++) {
        yoke_schedule *schedule = NULL;
        assert_non_null(summary);
        assert_done(yoke_schedule_find(graph, name, &search, &schedule));
        assert_true(yoke_schedule_info(schedule)->makespan >= 73);
        yoke_schedule_destroy(schedule);
    }
    assert_true(count >= 8);
    assert_null(yoke_scheduler(-1, NULL));
    yoke_graph_destroy(graph);
}

static void what_cannot_be_scheduled_is_refused(void **state)
{
    (void)state;
    const struct yoke_search endless = {.budget_s = INFINITY};
    const struct yoke_search backwards = {.moves = -1};
    yoke_graph *graph = read_paper();
    yoke_schedule *schedule = NULL;
    assert_says(yoke_schedule_find(graph, "hefty", NULL, &schedule), YOKE_ERROR_USAGE,
                "there is no scheduler \"hefty\"; did you mean \"heft\"?");
    assert_mentions(yoke_schedule_find(graph, "something else", NULL, &schedule), YOKE_ERROR_USAGE,
                    "there are: heft, ");
    assert_says(yoke_schedule_find(graph, "best", &endless, &schedule), YOKE_ERROR_USAGE,
                "a search takes 0 seconds or more, not inf");
    assert_says(yoke_schedule_find(graph, "best", &backwards, &schedule), YOKE_ERROR_USAGE,
                "a search takes 0 moves or more, not -1");
    yoke_graph_destroy(graph);
    assert_done(yoke_graph_read(too_large, "large", NULL, &graph));
    assert_mentions(yoke_schedule_find(graph, "heft", NULL, &schedule), YOKE_ERROR_NO_FIT, "P1");
    assert_null(schedule);
    yoke_graph_destroy(graph);
}

static void graphs_are_opened_and_refused_by_name(void **state)
{
    (void)state;
    char path[] = "/tmp/yoke-graph-XXXXXX";
    const struct yoke_graph_options options = {.device_count = 4};
    yoke_graph *graph = NULL;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_true(write(file, paper, strlen(paper)) == (ssize_t)strlen(paper));
    close(file);
    assert_done(yoke_graph_open(path, NULL, &graph));
    assert_int_equal(yoke_graph_info(graph)->task_count, 10);
    yoke_graph_destroy(graph);
    graph = NULL;
    assert_mentions(yoke_graph_open(path, &options, &graph), YOKE_ERROR_USAGE, "its own devices");
    remove(path);
    assert_mentions(yoke_graph_open(path, NULL, &graph), YOKE_ERROR_INPUT, path);
    assert_mentions(yoke_graph_read("", "nothing", NULL, &graph), YOKE_ERROR_INPUT, "nothing: ");
    assert_null(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_can_be_looked_at),
        cmocka_unit_test(heft_ends_when_the_paper_says),
        cmocka_unit_test(exact_proves_the_best_end),
        cmocka_unit_test(a_map_is_followed),
        cmocka_unit_test(a_schedule_is_written_in_every_form),
        cmocka_unit_test(schedulers_are_listed_and_all_of_them_run),
        cmocka_unit_test(what_cannot_be_scheduled_is_refused),
        cmocka_unit_test(graphs_are_opened_and_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
