#include "support/support.h"

#include "base/json_node.h"

#include <string.h>

static void a_shared_node_outlives_the_document_that_it_came_from(void **state)
{
    (void)state;
    static const char text[] = "{\"a\": {\"b\": \"c\"}}";
    struct yk_json *root = NULL;
    struct yk_json *object = yk_json_node_new_object();
    assert_ok(yk_json_parse(text, strlen(text), &root));
    assert_true(yk_json_node_set(object, "x", yk_json_get_member(root, "a")));
    yk_json_destroy(root);
    const struct yk_json *kept = yk_json_get_member(yk_json_get_member(object, "x"), "b");
    assert_string_equal(yk_json_string_value(kept), "c");
    yk_json_destroy(object);
}

/* As in Python's dict. */
static void a_member_that_is_set_again_keeps_its_place(void **state)
{
    (void)state;
    struct yk_json *object = yk_json_node_new_object();
    struct yk_json_member_iterator member = {0};
    assert_true(yk_json_node_set_new(object, "a", yk_json_node_new_null()));
    assert_true(yk_json_node_set_new(object, "b", yk_json_node_new_bool(true)));
    assert_true(yk_json_node_set_new(object, "a", yk_json_node_new_string("xyz", 2)));
    assert_true(yk_json_next_member(object, &member));
    assert_string_equal(member.name, "a");
    assert_string_equal(yk_json_string_value(member.value), "xy");
    assert_true(yk_json_next_member(object, &member));
    assert_string_equal(member.name, "b");
    assert_false(yk_json_next_member(object, &member));
    yk_json_destroy(object);
}

static void arrays_hold_what_is_appended_and_refuse_nothing(void **state)
{
    (void)state;
    struct yk_json *array = yk_json_node_new_array();
    struct yk_json *shared = yk_json_node_new_bool(false);
    assert_true(yk_json_node_append(array, shared));
    assert_true(yk_json_node_append_new(array, shared));
    assert_false(yk_json_node_append_new(array, NULL));
    assert_false(yk_json_node_append(array, NULL));
    assert_int_equal(yk_json_array_count(array), 2);
    yk_json_destroy(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shared_node_outlives_the_document_that_it_came_from),
        cmocka_unit_test(a_member_that_is_set_again_keeps_its_place),
        cmocka_unit_test(arrays_hold_what_is_appended_and_refuse_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
