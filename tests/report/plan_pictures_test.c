#include "report/plan/report.h"

#include "support/reports/example_plan.h"
#include "support/reports/markup.h"
#include "support/reports/page.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct fixture_plan_options three = {.ranks = 3, .layers = 12, .spare_devices = 1};

static size_t expect_picture(const struct yk_text *text, const char *element)
{
    size_t count = 0;
    assert_true(markup_is_balanced(yk_text_chars(text), element, &count));
    assert_int_equal(strncmp(text->bytes, "<svg xmlns=\"http://www.w3.org/2000/svg\"", 39), 0);
    assert_non_null(strstr(text->bytes, "prefers-color-scheme:dark"));
    assert_null(strstr(text->bytes, "nan"));
    assert_null(strstr(text->bytes, "inf"));
    return count;
}

static struct yk_text lanes_of(const struct fixture_plan_options *options)
{
    struct fixture_plan fixture = fixture_plan_make(options);
    struct yk_text text = {0};
    assert_ok(yk_plan_page_write_pictures(&fixture.report, "lanes",
                                          yk_chart_use_argument_as_picture_text, &text));
    fixture_plan_free(&fixture);
    return text;
}

/* Two rows of ranks; each has 12 forward, 12 release, 12 backward, 1 update, 11 gather, 12 scatter
 * and 1 load. 37 slots share 1090 pixels from 70 on: the second forward begins at 99.46. */
static void every_op_of_every_row_is_a_bar(void **state)
{
    (void)state;
    struct yk_text text = lanes_of(&three);
    expect_picture(&text, "rect");
    assert_int_equal(markup_occurrences(text.bytes, "class=\"bar op-"), 2 * 61);
    assert_int_equal(markup_occurrences(text.bytes, "class=\"bar op-all_gather\""), 2 * 11);
    page_expect(&text, "class=\"bar op-forward\" x=\"99.96\"");
    page_expect(&text, "<title>forward layer 1 on rtx6000ada \xc3\x97"
                       "2: at 0.01s, takes 10ms</title>");
    page_expect(&text,
                "<title>all_gather layer 1 on gpu2 rtx3090: at 0s, takes 5ms, 1.91MiB</title>");
    page_expect(&text, "<title>release layer 0 on gpu2 rtx3090: at 0.008s, takes 0ns</title>");
    page_expect(&text, ">step 370ms</text>");
    page_expect(&text, ">lower bound 342ms</text>");
    yk_text_free(&text);
}

/* A slot of 1201 is less than one of 1090 pixels. */
static void short_ops_are_drawn_together(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {.ranks = 2, .layers = 400};
    struct yk_text text = lanes_of(&options);
    expect_picture(&text, "rect");
    assert_in_range(markup_occurrences(text.bytes, "class=\"bar op-"), 2 * 3, 2001);
    page_expect(&text, " ops, mostly forward on gpu1 rtx3090: at ");
    yk_text_free(&text);
}

/* Of 64 rows with 601 ops each. */
static void no_more_is_drawn_than_can_be_looked_at(void **state)
{
    (void)state;
    const struct fixture_plan_options many = {.ranks = 64, .layers = 120, .all_different = true};
    struct yk_text text = lanes_of(&many);
    assert_in_range(text.length, 64 * 3, 1500000);
    page_expect(&text, " ops, mostly backward on gpu63 rtx3090: at ");
    yk_text_free(&text);
}

static void a_trace_of_no_events_is_drawn(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {.ranks = 1, .layers = 1};
    struct fixture_plan fixture = fixture_plan_make(&options);
    struct yk_trace *empty = NULL;
    struct yk_text text = {0};
    assert_ok(yk_trace_create(&empty));
    assert_ok(yk_trace_add_rank(empty, "gpu0"));
    fixture.report.trace = empty;
    fixture.report.step_s = NAN;
    fixture.report.bound_s = NAN;
    assert_ok(yk_plan_page_write_pictures(&fixture.report, "lanes",
                                          yk_chart_use_argument_as_picture_text, &text));
    expect_picture(&text, "rect");
    page_expect(&text, ">gpu0 rtx6000ada</text>");
    yk_text_free(&text);
    yk_trace_destroy(empty);
    fixture_plan_free(&fixture);
}

