#include "report/plan/report.h"

#include "support/reports/example_plan.h"
#include "support/reports/markup.h"
#include "support/reports/page.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct fixture_plan_options three = {.ranks = 3, .layers = 12, .spare_devices = 1};

/* The page, whose content has every tag closed and everything escaped. */
static struct yk_text page_of(const struct fixture_plan *fixture)
{
    struct yk_text page = {0};
    assert_ok(yk_plan_page_write(&fixture->report, &page));
    page_check(&page);
    return page;
}

/* 37 slots of 10 ms; 64 × 1024 tokens in them; the bound is 36 × 0.95 slots. */
static void the_head_has_the_figures(void **state)
{
    (void)state;
    struct fixture_plan fixture = fixture_plan_make(&three);
    struct yk_text page = page_of(&fixture);
    page_expect(&page, "<h1>A plan made by hand</h1>\n<p>64 samples go to the devices");
    page_expect(&page, "<dt>step</dt><dd>370ms</dd>");
    page_expect(&page, "<dt>tokens/s</dt><dd>177,124</dd>");
    page_expect(&page, "<dt>MFU</dt><dd>39.1% (exact 36.4)</dd>");
    page_expect(&page, "<dt>lower bound</dt><dd>342ms</dd>");
    page_expect(&page, "<dt>gap to the bound</dt><dd>8.2%</dd>");
    page_expect(&page, "<dt>devices used</dt><dd>3 of 4</dd>");
    page_expect(&page, "<p>Compute on gpu0 fills the whole step");
    page_expect(&page, "Times were made up for this page.");
    yk_text_free(&page);
    fixture_plan_free(&fixture);
}

static void a_plan_for_images_counts_images(void **state)
{
    (void)state;
    struct fixture_plan_options options = three;
    options.images = true;
    struct fixture_plan fixture = fixture_plan_make(&options);
    struct yk_text page = page_of(&fixture);
    page_expect(&page, "<dt>images/s</dt><dd>177,124</dd>");
    page_expect(&page, " images of 224 × 160 pixels in ");
    assert_null(strstr(page.bytes, "tokens"));
    yk_text_free(&page);
    fixture_plan_free(&fixture);
}

static void the_tables_say_who_does_what(void **state)
{
    (void)state;
    struct fixture_plan fixture = fixture_plan_make(&three);
    fixture_plan_add_choices(&fixture);
    struct yk_text page = page_of(&fixture);
    page_expect(&page, "<th scope=\"row\">gpu2 rtx3090</th><td>2</td><td>33.3%</td><td>all 12</td>"
                       "<td>296ms</td><td>18.5ms</td><td>55.5ms</td>");
    /* Of a limit of 22 GiB at the fullest: 0.1, 0.1, 0, 0.2, 0.4, 0.03 and 0.02. */
    page_expect(&page,
                "<th scope=\"row\">gpu2 rtx3090</th><td>2.20GiB</td><td>2.20GiB</td><td>0</td>"
                "<td>4.40GiB</td><td>8.80GiB</td><td>676MiB</td><td>451MiB</td>"
                "<td>19.8GiB</td><td>22GiB</td>");
    page_expect(&page, "<th scope=\"row\">layer 0 \xe2\x80\xa6 layer 5</th><td>6</td>"
                       "<td class=\"left\">kept</td><td class=\"left\">all 3</td>"
                       "<td class=\"left\">no</td><td>6,000,000</td>");
    page_expect(&page, "<th scope=\"row\">layer 6 \xe2\x80\xa6 layer 11</th><td>6</td>"
                       "<td class=\"left\">fully-sharded</td>");
    page_expect(&page, "<th scope=\"row\">by datasheet</th><td>607ms</td><td>1.64\xc3\x97</td>"
                       "<td class=\"left\">fits</td>");
    page_expect(&page, "<th scope=\"row\">placement</th><td>none</td><td>\xe2\x80\x93</td>"
                       "<td class=\"left warn\">does not fit</td>"
                       "<td class=\"remark\">no stage fits gpu1</td>");
    page_expect(&page, "<th scope=\"row\">gpu0 rtx6000ada</th><td>none</td>"
                       "<td class=\"warn\">nothing fits</td>");
    page_expect(&page, "<th scope=\"row\">gpu2 rtx3090</th><td>444ms</td><td>20.0% slower</td>");
    yk_text_free(&page);
    fixture_plan_free(&fixture);
}

