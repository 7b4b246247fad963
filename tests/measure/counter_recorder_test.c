#include "measure/counters/counter_recorder.h"

#include "support/programs/small_program.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

enum {
    STEPS = 40,
    MOST_OPS = 64,
    MOST_READINGS = 2000,
};

/* What each op shows, by kind of op and layer: forward 0.9 but 0.5 of the head, backward 0.7 but
 * 0.3 of the head, update 0.2, a wait for others 0.1, nothing 0. */
static double shown_by(const struct yk_op *op)
{
    const bool head = op->layer == SMALL_HEAD;
    return op->kind == YK_OP_FORWARD    ? (head ? 0.5 : 0.9)
           : op->kind == YK_OP_BACKWARD ? (head ? 0.3 : 0.7)
           : op->kind == YK_OP_UPDATE   ? 0.2
           : op->lane == YK_LANE_COMM   ? 0.1
                                        : 0;
}

struct shown {
    double begin_s;
    double end_s;
    double value;
};

/* Steps of one rank in which one op follows the other, 1 to 3 ms each, with 2 ms of nothing behind
 * the last. */
struct doing {
    struct small_program small;
    struct shown shown[STEPS * MOST_OPS];
    int32_t count;
    double last_began_s;
    double end_s;
    struct yk_counter_reading readings[MOST_READINGS];
    int32_t reading_count;
};

static double average(const struct doing *doing, double begin_s, double end_s)
{
    double sum = 0;
    for (int32_t i = 0; i < doing->count; i++) {
        const struct shown *shown = &doing->shown[i];
        const double within_s = fmin(shown->end_s, end_s) - fmax(shown->begin_s, begin_s);
        sum += within_s > 0 ? within_s * shown->value : 0;
    }
    return sum / (end_s - begin_s);
}

static double length_of(const struct yk_op *op)
{
    return op->kind == YK_OP_BACKWARD ? 0.003 : op->kind == YK_OP_FORWARD ? 0.002 : 0.001;
}

static void do_steps(struct doing *doing, struct yk_counter_recorder *recorder)
{
    const struct yk_op_list *list = &doing->small.program->ranks[0];
    struct yk_op_interval ops[MOST_OPS];
    double at_s = 100;
    assert_true(list->op_count <= MOST_OPS);
    for (int step = 0; step < STEPS; step++) {
        struct yk_op_timeline timeline = {
            .program = doing->small.program, .ops = ops, .began_s = at_s};
        for (int32_t i = 0; i < list->op_count; i++) {
            const double end_s = at_s + length_of(&list->ops[i]);
            ops[timeline.count++] = (struct yk_op_interval){i, at_s, end_s};
            doing->shown[doing->count++] = (struct shown){at_s, end_s, shown_by(&list->ops[i])};
            at_s = end_s;
        }
        at_s += 0.002;
        timeline.done_s = at_s;
        doing->last_began_s = timeline.began_s;
        yk_counter_recorder_add_step_timeline(recorder, &timeline);
    }
    doing->end_s = at_s;
}

/* Readings of 7.3 ms from before the first step until after the last. */
static void read_all(struct doing *doing, double late_s)
{
    double at_s = 99.9;
    while (at_s < doing->end_s + 0.1) {
        struct yk_counter_reading *reading = &doing->readings[doing->reading_count++];
        assert_true(doing->reading_count < MOST_READINGS);
        *reading =
            (struct yk_counter_reading){.begin_s = at_s + late_s, .end_s = at_s + 0.0073 + late_s};
        for (int c = 0; c < YK_COUNTER_COUNT; c++) {
            reading->values[c] = NAN;
        }
        reading->values[YK_COUNTER_SM] = average(doing, at_s, at_s + 0.0073);
        at_s += 0.0073;
    }
}

static const struct yk_counter_average *find(const struct yk_counter_averages *rows,
                                             const char *name)
{
    for (int32_t i = 0; i < rows->count; i++) {
        if (strcmp(rows->all[i].name, name) == 0) {
            return &rows->all[i];
        }
    }
    return NULL;
}

static void expect(const struct yk_counter_averages *rows, const char *name, double value,
                   double tolerance)
{
    const struct yk_counter_average *row = find(rows, name);
    assert_non_null(row);
    assert_true(row && fabs(row->values[YK_COUNTER_SM] - value) < tolerance);
}

