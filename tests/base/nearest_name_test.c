#include "support/support.h"

#include "base/nearest_name.h"

#include <string.h>

static const char *const keys[] = {"name", "cost", "memory", "group", "resident"};
enum {
    KEY_COUNT = sizeof keys / sizeof keys[0]
};

static void a_slip_of_the_finger_is_recognised(void **state)
{
    (void)state;
    assert_string_equal(yk_nearest_name("nmae", keys, KEY_COUNT), "name");
    assert_string_equal(yk_nearest_name("costs", keys, KEY_COUNT), "cost");
    assert_string_equal(yk_nearest_name("memroy", keys, KEY_COUNT), "memory");
    assert_string_equal(yk_nearest_name("goup", keys, KEY_COUNT), "group");
    assert_string_equal(yk_nearest_name("residant", keys, KEY_COUNT), "resident");
}

static void a_different_word_has_no_suggestion(void **state)
{
    (void)state;
    assert_null(yk_nearest_name("priority", keys, KEY_COUNT));
    assert_null(yk_nearest_name("", keys, KEY_COUNT));
    assert_null(yk_nearest_name("x", keys, KEY_COUNT));
    assert_null(yk_nearest_name("cost", keys, 0));
}

static void the_closer_of_two_wins(void **state)
{
    (void)state;
    static const char *const names[] = {"heft", "left", "cleft"};
    assert_string_equal(yk_nearest_name("lefft", names, 3), "left");
}

static void words_of_any_length_are_safe(void **state)
{
    (void)state;
    char word[1001];
    memset(word, 'n', 1000);
    word[1000] = '\0';
    const char *const long_name[] = {word};
    assert_null(yk_nearest_name(word, keys, KEY_COUNT));
    assert_null(yk_nearest_name("name", long_name, 1));
    word[63] = '\0';
    assert_string_equal(yk_nearest_name(word, long_name, 1), word);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_of_the_finger_is_recognised),
        cmocka_unit_test(a_different_word_has_no_suggestion),
        cmocka_unit_test(the_closer_of_two_wins),
        cmocka_unit_test(words_of_any_length_are_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
