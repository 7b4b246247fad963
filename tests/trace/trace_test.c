#include "trace/trace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static int set_up(void **state)
{
    struct yk_trace *trace = NULL;
    assert_int_equal(yk_trace_create(&trace), YK_OK);
    assert_int_equal(yk_trace_add_rank(trace, "GPU 0"), YK_OK);
    *state = trace;
    return 0;
}

static int tear_down(void **state)
{
    yk_trace_destroy(*state);
    return 0;
}

static void names_are_copied(void **state)
{
    struct yk_trace *trace = *state;
    char name[] = "forward";
    struct yk_trace_event event = {.op = name, .end_s = 1};
    int32_t number = -1;
    assert_int_equal(yk_trace_add_event(trace, &event, &number), YK_OK);
    name[0] = 'x';
    assert_int_equal(number, 0);
    assert_string_equal(yk_trace_event_at(trace, number)->op, "forward");
}

static void an_event_of_an_unknown_rank_is_refused(void **state)
{
    const struct yk_trace_event event = {.rank = 1, .op = "forward", .end_s = 1};
    assert_int_equal(yk_trace_add_event(*state, &event, NULL), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "forward"));
    assert_int_equal(yk_trace_event_count(*state), 0);
}

static void an_event_that_ends_before_it_starts_is_refused(void **state)
{
    const struct yk_trace_event backwards = {.op = "t", .start_s = 2, .end_s = 1};
    const struct yk_trace_event endless = {.op = "t", .end_s = INFINITY};
    assert_int_equal(yk_trace_add_event(*state, &backwards, NULL), YK_ERROR_NUMBERS);
    assert_int_equal(yk_trace_add_event(*state, &endless, NULL), YK_ERROR_NUMBERS);
}

static void a_flow_to_an_unknown_event_is_refused(void **state)
{
    const struct yk_trace_event event = {.op = "t", .end_s = 1};
    assert_int_equal(yk_trace_add_event(*state, &event, NULL), YK_OK);
    assert_int_equal(yk_trace_add_flow(*state, (struct yk_trace_flow){0, 1}), YK_ERROR_INPUT);
    assert_int_equal(yk_trace_flow_count(*state), 0);
}

static void destroying_nothing_is_allowed(void **state)
{
    (void)state;
    yk_trace_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_are_copied, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_event_of_an_unknown_rank_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_event_that_ends_before_it_starts_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_flow_to_an_unknown_event_is_refused, set_up, tear_down),
        cmocka_unit_test(destroying_nothing_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