static void names_are_escaped(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {
        .ranks = 2, .layers = 2, .name = "</svg><script>\"'&"};
    struct yk_text text = lanes_of(&options);
    expect_picture(&text, "svg");
    assert_null(strstr(text.bytes, "<script>"));
    page_expect(&text, "forward &lt;/svg&gt;&lt;script&gt;&quot;&#39;&amp;layer 1");
    yk_text_free(&text);
}

/* 200 pixels under 58 stand for 1.08 times the limit, which is at 258 - 200 / 1.08. The twelfth
 * moment holds 0.85 of it. */
static void memory_is_stacked_under_its_limit(void **state)
{
    (void)state;
    struct fixture_plan fixture = fixture_plan_make(&three);
    struct yk_text text = {0};
    assert_ok(yk_plan_memory_write_rank_picture(&fixture.report, 2, &text));
    assert_int_equal(expect_picture(&text, "path"), YK_MEMORY_KIND_COUNT);
    page_expect(&text, "Memory over time: gpu2 rtx3090");
    page_expect(&text,
                "<line class=\"limit\" x1=\"70.00\" y1=\"72.8\" x2=\"1160.00\" y2=\"72.8\"/>");
    page_expect(&text, ">limit 22GiB</text>");
    const char *context = strstr(text.bytes, "<path class=\"memory-context\"");
    assert_non_null(context);
    assert_non_null(strstr(context, "V100.6"));
    yk_text_free(&text);
    fixture_plan_free(&fixture);
}

/* 100000 moments on 1090 pixels, and one of them is full to the limit. */
static void no_peak_is_too_short_to_be_visible(void **state)
{
    (void)state;
    enum {
        MANY = 100000
    };
    const struct fixture_plan_options options = {.ranks = 1, .layers = 1};
    struct fixture_plan fixture = fixture_plan_make(&options);
    struct yk_memory_timeline_point *moments = calloc(MANY, sizeof *moments);
    struct yk_text text = {0};
    assert_non_null(moments);
    for (int i = 0; i < MANY; i++) {
        moments[i].at_s = fixture.report.step_s * i / MANY;
        moments[i].bytes[YK_MEMORY_CONTEXT] = 1;
    }
    moments[54321].bytes[YK_MEMORY_CONTEXT] = fixture.plan->ranks[0].limit_bytes;
    fixture.ranks[0].memory_timeline = moments;
    fixture.ranks[0].moment_count = MANY;
    assert_ok(yk_plan_memory_write_rank_picture(&fixture.report, 0, &text));
    assert_int_equal(expect_picture(&text, "path"), 1);
    assert_int_equal(markup_occurrences(text.bytes, "V72.8"), 1);
    assert_in_range(text.length, 1, 100000);
    yk_text_free(&text);
    free(moments);
    fixture_plan_free(&fixture);
}

static void a_rank_that_is_not_there_has_no_memory(void **state)
{
    (void)state;
    struct fixture_plan fixture = fixture_plan_make(&three);
    struct yk_text text = {0};
    assert_fails(yk_plan_memory_write_rank_picture(&fixture.report, 3, &text), YK_ERROR_INPUT,
                 "a plan of 3 ranks has no rank 3 to draw");
    assert_int_equal(yk_plan_memory_write_rank_picture(&fixture.report, -1, &text), YK_ERROR_INPUT);
    yk_text_free(&text);
    fixture_plan_free(&fixture);
}

/* The longest name, "rtx6000ada ×2", takes 13 × 6.7 pixels; bars are from 14 + that + 12 to 746. Of
 * the 632.9 pixels rank 2 computes for 0.8, and there is a pixel between neighbours. */
