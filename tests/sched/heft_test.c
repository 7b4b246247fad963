#include "sched/scheduler.h"
#include "support/graphs/schedule_checker.h"
#include "support/support.h"

static struct yk_schedule *schedule_by(const struct yk_graph *graph, const char *name)
{
    const struct yk_scheduler_options options = {.moves = 2000, .seed = 1};
    struct yk_schedule *schedule = NULL;
    assert_ok(yk_scheduler_run(yk_scheduler_find(name), graph, &options, &schedule));
    checker_assert_valid(schedule, name);
    return schedule;
}

/*
 * "a" runs 0–2 on P1, its data reaches P2 at 6, "b" runs 6–8 there. "c", the last by rank, takes 2
 * on P2: before "b" it ends at 2; after it, at 10; on P1, at 11.
 */
static void heft_uses_the_gap_before_a_placed_task(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(
        "{\"yoke\":1,\"kind\":\"graph\",\"devices\":[\"P1\",\"P2\"],\"tasks\":["
        "{\"name\":\"a\",\"cost\":[2,9]},{\"name\":\"b\",\"cost\":[9,2]},"
        "{\"name\":\"c\",\"cost\":[9,2]}],\"edges\":[{\"from\":\"a\",\"to\":\"b\",\"cost\":4}]}",
        NULL);
    struct yk_schedule *schedule = schedule_by(graph, "heft");
    assert_int_equal(schedule->devices[2], 1);
    assert_true(yk_graph_ticks_to_time(graph, schedule->starts[2]) == 0);
    assert_true(yk_graph_ticks_to_time(graph, schedule->makespan) == 8);
    yk_schedule_destroy(schedule);
    yk_graph_destroy(graph);
}

/*
 * The ranks of "long" (0.3) and "first" (0.1 + 0.2) are equal, so the one named first goes first.
 * In binary floating point 0.1 + 0.2 is more than 0.3.
 */
static void heft_breaks_ties_by_task_and_not_by_rounding(void **state)
{
    (void)state;
    struct yk_graph *graph =
        support_read_graph("{\"yoke\":1,\"kind\":\"graph\",\"devices\":[\"P1\"],\"tasks\":["
                           "{\"name\":\"long\",\"cost\":0.3},{\"name\":\"first\",\"cost\":0.1},"
                           "{\"name\":\"second\",\"cost\":0.2}],"
                           "\"edges\":[{\"from\":\"first\",\"to\":\"second\",\"cost\":0}]}",
                           NULL);
    struct yk_schedule *schedule = schedule_by(graph, "heft");
    assert_true(schedule->starts[0] == 0);
    assert_true(yk_graph_ticks_to_time(graph, schedule->starts[1]) == 0.3);
    assert_true(yk_graph_ticks_to_time(graph, schedule->makespan) == 0.6);
    yk_schedule_destroy(schedule);
    yk_graph_destroy(graph);
}

/*
 * The same tie between devices: "b" ends on P1, after "a", at 0.1 + 0.2, and on P2 at 0.3. P1 is
 * named first; in binary floating point it would lose. "z", far away, only makes "a" more urgent.
 */
static void heft_chooses_the_first_of_two_devices_that_end_together(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(
        "{\"yoke\":1,\"kind\":\"graph\",\"devices\":[\"P1\",\"P2\",\"P3\"],\"tasks\":["
        "{\"name\":\"a\",\"cost\":[0.1,null,null]},{\"name\":\"b\",\"cost\":[0.2,0.3,null]},"
        "{\"name\":\"z\",\"cost\":[null,null,5]}],"
        "\"edges\":[{\"from\":\"a\",\"to\":\"z\",\"cost\":0}]}",
        NULL);
    struct yk_schedule *schedule = schedule_by(graph, "heft");
    assert_int_equal(schedule->devices[1], 0);
    assert_true(yk_graph_ticks_to_time(graph, schedule->finishes[1]) == 0.3);
    yk_schedule_destroy(schedule);
    yk_graph_destroy(graph);
}

/* Two layers, forward and backward, on a fast device that holds one and a slow one that holds both.
 * By hand: one layer on each is 1 + 1 + 3 + 3 + 1 + 1 = 10 either way round; both on the slow one
 * is 12; both on the fast one, 4, would hold 16 resident bytes and 2 of data in 12. */
