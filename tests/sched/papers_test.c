/*
 * The published schedules. First graph: Topcuoglu, Hariri, Wu, 2002 (HEFT, CPOP); second graph:
 * Arabnejad and Barbosa, 2014 (PEFT, HEFT). Lengths of lookahead and the optima of both were found
 * by an independent implementation and by exhaustive search.
 */
#include "sched/scheduler.h"
#include "sched/task_rank.h"
#include "support/graphs/paper_graphs.h"
#include "support/graphs/schedule_checker.h"
#include "support/support.h"

static struct yk_schedule *schedule_by(const struct yk_graph *graph, const char *name)
{
    const struct yk_scheduler_options options = {.budget_s = 60, .moves = 0, .seed = 1};
    struct yk_schedule *schedule = NULL;
    assert_non_null(yk_scheduler_find(name));
    assert_ok(yk_scheduler_run(yk_scheduler_find(name), graph, &options, &schedule));
    checker_assert_valid(schedule, name);
    return schedule;
}

static void assert_length(const char *text, const char *name, double length)
{
    struct yk_graph *graph = support_read_graph(text, NULL);
    struct yk_schedule *schedule = schedule_by(graph, name);
    assert_true(yk_graph_ticks_to_time(graph, schedule->makespan) == length);
    yk_schedule_destroy(schedule);
    yk_graph_destroy(graph);
}

struct published {
    int device;
    int start;
    int finish;
};

static void assert_schedule(const char *name, const struct published *tasks)
{
    struct yk_graph *graph = support_read_graph(yk_graph_heft_example_json, NULL);
    struct yk_schedule *schedule = schedule_by(graph, name);
    for (int32_t i = 0; i < graph->task_count; i++) {
        assert_int_equal(schedule->devices[i] + 1, tasks[i].device);
        assert_true(yk_graph_ticks_to_time(graph, schedule->starts[i]) == tasks[i].start);
        assert_true(yk_graph_ticks_to_time(graph, schedule->finishes[i]) == tasks[i].finish);
    }
    yk_schedule_destroy(schedule);
    yk_graph_destroy(graph);
}

static void heft_gives_the_published_schedule(void **state)
{
    (void)state;
    static const struct published tasks[] = {{3, 0, 9},   {1, 27, 40}, {3, 9, 28},  {2, 18, 26},
                                             {3, 28, 38}, {2, 26, 42}, {3, 38, 49}, {1, 57, 62},
                                             {2, 56, 68}, {2, 73, 80}};
    assert_schedule("heft", tasks);
}

static void cpop_gives_the_published_schedule(void **state)
{
    (void)state;
    static const struct published tasks[] = {{2, 0, 16},  {2, 16, 35}, {1, 28, 39}, {3, 25, 42},
                                             {2, 35, 48}, {3, 42, 51}, {1, 39, 46}, {3, 54, 68},
                                             {2, 65, 77}, {2, 79, 86}};
    assert_schedule("cpop", tasks);
}

static void upward_ranks_are_the_published_ones(void **state)
{
    (void)state;
    static const int times_three[] = {324, 231, 240, 240, 207, 190, 128, 107, 133, 44};
    int64_t ranks[10];
    struct yk_graph *graph = support_read_graph(yk_graph_heft_example_json, NULL);
    yk_task_rank_compute_upward(graph, false, ranks);
    for (int i = 0; i < 10; i++) {
        assert_true(yk_graph_ticks_to_time(graph, ranks[i]) == times_three[i]);
    }
    yk_graph_destroy(graph);
}

static void downward_ranks_are_the_published_ones(void **state)
{
    (void)state;
    static const int times_three[] = {0, 93, 75, 66, 72, 81, 187, 200, 191, 280};
    int64_t ranks[10];
    struct yk_graph *graph = support_read_graph(yk_graph_heft_example_json, NULL);
    yk_task_rank_compute_downward(graph, ranks);
    for (int i = 0; i < 10; i++) {
        assert_true(yk_graph_ticks_to_time(graph, ranks[i]) == times_three[i]);
    }
    yk_graph_destroy(graph);
}

static void peft_and_lookahead_have_the_known_lengths_on_the_first_graph(void **state)
{
    (void)state;
    assert_length(yk_graph_heft_example_json, "peft", 85);
    assert_length(yk_graph_heft_example_json, "lookahead", 76);
}

static void exact_proves_73_on_the_first_graph(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(yk_graph_heft_example_json, NULL);
    struct yk_schedule *schedule = schedule_by(graph, "exact");
    assert_true(yk_graph_ticks_to_time(graph, schedule->makespan) == 73);
    assert_true(yk_graph_ticks_to_time(graph, schedule->lower_bound) == 73);
    yk_schedule_destroy(schedule);
    yk_graph_destroy(graph);
}

static void all_have_the_known_lengths_on_the_second_graph(void **state)
{
    (void)state;
    assert_length(paper_graph_peft, "peft", 122);
    assert_length(paper_graph_peft, "heft", 133);
    assert_length(paper_graph_peft, "lookahead", 127);
    assert_length(paper_graph_peft, "cpop", 167);
}

static void exact_proves_113_on_the_second_graph(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(paper_graph_peft, NULL);
    struct yk_schedule *schedule = schedule_by(graph, "exact");
    assert_true(yk_graph_ticks_to_time(graph, schedule->makespan) == 113);
    assert_true(yk_graph_ticks_to_time(graph, schedule->lower_bound) == 113);
    yk_schedule_destroy(schedule);
    yk_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heft_gives_the_published_schedule),
        cmocka_unit_test(cpop_gives_the_published_schedule),
        cmocka_unit_test(upward_ranks_are_the_published_ones),
        cmocka_unit_test(downward_ranks_are_the_published_ones),
        cmocka_unit_test(peft_and_lookahead_have_the_known_lengths_on_the_first_graph),
        cmocka_unit_test(exact_proves_73_on_the_first_graph),
        cmocka_unit_test(all_have_the_known_lengths_on_the_second_graph),
        cmocka_unit_test(exact_proves_113_on_the_second_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