static struct doing doing; /* too large for a stack */

static void begin(const struct small_spec *spec, struct yk_arena **arena,
                  struct yk_counter_recorder **recorder)
{
    memset(&doing, 0, sizeof doing);
    doing.small = small_program_make(spec);
    assert_ok(yk_arena_create(arena));
    assert_ok(yk_counter_recorder_open(&(struct yk_counter_sampler_options){0}, recorder));
}

static void end(struct yk_arena *arena, struct yk_counter_recorder *recorder)
{
    yk_counter_recorder_close(recorder);
    yk_arena_destroy(arena);
    small_program_free(&doing.small);
}

static yk_status explain(const struct yk_counter_recorder *recorder, int32_t count, double traced_s,
                         struct yk_arena *arena, struct yk_counter_rank_data *out, double *lag_s)
{
    const struct yk_counter_reading_list readings = {doing.readings, count, 0, 0.005};
    return yk_counter_recorder_average_readings(recorder, &readings, traced_s, arena, out, lag_s);
}

/* Embed, two blocks, norm and head are equally long: forward shows (4 · 0.9 + 0.5) / 5 on average,
 * a kind the mean of 2 ms of its forward and 3 ms of its backward. */
static void steps_are_reported_by_phase_and_by_kind_of_layer(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    struct yk_counter_recorder *recorder = NULL;
    struct yk_counter_rank_data reported;
    double lag_s = 0;
    begin(&(struct small_spec){.ranks = 1}, &arena, &recorder);
    do_steps(&doing, recorder);
    read_all(&doing, 0);
    assert_ok(explain(recorder, doing.reading_count, doing.last_began_s, arena, &reported, &lag_s));
    assert_true(lag_s == 0);
    expect(&reported.phases, "forward", 0.82, 0.005);
    expect(&reported.phases, "backward", 0.62, 0.005);
    expect(&reported.phases, "update", 0.2, 0.005);
    assert_null(find(&reported.phases, "communication"));
    expect(&reported.phases, "step", average(&doing, 100, doing.end_s), 0.01);
    expect(&reported.kinds, "gpt-block", (2 * 0.9 + 3 * 0.7) / 5, 0.005);
    expect(&reported.kinds, "head", (2 * 0.5 + 3 * 0.3) / 5, 0.005);
    assert_int_equal(reported.kinds.count, 4);
    /* The line of the last step has its readings from a quarter before it on. */
    assert_true(reported.step.count > 3);
    assert_true(reported.step.readings[0].end_s <= 0 && reported.step.readings[0].end_s > -0.02);
    assert_true(reported.run.readings[0].begin_s == 0);
    end(arena, recorder);
}

/* Readings that say they are from 1.5 ms after they were taken. */
static void readings_that_come_late_are_shifted_back(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    struct yk_counter_recorder *recorder = NULL;
    struct yk_counter_rank_data reported;
    double lag_s = 0;
    begin(&(struct small_spec){.ranks = 1}, &arena, &recorder);
    do_steps(&doing, recorder);
    read_all(&doing, 0.0015);
    assert_ok(explain(recorder, doing.reading_count, NAN, arena, &reported, &lag_s));
    assert_true(fabs(lag_s + 0.0015) < 0.0001);
    expect(&reported.phases, "forward", 0.82, 0.02);
    expect(&reported.phases, "update", 0.2, 0.02);
    end(arena, recorder);
}

/* The first step takes five times as long, and shows nothing: none of it counts. Power is told of
 * the whole step. */
