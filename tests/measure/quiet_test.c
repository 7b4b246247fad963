#include "support/support.h"

#include "measure/quiet.h"

/* Four of six rounds had to share their core, one of them a little. */
static void rounds_that_got_less_are_left_out(void **state)
{
    (void)state;
    static const struct yk_timings_round rounds[] = {{2, 1.0},  {1.01, 1.0}, {1.5, 1.0},
                                                     {1, 0.99}, {3, 1.1},    {1.1, 1.0}};
    static const bool expected[] = {false, true, false, true, false, false};
    bool chosen[6];
    yk_timings_choose_undisturbed(rounds, 6, 2, chosen);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(chosen[i], expected[i]);
    }
}

static void never_fewer_than_asked_for(void **state)
{
    (void)state;
    static const struct yk_timings_round rounds[] = {{2, 1}, {1, 1}, {4, 1}, {1.5, 1}};
    static const bool expected[] = {true, true, false, true};
    bool chosen[4];
    yk_timings_choose_undisturbed(rounds, 4, 3, chosen);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(chosen[i], expected[i]);
    }
    yk_timings_choose_undisturbed(rounds, 2, 3, chosen);
    assert_true(chosen[0] && chosen[1]);
}

/* A rank that waits on purpose gets little, but every time as much. */
static void what_is_always_idle_is_quiet(void **state)
{
    (void)state;
    static const struct yk_timings_round rounds[] = {{10, 4}, {10.1, 4}, {10, 3.99}};
    bool chosen[3];
    yk_timings_choose_undisturbed(rounds, 3, 1, chosen);
    assert_true(chosen[0] && chosen[1] && chosen[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_that_got_less_are_left_out),
        cmocka_unit_test(never_fewer_than_asked_for),
        cmocka_unit_test(what_is_always_idle_is_quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
