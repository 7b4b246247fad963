/* The exact search and the bounds against trying everything. */
#include "graph/builder.h"
#include "sched/bound/makespan_bound.h"
#include "sched/scheduler.h"
#include "sched/search/partial_schedule.h"
#include "support/graphs/random_graph.h"
#include "support/graphs/schedule_checker.h"
#include "support/support.h"

#include <stdio.h>

enum {
    MOST = 6
};

/* All orders and all assignments, each task appended as early as it can start. */
struct brute {
    const struct yk_graph *graph;
    int32_t device[MOST];
    int64_t finish[MOST];
    int64_t start[MOST];
    int64_t idle_from[MOST];
    int64_t best;
};

/* The time of an edge from where its data is to another device. */
static int64_t way(const struct yk_graph *graph, const struct yk_graph_edge *edge,
                   const struct brute *brute, int32_t device)
{
    if (edge->cost >= 0) {
        return edge->cost;
    }
    const struct yk_graph_link *link =
        &graph->links[brute->device[edge->from] * graph->device_count + device];
    return llround(link->latency_ticks + (double)edge->bytes * link->ticks_per_byte);
}

/* Whether the complete schedule stays within every limit. */
static bool fits(struct brute *brute, int64_t length)
{
    const struct yk_schedule schedule = {
        .graph = brute->graph,
        .devices = brute->device,
        .starts = brute->start,
        .finishes = brute->finish,
        .makespan = length,
    };
    return checker_broken_rule(&schedule) == NULL;
}

static bool inputs_are_placed(const struct brute *brute, unsigned placed, int32_t task)
{
    for (int32_t e = 0; e < brute->graph->edge_count; e++) {
        if (brute->graph->edges[e].to == task && !(placed & (1u << brute->graph->edges[e].from))) {
            return false;
        }
    }
    return true;
}

static bool group_is_elsewhere(const struct brute *brute, unsigned placed, int32_t task,
                               int32_t device)
{
    const int32_t group = brute->graph->tasks[task].group;
    for (int32_t i = 0; i < brute->graph->task_count; i++) {
        if (group != YK_GRAPH_NO_GROUP && (placed & (1u << i)) &&
            brute->graph->tasks[i].group == group && brute->device[i] != device) {
            return true;
        }
    }
    return false;
}

static void try_everything(struct brute *brute, unsigned placed, int64_t length)
{
    const struct yk_graph *graph = brute->graph;
    if (placed == (1u << graph->task_count) - 1) {
        if (length < brute->best && fits(brute, length)) {
            brute->best = length;
        }
        return;
    }
    for (int32_t task = 0; task < graph->task_count; task++) {
        if ((placed & (1u << task)) || !inputs_are_placed(brute, placed, task)) {
            continue;
        }
        for (int32_t p = 0; p < graph->device_count; p++) {
            const int64_t cost = yk_graph_task_cost(graph, task, p);
            if (cost == YK_GRAPH_INFINITE_COST || group_is_elsewhere(brute, placed, task, p)) {
                continue;
            }
            const int64_t idle_from = brute->idle_from[p];
            int64_t start = idle_from;
            for (int32_t e = 0; e < graph->edge_count; e++) {
                const struct yk_graph_edge *edge = &graph->edges[e];
                if (edge->to == task) {
                    const int64_t arrival =
                        brute->finish[edge->from] +
                        (brute->device[edge->from] == p ? 0 : way(graph, edge, brute, p));
                    start = arrival > start ? arrival : start;
                }
            }
            const int64_t finish = start + cost;
            brute->device[task] = p;
            brute->start[task] = start;
            brute->finish[task] = finish;
            brute->idle_from[p] = finish;
            try_everything(brute, placed | (1u << task), finish > length ? finish : length);
            brute->idle_from[p] = idle_from;
        }
    }
}

/* The search alone, without a schedule to start from: what its bounds and its memory of states
 * leave of all branches. A schedule that breaks a limit counts here, too. */
static void search_from_nothing(struct yk_partial_schedule *partial, int64_t *best)
{
    struct yk_partial_schedule_step steps[MOST * MOST];
    if (partial->placed == partial->graph->task_count) {
        *best = yk_partial_schedule_makespan(partial);
        return;
    }
    const int32_t count = yk_partial_schedule_list_next_steps(partial, *best, steps);
    for (int32_t i = 0; i < count && steps[i].bound < *best; i++) {
        yk_partial_schedule_place(partial, &steps[i]);
        if (!yk_partial_schedule_dominated_or_add(partial)) {
            search_from_nothing(partial, best);
        }
        yk_partial_schedule_undo(partial, &steps[i]);
    }
}

static int64_t find_from_nothing(const struct yk_graph *graph)
{
    struct yk_arena *arena = NULL;
    struct yk_partial_schedule *partial = NULL;
    int64_t best = INT64_MAX;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_partial_schedule_create(graph, 100000, arena, &partial));
    search_from_nothing(partial, &best);
    yk_arena_destroy(arena);
    return best;
}