static void a_first_step_unlike_the_others_does_not_count(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    struct yk_counter_recorder *recorder = NULL;
    struct yk_counter_rank_data reported;
    double lag_s = 0;
    begin(&(struct small_spec){.ranks = 1}, &arena, &recorder);
    const struct yk_op_list *list = &doing.small.program->ranks[0];
    struct yk_op_interval ops[MOST_OPS];
    struct yk_op_timeline first = {.program = doing.small.program, .ops = ops, .began_s = 99.8};
    for (int32_t i = 0; i < list->op_count; i++) {
        const double at_s = 99.8 + 0.2 * i / list->op_count;
        ops[first.count++] = (struct yk_op_interval){i, at_s, at_s + 0.2 / list->op_count};
    }
    first.done_s = 100;
    yk_counter_recorder_add_step_timeline(recorder, &first);
    do_steps(&doing, recorder);
    read_all(&doing, 0);
    for (int32_t i = 0; i < doing.reading_count; i++) {
        doing.readings[i].values[YK_COUNTER_POWER] = 500;
    }
    assert_ok(explain(recorder, doing.reading_count, NAN, arena, &reported, &lag_s));
    assert_true(lag_s == 0);
    expect(&reported.phases, "forward", 0.82, 0.005);
    expect(&reported.phases, "update", 0.2, 0.005);
    expect(&reported.phases, "step", average(&doing, 100, doing.end_s), 0.01);
    assert_true(fabs(find(&reported.phases, "step")->values[YK_COUNTER_POWER] - 500) < 1e-6);
    assert_true(isnan(find(&reported.phases, "forward")->values[YK_COUNTER_POWER]));
    end(arena, recorder);
}

/* Two ranks that wait for each other's gradients with nothing to compute. */
static void waiting_for_others_is_a_phase(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    struct yk_counter_recorder *recorder = NULL;
    struct yk_counter_rank_data reported;
    double lag_s = 0;
    begin(&(struct small_spec){.ranks = 2}, &arena, &recorder);
    do_steps(&doing, recorder);
    read_all(&doing, 0);
    assert_ok(explain(recorder, doing.reading_count, NAN, arena, &reported, &lag_s));
    expect(&reported.phases, "communication", 0.1, 0.005);
    expect(&reported.phases, "update", 0.2, 0.005);
    assert_int_equal(reported.step.count, 0);
    end(arena, recorder);
}

/* Between passes nothing runs; before the first and after the last nobody knows. */
static void passes_are_reported_with_what_is_between_them(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    struct yk_counter_recorder *recorder = NULL;
    struct yk_counter_rank_data reported;
    double lag_s = 0;
    begin(&(struct small_spec){.ranks = 1}, &arena, &recorder);
    for (int i = 0; i < 20; i++) {
        const double at_s = 200 + i;
        doing.shown[doing.count++] = (struct shown){at_s, at_s + 0.75, 0.8};
        yk_counter_recorder_add_layer_pass(recorder, YK_COUNTER_STEP_PHASE_FORWARD, NULL, at_s,
                                           at_s + 0.75);
    }
    for (int i = 0; i < 40; i++) {
        const double at_s = 199 + 0.53 * i;
        doing.readings[i] = (struct yk_counter_reading){.begin_s = at_s, .end_s = at_s + 0.53};
        doing.readings[i].values[YK_COUNTER_SM] = average(&doing, at_s, at_s + 0.53);
    }
    assert_ok(explain(recorder, 40, NAN, arena, &reported, &lag_s));
    expect(&reported.phases, "forward", 0.8, 1e-4);
    assert_int_equal(reported.phases.count, 2);
    assert_int_equal(reported.kinds.count, 0);
    end(arena, recorder);
}

/* 1,500 readings of 1 s become 500 of 3 s, the average of what was known. */
static void long_lines_are_averaged(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    struct yk_counter_series line = {0};
    assert_ok(yk_arena_create(&arena));
    for (int i = 0; i < 1500; i++) {
        doing.readings[i] = (struct yk_counter_reading){.begin_s = 5 + i, .end_s = 6 + i};
        doing.readings[i].values[YK_COUNTER_POWER] = i % 3 == 0 ? NAN : 100.0 * (i % 3);
        doing.readings[i].values[YK_COUNTER_CLOCK] = NAN;
    }
    assert_ok(yk_counter_recorder_make_series(doing.readings, 1500, arena, &line));
    assert_int_equal(line.count, 500);
    assert_true(line.readings[1].begin_s == 3 && line.readings[1].end_s == 6);
    assert_true(line.readings[1].values[YK_COUNTER_POWER] == 150);
    assert_true(isnan(line.readings[1].values[YK_COUNTER_CLOCK]));
    yk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_reported_by_phase_and_by_kind_of_layer),
        cmocka_unit_test(readings_that_come_late_are_shifted_back),
        cmocka_unit_test(a_first_step_unlike_the_others_does_not_count),
        cmocka_unit_test(waiting_for_others_is_a_phase),
        cmocka_unit_test(passes_are_reported_with_what_is_between_them),
        cmocka_unit_test(long_lines_are_averaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
