#include "support/support.h"

#include "base/clock.h"

static void time_never_goes_back(void **state)
{
    (void)state;
    double before = yk_clock_now_s();
    assert_true(before > 0);
    for (int i = 0; i < 1000; i++) {
        const double now = yk_clock_now_s();
        assert_true(now >= before);
        before = now;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_never_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
