#include "support/programs/row_program.h"
#include "support/support.h"

#include "program/program.h"
#include "train/op_timeline_log.h"

#include <math.h>
#include <string.h>

enum {
    OPS = 8,
    ROUNDS = 3,
};

static const struct yk_link slow = {0, 1};

static const struct hand_op list[] = {
    {YK_OP_ALL_GATHER, .layer = 1, .bytes = 8, .match = 0},
    {YK_OP_FORWARD, .layer = 1, .samples = 2, .waits = "0"},
    {YK_OP_FORWARD, .layer = 2, .samples = 2, .waits = "0"},
    {YK_OP_BACKWARD, .layer = 2, .samples = 2},
    {YK_OP_RELEASE, .layer = 2},
    {YK_OP_REDUCE_SCATTER, .layer = 2, .bytes = 8, .match = 1, .waits = "3"},
    {YK_OP_BACKWARD, .layer = 1, .samples = 2},
    {YK_OP_UPDATE, .layer = 2, .waits = "5"},
    HAND_END,
};

/* Rank 0: the gather waits from 0 to 1 for rank 1, moves until 3; forward 3 to 5, a pause, forward
 * until 8, backward until 12, the release after a pause at 13, the scatter waits from 12 to 14 and
 * moves until 18, backward from 14 to 17, update 18.5 to 20. Rank 1 is at both messages last. */
static const double begin_0[OPS] = {0, 3, 6, 8, 13, 12, 14, 18.5};
static const double end_0[OPS] = {3, 5, 8, 12, 13, 18, 17, 20};
static const double begin_1[OPS] = {1, 3, 5, 9, 14, 14, 14, 19};
static const double end_1[OPS] = {3, 5, 9, 14, 14, 18, 19, 21};

static struct hand_program *make(void)
{
    const struct hand_spec spec = {
        .rank_count = 2,
        .devices = {{.layer_s = 1, .update_s = 1}, {.layer_s = 1, .update_s = 1}},
        .within = slow,
        .strategy = YK_SHARDING_FULLY_SHARDED,
        .lists = {list, list},
    };
    return hand_program_make(&spec);
}

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-9)) {
        fail_msg("%.17g is not %.17g", actual, expected);
    }
}

static void an_op_occupies_its_lane_from_when_it_could_begin(void **state)
{
    (void)state;
    struct hand_program *hand = make();
    double from_s[OPS];
    double until_s[OPS];
    static const double expected_from[OPS] = {0, 3, 5, 8, 13, 12, 13, 18};
    static const double expected_until[OPS] = {3, 5, 8, 13, 13, 18, 17, 20};
    yk_op_spans_compute(&hand->program.ranks[0], begin_0, end_0, from_s, until_s);
    for (int i = 0; i < OPS; i++) {
        assert_near(from_s[i], expected_from[i]);
        assert_near(until_s[i], expected_until[i]);
    }
    hand_program_free(hand);
}

/* Three rounds: as above, and with the last forward of rank 0 held up by a hundred seconds, and
 * with everything at half the speed; the second is an outlier, the median of seconds the first's or
 * the third's. */
static void fill(double *begin_s, double *end_s, const double *begin, const double *end)
{
    static const double scale[ROUNDS] = {1, 1, 2};
    for (int k = 0; k < ROUNDS; k++) {
        for (int i = 0; i < OPS; i++) {
            const double late = k == 1 && i > 2 ? 100 : 0;
            begin_s[k * OPS + i] = 1000 * k + scale[k] * begin[i] + late;
            end_s[k * OPS + i] = 1000 * k + scale[k] * end[i] + (k == 1 && i == 2 ? 100 : late);
        }
    }
}

struct rounds {
    double begin_s[2][ROUNDS * OPS];
    double end_s[2][ROUNDS * OPS];
    struct yk_rank_timelines slices[2];
};

static void make_rounds(struct rounds *rounds, const int64_t *steps_0, const int64_t *steps_1)
{
    fill(rounds->begin_s[0], rounds->end_s[0], begin_0, end_0);
    fill(rounds->begin_s[1], rounds->end_s[1], begin_1, end_1);
    for (int r = 0; r < 2; r++) {
        rounds->slices[r] = (struct yk_rank_timelines){OPS, ROUNDS, r == 0 ? steps_0 : steps_1,
                                                       rounds->begin_s[r], rounds->end_s[r]};
    }
}

