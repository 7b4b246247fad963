#include "support/support.h"

#include "base/array.h"

#include <stdlib.h>

static void an_array_grows_and_keeps_what_it_holds(void **state)
{
    (void)state;
    int32_t *numbers = NULL;
    int32_t capacity = 0;
    for (int32_t i = 0; i < 1000; i++) {
        assert_ok(yk_array_grow((void **)&numbers, &capacity, i, sizeof *numbers));
        assert_true(capacity > i);
        numbers[i] = i;
    }
    for (int32_t i = 0; i < 1000; i++) {
        assert_int_equal(numbers[i], i);
    }
    free(numbers);
}

static void an_array_with_room_is_left_alone(void **state)
{
    (void)state;
    char *letters = NULL;
    int32_t capacity = 0;
    assert_ok(yk_array_grow((void **)&letters, &capacity, 0, 1));
    const char *before = letters;
    const int32_t capacity_before = capacity;
    assert_ok(yk_array_grow((void **)&letters, &capacity, capacity - 1, 1));
    assert_ptr_equal(letters, before);
    assert_int_equal(capacity, capacity_before);
    free(letters);
}

static void a_count_beyond_the_largest_is_refused(void **state)
{
    (void)state;
    char *letters = NULL;
    int32_t capacity = INT32_MAX / 2 + 1;
    assert_fails(yk_array_grow((void **)&letters, &capacity, capacity, 1), YK_ERROR_INPUT,
                 "more than 1073741824 entries in one list");
    assert_null(letters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_grows_and_keeps_what_it_holds),
        cmocka_unit_test(an_array_with_room_is_left_alone),
        cmocka_unit_test(a_count_beyond_the_largest_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
