#include "report/schedule/gantt.h"

#include "report/schedule/report.h"
#include "support/reports/example_schedule.h"
#include "support/reports/markup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    MANY = 100000
};

static struct yk_text draw(struct fixture_schedule *fixture, const char *source, int64_t bound)
{
    struct yk_text text = {0};
    const struct yk_schedule_report report = {
        .schedule = fixture->schedule,
        .algorithm = "heft",
        .source = source,
        .lower_bound = bound,
    };
    assert_int_equal(yk_schedule_report_write_svg(&report, &text), YK_OK);
    return text;
}

static size_t expect_well_formed(const struct yk_text *text, const char *element)
{
    size_t count = 0;
    assert_true(markup_is_balanced(yk_text_chars(text), element, &count));
    return count;
}

static void the_check_itself_finds_faults(void **state)
{
    (void)state;
    size_t count = 0;
    assert_true(markup_is_balanced("<a b=\"1\"><b/>x &amp; y<c></c></a>", "b", &count));
    assert_int_equal(count, 1);
    assert_false(markup_is_balanced("<a><b></a></b>", "b", &count));
    assert_false(markup_is_balanced("<a>", "a", &count));
    assert_false(markup_is_balanced("<a>x & y</a>", "a", &count));
    assert_false(markup_is_balanced("<a b=\"<\"></a>", "a", &count));
    assert_false(markup_is_balanced("<a>1 > 0</a>", "a", &count));
}

static void every_task_is_a_bar_with_a_title(void **state)
{
    (void)state;
    struct fixture_schedule fixture = fixture_heft_paper();
    struct yk_text text = draw(&fixture, "HEFT", 0);
    assert_int_equal(expect_well_formed(&text, "title"), 10 + 1);
    assert_int_equal(markup_occurrences(text.bytes, "class=\"bar "), 10);
    assert_non_null(strstr(text.bytes, "<title>9 on P2: at 56, takes 12</title>"));
    assert_non_null(strstr(text.bytes, "prefers-color-scheme:dark"));
    yk_text_free(&text);
    fixture_free(&fixture);
}

/* Of the paper's 15 edges, these join different devices in its schedule: 1-2, 1-4, 1-6, 2-9, 4-8,
 * 5-9, 6-8, 7-10, 8-10. */
static void every_transfer_between_devices_is_a_line(void **state)
{
    (void)state;
    struct fixture_schedule fixture = fixture_heft_paper();
    struct yk_text text = draw(&fixture, "graph", 0);
    (void)expect_well_formed(&text, "path");
    assert_int_equal(markup_occurrences(text.bytes, "<path class=\"link\""), 9);
    yk_text_free(&text);
    fixture_free(&fixture);
}

static void the_bound_is_drawn_only_when_there_is_one(void **state)
{
    (void)state;
    struct fixture_schedule fixture = fixture_heft_paper();
    struct yk_text text = draw(&fixture, "graph", 0);
    assert_null(strstr(text.bytes, "lower bound"));
    yk_text_free(&text);
    text = draw(&fixture, "graph", fixture.schedule->makespan / 2);
    (void)expect_well_formed(&text, "line");
    assert_non_null(strstr(text.bytes, "lower bound 40<"));
    yk_text_free(&text);
    fixture_free(&fixture);
}

static void names_cannot_break_out(void **state)
{
    (void)state;
    const double lengths[] = {1, 2};
    const char *const names[] = {"<script>alert(1)</script>", "\"' & </text>\x01"};
    struct fixture_schedule fixture = fixture_row(lengths, 2, names, "</title><script>");
    struct yk_text text = draw(&fixture, "</title> & \"x\"", 1);
    assert_int_equal(expect_well_formed(&text, "script"), 0);
    assert_non_null(strstr(text.bytes, "&lt;script&gt;alert(1)&lt;/script&gt;"));
    yk_text_free(&text);
    fixture_free(&fixture);
}

static void tasks_of_no_length_and_empty_schedules_are_drawn(void **state)
{
    (void)state;
    const double lengths[] = {0, 0, 0};
    struct fixture_schedule fixture = fixture_row(lengths, 3, NULL, "P");
    struct yk_text text = draw(&fixture, "graph", 0);
    (void)expect_well_formed(&text, "rect");
    assert_null(strstr(text.bytes, "nan"));
    assert_null(strstr(text.bytes, "inf"));
    yk_text_free(&text);
    fixture_free(&fixture);
}

static struct fixture_schedule many_tasks(void)
{
    double *lengths = calloc(MANY, sizeof *lengths);
    assert_non_null(lengths);
    for (int i = 0; i < MANY; i++) {
        lengths[i] = 1 + i % 7;
    }
    struct fixture_schedule fixture = fixture_row(lengths, MANY, NULL, "P");
    free(lengths);
    return fixture;
}

static void a_hundred_thousand_tasks_stay_small(void **state)
{
    (void)state;
    struct fixture_schedule fixture = many_tasks();
    struct yk_text text = draw(&fixture, "many", 0);
    (void)expect_well_formed(&text, "rect");
    assert_in_range(text.length, 1, 3000000);
    assert_non_null(strstr(text.bytes, " tasks</text>"));
    yk_text_free(&text);
    fixture_free(&fixture);
}

/* However they are merged, runs hold every task once, cover its time and do not overlap. */
static void merged_bars_hold_every_task(void **state)
{
    const double *min_length = *state;
    struct fixture_schedule fixture = many_tasks();
    struct yk_arena *arena = NULL;
    struct yk_time_chart chart;
    const struct yk_gantt_time_chart_options options = {.title = "many"};
    assert_int_equal(yk_arena_create(&arena), YK_OK);
    assert_int_equal(yk_gantt_make_time_chart(fixture.schedule, &options, arena, &chart), YK_OK);
    const struct yk_time_chart_merge_rule merge =
        yk_time_chart_choose_merge_rule(&chart, *min_length, 4, 12000);
    const struct yk_time_chart_row *row = &chart.groups[0].rows[0];
    int64_t tasks = 0;
    int64_t runs = 0;
    double busy = 0;
    double end = 0;
    for (int32_t at = 0; at < row->count; runs++) {
        const struct yk_time_chart_merged_bar bar = yk_time_chart_next_merged_bar(row, &merge, &at);
        assert_true(bar.start >= end);
        end = bar.end;
        tasks += bar.count;
        busy += bar.busy;
    }
    assert_int_equal(tasks, MANY);
    assert_true(busy == chart.end);
    assert_in_range(runs, 2, 12000);
    yk_arena_destroy(arena);
    fixture_free(&fixture);
}

int main(void)
{
    static double a_pixel = 400;
    static double none = 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_check_itself_finds_faults),
        cmocka_unit_test(every_task_is_a_bar_with_a_title),
        cmocka_unit_test(every_transfer_between_devices_is_a_line),
        cmocka_unit_test(the_bound_is_drawn_only_when_there_is_one),
        cmocka_unit_test(names_cannot_break_out),
        cmocka_unit_test(tasks_of_no_length_and_empty_schedules_are_drawn),
        cmocka_unit_test(a_hundred_thousand_tasks_stay_small),
        cmocka_unit_test_prestate(merged_bars_hold_every_task, &a_pixel),
        cmocka_unit_test_prestate(merged_bars_hold_every_task, &none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
