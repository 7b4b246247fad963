#include "report/run/report.h"

#include "support/reports/example_run.h"
#include "support/reports/markup.h"
#include "support/reports/page.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct fixture_run_options usual = {.steps = 100, .ranks = 1, .layers = 3};

/* The page, whose content has every tag closed and everything escaped. */
static struct yk_text page_of(const struct yk_run_report *report)
{
    struct yk_text page = {0};
    assert_ok(yk_run_page_write(report, &page));
    page_check(&page);
    return page;
}

static void the_head_has_the_figures(void **state)
{
    (void)state;
    struct fixture_run fixture = fixture_run_make(&usual);
    struct yk_text page = page_of(&fixture.report);
    page_expect(&page,
                "<h1>A run made by hand</h1>\n<p>97,296 parameters in fp32. Trained on text.txt."
                "</p>");
    page_expect(&page, "<dt>steps</dt><dd>100</dd>");
    page_expect(&page, "<dt>loss</dt><dd>2.0000</dd>");
    page_expect(&page, "<dt>evaluation</dt><dd>2.2500</dd>");
    page_expect(&page, "<dt>tokens/s</dt><dd>6,400</dd>");
    page_expect(&page, "<dt>MFU</dt><dd>40.0% (exact 32.0)</dd>");
    page_expect(&page, "<dt>step, measured</dt><dd>10ms</dd>");
    page_expect(&page, "<dt>step, predicted</dt><dd>20ms</dd>");
    page_expect(&page, "<dt>memory, measured</dt><dd>40MiB</dd>");
    yk_text_free(&page);
    fixture_run_free(&fixture);
}

/* 3 forwards of 2 ms, 3 backwards of 4 ms; measured 1.5 times as long; release only measured. */
static void kinds_of_ops_are_summed_and_compared(void **state)
{
    (void)state;
    struct fixture_run fixture = fixture_run_make(&usual);
    struct yk_text page = page_of(&fixture.report);
    page_expect(&page, "forward</th><td>3</td><td>6ms</td><td>9ms</td><td>1.50</td></tr>");
    page_expect(&page, "backward</th><td>3</td><td>12ms</td><td>18ms</td><td>1.50</td></tr>");
    page_expect(&page, "load</th><td>1</td><td>1ms</td><td>1.50ms</td><td>1.50</td></tr>");
    page_expect(&page, "release</th><td>1</td><td>0</td><td>100us</td><td>\xe2\x80\x93</td></tr>");
    page_expect(&page, "this step</th><td></td><td>20ms</td><td>30.1ms</td><td>1.50</td></tr>");
    page_expect(&page, "median step</th><td></td><td>20ms</td><td>10ms</td><td>0.50</td></tr>");
    page_expect(&page, "\nbackward,3,0.012,3,0.018\n");
    yk_text_free(&page);
    fixture_run_free(&fixture);
}

static void every_chart_has_its_numbers(void **state)
{
    (void)state;
    static const char *const ids[] = {"steps", "lanes", "kinds", "memory"};
    struct fixture_run fixture = fixture_run_make(&usual);
    struct yk_text page = page_of(&fixture.report);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char words[96];
        snprintf(words, sizeof words, "data-csv=\"csv-%s\" data-file=\"%s.csv\"", ids[i], ids[i]);
        page_expect(&page, words);
        snprintf(words, sizeof words, "<pre id=\"csv-%s\"", ids[i]);
        page_expect(&page, words);
    }
    page_expect(&page, "<code>step,loss,smooth_loss,evaluation_loss,norm,rate,seconds,tokens_per_s,"
                       "skipped\n1,3.98,3.98,,1,0.001,0.01,6400,0\n");
    page_expect(&page, "\n25,3.5,3.5,3.75,1,0.025,0.01,6400,0\n");
    page_expect(&page, "<code>ranks,device,lane,op,start_s,end_s,bytes,trace\n"
                       "0,cpu0,compute,forward layer 0,0.001,0.003,0,predicted\n");
    page_expect(&page, "\n0,cpu0,compute,forward layer 0,0.0015,0.0045,0,measured\n");
    /* Lanes without ops are left out, the others are in their order. */
    assert_null(strstr(page.bytes, ",comm,"));
    page_expect(&page, "release,0.03,0.0301,0,measured\n0,cpu0,copy,load,0,0.001,0,predicted\n"
                       "0,cpu0,copy,load,0,0.0015,0,measured\n");
    page_expect(&page, "\ncpu0,67108864,41943040,1048576,2097152,3145728,");
    yk_text_free(&page);
    fixture_run_free(&fixture);
}