/* A rank in two groups, and a layer of each; a rank's limit passed. */
static void groups_of_their_own_are_listed(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {.ranks = 2, .layers = 2};
    struct fixture_plan fixture = fixture_plan_make(&options);
    struct yk_plan_group_member first[] = {{.rank = 0, .share = 64, .shard_fraction = 1}};
    struct yk_plan_group groups[] = {fixture.plan->groups[0], {first, 1}};
    fixture.plan->groups = groups;
    fixture.plan->group_count = 2;
    fixture.plan->layers[1].group = 1;
    fixture.ranks[0].peak_bytes = 2 * fixture.plan->ranks[0].limit_bytes;
    struct yk_text page = page_of(&fixture);
    page_expect(&page,
                "<th scope=\"row\">gpu0 rtx6000ada</th><td>4 / 64</td><td>50.0% / 100.0%</td>"
                "<td>all 2</td>");
    page_expect(&page,
                "<th scope=\"row\">gpu1 rtx3090</th><td>2</td><td>50.0%</td><td>1 of 2</td>");
    /* Alone in its group, a layer is not sharded. */
    page_expect(&page, "<th scope=\"row\">layer 1</th><td>1</td><td class=\"left\">replicated</td>"
                       "<td class=\"left\">gpu0</td>");
    page_expect(&page, "<span class=\"meter over\" style=\"--part:100.0%\"></span>"
                       "<span class=\"percent\">200.0%</span>");
    yk_text_free(&page);
    fixture_plan_free(&fixture);
}

static void every_chart_has_its_numbers(void **state)
{
    (void)state;
    static const char *const ids[] = {"lanes", "memory",      "times",
                                      "links", "trade-off-1", "trade-off-2"};
    struct fixture_plan fixture = fixture_plan_make(&three);
    fixture_plan_add_choices(&fixture);
    struct yk_text page = page_of(&fixture);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct yk_text words = {0};
        yk_text_addf(&words, "data-csv=\"csv-%s\" data-file=\"%s.csv\"", ids[i], ids[i]);
        page_expect(&page, words.bytes);
        words.length = 0;
        yk_text_addf(&words, "<pre id=\"csv-%s\"", ids[i]);
        page_expect(&page, words.bytes);
        yk_text_free(&words);
    }
    page_expect(&page, "\n<code>ranks,device,lane,op,start_s,end_s,bytes\n");
    page_expect(&page, "2,gpu2 rtx3090,0.296,0.0185,0.0555,");
    yk_text_free(&page);
    fixture_plan_free(&fixture);
}

static void the_page_needs_nothing_from_outside(void **state)
{
    (void)state;
    static const char *const banned[] = {" src=",     "@import", "url(",       "eval(",
                                         "Function(", "fetch(",  "transition", "animation"};
    struct fixture_plan fixture = fixture_plan_make(&three);
    fixture_plan_add_choices(&fixture);
    struct yk_text page = page_of(&fixture);
    assert_int_equal(markup_occurrences(page.bytes, "://"),
                     markup_occurrences(page.bytes, "xmlns=\"http://www.w3.org/2000/svg\""));
    for (size_t i = 0; i < sizeof banned / sizeof *banned; i++) {
        if (strstr(page.bytes, banned[i])) {
            print_error("there is %s\n", banned[i]);
            fail();
        }
    }
    yk_text_free(&page);
    fixture_plan_free(&fixture);
}

static void names_cannot_break_out(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {
        .ranks = 2, .layers = 4, .name = "=</script></pre><img src=x onerror=alert(1)>\"'"};
    struct fixture_plan fixture = fixture_plan_make(&options);
    fixture_plan_add_choices(&fixture);
    struct yk_plan_alternative other = {"<b>x", "\"><i>", 1, true};
    struct yk_plan_tradeoff_chart tradeoff = fixture.report.tradeoffs[0];
    tradeoff.title = "<u>";
    tradeoff.definition = "</svg><s>";
    tradeoff.x_label = "<q>";
    fixture.report.alternatives = &other;
    fixture.report.alternative_count = 1;
    fixture.report.tradeoffs = &tradeoff;
    fixture.report.tradeoff_count = 1;
    fixture.report.title = "<title></title>";
    fixture.report.summary = fixture.report.bottleneck = fixture.report.source = "<script>&amp;";
    struct yk_text page = page_of(&fixture);
    static const char *const banned[] = {"<img", "<b>", "<i>", "<u>", "<s>", "<q>"};
    for (size_t i = 0; i < sizeof banned / sizeof *banned; i++) {
        assert_null(strstr(page.bytes, banned[i]));
    }
    assert_int_equal(markup_occurrences(page.bytes, "<script>"), 1);
    assert_int_equal(markup_occurrences(page.bytes, "</script>"), 1);
    page_expect(&page, "<title>&lt;title&gt;");
    /* In CSV, and that in HTML: quoted, with an apostrophe before the sign. */
    page_expect(&page,
                "\n0,&quot;&#39;=&lt;/script&gt;&lt;/pre&gt;&lt;img src=x onerror=alert(1)&gt;"
                "&quot;&quot;&#39;gpu0 rtx6000ada&quot;,compute,");
    yk_text_free(&page);
    fixture_plan_free(&fixture);
}

