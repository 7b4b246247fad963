#include "report/schedule/report.h"

#include "base/json.h"
#include "support/reports/example_schedule.h"
#include "support/reports/markup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct yk_text page_of(struct fixture_schedule *fixture, const char *source)
{
    struct yk_text text = {0};
    const struct yk_schedule_report report = {
        .schedule = fixture->schedule,
        .algorithm = "heft",
        .source = source,
        .lower_bound = fixture->schedule->makespan / 2,
    };
    assert_int_equal(yk_schedule_page_write(&report, &text), YK_OK);
    return text;
}

/* The data that the page's script reads. */
static struct yk_json *data_of(const struct yk_text *page)
{
    const char *begin = strstr(page->bytes, "id=\"schedule\">");
    assert_non_null(begin);
    begin += strlen("id=\"schedule\">");
    const char *end = strstr(begin, "</script>");
    assert_non_null(end);
    struct yk_json *json = NULL;
    assert_int_equal(yk_json_parse(begin, (size_t)(end - begin), &json), YK_OK);
    return json;
}

static const struct yk_json *task_at(const struct yk_json *data, size_t number)
{
    return yk_json_array_at(yk_json_get_member(data, "tasks"), number);
}

static const char *why(const struct yk_json *data, size_t number)
{
    return yk_json_string_value(yk_json_get_member(task_at(data, number), "why"));
}

static double number_at(const struct yk_json *array, size_t index)
{
    double value = -1;
    assert_true(yk_json_number_value(yk_json_array_at(array, index), &value));
    return value;
}

/* Arrivals by hand from the paper: 1 ends on P3 at 9, its data for 6 takes 14, and 4 holds P2 from
 * 18 to 26. 6 ends on P2 at 42, its data for 8 takes 15. 3 is where 1 was. */
static void waits_are_described(void **state)
{
    (void)state;
    struct fixture_schedule fixture = fixture_heft_paper();
    struct yk_text page = page_of(&fixture, "paper.json");
    struct yk_json *data = data_of(&page);
    assert_string_equal(why(data, 0), "starts at once");
    assert_string_equal(why(data, 2), "waits for 1 on P3, which finishes at 9");
    assert_string_equal(why(data, 5), "P2 is busy with 4 until 26");
    assert_string_equal(why(data, 7), "waits for data of 6 from P2, which arrives at 57");
    yk_json_destroy(data);
    yk_text_free(&page);
    fixture_free(&fixture);
}

static void a_task_kept_back_is_said_to_be(void **state)
{
    (void)state;
    struct fixture_schedule fixture = fixture_heft_paper();
    fixture.schedule->starts[9] += llround(fixture.graph->ticks_per_unit);
    struct yk_text page = page_of(&fixture, "paper.json");
    struct yk_json *data = data_of(&page);
    assert_string_equal(why(data, 9), "could start at 73, but was left for later");
    yk_json_destroy(data);
    yk_text_free(&page);
    fixture_free(&fixture);
}

/* Task 9 on P2: from 2 on P1 at 40 + 16, from 4 on P2 at 26, from 5 on P3 at 38 + 13. */
static void inputs_have_their_arrival_and_cost(void **state)
{
    (void)state;
    static const double expected[3][3] = {{1, 56, 16}, {3, 26, 0}, {4, 51, 13}};
    struct fixture_schedule fixture = fixture_heft_paper();
    struct yk_text page = page_of(&fixture, "paper.json");
    struct yk_json *data = data_of(&page);
    const struct yk_json *inputs = yk_json_get_member(task_at(data, 8), "inputs");
    assert_int_equal(yk_json_array_count(inputs), 3);
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 3; k++) {
            assert_true(number_at(yk_json_array_at(inputs, i), k) == expected[i][k]);
        }
    }
    yk_json_destroy(data);
    yk_text_free(&page);
    fixture_free(&fixture);
}

static void the_page_needs_nothing_from_outside(void **state)
{
    (void)state;
    struct fixture_schedule fixture = fixture_heft_paper();
    struct yk_text page = page_of(&fixture, "paper.json");
    /* The SVG namespace is the only address. */
    assert_int_equal(markup_occurrences(page.bytes, "://"), 1);
    assert_int_equal(markup_occurrences(page.bytes, "http://www.w3.org/2000/svg"), 1);
    assert_int_equal(markup_occurrences(page.bytes, " src="), 0);
    yk_text_free(&page);
    fixture_free(&fixture);
}

static void names_cannot_break_out(void **state)
{
    (void)state;
    const double lengths[] = {1, 2};
    const char *const names[] = {"</script><script>alert(1)</script>", "\"' & <!--"};
    struct fixture_schedule fixture = fixture_row(lengths, 2, names, "<img onerror=x>");
    struct yk_text page = page_of(&fixture, "<b>.json");
    assert_int_equal(markup_occurrences(page.bytes, "</script>"), 2);
    assert_null(strstr(page.bytes, "<script>alert"));
    assert_null(strstr(page.bytes, "<!--"));
    assert_null(strstr(page.bytes, "<img"));
    assert_null(strstr(page.bytes, "<b>"));
    struct yk_json *data = data_of(&page);
    assert_string_equal(yk_json_string_value(yk_json_get_member(task_at(data, 0), "name")),
                        names[0]);
    yk_json_destroy(data);
    yk_text_free(&page);
    fixture_free(&fixture);
}

static void a_large_graph_leaves_details_out_and_says_so(void **state)
{
    (void)state;
    enum {
        MANY = 50000
    };
    double *lengths = calloc(MANY, sizeof *lengths);
    assert_non_null(lengths);
    for (int i = 0; i < MANY; i++) {
        lengths[i] = 1;
    }
    struct fixture_schedule fixture = fixture_row(lengths, MANY, NULL, "P");
    free(lengths);
    struct yk_text page = page_of(&fixture, "many.json");
    assert_in_range(page.length, 1, 4000000);
    assert_non_null(strstr(page.bytes, "left out of the page"));
    struct yk_json *data = data_of(&page);
    assert_null(yk_json_get_member(data, "tasks"));
    assert_in_range(yk_json_array_count(yk_json_get_member(data, "bars")), 2, 12000);
    yk_json_destroy(data);
    yk_text_free(&page);
    fixture_free(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_are_described),
        cmocka_unit_test(a_task_kept_back_is_said_to_be),
        cmocka_unit_test(inputs_have_their_arrival_and_cost),
        cmocka_unit_test(the_page_needs_nothing_from_outside),
        cmocka_unit_test(names_cannot_break_out),
        cmocka_unit_test(a_large_graph_leaves_details_out_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
