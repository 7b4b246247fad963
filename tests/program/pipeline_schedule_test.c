/* Orders of passes, against the schedules as GPipe (Huang et al. 2019) and PipeDream-Flush
 * (Narayanan et al. 2021, figures 3 and 4) are published: rank by rank, forward F, backward B. */
#include "program/compile/pipeline_schedule.h"

#include "base/random.h"
#include "support/programs/tiny_step.h"
#include "support/support.h"

enum {
    MOST_STAGES = 4,
    MOST_LAYERS = 8,
};

static struct tiny_step tiny;

static int tear_down(void **state)
{
    (void)state;
    tiny_step_free(&tiny);
    tiny = (struct tiny_step){0};
    return 0;
}

/* `groups` (layers, to the first −1) of one rank each. */
static struct yk_pipeline_schedule make(const int32_t *groups, int32_t micro_batches,
                                        enum yk_pipeline_schedule_kind pipeline)
{
    static const char *const clusters[] = {"", "cpu:1", "2xcpu:1", "3xcpu:1", "4xcpu:1"};
    struct yk_pipeline_schedule table = {0};
    int32_t layers = 0;
    int32_t stages = 0;
    for (; groups[layers] >= 0; layers++) {
        stages = groups[layers] >= stages ? groups[layers] + 1 : stages;
    }
    if (tiny.arena) {
        tiny_step_free(&tiny);
    }
    if (stages > MOST_STAGES) {
        fail_msg("%d stages are too many", (int)stages);
        return table;
    }
    tiny = tiny_step_make((struct tiny_options){.cluster = clusters[stages],
                                                .groups = stages,
                                                .blocks = layers - 3,
                                                .batch = micro_batches});
    tiny_step_set_stages(&tiny, groups);
    tiny.plan->micro_batches = micro_batches;
    tiny.plan->pipeline = pipeline;
    tiny_step_compile(&tiny);
    assert_ok(yk_pipeline_schedule_make(tiny.program, tiny.arena, &table));
    return table;
}

/* What group `group` does: "F0 F1 B0 …", or with segments, "0:F0 2:F0 …". */
static void assert_order(const struct yk_pipeline_schedule *table, int32_t group, bool segments,
                         const char *expected)
{
    struct yk_text text = {0};
    for (int32_t i = 0; i < table->pass_count; i++) {
        const struct yk_pipeline_pass *pass = &table->passes[i];
        if (table->segments[pass->segment].group == group) {
            yk_text_add(&text, text.length > 0 ? " " : "");
            if (segments) {
                yk_text_addf(&text, "%d:", (int)pass->segment);
            }
            yk_text_addf(&text, "%c%d", pass->backward ? 'B' : 'F', (int)pass->micro_batch);
        }
    }
    assert_ok(yk_text_status(&text));
    assert_string_equal(text.bytes, expected);
    yk_text_free(&text);
}

static void assert_orders(const int32_t *groups, int32_t micro_batches,
                          enum yk_pipeline_schedule_kind pipeline, const char *const *expected,
                          int32_t stages)
{
    const struct yk_pipeline_schedule table = make(groups, micro_batches, pipeline);
    assert_int_equal(table.segment_count, stages);
    for (int32_t g = 0; g < stages; g++) {
        assert_order(&table, g, false, expected[g]);
    }
}

static void two_stages_alternate_after_one_more_forward(void **state)
{
    (void)state;
    static const int32_t groups[] = {0, 0, 1, 1, -1};
    static const char *const expected[] = {"F0 F1 B0 F2 B1 F3 B2 B3", "F0 B0 F1 B1 F2 B2 F3 B3"};
    assert_orders(groups, 4, YK_PIPELINE_1F1B, expected, 2);
}

static void three_stages_have_three_micro_batches_under_way(void **state)
{
    (void)state;
    static const int32_t groups[] = {0, 0, 1, 1, 2, -1};
    static const char *const expected[] = {"F0 F1 F2 B0 F3 B1 B2 B3", "F0 F1 B0 F2 B1 F3 B2 B3",
                                           "F0 B0 F1 B1 F2 B2 F3 B3"};
    assert_orders(groups, 4, YK_PIPELINE_1F1B, expected, 3);
}