static void compare(const struct random_graph_options *options, uint64_t first, int count)
{
    for (int i = 0; i < count; i++) {
        const uint64_t seed = first + (uint64_t)i;
        struct yk_graph *graph = random_graph(seed, options);
        struct brute brute = {.graph = graph, .best = INT64_MAX};
        struct yk_schedule *schedule = NULL;
        int64_t bound = 0;
        const struct yk_scheduler_options search = {.budget_s = 600, .seed = seed};
        try_everything(&brute, 0, 0);
        assert_true(find_from_nothing(graph) == brute.best);
        assert_ok(yk_makespan_bound_compute(graph, &bound));
        assert_true(bound <= brute.best);
        assert_ok(yk_scheduler_run(yk_scheduler_find("exact"), graph, &search, &schedule));
        checker_assert_valid(schedule, "exact");
        assert_true(schedule->makespan == brute.best);
        assert_true(schedule->lower_bound == brute.best);
        yk_schedule_destroy(schedule);
        yk_graph_destroy(graph);
    }
}

static void exact_is_what_trying_everything_finds(void **state)
{
    (void)state;
    compare(&(struct random_graph_options){.most_tasks = 5, .most_devices = 3}, 100, 120);
}

static void exact_is_what_trying_everything_finds_on_two_devices(void **state)
{
    (void)state;
    compare(&(struct random_graph_options){.most_tasks = MOST, .most_devices = 2, .decimals = true},
            200, 60);
}

static void exact_is_what_trying_everything_finds_with_groups_and_bars(void **state)
{
    (void)state;
    compare(
        &(struct random_graph_options){
            .most_tasks = 5, .most_devices = 3, .groups = true, .bars = true},
        300, 120);
}

static void exact_is_what_trying_everything_finds_with_links(void **state)
{
    (void)state;
    compare(
        &(struct random_graph_options){
            .most_tasks = 5, .most_devices = 3, .links = true, .bytes = true},
        400, 120);
}

/*
 * With limits, trying everything means all schedules in which nothing waits for memory. A schedule
 * may be shorter that does wait; so what exact finds is no longer, and what it proves holds for
 * both.
 */
static void compare_within_limits(const struct random_graph_options *options, uint64_t first)
{
    enum {
        GRAPHS = 300
    };
    int fitting = 0;
    for (uint64_t seed = first; seed < first + GRAPHS; seed++) {
        struct yk_graph *graph = random_graph(seed, options);
        struct brute brute = {.graph = graph, .best = INT64_MAX};
        struct yk_schedule *schedule = NULL;
        const struct yk_scheduler_options search = {.moves = 5000, .seed = seed};
        try_everything(&brute, 0, 0);
        assert_true(find_from_nothing(graph) <= brute.best);
        const yk_status status =
            yk_scheduler_run(yk_scheduler_find("exact"), graph, &search, &schedule);
        if (status == YK_OK) {
            checker_assert_valid(schedule, "exact");
            assert_true(schedule->makespan <= brute.best);
            assert_true(schedule->lower_bound <= schedule->makespan);
            fitting++;
            yk_schedule_destroy(schedule);
        } else {
            assert_int_equal(status, YK_ERROR_NO_FIT);
            assert_true(brute.best == INT64_MAX);
        }
        yk_graph_destroy(graph);
    }
    assert_true(fitting > GRAPHS / 2);
}

static void exact_within_limits_is_no_longer_than_trying_everything(void **state)
{
    (void)state;
    compare_within_limits(&(struct random_graph_options){.most_tasks = 5,
                                                         .most_devices = 3,
                                                         .groups = true,
                                                         .bytes = true,
                                                         .limits = true,
                                                         .decimals = true},
                          500);
}

/* A store is held once on each device where a group uses it, however many there are. */
static void exact_within_limits_counts_stores_once_a_device(void **state)
{
    (void)state;
    compare_within_limits(&(struct random_graph_options){.most_tasks = 5,
                                                         .most_devices = 3,
                                                         .groups = true,
                                                         .stores = true,
                                                         .bytes = true,
                                                         .limits = true,
                                                         .tight = true},
                          3000);
}

/* Here the quick schedulers find no room for some graphs that do fit, and of two orders that end at
 * the same time only one does. */
static void exact_finds_the_order_that_fits_one_device(void **state)
{
    (void)state;
    compare_within_limits(
        &(struct random_graph_options){
            .most_tasks = MOST, .most_devices = 1, .bytes = true, .limits = true, .tight = true},
        2000);
}

/* Devices that differ in nothing but their memory. */
static void exact_within_limits_distinguishes_devices_by_memory(void **state)
{
    (void)state;
    compare_within_limits(
        &(struct random_graph_options){
            .most_tasks = MOST, .most_devices = 2, .bytes = true, .limits = true, .equal = true},
        1000);
}