static void a_run_on_images_counts_images(void **state)
{
    (void)state;
    struct fixture_run_options images = usual;
    images.images = true;
    struct fixture_run fixture = fixture_run_make(&images);
    struct yk_text page = page_of(&fixture.report);
    page_expect(&page, "<dt>images/s</dt><dd>6,400</dd>");
    page_expect(&page, "<dt>accuracy</dt><dd>100.0%</dd>");
    page_expect(&page, "evaluation_loss,norm,rate,seconds,images_per_s,skipped\n");
    page_expect(&page, "images/s by step");
    assert_null(strstr(page.bytes, "tokens"));
    yk_text_free(&page);
    fixture_run_free(&fixture);
}

static void options_sample_and_checkpoint_are_listed(void **state)
{
    (void)state;
    struct fixture_run fixture = fixture_run_make(&usual);
    struct yk_text page = page_of(&fixture.report);
    page_expect(&page, "<tr><th scope=\"row\">batch</th><td>12</td></tr>");
    page_expect(&page, "Once upon a time\nthere was a &lt;yoke&gt; &amp; two oxen.</pre>");
    page_expect(&page, "Newest checkpoint: runs/hand/checkpoints/step-00000100</p>");
    yk_text_free(&page);
    fixture_run_free(&fixture);
}

/* Nothing but the first step, whose loss is no number; then not even that. */
static void what_is_missing_is_left_out(void **state)
{
    (void)state;
    const struct yk_run_report_step step = {.step = 1,
                                            .loss = NAN,
                                            .norm = NAN,
                                            .lr = 0.1,
                                            .seconds = NAN,
                                            .units_per_s = NAN,
                                            .skipped = true};
    struct yk_run_report report = {
        .title = "Going on",
        .step_goal = 10,
        .steps = &step,
        .step_count = 1,
        .predicted_step_s = NAN,
        .measured_step_s = NAN,
    };
    struct yk_text page = page_of(&report);
    page_expect(&page, "<dt>steps so far</dt><dd>1</dd>");
    page_expect(&page, "\n1,,,,,0.1,,,1\n");
    assert_null(strstr(page.bytes, "lanes-chart\""));
    assert_null(strstr(page.bytes, "<h2>Memory</h2>"));
    assert_null(strstr(page.bytes, "<h2>Kinds of ops</h2>"));
    assert_null(strstr(page.bytes, "<h2>What it writes</h2>"));
    assert_null(strstr(page.bytes, "<h2>Settings</h2>"));
    yk_text_free(&page);
    report.step_count = 0;
    page = page_of(&report);
    assert_null(strstr(page.bytes, "<h2>Loss</h2>"));
    yk_text_free(&page);
}

static void one_trace_is_drawn_alone(void **state)
{
    (void)state;
    struct fixture_run fixture = fixture_run_make(&usual);
    fixture.report.measured = NULL;
    fixture.report.sample = " \n";
    struct yk_text page = page_of(&fixture.report);
    page_expect(&page,
                "forward</th><td>3</td><td>6ms</td><td>\xe2\x80\x93</td><td>\xe2\x80\x93</td>");
    assert_null(strstr(page.bytes, ",measured\n"));
    page_expect(&page, "<h2>One step, predicted</h2>");
    assert_null(strstr(page.bytes, "<h2>What it writes</h2>"));
    yk_text_free(&page);
    fixture_run_free(&fixture);
}

static void names_are_escaped(void **state)
{
    (void)state;
    const struct fixture_run_options options = {
        .steps = 8, .ranks = 2, .layers = 2, .name = "=\"'</script><img src=x>,&"};
    struct fixture_run fixture = fixture_run_make(&options);
    struct yk_text page = page_of(&fixture.report);
    assert_null(strstr(page.bytes, "<img"));
    assert_int_equal(markup_occurrences(page.bytes, "</script>"), 1);
    yk_text_free(&page);
    fixture_run_free(&fixture);
}

static void the_page_needs_nothing_from_outside(void **state)
{
    (void)state;
    static const char *const banned[] = {" src=", "@import",   "url(",
                                         "eval(", "Function(", "fetch("};
    struct fixture_run fixture = fixture_run_make(&usual);
    struct yk_text page = page_of(&fixture.report);
    for (size_t i = 0; i < sizeof banned / sizeof *banned; i++) {
        assert_null(strstr(page.bytes, banned[i]));
    }
    const size_t addresses = markup_occurrences(page.bytes, "http");
    assert_int_equal(markup_occurrences(page.bytes, "http://www.w3.org/2000/svg"), addresses);
    yk_text_free(&page);
    fixture_run_free(&fixture);
}

static void expect_picture(const struct yk_text *text)
{
    size_t count = 0;
    assert_true(markup_is_balanced(text->bytes, "svg", &count));
    assert_int_equal(count, 1);
    assert_null(strstr(text->bytes, "nan"));
    assert_null(strstr(text->bytes, "inf"));
}