/* Narayanan et al., figure 4, above. */
static void four_stages_go_as_the_paper_draws_them(void **state)
{
    (void)state;
    static const int32_t groups[] = {0, 0, 1, 1, 2, 3, -1};
    static const char *const expected[] = {
        "F0 F1 F2 F3 B0 F4 B1 F5 B2 F6 B3 F7 B4 B5 B6 B7",
        "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 F6 B4 F7 B5 B6 B7",
        "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 F6 B5 F7 B6 B7",
        "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7",
    };
    assert_orders(groups, 8, YK_PIPELINE_1F1B, expected, 4);
}

static void fewer_micro_batches_than_stages_all_go_forward_first(void **state)
{
    (void)state;
    static const int32_t groups[] = {0, 1, 2, 3, -1};
    static const char *const expected[] = {"F0 F1 B0 B1", "F0 F1 B0 B1", "F0 F1 B0 B1",
                                           "F0 B0 F1 B1"};
    assert_orders(groups, 2, YK_PIPELINE_1F1B, expected, 4);
}

static void gpipe_goes_backward_when_all_went_forward(void **state)
{
    (void)state;
    static const int32_t two[] = {0, 0, 1, 1, -1};
    static const int32_t four[] = {0, 1, 2, 3, 3, -1};
    static const char *const expected[] = {
        "F0 F1 F2 F3 B0 B1 B2 B3",
        "F0 F1 F2 F3 B0 B1 B2 B3",
        "F0 F1 F2 F3 B0 B1 B2 B3",
        "F0 F1 F2 F3 B0 B1 B2 B3",
    };
    assert_orders(two, 4, YK_PIPELINE_GPIPE, expected, 2);
    assert_orders(four, 4, YK_PIPELINE_GPIPE, expected, 4);
}

/* What went forward first goes backward last. */
static void nested_goes_backward_against_the_order_it_went_forward_in(void **state)
{
    (void)state;
    static const int32_t groups[] = {0, 0, 1, 1, -1};
    static const char *const expected[] = {"F2 F1 F0 B0 B1 B2", "F2 F1 F0 B0 B1 B2"};
    assert_orders(groups, 3, YK_PIPELINE_NESTED, expected, 2);
}

static void one_group_finishes_a_micro_batch_before_it_begins_the_next(void **state)
{
    (void)state;
    static const int32_t groups[] = {0, 0, 0, 0, 0, -1};
    static const char *const expected[] = {"F0 B0 F1 B1 F2 B2"};
    assert_orders(groups, 3, YK_PIPELINE_1F1B, expected, 1);
}

/* Of M micro-batches, K stages that take f forward and b backward: (M + K − 1)(f + b), whichever of
 * the two (Narayanan et al., section 2.2.1). */
static void both_last_as_long_as_the_bubble_says(void **state)
{
    (void)state;
    static const int32_t groups[] = {0, 0, 1, 1, 2, 3, -1};
    for (int32_t pipeline = 0; pipeline < YK_PIPELINE_SCHEDULE_COUNT; pipeline++) {
        for (int32_t M = 1; M <= 9; M++) {
            const struct yk_pipeline_schedule table =
                make(groups, M, (enum yk_pipeline_schedule_kind)pipeline);
            const struct yk_pipeline_segment *segment = &table.segments[0];
            assert_int_equal(segment->backward_ticks, 2 * segment->forward_ticks);
            assert_int_equal(table.end, 3 * segment->forward_ticks * (M + 4 - 1));
        }
    }
}