/* Three equal tasks of 2 on two equal devices: 4; the work alone would allow 3, the path 2. */
static void the_bound_counts_in_whole_costs(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(
        "{\"yoke\":1,\"kind\":\"graph\",\"devices\":[\"P1\",\"P2\"],\"tasks\":["
        "{\"name\":\"a\",\"cost\":2},{\"name\":\"b\",\"cost\":2},{\"name\":\"c\",\"cost\":2}],"
        "\"edges\":[]}",
        NULL);
    int64_t bound = 0;
    assert_ok(yk_makespan_bound_compute(graph, &bound));
    assert_true(yk_graph_ticks_to_time(graph, bound) == 4);
    yk_graph_destroy(graph);
}

/* Twelve tasks that take 1 on the fast device and 5 on the slow one: with x of them on the fast one
 * max(x, 5 (12 - x)) is least at x = 10. Work at equal prices would only say 6. */
static void the_bound_knows_that_devices_are_unequal(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(
        "{\"yoke\":1,\"kind\":\"graph\",\"devices\":[\"fast\",\"slow\"],\"tasks\":["
        "{\"name\":\"a\",\"cost\":[1,5]},{\"name\":\"b\",\"cost\":[1,5]},"
        "{\"name\":\"c\",\"cost\":[1,5]},{\"name\":\"d\",\"cost\":[1,5]},"
        "{\"name\":\"e\",\"cost\":[1,5]},{\"name\":\"f\",\"cost\":[1,5]},"
        "{\"name\":\"g\",\"cost\":[1,5]},{\"name\":\"h\",\"cost\":[1,5]},"
        "{\"name\":\"i\",\"cost\":[1,5]},{\"name\":\"j\",\"cost\":[1,5]},"
        "{\"name\":\"k\",\"cost\":[1,5]},{\"name\":\"l\",\"cost\":[1,5]}],\"edges\":[]}",
        NULL);
    int64_t bound = 0;
    assert_ok(yk_makespan_bound_compute(graph, &bound));
    assert_true(yk_graph_ticks_to_time(graph, bound) == 10);
    yk_graph_destroy(graph);
}

/* Seventy devices with links of their own: "a" must run on the first, "b" on the last, and the link
 * between these is the slowest. The bound may count the fastest link but no less. */
static void the_bound_holds_for_many_devices_with_unequal_links(void **state)
{
    (void)state;
    enum {
        DEVICES = 70
    };
    struct yk_graph_builder *builder = NULL;
    struct yk_graph *graph = NULL;
    double first[DEVICES];
    double last[DEVICES];
    char name[16];
    assert_ok(yk_graph_builder_create(&builder));
    for (int p = 0; p < DEVICES; p++) {
        snprintf(name, sizeof name, "P%d", p);
        assert_ok(yk_graph_builder_add_device(builder, name, INFINITY));
        first[p] = p == 0 ? 2 : NAN;
        last[p] = p == DEVICES - 1 ? 3 : NAN;
    }
    assert_ok(yk_graph_builder_set_link(builder, "P0", "P69", 5, 1));
    assert_ok(yk_graph_builder_set_default_link(builder, 1, 10));
    assert_ok(yk_graph_builder_add_task(builder, "a", first));
    assert_ok(yk_graph_builder_add_task(builder, "b", last));
    assert_ok(yk_graph_builder_add_edge(
        builder,
        &(struct yk_graph_builder_edge){.from = "a", .to = "b", .cost = NAN, .bytes = 20}));
    assert_ok(yk_graph_builder_finish(builder, &graph));
    yk_graph_builder_destroy(builder);
    int64_t bound = 0;
    assert_ok(yk_makespan_bound_compute(graph, &bound));
    assert_true(yk_graph_ticks_to_time(graph, bound) == 2 + (1 + 2) + 3);
    yk_graph_destroy(graph);
}

static void a_search_with_no_budget_gives_its_gap(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(yk_graph_heft_example_json, NULL);
    struct yk_schedule *schedule = NULL;
    const struct yk_scheduler_options one_node = {.moves = 1, .seed = 1};
    assert_ok(yk_scheduler_run(yk_scheduler_find("exact"), graph, &one_node, &schedule));
    assert_true(yk_graph_ticks_to_time(graph, schedule->makespan) >= 73);
    assert_true(yk_graph_ticks_to_time(graph, schedule->lower_bound) < 73);
    yk_schedule_destroy(schedule);
    yk_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_is_what_trying_everything_finds),
        cmocka_unit_test(exact_is_what_trying_everything_finds_on_two_devices),
        cmocka_unit_test(exact_is_what_trying_everything_finds_with_groups_and_bars),
        cmocka_unit_test(exact_is_what_trying_everything_finds_with_links),
        cmocka_unit_test(exact_within_limits_is_no_longer_than_trying_everything),
        cmocka_unit_test(exact_within_limits_counts_stores_once_a_device),
        cmocka_unit_test(exact_finds_the_order_that_fits_one_device),
        cmocka_unit_test(exact_within_limits_distinguishes_devices_by_memory),
        cmocka_unit_test(the_bound_counts_in_whole_costs),
        cmocka_unit_test(the_bound_knows_that_devices_are_unequal),
        cmocka_unit_test(the_bound_holds_for_many_devices_with_unequal_links),
        cmocka_unit_test(a_search_with_no_budget_gives_its_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
