#include "base/text.h"
#include "sched/scheduler.h"
#include "support/graphs/paper_graphs.h"
#include "support/graphs/random_graph.h"
#include "support/graphs/schedule_checker.h"
#include "support/support.h"

static struct yk_schedule *best_of(const struct yk_graph *graph, int64_t moves, uint64_t seed)
{
    const struct yk_scheduler_options options = {.moves = moves, .seed = seed};
    struct yk_schedule *schedule = NULL;
    assert_ok(yk_scheduler_run(yk_scheduler_find("best"), graph, &options, &schedule));
    checker_assert_valid(schedule, "best");
    return schedule;
}

static void assert_repeatable(const struct random_graph_options *options)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct yk_graph *graph = random_graph(seed, options);
        struct yk_schedule *once = best_of(graph, 5000, seed);
        struct yk_schedule *again = best_of(graph, 5000, seed);
        const size_t n = (size_t)graph->task_count;
        assert_memory_equal(once->starts, again->starts, n * sizeof *once->starts);
        assert_memory_equal(once->devices, again->devices, n * sizeof *once->devices);
        yk_schedule_destroy(once);
        yk_schedule_destroy(again);
        yk_graph_destroy(graph);
    }
}

static void counted_moves_give_the_same_schedule_every_time(void **state)
{
    (void)state;
    assert_repeatable(&(struct random_graph_options){.most_tasks = 60, .most_devices = 4});
}

static void counted_moves_give_the_same_schedule_within_limits(void **state)
{
    (void)state;
    assert_repeatable(&(struct random_graph_options){
        .most_tasks = 12, .most_devices = 4, .bytes = true, .limits = true, .links = true});
}

/* The optima are proved: 73 and 113. */
static void annealing_finds_the_optima_of_the_papers_graphs(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double optimum;
    } graphs[] = {{yk_graph_heft_example_json, 73}, {paper_graph_peft, 113}};
    for (int i = 0; i < 2; i++) {
        struct yk_graph *graph = support_read_graph(graphs[i].text, NULL);
        struct yk_schedule *schedule = best_of(graph, 400000, 1);
        assert_true(yk_graph_ticks_to_time(graph, schedule->makespan) == graphs[i].optimum);
        yk_schedule_destroy(schedule);
        yk_graph_destroy(graph);
    }
}

/*
 * Every task is ten times as fast on one of two devices, in turn, and nothing is sent: the best is
 * that each takes its own, 50 on both. HEFT moves work to the wrong device as soon as it would end
 * a little earlier there.
 */
static void work_stays_where_it_is_fast(void **state)
{
    (void)state;
    struct yk_text text = {0};
    yk_text_add(&text, "{\"yoke\":1,\"kind\":\"graph\",\"devices\":[\"P1\",\"P2\"],\"tasks\":[");
    for (int i = 0; i < 100; i++) {
        yk_text_addf(&text, "%s{\"name\":\"%d\",\"cost\":%s}", i ? "," : "", i,
                     i < 50 ? "[1,10]" : "[10,1]");
    }
    yk_text_add(&text, "],\"edges\":[]}");
    struct yk_graph *graph = support_read_graph(text.bytes, NULL);
    struct yk_schedule *schedule = best_of(graph, 1, 1);
    assert_true(yk_graph_ticks_to_time(graph, schedule->makespan) == 50);
    yk_schedule_destroy(schedule);
    yk_graph_destroy(graph);
    yk_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted_moves_give_the_same_schedule_every_time),
        cmocka_unit_test(counted_moves_give_the_same_schedule_within_limits),
        cmocka_unit_test(annealing_finds_the_optima_of_the_papers_graphs),
        cmocka_unit_test(work_stays_where_it_is_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