static const char two_layers[] =
    "{\"yoke\":1,\"kind\":\"graph\",\"devices\":[{\"name\":\"fast\",\"memory\":12},"
    "{\"name\":\"slow\",\"memory\":100}],\"tasks\":["
    "{\"name\":\"f1\",\"cost\":[1,3],\"group\":\"L1\"},"
    "{\"name\":\"f2\",\"cost\":[1,3],\"group\":\"L2\"},"
    "{\"name\":\"b2\",\"cost\":[1,3],\"group\":\"L2\"},"
    "{\"name\":\"b1\",\"cost\":[1,3],\"group\":\"L1\"}],"
    "\"groups\":[{\"name\":\"L1\",\"resident\":8},{\"name\":\"L2\",\"resident\":8}],"
    "\"edges\":[{\"from\":\"f1\",\"to\":\"f2\",\"cost\":1,\"bytes\":1},"
    "{\"from\":\"f2\",\"to\":\"b2\",\"cost\":1,\"bytes\":1},"
    "{\"from\":\"b2\",\"to\":\"b1\",\"cost\":1,\"bytes\":1}]}";

static void memory_keeps_two_groups_apart(void **state)
{
    (void)state;
    static const char *const names[] = {"heft-memory", "best", "exact"};
    struct yk_graph *graph = support_read_graph(two_layers, NULL);
    for (int i = 0; i < 3; i++) {
        struct yk_schedule *schedule = schedule_by(graph, names[i]);
        assert_true(yk_graph_ticks_to_time(graph, schedule->makespan) == 10);
        assert_int_not_equal(schedule->devices[0], schedule->devices[1]);
        assert_int_equal(schedule->devices[1], schedule->devices[2]);
        assert_int_equal(schedule->devices[0], schedule->devices[3]);
        yk_schedule_destroy(schedule);
    }
    yk_graph_destroy(graph);
}

static void heft_alone_does_not_return_what_does_not_fit(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(two_layers, NULL);
    const struct yk_scheduler_options options = {0};
    struct yk_schedule *schedule = NULL;
    assert_fails(yk_scheduler_run(yk_scheduler_find("heft"), graph, &options, &schedule),
                 YK_ERROR_NO_FIT, "device \"fast\" would need 6B more than its 12B");
    assert_null(schedule);
    yk_graph_destroy(graph);
}

static void single_chooses_the_fastest_device_that_holds_everything(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(two_layers, NULL);
    struct yk_schedule *schedule = schedule_by(graph, "single");
    assert_int_equal(schedule->devices[0], 1);
    assert_true(yk_graph_ticks_to_time(graph, schedule->makespan) == 12);
    yk_schedule_destroy(schedule);
    yk_graph_destroy(graph);
}

static void exact_proves_an_optimum_that_memory_decides(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(two_layers, NULL);
    struct yk_schedule *schedule = schedule_by(graph, "exact");
    assert_true(yk_graph_ticks_to_time(graph, schedule->lower_bound) == 10);
    yk_schedule_destroy(schedule);
    yk_graph_destroy(graph);
}

static void what_fits_nowhere_names_the_device_and_the_bytes(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(
        "{\"yoke\":1,\"kind\":\"graph\",\"devices\":[{\"name\":\"P1\",\"memory\":\"1GiB\"},"
        "{\"name\":\"P2\",\"memory\":\"2GiB\"}],"
        "\"tasks\":[{\"name\":\"a\",\"cost\":1,\"memory\":\"5GiB\"}],\"edges\":[]}",
        NULL);
    const struct yk_scheduler_options options = {.moves = 1};
    static const char *const names[] = {"heft-memory", "best", "exact"};
    for (int i = 0; i < 3; i++) {
        struct yk_schedule *schedule = NULL;
        assert_fails(
            yk_scheduler_run(yk_scheduler_find(names[i]), graph, &options, &schedule),
            YK_ERROR_NO_FIT,
            "no room for task \"a\": on device \"P2\", the nearest to fit, it would need 3GiB "
            "more than the 2GiB there are; give that device more memory or add a device");
    }
    yk_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heft_uses_the_gap_before_a_placed_task),
        cmocka_unit_test(heft_breaks_ties_by_task_and_not_by_rounding),
        cmocka_unit_test(heft_chooses_the_first_of_two_devices_that_end_together),
        cmocka_unit_test(memory_keeps_two_groups_apart),
        cmocka_unit_test(heft_alone_does_not_return_what_does_not_fit),
        cmocka_unit_test(single_chooses_the_fastest_device_that_holds_everything),
        cmocka_unit_test(exact_proves_an_optimum_that_memory_decides),
        cmocka_unit_test(what_fits_nowhere_names_the_device_and_the_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
