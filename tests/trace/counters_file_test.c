#include "trace/counters_file.h"

#include "support/support.h"

#include <math.h>
#include <string.h>

static struct yk_counter_average row_of(const char *name, double seconds, double sm, double power)
{
    struct yk_counter_average row = {.name = name, .seconds = seconds};
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        row.values[c] = NAN;
    }
    row.values[YK_COUNTER_SM] = sm;
    row.values[YK_COUNTER_POWER] = power;
    return row;
}

static struct yk_counter_reading reading_of(double begin_s, double end_s, double sm)
{
    struct yk_counter_reading reading = {.begin_s = begin_s, .end_s = end_s};
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        reading.values[c] = NAN;
    }
    reading.values[YK_COUNTER_SM] = sm;
    return reading;
}

static void what_is_written_comes_back(void **state)
{
    (void)state;
    struct yk_counter_average phases[] = {row_of("forward", 4.25, 0.93, NAN),
                                          row_of("step", 10, 0.5, 651)};
    struct yk_counter_average kinds[] = {row_of("gpt-block", 3, NAN, 640)};
    struct yk_counter_reading step[] = {reading_of(-0.004, 0.006, 0.91),
                                        reading_of(0.006, 0.016, NAN)};
    struct yk_counter_rank_data rank = {
        "h200 \"a\"", "NVML GPM every 10 ms", {phases, 2}, {kinds, 1}, {step, 2}, {NULL, 0}};
    struct yk_arena *arena = NULL;
    struct yk_text text = {0};
    struct yk_counter_run_data read = {0};
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_counters_file_write_json(&(struct yk_counter_run_data){&rank, 1}, &text));
    assert_ok(yk_counters_file_parse_json(yk_text_chars(&text), text.length, "x", arena, &read));
    assert_int_equal(read.count, 1);
    assert_string_equal(read.all[0].device, "h200 \"a\"");
    assert_string_equal(read.all[0].source, "NVML GPM every 10 ms");
    assert_int_equal(read.all[0].phases.count, 2);
    assert_string_equal(read.all[0].phases.all[1].name, "step");
    assert_true(read.all[0].phases.all[0].seconds == 4.25);
    assert_true(read.all[0].phases.all[0].values[YK_COUNTER_SM] == 0.93);
    assert_true(isnan(read.all[0].phases.all[0].values[YK_COUNTER_POWER]));
    assert_true(read.all[0].kinds.all[0].values[YK_COUNTER_POWER] == 640);
    assert_int_equal(read.all[0].step.count, 2);
    assert_true(read.all[0].step.readings[0].begin_s == -0.004);
    assert_true(read.all[0].step.readings[0].values[YK_COUNTER_SM] == 0.91);
    assert_true(isnan(read.all[0].step.readings[1].values[YK_COUNTER_SM]));
    assert_int_equal(read.all[0].run.count, 0);
    assert_true(yk_counters_file_rank_has_counter(&read.all[0], YK_COUNTER_POWER));
    assert_false(yk_counters_file_rank_has_counter(&read.all[0], YK_COUNTER_DRAM));
    yk_text_free(&text);
    yk_arena_destroy(arena);
}

#define FILE_OF(rank) "{\"yoke\":1,\"kind\":\"counters\",\"ranks\":[" rank "]}"
#define RANK_OF(rest) FILE_OF("{\"rank\":0,\"device\":\"h200\"," rest "}")

static void what_makes_no_sense_is_refused_in_one_sentence(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{\"yoke\":1,\"kind\":\"counters\"}", "x: \"ranks\" is missing"},
        {FILE_OF("{\"rank\":0}"), "x: ranks[0]: \"device\" is missing"},
        {FILE_OF("{\"rank\":1,\"device\":\"h200\"}"),
         "x: ranks[0]: rank 1 stands where 0 should be"},
        {FILE_OF("7"), "x: ranks[0]: this must be an object, not a number"},
        {RANK_OF("\"phases\":[{\"phase\":\"forward\",\"sm\":-1}]"),
         "x: ranks[0]: phases[0]: \"sm\" must be a number from 0 up to 1e+300, or null"},
        {RANK_OF("\"phases\":[{\"phase\":\"forward\",\"smm\":1}]"), NULL},
        {RANK_OF("\"kinds\":[{\"phase\":\"forward\"}]"), NULL},
        {RANK_OF("\"step\":{\"begin_s\":[0,1],\"end_s\":[1]}"),
         "x: ranks[0]: step: \"end_s\" must be a list of as many numbers as \"begin_s\""},
        {RANK_OF("\"step\":{\"begin_s\":[0],\"end_s\":[1],\"sm\":[1,2]}"),
         "x: ranks[0]: step: \"sm\" must be a list of as many numbers as \"begin_s\""},
        {RANK_OF("\"step\":{\"begin_s\":[0],\"end_s\":[\"1\"]}"),
         "x: ranks[0]: step: \"end_s\" must have numbers of seconds alone, up to 1e+09"},
        {RANK_OF("\"run\":{\"begin_s\":[0,0.5],\"end_s\":[1,2]}"),
         "x: ranks[0]: run: reading 1 ends before it begins, or begins before the one before it "
         "ends"},
        {RANK_OF("\"run\":[]"), "x: ranks[0]: run: this must be an object, not a list"},
    };
    struct yk_arena *arena = NULL;
    assert_ok(yk_arena_create(&arena));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct yk_counter_run_data read = {0};
        const yk_status status =
            yk_counters_file_parse_json(cases[i][0], strlen(cases[i][0]), "x", arena, &read);
        assert_int_equal(status, YK_ERROR_INPUT);
        if (cases[i][1]) {
            assert_string_equal(yk_status_message(), cases[i][1]);
        }
    }
    yk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_comes_back),
        cmocka_unit_test(what_makes_no_sense_is_refused_in_one_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