static void bars_are_as_long_as_their_times(void **state)
{
    (void)state;
    struct fixture_plan fixture = fixture_plan_make(&three);
    struct yk_text text = {0};
    assert_ok(yk_plan_page_write_pictures(&fixture.report, "bars",
                                          yk_chart_use_argument_as_picture_text, &text));
    expect_picture(&text, "rect");
    page_expect(&text, "<rect class=\"time-compute\" x=\"113.10\" y=\"36.0\" width=\"631.90\"");
    page_expect(&text, "<rect class=\"time-compute\" x=\"113.10\" y=\"70.0\" width=\"505.32\"");
    page_expect(&text, "<title>gpu2 rtx3090: exposed 18.5ms</title>");
    page_expect(&text, "<title>gpu2 rtx3090: idle 55.5ms</title>");
    assert_int_equal(markup_occurrences(text.bytes, "<rect class=\"time-idle\""), 1 + 1);
    yk_text_free(&text);
    fixture_plan_free(&fixture);
}

static void equal_devices_nodes_and_links_are_one(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {.ranks = 64, .layers = 1};
    struct fixture_plan fixture = fixture_plan_make(&options);
    struct yk_text text = {0};
    assert_ok(yk_plan_page_write_pictures(&fixture.report, "cluster",
                                          yk_chart_use_argument_as_picture_text, &text));
    expect_picture(&text, "rect");
    assert_int_equal(markup_occurrences(text.bytes, "class=\"chip\""), 2);
    page_expect(&text, ">nodes 0 to 3, alike</text>");
    page_expect(&text, ">rtx6000ada \xc3\x97"
                       "8</text>");
    page_expect(&text, ">nodes 4 to 7, alike</text>");
    page_expect(&text, ">rtx3090 \xc3\x97"
                       "8</text>");
    page_expect(&text, ">links all 32GB/s</text>");
    page_expect(&text, ">between nodes all 3GB/s</text>");
    yk_text_free(&text);
    fixture_plan_free(&fixture);
}

static void unequal_links_are_listed_one_by_one(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {.ranks = 2, .layers = 1, .spare_devices = 1};
    struct fixture_plan fixture = fixture_plan_make(&options);
    struct yk_link links[9];
    struct yk_cluster cluster = *fixture.report.cluster;
    struct yk_text text = {0};
    memcpy(links, cluster.links, sizeof links);
    links[0 * 3 + 1].bytes_per_s = links[1 * 3 + 0].bytes_per_s = 8e9;
    cluster.links = links;
    cluster.assumption = "links not given: as made up";
    fixture.report.cluster = &cluster;
    assert_ok(yk_plan_page_write_pictures(&fixture.report, "cluster",
                                          yk_chart_use_argument_as_picture_text, &text));
    expect_picture(&text, "rect");
    page_expect(&text, ">links 8GB/s to 32GB/s</text>");
    /* Three devices, six cells besides those of a device with itself. */
    assert_int_equal(markup_occurrences(text.bytes, ">32GB/s</text>"), 4);
    assert_int_equal(markup_occurrences(text.bytes, ">8GB/s</text>"), 2);
    assert_int_equal(markup_occurrences(text.bytes, "class=\"chip unused\""), 1);
    page_expect(&text, ">24GiB, not used</text>");
    page_expect(&text, ">links not given: as made up</text>");
    yk_text_free(&text);
    fixture_plan_free(&fixture);
}