static void the_predicted_step_is_above_the_measured_one(void **state)
{
    (void)state;
    struct fixture_run fixture = fixture_run_make(&usual);
    struct yk_text text = {0};
    assert_ok(yk_run_page_write_pictures(&fixture.report, "lanes",
                                         yk_chart_use_argument_as_picture_text, &text));
    expect_picture(&text);
    /* 8 ops predicted, 9 measured. */
    assert_int_equal(markup_occurrences(text.bytes, "class=\"bar op-"), 17);
    const char *predicted = strstr(text.bytes, ">predicted</text>");
    const char *measured = strstr(text.bytes, ">measured</text>");
    assert_true(predicted && measured && predicted < measured);
    page_expect(&text, "<title>update on cpu0, compute: at 0.019s, takes 1.00ms</title>");
    page_expect(&text, "<title>update on cpu0, compute: at 0.0285s, takes 1.50ms</title>");
    yk_text_free(&text);
    fixture_run_free(&fixture);
}

/* The y of a point of a path: x is the same for both, since there is one picture. */
static void the_loss_is_drawn_from_its_first_to_its_last(void **state)
{
    (void)state;
    const struct fixture_run_options two = {.steps = 2, .ranks = 1, .layers = 1};
    struct fixture_run fixture = fixture_run_make(&two);
    struct yk_text text = {0};
    double x[2];
    double y[2];
    assert_ok(yk_run_page_write_pictures(&fixture.report, "loss",
                                         yk_chart_use_argument_as_picture_text, &text));
    expect_picture(&text);
    const char *path = strstr(text.bytes, "<path class=\"curve thin s0\" d=\"M");
    assert_non_null(path);
    /* NOLINTNEXTLINE(cert-err34-c) */
    assert_int_equal(sscanf(strchr(path, 'M'), "M%lf %lfL%lf %lf", &x[0], &y[0], &x[1], &y[1]), 4);
    /* Losses of 3 and 2, with 4 % above and below of 300 pixels; 760 wide, 58 and 14 beside. */
    assert_true(fabs(x[0] - 58) < 0.01 && fabs(x[1] - 746) < 0.01);
    assert_true(fabs(y[1] - y[0] - 300 / 1.08) < 0.01);
    yk_text_free(&text);
    fixture_run_free(&fixture);
}

static void no_peak_of_a_long_run_is_lost(void **state)
{
    (void)state;
    const struct fixture_run_options many = {.steps = 50000, .ranks = 1, .layers = 1};
    struct fixture_run fixture = fixture_run_make(&many);
    struct yk_text text = {0};
    fixture.steps[31415].loss = 40;
    fixture.steps[27182].loss = NAN;
    assert_ok(yk_run_page_write_pictures(&fixture.report, "loss",
                                         yk_chart_use_argument_as_picture_text, &text));
    expect_picture(&text);
    assert_true(text.length < 200000);
    /* The highest point is 4 % of 41.04 / 1.08 from the top: at 46 + 300 × 0.04 / 1.08. */
    page_expect(&text, " 57.11L");
    yk_text_free(&text);
    fixture_run_free(&fixture);
}

static void memory_is_stacked_and_what_was_measured_is_marked(void **state)
{
    (void)state;
    struct fixture_run fixture = fixture_run_make(&usual);
    struct yk_text text = {0};
    assert_ok(yk_run_page_write_pictures(&fixture.report, "memory",
                                         yk_chart_use_argument_as_picture_text, &text));
    expect_picture(&text);
    page_expect(&text, "<title>parameters: 1MiB predicted</title>");
    page_expect(&text, "<title>context: 7MiB predicted</title>");
    page_expect(&text, ">measured 40MiB</text>");
    page_expect(&text, ">limit 64MiB</text>");
    /* 64 MiB is less than twice as much as 40: a line; at the whole memory it is only told. */
    page_expect(&text, "class=\"limit\"");
    yk_text_free(&text);
    text = (struct yk_text){0};
    fixture.memory[0].limit_bytes = 0x1p40;
    assert_ok(yk_run_page_write_pictures(&fixture.report, "memory",
                                         yk_chart_use_argument_as_picture_text, &text));
    page_expect(&text, ">limit 1TiB</text>");
    assert_null(strstr(text.bytes, "class=\"limit\""));
    yk_text_free(&text);
    fixture_run_free(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_head_has_the_figures),
        cmocka_unit_test(kinds_of_ops_are_summed_and_compared),
        cmocka_unit_test(every_chart_has_its_numbers),
        cmocka_unit_test(a_run_on_images_counts_images),
        cmocka_unit_test(options_sample_and_checkpoint_are_listed),
        cmocka_unit_test(what_is_missing_is_left_out),
        cmocka_unit_test(one_trace_is_drawn_alone),
        cmocka_unit_test(names_are_escaped),
        cmocka_unit_test(the_page_needs_nothing_from_outside),
        cmocka_unit_test(the_predicted_step_is_above_the_measured_one),
        cmocka_unit_test(the_loss_is_drawn_from_its_first_to_its_last),
        cmocka_unit_test(no_peak_of_a_long_run_is_lost),
        cmocka_unit_test(memory_is_stacked_and_what_was_measured_is_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