static void what_is_not_known_is_said_so(void **state)
{
    (void)state;
    struct fixture_plan fixture = fixture_plan_make(&three);
    fixture_plan_add_choices(&fixture);
    struct yk_plan_tradeoff_chart tradeoff = fixture.report.tradeoffs[0];
    tradeoff.chosen_x = tradeoff.chosen_s = tradeoff.joint_s = tradeoff.bound_s = NAN;
    fixture.report.tradeoffs = &tradeoff;
    fixture.report.tradeoff_count = 1;
    fixture.report.step_s = fixture.report.bound_s = fixture.report.tokens_per_s = NAN;
    fixture.report.mfu = fixture.report.exact_mfu = NAN;
    fixture.ranks[2].compute_s = fixture.ranks[2].exposed_s = fixture.ranks[2].idle_s = NAN;
    struct yk_text page = page_of(&fixture);
    page_expect(&page, "<dt>step</dt><dd>none</dd>");
    page_expect(&page, "<dt>tokens/s</dt><dd>unknown</dd>");
    page_expect(&page, "<dt>MFU</dt><dd>unknown</dd>");
    page_expect(&page, "<dt>lower bound</dt><dd>none</dd>");
    page_expect(&page, "<dt>gap to the bound</dt><dd>unknown</dd>");
    page_expect(&page, "<td>none</td><td>none</td><td>none</td>");
    yk_text_free(&page);
    fixture_plan_free(&fixture);
}

static void what_there_is_none_of_is_left_out(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {.ranks = 1, .layers = 1};
    struct fixture_plan fixture = fixture_plan_make(&options);
    fixture.ranks[0].moment_count = 0;
    struct yk_text page = page_of(&fixture);
    page_expect(&page, "<dt>devices used</dt><dd>1 of 1</dd>");
    page_expect(&page, "<td class=\"left\">replicated</td><td class=\"left\">gpu0</td>");
    assert_null(strstr(page.bytes, "trade-off-1"));
    assert_null(strstr(page.bytes, "<h2>Other plans</h2>"));
    assert_null(strstr(page.bytes, "<h2>Leaving a device out</h2>"));
    yk_text_free(&page);
    fixture_plan_free(&fixture);
}

static void equal_ranks_are_listed_once(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {.ranks = 64, .layers = 8};
    struct fixture_plan fixture = fixture_plan_make(&options);
    fixture_plan_add_choices(&fixture);
    struct yk_text page = page_of(&fixture);
    /* In two tables. */
    assert_int_equal(markup_occurrences(page.bytes, "<th scope=\"row\">rtx3090 \xc3\x97"
                                                    "32</th>"),
                     2);
    assert_int_equal(markup_occurrences(page.bytes, "\n32 to 63,rtx3090 \xc3\x97"
                                                    "32,comm,"),
                     7 + 8);
    page_expect(&page, "<th scope=\"row\">one of 31 rtx6000ada</th>");
    page_expect(&page, "<th scope=\"row\">one of 32 rtx3090</th>");
    assert_in_range(page.length, 1, 300000);
    yk_text_free(&page);
    fixture_plan_free(&fixture);
}

/* Each rank has 5 ops a layer and 1 more: two of them have over 300000. */
static void a_page_holds_as_many_ops_as_it_can(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {.ranks = 2, .layers = 31000};
    struct fixture_plan fixture = fixture_plan_make(&options);
    struct yk_text page = {0};
    assert_ok(yk_plan_page_write(&fixture.report, &page));
    page_expect(&page, "The ops of 1 more row are too many for this page");
    page_expect(&page, "0,gpu0 rtx6000ada,comm,reduce_scatter layer 0,");
    assert_null(strstr(page.bytes, "1,gpu1 rtx3090,comm,"));
    yk_text_free(&page);
    fixture_plan_free(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_head_has_the_figures),
        cmocka_unit_test(a_plan_for_images_counts_images),
        cmocka_unit_test(the_tables_say_who_does_what),
        cmocka_unit_test(groups_of_their_own_are_listed),
        cmocka_unit_test(every_chart_has_its_numbers),
        cmocka_unit_test(the_page_needs_nothing_from_outside),
        cmocka_unit_test(names_cannot_break_out),
        cmocka_unit_test(what_is_not_known_is_said_so),
        cmocka_unit_test(what_there_is_none_of_is_left_out),
        cmocka_unit_test(equal_ranks_are_listed_once),
        cmocka_unit_test(a_page_holds_as_many_ops_as_it_can),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