static void a_tradeoff_says_what_it_shows(void **state)
{
    (void)state;
    struct fixture_plan fixture = fixture_plan_make(&three);
    struct yk_text text = {0};
    fixture_plan_add_choices(&fixture);
    assert_ok(yk_plan_tradeoff_write_picture(&fixture.report.tradeoffs[0], &text));
    expect_picture(&text, "path");
    page_expect(&text, ">part reserved for scheduling</text>");
    page_expect(&text, ">chosen 370ms</text>");
    page_expect(&text, ">joint optimum 366ms</text>");
    page_expect(&text, ">lower bound 342ms</text>");
    page_expect(&text, "reserved for gathering ahead; the rest keeps");
    page_expect(&text, "<title>strategies first, 1: nothing fits</title>");
    /* 11 points of each curve that fit, and one of each in the legend. */
    assert_int_equal(markup_occurrences(text.bytes, "class=\"dot s0\""), 12);
    assert_int_equal(markup_occurrences(text.bytes, "class=\"dot s1\""), 12);
    yk_text_free(&text);
    fixture_plan_free(&fixture);
}

/* Curves that rise by a tenth, and a bound at half of them. */
static void a_bound_far_below_does_not_flatten_the_curves(void **state)
{
    (void)state;
    const double x[] = {20e9, 40e9};
    const double step_s[] = {1, 1.1};
    const struct yk_plan_chart_curve curve = {"one", x, step_s, 2};
    struct yk_plan_tradeoff_chart tradeoff = {
        .title = "Bound",
        .definition = "",
        .x_label = "bytes",
        .curves = &curve,
        .curve_count = 1,
        .chosen_x = NAN,
        .joint_s = NAN,
        .bound_s = 0.5,
    };
    struct yk_text text = {0};
    assert_ok(yk_plan_tradeoff_write_picture(&tradeoff, &text));
    expect_picture(&text, "path");
    page_expect(&text, ">lower bound 500ms, below \xe2\x86\x93</text>");
    assert_null(strstr(text.bytes, "<line class=\"low\""));
    page_expect(&text, "<title>one, 40G: 1.10s</title>");
    yk_text_free(&text);
    text = (struct yk_text){0};
    tradeoff.bound_s = 0.95;
    assert_ok(yk_plan_tradeoff_write_picture(&tradeoff, &text));
    page_expect(&text, ">lower bound 950ms</text>");
    page_expect(&text, "<line class=\"low\"");
    yk_text_free(&text);
}

static void a_tradeoff_of_nothing_is_drawn(void **state)
{
    (void)state;
    const double x[] = {NAN, 1};
    const double step_s[] = {1, NAN};
    const struct yk_plan_chart_curve curve = {"none", x, step_s, 2};
    struct yk_plan_tradeoff_chart tradeoff = {
        .title = "Nothing",
        .definition = "",
        .x_label = "x",
        .curves = &curve,
        .chosen_x = NAN,
        .chosen_s = NAN,
        .joint_s = NAN,
        .bound_s = NAN,
    };
    struct yk_text text = {0};
    assert_ok(yk_plan_tradeoff_write_picture(&tradeoff, &text));
    expect_picture(&text, "path");
    yk_text_free(&text);
    text = (struct yk_text){0};
    tradeoff.curve_count = 1;
    assert_ok(yk_plan_tradeoff_write_picture(&tradeoff, &text));
    expect_picture(&text, "path");
    assert_null(strstr(text.bytes, ">chosen"));
    yk_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_of_every_row_is_a_bar),
        cmocka_unit_test(short_ops_are_drawn_together),
        cmocka_unit_test(no_more_is_drawn_than_can_be_looked_at),
        cmocka_unit_test(a_trace_of_no_events_is_drawn),
        cmocka_unit_test(names_are_escaped),
        cmocka_unit_test(memory_is_stacked_under_its_limit),
        cmocka_unit_test(no_peak_is_too_short_to_be_visible),
        cmocka_unit_test(a_rank_that_is_not_there_has_no_memory),
        cmocka_unit_test(bars_are_as_long_as_their_times),
        cmocka_unit_test(equal_devices_nodes_and_links_are_one),
        cmocka_unit_test(unequal_links_are_listed_one_by_one),
        cmocka_unit_test(a_tradeoff_says_what_it_shows),
        cmocka_unit_test(a_bound_far_below_does_not_flatten_the_curves),
        cmocka_unit_test(a_tradeoff_of_nothing_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
