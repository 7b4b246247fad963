/* The reasons follow from the published HEFT schedule of the example. */
#include "sched/schedule.h"

#include "sched/scheduler.h"
#include "support/support.h"

static void every_task_of_the_papers_schedule_has_its_reason(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(yk_graph_heft_example_json, NULL);
    const struct yk_scheduler_options options = {0};
    struct yk_schedule *schedule = NULL;
    struct yk_task_wait waits[10];
    assert_ok(yk_scheduler_run(yk_scheduler_find("heft"), graph, &options, &schedule));
    assert_ok(yk_task_wait_find_reasons(schedule, waits));
    /* Task 1 starts at 0. */
    assert_int_equal(waits[0].reason, YK_TASK_WAIT_NONE);
    /* Task 4 on P2 at 18: task 1 ends on P3 at 9, and its data takes 9. */
    assert_int_equal(waits[3].reason, YK_TASK_WAIT_DATA);
    assert_int_equal(waits[3].task, 0);
    assert_true(yk_graph_ticks_to_time(graph, waits[3].arrival) == 18);
    /* Task 6 on P2 at 26: the data of task 1 is there at 23, but task 4 runs until 26. */
    assert_int_equal(waits[5].reason, YK_TASK_WAIT_DEVICE);
    assert_int_equal(waits[5].task, 3);
    /* Task 10 on P2 at 73: the data of task 8, which ends on P1 at 62, takes 11. */
    assert_int_equal(waits[9].reason, YK_TASK_WAIT_DATA);
    assert_int_equal(waits[9].task, 7);
    yk_schedule_destroy(schedule);
    yk_graph_destroy(graph);
}

/* Both tasks need 6 of the 10 bytes and the devices are alone with them: the second must wait until
 * the consumer of the first, on the other device, is done with its data. */
static void a_task_kept_back_by_memory_says_so(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(
        "{\"yoke\":1,\"kind\":\"graph\",\"devices\":[{\"name\":\"P1\",\"memory\":10},\"P2\"],"
        "\"tasks\":[{\"name\":\"a\",\"cost\":[1,null]},{\"name\":\"b\",\"cost\":[null,5]},"
        "{\"name\":\"c\",\"cost\":[1,null],\"memory\":6}],"
        "\"edges\":[{\"from\":\"a\",\"to\":\"b\",\"cost\":1,\"bytes\":6}]}",
        NULL);
    const struct yk_scheduler_options options = {0};
    struct yk_schedule *schedule = NULL;
    struct yk_task_wait waits[3];
    assert_ok(yk_scheduler_run(yk_scheduler_find("heft-memory"), graph, &options, &schedule));
    assert_ok(yk_task_wait_find_reasons(schedule, waits));
    assert_true(yk_graph_ticks_to_time(graph, schedule->starts[2]) == 7);
    assert_int_equal(waits[2].reason, YK_TASK_WAIT_MEMORY);
    assert_int_equal(waits[2].task, 1);
    assert_true(yk_graph_ticks_to_time(graph, waits[2].arrival) == 1);
    yk_schedule_destroy(schedule);
    yk_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_of_the_papers_schedule_has_its_reason),
        cmocka_unit_test(a_task_kept_back_by_memory_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
