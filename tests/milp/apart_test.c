#include "milp/apart.h"

#include "base/clock.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What both processes see. */
struct shared {
    atomic_bool ask;
    int value;
};

static struct shared *share(void)
{
    struct shared *shared = yk_apart_memory(sizeof *shared);
    assert_non_null(shared);
    return shared;
}

static bool run(void (*function)(void *data), struct shared *shared, double budget_s,
                const atomic_bool *stop)
{
    const struct yk_apart_limits limits = {
        .end_s = yk_clock_now_s() + budget_s, .grace_s = 0, .stop = stop, .ask = &shared->ask};
    bool returned = false;
    assert_ok(yk_apart_run(function, shared, &limits, &returned));
    return returned;
}

static void answer(void *data)
{
    struct shared *shared = data;
    shared->value = 42;
}

static void give_up(void *data)
{
    struct shared *shared = data;
    shared->value = 42;
    abort();
}

static void wait_to_be_asked(void *data)
{
    struct shared *shared = data;
    while (!atomic_load(&shared->ask)) {
        (void)usleep(1000);
    }
    shared->value = 42;
    for (;;) {
        (void)pause();
    }
}

static void an_answer_comes_through_shared_memory(void **state)
{
    struct shared *shared = share();
    (void)state;
    assert_true(run(answer, shared, 60, NULL));
    assert_int_equal(shared->value, 42);
    yk_apart_free(shared, sizeof *shared);
}

static void a_function_that_aborts_does_not_return(void **state)
{
    struct shared *shared = share();
    (void)state;
    assert_false(run(give_up, shared, 60, NULL));
    assert_int_equal(shared->value, 42);
    yk_apart_free(shared, sizeof *shared);
}

static void a_function_that_does_not_end_is_ended(void **state)
{
    const atomic_bool stop = true;
    struct shared *shared = share();
    (void)state;
    assert_false(run(wait_to_be_asked, shared, 0, NULL));
    assert_true(atomic_load(&shared->ask));
    atomic_store(&shared->ask, false);
    assert_false(run(wait_to_be_asked, shared, 60, &stop));
    assert_true(atomic_load(&shared->ask));
    yk_apart_free(shared, sizeof *shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_comes_through_shared_memory),
        cmocka_unit_test(a_function_that_aborts_does_not_return),
        cmocka_unit_test(a_function_that_does_not_end_is_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