/*
 * A head that is tied to the embedding, on the first rank. By operations a token, the embedding
 * (8: a sum) takes 8/250 of the rank's time and the head (2·8·11 + 6·11 = 242) the rest; the blocks
 * of the other rank take 1. In these units, e = 0.032 and h = 0.968:
 *
 *   rank 0   0:F0 0 … e, 0:F1 e … 2e, 2:F0 1 + e … 2, 2:B0 2 … 2 + 2h (one may be under way),
 *            2:F1 3.936 … 4.904, 2:B1 4.904 … 6.84, then 0:B0, ready at 5.936, and 0:B1 at 8.84
 *   rank 1   F0 e … 1 + e, F1 … 2 + e, B0 3.936 … 5.936, B1 6.84 … 8.84
 */
static void a_rank_of_two_segments_runs_what_is_ready_first(void **state)
{
    (void)state;
    static const int32_t groups[] = {0, 1, 1, 0, -1};
    const struct yk_pipeline_schedule table = make(groups, 2, YK_PIPELINE_1F1B);
    assert_int_equal(table.segment_count, 3);
    assert_int_equal(table.segments[0].layer_count, 1);
    assert_int_equal(table.segments[1].layer_count, 2);
    assert_int_equal(table.segments[2].first_layer, 3);
    const double unit = (double)table.segments[1].forward_ticks;
    assert_bytes((double)table.segments[0].forward_ticks + (double)table.segments[2].forward_ticks,
                 unit);
    assert_true((double)table.segments[0].forward_ticks / unit > 0.0319);
    assert_true((double)table.segments[0].forward_ticks / unit < 0.0321);
    assert_order(&table, 0, true, "0:F0 0:F1 2:F0 2:B0 2:F1 2:B1 0:B0 0:B1");
    assert_order(&table, 1, true, "1:F0 1:F1 1:B0 1:B1");
}

/*
 * Embedding, block and head on rank 0, the norm between them on rank 1. By operations a token, 8 +
 * 2016 and 242: the head takes h = 0.107 of the rank's time, the others the rest.
 *
 *   rank 0   0:F0 0:F1 0:F2 until 2.68 (the last begins at 1.786, before 2:F0 is ready at 1.893),
 *            2:F0 2:B0 2:F1 2:B1 until 3.32, 0:B0 5 … 6.786, 0:B1 7 … 8.786, 2:F2, ready at 8
 *   rank 1   F0 0.893 …, F1 … 2.893, B0 3 … 5; then B1 and F2 are both ready, and B1 goes first
 */
static void backward_goes_first_of_what_is_ready(void **state)
{
    (void)state;
    static const int32_t groups[] = {0, 0, 1, 0, -1};
    const struct yk_pipeline_schedule table = make(groups, 3, YK_PIPELINE_1F1B);
    assert_order(&table, 0, true, "0:F0 0:F1 0:F2 2:F0 2:B0 2:F1 2:B1 0:B0 0:B1 2:F2 2:B2 0:B2");
    assert_order(&table, 1, true, "1:F0 1:F1 1:B0 1:B1 1:F2 1:B2");
}

static const struct yk_pipeline_pass *find_pass(const struct yk_pipeline_schedule *table,
                                                int32_t segment, int32_t micro_batch, bool backward)
{
    const struct yk_pipeline_pass *found = NULL;
    for (int32_t i = 0; i < table->pass_count; i++) {
        const struct yk_pipeline_pass *pass = &table->passes[i];
        if (pass->segment == segment && pass->micro_batch == micro_batch &&
            pass->backward == backward) {
            assert_null(found);
            found = pass;
        }
    }
    assert_non_null(found);
    return found;
}

/* The most micro-batches that have begun a segment forward and not ended it backward. */
static int32_t most_under_way(const struct yk_pipeline_schedule *table, int32_t segment, int32_t M)
{
    int32_t most = 0;
    for (int32_t m = 0; m < M; m++) {
        const int64_t start = find_pass(table, segment, m, false)->start;
        int32_t count = 0;
        for (int32_t other = 0; other < M; other++) {
            count += find_pass(table, segment, other, false)->start <= start &&
                             find_pass(table, segment, other, true)->end > start
                         ? 1
                         : 0;
        }
        most = count > most ? count : most;
    }
    return most;
}

