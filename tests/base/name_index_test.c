#include "support/support.h"

#include "base/name_index.h"

#include <stdio.h>

static int make_names(void **state)
{
    struct yk_name_index *names = NULL;
    const yk_status status = yk_name_index_create(&names);
    *state = names;
    return (int)status;
}

static int drop_names(void **state)
{
    yk_name_index_destroy(*state);
    return 0;
}

static void names_are_numbered_as_they_arrive(void **state)
{
    bool added = false;
    int32_t number = -1;
    assert_ok(yk_name_index_add(*state, "embed", &added, &number));
    assert_true(added && number == 0);
    assert_ok(yk_name_index_add(*state, "head", &added, &number));
    assert_true(added && number == 1);
    assert_ok(yk_name_index_add(*state, "embed", &added, &number));
    assert_true(!added && number == 0);
    assert_int_equal(yk_name_index_count(*state), 2);
    assert_string_equal(yk_name_index_name(*state, 1), "head");
}

static void a_name_that_was_not_added_is_not_found(void **state)
{
    bool added = false;
    int32_t number = -1;
    assert_int_equal(yk_name_index_find(*state, "embed"), -1);
    assert_ok(yk_name_index_add(*state, "embed", &added, &number));
    assert_int_equal(yk_name_index_find(*state, "embed"), 0);
    assert_int_equal(yk_name_index_find(*state, "embe"), -1);
    assert_int_equal(yk_name_index_find(*state, ""), -1);
}

static void names_are_copied(void **state)
{
    bool added = false;
    int32_t number = -1;
    char word[] = "layer";
    assert_ok(yk_name_index_add(*state, word, &added, &number));
    word[0] = 'p';
    assert_string_equal(yk_name_index_name(*state, 0), "layer");
    assert_int_equal(yk_name_index_find(*state, "player"), -1);
}

static void many_names_keep_their_numbers(void **state)
{
    enum {
        MANY = 20000
    };
    char word[16];
    for (int32_t i = 0; i < MANY; i++) {
        bool added = false;
        int32_t number = -1;
        snprintf(word, sizeof word, "%d", i);
        assert_ok(yk_name_index_add(*state, word, &added, &number));
        assert_true(added && number == i);
    }
    for (int32_t i = 0; i < MANY; i++) {
        snprintf(word, sizeof word, "%d", i);
        assert_int_equal(yk_name_index_find(*state, word), i);
        assert_string_equal(yk_name_index_name(*state, i), word);
    }
}

static void destroying_nothing_is_allowed(void **state)
{
    (void)state;
    yk_name_index_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_are_numbered_as_they_arrive, make_names, drop_names),
        cmocka_unit_test_setup_teardown(a_name_that_was_not_added_is_not_found, make_names,
                                        drop_names),
        cmocka_unit_test_setup_teardown(names_are_copied, make_names, drop_names),
        cmocka_unit_test_setup_teardown(many_names_keep_their_numbers, make_names, drop_names),
        cmocka_unit_test(destroying_nothing_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
