/* Runs of several ranks: their figures, the words about them, their rows and their curves. */
#include "report/run/ranks.h"

#include "report/run/lanes.h"
#include "support/reports/markup.h"
#include "support/reports/page.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Two ranks. Predicted, a step of 10 s: rank 0 goes forward for 4 s, waits 4 s until rank 1 has
 * gone forward for 8, both reduce for 1 s and update for 1 s. Measured, 13 s: rank 1 takes 11 s and
 * rank 0 is in the reduction from 4 s on.
 */
struct fixture {
    struct yk_arena *arena;
    struct yk_trace *predicted;
    struct yk_trace *measured;
    struct yk_run_report_step steps[8];
    double ranks_s[8][2];
    struct yk_run_rank_summary ranks[2];
    struct yk_run_report report;
};

static void add(struct yk_trace *trace, int32_t rank, enum yk_lane lane, const char *op,
                double start_s, double end_s)
{
    const struct yk_trace_event event = {rank, lane, op, start_s, end_s, 0};
    assert_ok(yk_trace_add_event(trace, &event, NULL));
}

static struct yk_trace *make_trace(double slow_s, double early_s)
{
    struct yk_trace *trace = NULL;
    assert_ok(yk_trace_create(&trace));
    assert_ok(yk_trace_add_rank(trace, "gpu0"));
    assert_ok(yk_trace_add_rank(trace, "cpu<1>"));
    add(trace, 0, YK_LANE_COMPUTE, "forward", 0, 4);
    add(trace, 1, YK_LANE_COMPUTE, "forward", 0, slow_s);
    for (int32_t rank = 0; rank < 2; rank++) {
        add(trace, rank, YK_LANE_COMM, "all_reduce", rank == 0 ? slow_s - early_s : slow_s,
            slow_s + 1);
        add(trace, rank, YK_LANE_COMPUTE, "update", slow_s + 1, slow_s + 2);
    }
    return trace;
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    assert_ok(yk_arena_create(&fixture->arena));
    fixture->predicted = make_trace(8, 0);
    fixture->measured = make_trace(11, 7);
    for (int i = 0; i < 8; i++) {
        fixture->ranks_s[i][0] = 5;
        fixture->ranks_s[i][1] = i < 4 ? 9 : 12;
        fixture->steps[i] = (struct yk_run_report_step){
            .step = i + 1,
            .loss = 2,
            .seconds = 13,
            .units_per_s = 100,
            .ranks_s = fixture->ranks_s[i],
            .rank_count = 2,
        };
    }
    fixture->ranks[0] = yk_run_summary_make_unknown_rank();
    fixture->ranks[0].share = 12;
    fixture->ranks[0].predicted_bytes = 0x1p20;
    fixture->ranks[0].measured_bytes = 0x1p21;
    fixture->ranks[1] = yk_run_summary_make_unknown_rank();
    fixture->ranks[1].share = 4;
    fixture->report = (struct yk_run_report){
        .title = "Two ranks",
        .steps = fixture->steps,
        .step_count = 8,
        .predicted_step_s = 10,
        .measured_step_s = 13,
        .measured_low_s = 12,
        .measured_high_s = 15,
        .predicted = fixture->predicted,
        .measured = fixture->measured,
        .ranks = fixture->ranks,
        .rank_count = 2,
    };
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    yk_trace_destroy(fixture->predicted);
    yk_trace_destroy(fixture->measured);
    yk_arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static void expect_sum(const struct yk_trace_breakdown *breakdown, double compute_s,
                       double exposed_s, double idle_s)
{
    assert_true(breakdown->compute_s == compute_s);
    assert_true(breakdown->exposed_s == exposed_s);
    assert_true(breakdown->idle_s == idle_s);
}

static void figures_come_from_the_traces_and_the_report(void **state)
{
    struct fixture *fixture = *state;
    struct yk_run_ranks ranks;
    assert_ok(yk_run_ranks_make(&fixture->report, fixture->arena, &ranks));
    assert_int_equal(ranks.count, 2);
    assert_true(ranks.predicted_step_s == 10);
    assert_true(ranks.measured_step_s == 13);
    expect_sum(&ranks.ranks[0].predicted, 5, 1, 4);
    expect_sum(&ranks.ranks[0].measured, 5, 1, 7);
    expect_sum(&ranks.ranks[1].predicted, 9, 1, 0);
    expect_sum(&ranks.ranks[1].measured, 12, 1, 0);
    assert_string_equal(ranks.ranks[1].device, "cpu<1>");
    assert_true(ranks.ranks[0].share == 12);
    assert_int_equal(yk_run_ranks_find_slowest(&ranks), 1);
}

static void with_no_traces_the_report_is_all_there_is(void **state)
{
    struct fixture *fixture = *state;
    struct yk_run_ranks ranks;
    fixture->report.predicted = NULL;
    fixture->report.measured = NULL;
    fixture->ranks[0].measured = (struct yk_trace_breakdown){3, 1, 1};
    assert_ok(yk_run_ranks_make(&fixture->report, fixture->arena, &ranks));
    assert_int_equal(ranks.count, 2);
    assert_string_equal(ranks.ranks[1].device, "rank 1");
    assert_true(ranks.measured_step_s == 5);
    assert_true(isnan(ranks.predicted_step_s));
    assert_int_equal(yk_run_ranks_find_slowest(&ranks), 0);
}

static void words_name_what_bounds_the_step(void **state)
{
    struct fixture *fixture = *state;
    struct yk_run_ranks ranks;
    struct yk_text words = {0};
    assert_ok(yk_run_ranks_make(&fixture->report, fixture->arena, &ranks));
    yk_run_describe_step_time(&fixture->report, &ranks, &words);
    assert_string_equal(
        words.bytes,
        "Computation of cpu<1> (rank 1) bounds the step: 12s, 92 % of the step.\n"
        "gpu0 (rank 0) waits for others longest: 7s, 54 % of the step.\n"
        "The median step took 13s (eight of ten took 12s to 15s); 10s was predicted: it took 1.30 "
        "times as long. On cpu<1> (rank 1), computation is furthest from it: 3s longer than "
        "predicted.\n");
    yk_text_free(&words);
}

static void words_say_when_samples_were_divided_anew(void **state)
{
    static const double shares[][2] = {{6, 2}, {7, 1}};
    static const struct yk_run_report_rebalancing changes[] = {
        {.step = 30, .shares = shares[0], .share_count = 2},
        {.step = 55, .shares = shares[1], .share_count = 2},
    };
    static const struct yk_run_rank_summary first[] = {{.share = 4}, {.share = 4}};
    (void)state;
    struct yk_run_report report = {.title = "", .rebalancings = changes, .rebalancing_count = 2};
    const struct yk_run_ranks ranks = {.predicted_step_s = NAN, .measured_step_s = NAN};
    struct yk_text words = {0};
    yk_run_describe_step_time(&report, &ranks, &words);
    assert_string_equal(words.bytes,
                        "Samples were divided anew after step 30: the ranks took 6 / 2 from then "
                        "on.\n"
                        "Samples were divided anew after step 55: the ranks took 6 / 2 before, and "
                        "7 / 1 from then on.\n");
    words.length = 0;
    report.first_ranks = first;
    report.first_rank_count = 2;
    yk_run_describe_step_time(&report, &ranks, &words);
    assert_string_equal(words.bytes,
                        "Samples were divided anew after step 30: the ranks took 4 / 4 before, and "
                        "6 / 2 from then on.\n"
                        "Samples were divided anew after step 55: the ranks took 6 / 2 before, and "
                        "7 / 1 from then on. Predictions are for these shares.\n");
    yk_text_free(&words);
}

/* One rank that computes for 2 s, then communicates for 6, then computes for 2. */
static void sentences_distinguish_communication_from_waiting(void **state)
{
    struct fixture *fixture = *state;
    struct yk_trace *trace = NULL;
    struct yk_run_ranks ranks;
    struct yk_text words = {0};
    assert_ok(yk_trace_create(&trace));
    assert_ok(yk_trace_add_rank(trace, "cpu0"));
    add(trace, 0, YK_LANE_COMPUTE, "forward", 0, 2);
    add(trace, 0, YK_LANE_COMM, "all_reduce", 2, 8);
    add(trace, 0, YK_LANE_COMPUTE, "update", 8, 10);
    const struct yk_run_report report = {
        .title = "", .measured = trace, .measured_step_s = 10.3, .predicted_step_s = 10};
    assert_ok(yk_run_ranks_make(&report, fixture->arena, &ranks));
    yk_run_describe_step_time(&report, &ranks, &words);
    assert_string_equal(words.bytes,
                        "Exposed communication bounds the step: cpu0 computes for 4s, 40 % of the "
                        "step, and waits for data that moves for 6s, 60 % of the step.\n"
                        "The median step took 10.3s; 10s was predicted, which is 3 % off.\n");
    yk_text_free(&words);
    yk_trace_destroy(trace);
}

/* forward differs by 3 s on rank 1; reduce does not, once waiting is left out; nor update. */
static void ops_that_differ_are_those_that_took_longer_themselves(void **state)
{
    struct fixture *fixture = *state;
    struct yk_run_op_difference *differences = NULL;
    int32_t count = 0;
    add(fixture->measured, 0, YK_LANE_COMPUTE, "release", 4, 4.5);
    assert_ok(yk_run_ranks_find_op_differences(&fixture->report, 5, fixture->arena, &differences,
                                               &count));
    assert_int_equal(count, 2);
    assert_string_equal(differences[0].op, "forward");
    assert_int_equal(differences[0].rank, 1);
    assert_true(differences[0].predicted_s == 8 && differences[0].measured_s == 11);
    assert_string_equal(differences[1].op, "release");
    assert_true(differences[1].predicted_s == 0 && differences[1].measured_s == 0.5);
    assert_ok(yk_run_ranks_find_op_differences(&fixture->report, 1, fixture->arena, &differences,
                                               &count));
    assert_int_equal(count, 1);
    fixture->report.predicted = NULL;
    assert_ok(yk_run_ranks_find_op_differences(&fixture->report, 5, fixture->arena, &differences,
                                               &count));
    assert_int_equal(count, 0);
}

/* Twelve ranks, of which the odd ones were predicted to take longer; rank 6 was slowest of the
 * even. */
static void many_ranks_that_do_the_same_are_shown_by_the_slowest(void **state)
{
    struct fixture *fixture = *state;
    struct yk_trace *traces[2] = {NULL, NULL};
    struct yk_run_ranks ranks;
    struct yk_run_lanes lanes;
    struct yk_run_op_kind_times kinds[YK_OP_STYLE_COUNT];
    for (int t = 0; t < 2; t++) {
        assert_ok(yk_trace_create(&traces[t]));
        for (int32_t rank = 0; rank < 12; rank++) {
            char device[16];
            snprintf(device, sizeof device, "gpu%d", (int)rank);
            assert_ok(yk_trace_add_rank(traces[t], device));
            add(traces[t], rank, YK_LANE_COMPUTE, "forward", 0,
                1 + rank % 2 + (t == 1 && rank == 6 ? 0.75 : 0.25 * t));
        }
    }
    const struct yk_run_report report = {.title = "",
                                         .predicted = traces[0],
                                         .measured = traces[1],
                                         .predicted_step_s = NAN,
                                         .measured_step_s = NAN};
    assert_ok(yk_run_ranks_make(&report, fixture->arena, &ranks));
    assert_ok(yk_run_lanes_make(&report, &ranks, fixture->arena, &lanes));
    assert_true(lanes.merged);
    assert_int_equal(lanes.chart.group_count, 2);
    assert_string_equal(lanes.all[0].device, "gpu6, slowest of ranks 0, 2, 4, 6, 8, 10");
    assert_string_equal(lanes.all[0].name, "gpu6, slowest of ranks 0, 2, 4, 6, 8, 10, compute");
    assert_int_equal(lanes.all[0].rank, 6);
    assert_true(lanes.all[0].rows[YK_RUN_TRACE_MEASURED].bars[0].end == 1.75);
    assert_string_equal(lanes.all[1].numbers, "1, 3, 5, 7, 9, 11");
    yk_run_lanes_sum_op_kind_times(&report, kinds);
    assert_int_equal(kinds[yk_op_style_find_by_op_name("forward")].count[YK_RUN_TRACE_PREDICTED],
                     12);
    assert_true(kinds[yk_op_style_find_by_op_name("forward")].seconds[YK_RUN_TRACE_PREDICTED] ==
                18);
    yk_trace_destroy(traces[0]);
    yk_trace_destroy(traces[1]);
}

/* Rank 1 of the measured step begins half a second before the others do. */
static void what_begins_before_the_step_is_in_the_picture(void **state)
{
    struct fixture *fixture = *state;
    struct yk_run_ranks ranks;
    struct yk_run_lanes lanes;
    add(fixture->measured, 1, YK_LANE_COPY, "load", -0.5, 0);
    assert_ok(yk_run_ranks_make(&fixture->report, fixture->arena, &ranks));
    assert_ok(yk_run_lanes_make(&fixture->report, &ranks, fixture->arena, &lanes));
    assert_true(lanes.chart.span == 13.5);
    assert_int_equal(lanes.chart.group_count, 5);
    const struct yk_run_lane *first = &lanes.all[0];
    const struct yk_run_lane *last = &lanes.all[4];
    assert_true(first->rows[YK_RUN_TRACE_PREDICTED].bars[0].start == 0.5);
    assert_true(first->rows[YK_RUN_TRACE_MEASURED].bars[0].end == 4.5);
    assert_string_equal(last->name, "cpu<1>, copy");
    assert_int_equal(last->rows[YK_RUN_TRACE_PREDICTED].count, 0);
    assert_true(last->rows[YK_RUN_TRACE_MEASURED].bars[0].start == 0);
}

static void the_page_has_a_row_for_every_rank(void **state)
{
    struct fixture *fixture = *state;
    struct yk_text page = {0};
    assert_ok(yk_run_page_write(&fixture->report, &page));
    page_expect(&page,
                "<tr><th scope=\"row\"><span class=\"rank\">1</span>cpu&lt;1&gt;</th><td>4</td>"
                "<td>9s</td><td>12s</td><td>1.33</td><td>1s</td><td>1s</td><td>1.00</td>"
                "<td>0</td><td>0</td><td>\xe2\x80\x93</td><td>\xe2\x80\x93</td>"
                "<td>\xe2\x80\x93</td><td>\xe2\x80\x93</td></tr>");
    page_expect(&page, "<td>1MiB</td><td>2MiB</td><td>2.00</td></tr>");
    page_expect(&page,
                "\n0,gpu0,12,5,5,1,1,4,7,1048576,2097152,\n1,cpu&lt;1&gt;,4,9,12,1,1,0,0,,,\n");
    page_expect(&page, "\nforward,1,cpu&lt;1&gt;,8,11\n");
    page_expect(&page, "step,rank_0_s,rank_1_s\n1,5,9\n");
    page_expect(&page, "<p>Computation of cpu&lt;1&gt; (rank 1) bounds the step: 12s");
    yk_text_free(&page);
}

static int count_of(const struct yk_text *text, const char *words)
{
    int count = 0;
    for (const char *at = strstr(text->bytes, words); at; at = strstr(at + 1, words)) {
        count++;
    }
    return count;
}

static void a_change_of_shares_is_marked_with_its_prediction(void **state)
{
    struct fixture *fixture = *state;
    static const double shares[] = {13, 3};
    static const double predicted_s[] = {6, NAN};
    const struct yk_run_report_rebalancing change = {5, shares, 2, predicted_s, 2};
    struct yk_text picture = {0};
    size_t count = 0;
    fixture->report.rebalancings = &change;
    fixture->report.rebalancing_count = 1;
    assert_ok(yk_run_page_write_pictures(&fixture->report, "ranks",
                                         yk_chart_use_argument_as_picture_text, &picture));
    assert_true(markup_is_balanced(picture.bytes, "svg", &count));
    page_expect(&picture, ">rebalanced to 13 / 3</text>");
    page_expect(&picture, ">gpu0 (rank 0)</text>");
    assert_int_equal(count_of(&picture, "<path class=\"curve fine s0\""), 1);
    /* Two predictions of each rank, the last of which has nothing to show. */
    assert_int_equal(count_of(&picture, "<path class=\"curve fine unused s0\" d=\"M"), 2);
    assert_int_equal(count_of(&picture, "<path class=\"curve fine unused s1\" d=\"M"), 1);
    yk_text_free(&picture);
}

/* Of 40 ranks, rank 33 is three times as slow as predicted in the middle of the run. */
static void of_many_ranks_the_one_that_was_slow_is_named(void **state)
{
    struct fixture *fixture = *state;
    double seconds[2][40];
    struct yk_text picture = {0};
    struct yk_run_report_step steps[16];
    for (int r = 0; r < 40; r++) {
        seconds[0][r] = 1 + r;
        seconds[1][r] = r == 33 ? 3 * (1 + r) : 1 + r;
    }
    for (int i = 0; i < 16; i++) {
        steps[i] = (struct yk_run_report_step){
            .step = i + 1, .ranks_s = seconds[i >= 6 && i < 10], .rank_count = 40};
    }
    fixture->report.steps = steps;
    fixture->report.step_count = 16;
    assert_ok(yk_run_page_write_pictures(&fixture->report, "ranks",
                                         yk_chart_use_argument_as_picture_text, &picture));
    page_expect(&picture, "rank 33)</text>");
    page_expect(&picture, ">least and most of the others</text>");
    assert_int_equal(count_of(&picture, "<path class=\"curve fine s5\""), 2);
    yk_text_free(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(figures_come_from_the_traces_and_the_report, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(with_no_traces_the_report_is_all_there_is, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(words_name_what_bounds_the_step, set_up, tear_down),
        cmocka_unit_test(words_say_when_samples_were_divided_anew),
        cmocka_unit_test_setup_teardown(sentences_distinguish_communication_from_waiting, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(ops_that_differ_are_those_that_took_longer_themselves,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_ranks_that_do_the_same_are_shown_by_the_slowest,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_begins_before_the_step_is_in_the_picture, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_page_has_a_row_for_every_rank, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_change_of_shares_is_marked_with_its_prediction, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(of_many_ranks_the_one_that_was_slow_is_named, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