static void assert_each_after_what_it_needs(const struct yk_pipeline_schedule *table, int32_t M)
{
    const int32_t last = table->segment_count - 1;
    for (int32_t m = 0; m < M; m++) {
        for (int32_t k = 0; k <= last; k++) {
            const struct yk_pipeline_pass *forward = find_pass(table, k, m, false);
            const struct yk_pipeline_pass *backward = find_pass(table, k, m, true);
            const struct yk_pipeline_pass *after =
                k < last ? find_pass(table, k + 1, m, true) : forward;
            assert_true(k == 0 || forward->start >= find_pass(table, k - 1, m, false)->end);
            assert_true(backward->start >= after->end);
        }
    }
}

static void assert_one_at_a_time(const struct yk_pipeline_schedule *table)
{
    for (int32_t i = 0; i < table->pass_count; i++) {
        const struct yk_pipeline_pass *a = &table->passes[i];
        for (int32_t j = i + 1; j < table->pass_count; j++) {
            const struct yk_pipeline_pass *b = &table->passes[j];
            assert_true(a->start <= b->start);
            assert_true(table->segments[a->segment].group != table->segments[b->segment].group ||
                        a->end <= b->start);
        }
    }
}

/* Wherever the layers go. */
static void few_micro_batches_are_under_way(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        int32_t groups[MOST_LAYERS + 1];
        const int32_t layers = 4 + (int32_t)yk_random_below(&random, MOST_LAYERS - 3);
        const int32_t stages = 1 + (int32_t)yk_random_below(&random, 4);
        const int32_t M = 1 + (int32_t)yk_random_below(&random, 7);
        const enum yk_pipeline_schedule_kind pipeline =
            yk_random_below(&random, 3) > 0 ? YK_PIPELINE_1F1B : YK_PIPELINE_GPIPE;
        for (int32_t l = 0; l < layers; l++) {
            groups[l] = l < stages ? l : (int32_t)yk_random_below(&random, stages);
        }
        groups[layers] = -1;
        const struct yk_pipeline_schedule table = make(groups, M, pipeline);
        assert_int_equal(table.pass_count, 2 * table.segment_count * M);
        assert_each_after_what_it_needs(&table, M);
        assert_one_at_a_time(&table);
        for (int32_t k = 0; k < table.segment_count; k++) {
            const int32_t room = pipeline == YK_PIPELINE_1F1B ? table.segment_count - k : M;
            assert_in_range(most_under_way(&table, k, M), 1, room);
        }
    }
}

static void layers_of_a_pass_follow_each_other(void **state)
{
    (void)state;
    const struct yk_pipeline_pass pass = {.start = 100, .end = 110};
    assert_int_equal(yk_pipeline_schedule_layer_start(&pass, 0, 5), 100);
    assert_int_equal(yk_pipeline_schedule_layer_start(&pass, 2, 5), 104);
    assert_int_equal(yk_pipeline_schedule_layer_start(&pass, 5, 5), 110);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(two_stages_alternate_after_one_more_forward, tear_down),
        cmocka_unit_test_teardown(three_stages_have_three_micro_batches_under_way, tear_down),
        cmocka_unit_test_teardown(four_stages_go_as_the_paper_draws_them, tear_down),
        cmocka_unit_test_teardown(fewer_micro_batches_than_stages_all_go_forward_first, tear_down),
        cmocka_unit_test_teardown(gpipe_goes_backward_when_all_went_forward, tear_down),
        cmocka_unit_test_teardown(nested_goes_backward_against_the_order_it_went_forward_in,
                                  tear_down),
        cmocka_unit_test_teardown(one_group_finishes_a_micro_batch_before_it_begins_the_next,
                                  tear_down),
        cmocka_unit_test_teardown(both_last_as_long_as_the_bubble_says, tear_down),
        cmocka_unit_test_teardown(a_rank_of_two_segments_runs_what_is_ready_first, tear_down),
        cmocka_unit_test_teardown(backward_goes_first_of_what_is_ready, tear_down),
        cmocka_unit_test_teardown(few_micro_batches_are_under_way, tear_down),
        cmocka_unit_test(layers_of_a_pass_follow_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
