#include "support/support.h"

#include <pthread.h>
#include <string.h>

static void failing_returns_the_status_and_keeps_the_sentence(void **state)
{
    (void)state;
    assert_int_equal(yk_fail(YK_ERROR_INPUT, "line %d of %s", 3, "a.json"), YK_ERROR_INPUT);
    assert_string_equal(yk_status_message(), "line 3 of a.json");
}

static void a_place_goes_in_front_of_the_sentence(void **state)
{
    (void)state;
    assert_int_equal(yk_status_prefix_message(yk_fail(YK_ERROR_NO_FIT, "too small"), "device"),
                     YK_ERROR_NO_FIT);
    assert_string_equal(yk_status_message(), "device: too small");
}

static void the_current_sentence_may_be_part_of_the_next(void **state)
{
    (void)state;
    (void)!yk_fail(YK_ERROR_INPUT, "inner");
    (void)!yk_fail(YK_ERROR_INPUT, "outer, because %s", yk_status_message());
    assert_string_equal(yk_status_message(), "outer, because inner");
}

static void a_very_long_sentence_is_cut_off(void **state)
{
    (void)state;
    char words[5000];
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    (void)!yk_fail(YK_ERROR_INPUT, "%s", words);
    assert_true(strlen(yk_status_message()) >= 500);
    assert_true(strlen(yk_status_message()) < sizeof words - 1);
}

static void *fail_elsewhere(void *message)
{
    (void)!yk_fail(YK_ERROR_LOST, "elsewhere");
    *(int *)message = strcmp(yk_status_message(), "elsewhere");
    return NULL;
}

static void each_thread_has_its_own_sentence(void **state)
{
    (void)state;
    int difference = 1;
    pthread_t thread;
    (void)!yk_fail(YK_ERROR_INPUT, "here");
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, &difference), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(difference, 0);
    assert_string_equal(yk_status_message(), "here");
}

static yk_status try_twice(yk_status first, int *reached)
{
    YK_TRY(first);
    *reached = 1;
    return YK_OK;
}

static void try_leaves_the_function_on_failure_only(void **state)
{
    (void)state;
    int reached = 0;
    assert_int_equal(try_twice(YK_ERROR_NUMBERS, &reached), YK_ERROR_NUMBERS);
    assert_int_equal(reached, 0);
    assert_int_equal(try_twice(YK_OK, &reached), YK_OK);
    assert_int_equal(reached, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_returns_the_status_and_keeps_the_sentence),
        cmocka_unit_test(a_place_goes_in_front_of_the_sentence),
        cmocka_unit_test(the_current_sentence_may_be_part_of_the_next),
        cmocka_unit_test(a_very_long_sentence_is_cut_off),
        cmocka_unit_test(each_thread_has_its_own_sentence),
        cmocka_unit_test(try_leaves_the_function_on_failure_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
