#include "report/csv.h"

#include "report/plan/charts.h"

#include "support/reports/example_plan.h"
#include "support/reports/markup.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

static void expect_cell(const char *words, const char *expected)
{
    struct yk_text text = {0};
    yk_csv_add_text(&text, words);
    yk_csv_end_row(&text);
    assert_int_equal(text.bytes[text.length - 1], '\n');
    text.bytes[text.length - 1] = '\0';
    assert_string_equal(text.bytes, expected);
    yk_text_free(&text);
}

static void cells_are_quoted_where_they_must_be(void **state)
{
    (void)state;
    expect_cell("", "");
    expect_cell("all_gather layer 3", "all_gather layer 3");
    expect_cell("a,b", "\"a,b\"");
    expect_cell("say \"a\"", "\"say \"\"a\"\"\"");
    expect_cell("two\nlines\r\tand more", "two lines  and more");
}

static void cells_are_no_formulas(void **state)
{
    (void)state;
    expect_cell("=1+1", "'=1+1");
    expect_cell("+1", "'+1");
    expect_cell("-1", "'-1");
    expect_cell("@SUM(A1)", "'@SUM(A1)");
    expect_cell("\t=1", "' =1");
    expect_cell(" =1", "' =1");
    expect_cell("=HYPERLINK(\"x\",1)", "\"'=HYPERLINK(\"\"x\"\",1)\"");
    expect_cell("a=1", "a=1");
}

/* Else a name that begins with an apostrophe could not be distinguished from one that was given
 * one. */
static void an_apostrophe_in_front_can_come_off_again(void **state)
{
    (void)state;
    expect_cell("'=1", "''=1");
    expect_cell("it's", "it's");
}

/* Two layers: forward at 0 and 0.01, gather of the second at 0 for half a slot. */
static void lanes_have_a_line_for_each_event(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {.ranks = 2, .layers = 2};
    struct fixture_plan fixture = fixture_plan_make(&options);
    struct yk_equal_ranks_sets sets;
    struct yk_text text = {0};
    assert_ok(yk_equal_ranks_find_sets(&fixture.report, fixture.arena, &sets));
    assert_ok(yk_plan_chart_lanes.write_csv(&sets, &text));
    /* The head, and of each rank: 2 forward, 2 release, 2 backward, 1 update, 1 gather, 2 scatter,
     * 1 load. */
    assert_int_equal(markup_occurrences(text.bytes, "\n"), 1 + 2 * 11);
    assert_non_null(strstr(text.bytes, "ranks,device,lane,op,start_s,end_s,bytes\n0,"));
    assert_non_null(
        strstr(text.bytes, "\n0,gpu0 rtx6000ada,compute,forward layer 1,0.01,0.02,0\n"));
    assert_non_null(strstr(text.bytes, "\n1,gpu1 rtx3090,compute,forward layer 1,0.01,0.018,0\n"));
    assert_non_null(strstr(text.bytes, "\n1,gpu1 rtx3090,compute,release layer 0,0.008,0.008,0\n"));
    assert_non_null(
        strstr(text.bytes, "\n1,gpu1 rtx3090,comm,all_gather layer 1,0,0.005,2000000\n"));
    yk_text_free(&text);
    fixture_plan_free(&fixture);
}

static void memory_has_a_line_for_each_moment(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {.ranks = 1, .layers = 1};
    struct fixture_plan fixture = fixture_plan_make(&options);
    struct yk_equal_ranks_sets sets;
    struct yk_text text = {0};
    struct yk_memory_timeline_point moments[] = {{0, {1, 2, 3, 4, 5, 6, 7}},
                                                 {0.5, {8, 0, 0, 0, 0, 0, 0}}};
    fixture.ranks[0].memory_timeline = moments;
    fixture.ranks[0].moment_count = 2;
    fixture.plan->ranks[0].limit_bytes = 100;
    assert_ok(yk_equal_ranks_find_sets(&fixture.report, fixture.arena, &sets));
    assert_ok(yk_plan_chart_memory.write_csv(&sets, &text));
    assert_string_equal(text.bytes,
                        "ranks,device,limit_bytes,at_s,parameters_bytes,gathered_bytes,"
                        "gradients_bytes,optimizer_bytes,activations_bytes,buffers_bytes,"
                        "context_bytes\n"
                        "0,gpu0 rtx6000ada,100,0,1,2,3,4,5,6,7\n"
                        "0,gpu0 rtx6000ada,100,0.5,8,0,0,0,0,0,0\n");
    yk_text_free(&text);
    fixture_plan_free(&fixture);
}

static void what_is_no_number_is_empty(void **state)
{
    (void)state;
    const double x[] = {1, 2};
    const double step_s[] = {0.5, NAN};
    const struct yk_plan_chart_curve curve = {"-a", x, step_s, 2};
    const struct yk_plan_tradeoff_chart tradeoff = {
        .curves = &curve,
        .curve_count = 1,
        .chosen_x = 1,
        .chosen_s = 0.5,
        .joint_s = 0.25,
        .bound_s = NAN,
    };
    struct yk_text text = {0};
    const struct yk_plan_result result = {.tradeoffs = &tradeoff, .tradeoff_count = 1};
    const struct yk_equal_ranks_sets sets = {.result = &result};
    assert_ok(yk_plan_chart_split.write_csv(&sets, &text));
    assert_string_equal(text.bytes, "mark,name,x,step_s\n"
                                    "curve,'-a,1,0.5\n"
                                    "curve,'-a,2,\n"
                                    "chosen,,1,0.5\n"
                                    "joint optimum,,,0.25\n");
    yk_text_free(&text);
}

/* Nine devices: eight in one node, the first five of one type, and one in another. */
static void links_are_those_of_groups(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {.ranks = 9, .layers = 1};
    struct fixture_plan fixture = fixture_plan_make(&options);
    struct yk_text text = {0};
    const struct yk_equal_ranks_sets sets = {.result = &fixture.report, .arena = fixture.arena};
    assert_ok(yk_plan_chart_cluster.write_csv(&sets, &text));
    assert_string_equal(text.bytes, "from,from_count,to,to_count,latency_s,bytes_per_s\n"
                                    "gpu0,5,gpu0,5,0.00001,32000000000\n"
                                    "gpu0,5,gpu5,3,0.00001,32000000000\n"
                                    "gpu0,5,gpu8,1,0.00001,3000000000\n"
                                    "gpu5,3,gpu5,3,0.00001,32000000000\n"
                                    "gpu5,3,gpu8,1,0.00001,3000000000\n");
    yk_text_free(&text);
    fixture_plan_free(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_quoted_where_they_must_be),
        cmocka_unit_test(cells_are_no_formulas),
        cmocka_unit_test(an_apostrophe_in_front_can_come_off_again),
        cmocka_unit_test(lanes_have_a_line_for_each_event),
        cmocka_unit_test(memory_has_a_line_for_each_moment),
        cmocka_unit_test(what_is_no_number_is_empty),
        cmocka_unit_test(links_are_those_of_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
