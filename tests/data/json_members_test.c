#include "support/support.h"

#include "base/text.h"
#include "data/json_members.h"

#include <string.h>

/* The names, joined by single bars. */
static void assert_members(const char *json, const char *member, const char *expected)
{
    struct yk_arena *arena = NULL;
    const char *const *names = NULL;
    int32_t count = -1;
    struct yk_text joined = {0};
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_json_members_list(json, strlen(json), member, arena, &count, &names));
    for (int32_t i = 0; i < count; i++) {
        yk_text_addf(&joined, "%s%s", i == 0 ? "" : "|", names[i]);
    }
    assert_string_equal(yk_text_chars(&joined), expected);
    yk_text_free(&joined);
    yk_arena_destroy(arena);
}

static void names_come_in_the_order_of_the_file(void **state)
{
    (void)state;
    assert_members("{}", NULL, "");
    assert_members("{\"b\":1,\"a\" : [1,2], \"c\"\n:\"x\"}", NULL, "b|a|c");
}

static void names_inside_members_and_values_are_not_names(void **state)
{
    (void)state;
    assert_members("{\"a\":{\"b\":{\"c\":1}},\"d\":[{\"e\":1},\"f\"],\"g\":\"h\"}", NULL, "a|d|g");
    assert_members("{\"a\":\"\\\"b\\\":{\",\"c\":\"}]\\\\\",\"d\":1}", NULL, "a|c|d");
}

static void the_members_of_one_member_are_found(void **state)
{
    (void)state;
    const char json[] = "{\"x\":{\"m\":{\"no\":1}},\"m\":{\"p\":{\"no\":1},\"q\":[{\"no\":1}]},"
                        "\"y\":{\"no\":1}}";
    assert_members(json, "m", "p|q");
    assert_members(json, "x", "m");
    assert_members(json, "z", "");
    assert_members("{\"m\":[{\"no\":1}]}", "m", "");
}

static void escapes_in_names_are_read(void **state)
{
    (void)state;
    assert_members("{\"a\\\"\\\\\":1,\"\\ud55c\\n\":2}", NULL, "a\"\\|\xed\x95\x9c\n");
    assert_members("{\"\\u006d\":{\"p\":1}}", "m", "p");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_come_in_the_order_of_the_file),
        cmocka_unit_test(names_inside_members_and_values_are_not_names),
        cmocka_unit_test(the_members_of_one_member_are_found),
        cmocka_unit_test(escapes_in_names_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