static void messages_last_from_when_the_last_rank_came(void **state)
{
    (void)state;
    static const int64_t one[ROUNDS] = {3, 4, 5};
    static const int64_t other[ROUNDS] = {3, 6, 7}; /* only the first is of both */
    struct hand_program *hand = make();
    struct rounds rounds;
    struct yk_op_times spent = {0};
    make_rounds(&rounds, one, other);
    assert_ok(yk_op_durations_compute_medians(&hand->program, rounds.slices, hand->arena, &spent));
    assert_int_equal(spent.steps, 1);
    assert_int_equal(spent.rank_count, 2);
    for (int r = 0; r < 2; r++) {
        const struct yk_op_times_op *ops = spent.ranks[r].ops;
        assert_near(ops[0].seconds, 2);
        assert_near(ops[0].overlap, 0);
        /* From 14 to 18; rank 1 computes until 19. */
        assert_near(ops[5].seconds, 4);
        assert_near(ops[5].overlap, 1);
    }
    /* Rank 0's last backward is from 13 to 17, data moves from 14 on; its update comes after. */
    assert_near(spent.ranks[0].ops[6].seconds, 4);
    assert_near(spent.ranks[0].ops[6].overlap, 0.75);
    assert_near(spent.ranks[0].ops[7].overlap, 0);
    assert_near(spent.ranks[0].ops[3].seconds, 5);
    assert_near(spent.ranks[0].ops[4].seconds, 0);
    assert_string_equal(spent.ranks[0].ops[1].op, "forward layer 0");
    hand_program_free(hand);
}

static void medians_are_over_the_rounds_of_all_ranks(void **state)
{
    (void)state;
    static const int64_t steps[ROUNDS] = {3, 4, 5};
    struct hand_program *hand = make();
    struct rounds rounds;
    struct yk_op_times spent = {0};
    make_rounds(&rounds, steps, steps);
    assert_ok(yk_op_durations_compute_medians(&hand->program, rounds.slices, hand->arena, &spent));
    assert_int_equal(spent.steps, ROUNDS);
    /* Forward of layer 2 on rank 0: 3, 103 and 6 s. */
    assert_near(spent.ranks[0].ops[2].seconds, 6);
    assert_near(spent.ranks[0].ops[2].low_s, 3);
    assert_near(spent.ranks[0].ops[2].high_s, 103);
    hand_program_free(hand);
}

static void a_record_is_read_as_it_was_written(void **state)
{
    (void)state;
    static const int64_t steps[ROUNDS] = {3, 4, 5};
    struct hand_program *hand = make();
    struct rounds rounds;
    struct yk_op_times spent = {0};
    struct yk_op_times read = {0};
    struct yk_text text = {0};
    make_rounds(&rounds, steps, steps);
    assert_ok(yk_op_durations_compute_medians(&hand->program, rounds.slices, hand->arena, &spent));
    spent.ranks[1].versions = "a \"b\"";
    assert_ok(yk_op_times_write_json(&spent, &text));
    assert_ok(yk_op_times_parse_json(text.bytes, text.length, "test", hand->arena, &read));
    assert_int_equal(read.steps, ROUNDS);
    assert_int_equal(read.rank_count, 2);
    assert_int_equal(read.ranks[1].op_count, OPS);
    assert_string_equal(read.ranks[1].versions, "a \"b\"");
    for (int i = 0; i < OPS; i++) {
        assert_string_equal(read.ranks[1].ops[i].op, spent.ranks[1].ops[i].op);
        assert_near(read.ranks[1].ops[i].seconds, spent.ranks[1].ops[i].seconds);
        assert_near(read.ranks[1].ops[i].high_s, spent.ranks[1].ops[i].high_s);
    }
    for (size_t length = 0; length + 1 < text.length; length++) {
        assert_int_equal(yk_op_times_parse_json(text.bytes, length, "test", hand->arena, &read),
                         YK_ERROR_INPUT);
    }
    static const char odd[] =
        "{\"yoke\": 1, \"kind\": \"op times\", \"steps\": 1, \"ranks\": [{\"device\": \"a\", "
        "\"ops\": [{\"op\": \"x\", \"seconds\": -1, \"low_s\": 0, \"high_s\": 0, \"overlap\": "
        "0}]}]}";
    assert_fails(yk_op_times_parse_json(odd, strlen(odd), "test", hand->arena, &read),
                 YK_ERROR_INPUT, "test: ranks[0]: ops[0]: \"seconds\" must be a number, 0 or more");
    yk_text_free(&text);
    hand_program_free(hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_op_occupies_its_lane_from_when_it_could_begin),
        cmocka_unit_test(messages_last_from_when_the_last_rank_came),
        cmocka_unit_test(medians_are_over_the_rounds_of_all_ranks),
        cmocka_unit_test(a_record_is_read_as_it_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
