#include "report/schedule/report.h"

#include "base/json.h"
#include "support/reports/example_schedule.h"
#include "trace/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct yk_schedule_report report_on(struct fixture_schedule *fixture, double bound)
{
    return (struct yk_schedule_report){
        .schedule = fixture->schedule,
        .algorithm = "heft",
        .source = "paper.json",
        .lower_bound = llround(bound * fixture->graph->ticks_per_unit),
    };
}

static void json_is_the_published_schedule(void **state)
{
    (void)state;
    struct fixture_schedule fixture = fixture_heft_paper();
    const struct yk_schedule_report report = report_on(&fixture, 67.5);
    struct yk_text text = {0};
    assert_int_equal(yk_schedule_report_write_json(&report, &text), YK_OK);
    assert_string_equal(
        yk_text_chars(&text),
        "{\"yoke\":1,\"algorithm\":\"heft\",\"makespan\":80,\"lower_bound\":67.5,\"tasks\":["
        "{\"name\":\"1\",\"device\":\"P3\",\"start\":0,\"finish\":9},"
        "{\"name\":\"2\",\"device\":\"P1\",\"start\":27,\"finish\":40},"
        "{\"name\":\"3\",\"device\":\"P3\",\"start\":9,\"finish\":28},"
        "{\"name\":\"4\",\"device\":\"P2\",\"start\":18,\"finish\":26},"
        "{\"name\":\"5\",\"device\":\"P3\",\"start\":28,\"finish\":38},"
        "{\"name\":\"6\",\"device\":\"P2\",\"start\":26,\"finish\":42},"
        "{\"name\":\"7\",\"device\":\"P3\",\"start\":38,\"finish\":49},"
        "{\"name\":\"8\",\"device\":\"P1\",\"start\":57,\"finish\":62},"
        "{\"name\":\"9\",\"device\":\"P2\",\"start\":56,\"finish\":68},"
        "{\"name\":\"10\",\"device\":\"P2\",\"start\":73,\"finish\":80}]}\n");
    yk_text_free(&text);
    fixture_free(&fixture);
}

static void summary_counts_each_device(void **state)
{
    (void)state;
    struct fixture_schedule fixture = fixture_heft_paper();
    const struct yk_schedule_report report = report_on(&fixture, 64);
    struct yk_text text = {0};
    assert_int_equal(yk_schedule_report_write_summary(&report, &text), YK_OK);
    /* 80 is 25% above 64; P1 runs 2 and 8 for 13 and 5 of the 80; P3 runs four tasks for 49. */
    assert_non_null(strstr(text.bytes, "makespan 80, lower bound 64: at most 25.0% longer"));
    assert_non_null(strstr(text.bytes, "\n  P1          2    18  22.5%    62\n"));
    assert_non_null(strstr(text.bytes, "\n  P3          4    49  61.3%    31\n"));
    assert_null(strstr(text.bytes, "memory"));
    yk_text_free(&text);
    fixture_free(&fixture);
}

static void a_makespan_at_the_bound_is_called_best(void **state)
{
    (void)state;
    struct fixture_schedule fixture = fixture_heft_paper();
    const struct yk_schedule_report report = report_on(&fixture, 80);
    struct yk_text text = {0};
    assert_int_equal(yk_schedule_report_write_summary(&report, &text), YK_OK);
    assert_non_null(strstr(text.bytes, "no schedule is shorter"));
    yk_text_free(&text);
    fixture_free(&fixture);
}

static void trace_has_an_event_a_task_and_a_flow_a_transfer(void **state)
{
    (void)state;
    struct fixture_schedule fixture = fixture_heft_paper();
    const struct yk_schedule_report report = report_on(&fixture, 0);
    struct yk_trace *trace = NULL;
    assert_int_equal(yk_schedule_report_make_trace(&report, &trace), YK_OK);
    assert_int_equal(yk_trace_rank_count(trace), 3);
    assert_int_equal(yk_trace_event_count(trace), 10);
    assert_int_equal(yk_trace_flow_count(trace), 9);
    const struct yk_trace_event *event = yk_trace_event_at(trace, 8);
    assert_string_equal(event->op, "9");
    assert_int_equal(event->rank, 1);
    assert_int_equal(event->lane, YK_LANE_COMPUTE);
    assert_true(event->start_s == 56 && event->end_s == 68);
    yk_trace_destroy(trace);
    fixture_free(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_the_published_schedule),
        cmocka_unit_test(summary_counts_each_device),
        cmocka_unit_test(a_makespan_at_the_bound_is_called_best),
        cmocka_unit_test(trace_has_an_event_a_task_and_a_flow_a_transfer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
