#include "report/run/report.h"

#include "support/reports/example_run.h"
#include "support/reports/markup.h"
#include "support/reports/page.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NOTHING[YK_COUNTER_COUNT] = {
    NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN,
};

static struct yk_counter_average phases[2];
static struct yk_counter_average kinds[1];
static struct yk_counter_reading readings[4];

/* Readings of 10 ms around a step of 30 ms; SM of all, DRAM of all but one, a clock. */
static struct yk_counter_rank_data make_rank(const char *device)
{
    phases[0] = (struct yk_counter_average){.name = "forward", .seconds = 3};
    phases[1] = (struct yk_counter_average){.name = "step", .seconds = 10};
    kinds[0] = (struct yk_counter_average){.name = "gpt-block", .seconds = 7.5};
    memcpy(phases[0].values, NOTHING, sizeof NOTHING);
    memcpy(phases[1].values, NOTHING, sizeof NOTHING);
    memcpy(kinds[0].values, NOTHING, sizeof NOTHING);
    phases[0].values[YK_COUNTER_SM] = 0.931;
    phases[1].values[YK_COUNTER_SM] = 0.5;
    phases[1].values[YK_COUNTER_CLOCK] = 1.98e9;
    kinds[0].values[YK_COUNTER_SM] = 0.7;
    for (int i = 0; i < 4; i++) {
        readings[i] = (struct yk_counter_reading){-0.005 + 0.01 * i, 0.005 + 0.01 * i, {0}};
        memcpy(readings[i].values, NOTHING, sizeof NOTHING);
        readings[i].values[YK_COUNTER_SM] = 0.25 * i;
        readings[i].values[YK_COUNTER_DRAM] = i == 2 ? NAN : 0.5;
        readings[i].values[YK_COUNTER_CLOCK] = 1.98e9;
    }
    return (struct yk_counter_rank_data){device,     "NVML <GPM>",  {phases, 2},
                                         {kinds, 1}, {readings, 4}, {readings + 1, 3}};
}

static void make_page(const struct fixture_run *fixture, struct yk_text *page)
{
    assert_ok(yk_run_page_write(&fixture->report, page));
    page_check(page);
}

static void the_page_has_lines_tables_and_what_is_missing(void **state)
{
    (void)state;
    struct fixture_run fixture =
        fixture_run_make(&(struct fixture_run_options){.steps = 10, .ranks = 1, .layers = 3});
    struct yk_counter_rank_data rank = make_rank("h200 <1>");
    const struct yk_counter_run_data ranks = {&rank, 1};
    struct yk_text page = {0};
    fixture.report.counters = &ranks;
    make_page(&fixture, &page);
    page_expect(&page, "<h2>Counters</h2>");
    page_expect(&page, "forward</th><td>30.0%</td><td>93.1 %</td><td>n/a</td><td>n/a</td></tr>");
    page_expect(&page, "step</th><td>100.0%</td><td>50.0 %</td><td>n/a</td><td>1.98GHz</td></tr>");
    page_expect(&page, "gpt-block</th><td>75.0%</td><td>70.0 %</td><td>n/a</td><td>n/a</td></tr>");
    page_expect(&page,
                "NVML &lt;GPM&gt;. Without a meter here: SM occupancy, tensor active, PCIe in, "
                "PCIe out, NVLink in, NVLink out, power, memory.");
    page_expect(&page, "\n0,h200 &lt;1&gt;,active,SM active,part,0,-0.005,0.005,0\n"
                       "0,h200 &lt;1&gt;,active,SM active,part,0,0.005,0.015,0.25\n");
    page_expect(&page, "\n0,h200 &lt;1&gt;,phase,forward,3,0.931,,,,,,,,,,,,,,\n");
    page_expect(&page, "id=\"counters-chart\"");
    page_expect(&page, "Over the whole run");
    yk_text_free(&page);
    fixture_run_free(&fixture);
}

/* The step of the fixture ends at 30.1 ms: 5 ms are at 5 / 30.1 of 1,090 pixels from 70 on. SM is
 * at 0, 1/4, 1/2, 3/4 of 80 pixels; DRAM has a gap. */
static void lines_are_level_where_a_reading_was(void **state)
{
    (void)state;
    struct fixture_run fixture =
        fixture_run_make(&(struct fixture_run_options){.steps = 10, .ranks = 1, .layers = 3});
    struct yk_counter_rank_data rank = make_rank("h200");
    const struct yk_counter_run_data ranks = {&rank, 1};
    struct yk_text picture = {0};
    size_t count = 0;
    fixture.report.counters = &ranks;
    assert_ok(yk_run_page_write_pictures(&fixture.report, "counters",
                                         yk_chart_use_argument_as_picture_text, &picture));
    assert_true(markup_is_balanced(picture.bytes, "svg", &count));
    const char *path = strstr(picture.bytes, "<path class=\"curve fine s0\" d=\"M70.0,");
    assert_non_null(path);
    const double at_5ms = 70 + 0.005 / 0.0301 * 1090;
    char words[64];
    snprintf(words, sizeof words, "H%.1fV", at_5ms);
    assert_true(path && strstr(path, words));
    const char *gap = strstr(picture.bytes, "<path class=\"curve fine s2\" d=\"M");
    assert_non_null(gap);
    assert_true(gap && strchr(gap + 32, 'M') < strchr(gap, '>'));
    yk_text_free(&picture);
    fixture_run_free(&fixture);
}

static void a_run_with_no_counters_says_nothing_of_them(void **state)
{
    (void)state;
    struct fixture_run fixture =
        fixture_run_make(&(struct fixture_run_options){.steps = 10, .ranks = 1, .layers = 3});
    const struct yk_counter_run_data none = {NULL, 0};
    struct yk_text page = {0};
    make_page(&fixture, &page);
    assert_null(strstr(page.bytes, "<h2>Counters</h2>"));
    page.length = 0;
    fixture.report.counters = &none;
    make_page(&fixture, &page);
    assert_null(strstr(page.bytes, "<h2>Counters</h2>"));
    yk_text_free(&page);
    fixture_run_free(&fixture);
}

/* Without a step to put them under, the tables and the whole run remain. */
static void counters_with_no_trace_have_tables(void **state)
{
    (void)state;
    struct yk_counter_rank_data rank = make_rank("h200");
    const struct yk_counter_run_data ranks = {&rank, 1};
    const struct yk_run_report report = {
        .title = "x", .predicted_step_s = NAN, .measured_step_s = NAN, .counters = &ranks};
    struct yk_text page = {0};
    assert_ok(yk_run_page_write(&report, &page));
    page_expect(&page, "<h2>Counters</h2>");
    page_expect(&page, "forward</th><td>30.0%</td>");
    page_expect(&page, "Over the whole run");
    assert_null(strstr(page.bytes, "id=\"counters-chart\""));
    yk_text_free(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_has_lines_tables_and_what_is_missing),
        cmocka_unit_test(lines_are_level_where_a_reading_was),
        cmocka_unit_test(a_run_with_no_counters_says_nothing_of_them),
        cmocka_unit_test(counters_with_no_trace_have_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
