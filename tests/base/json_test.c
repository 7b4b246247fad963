#include "support/support.h"

#include "base/json.h"
#include "base/system.h"

#include <stdlib.h>
#include <string.h>

static struct yk_json *parse(const char *text)
{
    struct yk_json *root = NULL;
    assert_ok(yk_json_parse(text, strlen(text), &root));
    return root;
}

static void assert_broken(const char *text, size_t length, const char *beginning)
{
    struct yk_json *root = NULL;
    assert_int_equal(yk_json_parse(text, length, &root), YK_ERROR_INPUT);
    assert_null(root);
    const char *said = yk_status_message();
    if (strncmp(said, beginning, strlen(beginning)) != 0) {
        fail_msg("\"%s\" does not begin with \"%s\"", said, beginning);
    }
}

/* As transformers writes "model_max_length" of a tokenizer without a limit. */
static void files_of_other_tools_may_have_large_integers_and_repeated_names(void **state)
{
    (void)state;
    static const char text[] = "{\"a\": 1000000000000000019884624838656, \"b\": 2, \"b\": 3}";
    struct yk_json *root = NULL;
    double number = 0;
    assert_broken(text, strlen(text), "line 1, column 37: broken JSON: too big integer");
    assert_ok(yk_json_parse_foreign(text, strlen(text), &root));
    assert_true(yk_json_number_value(yk_json_get_member(root, "a"), &number) && number == 1e30);
    assert_true(yk_json_number_value(yk_json_get_member(root, "b"), &number) && number == 3);
    yk_json_destroy(root);
    assert_int_equal(yk_json_parse_foreign("{", 1, &root), YK_ERROR_INPUT);
}

static void strings_of_files_of_other_tools_may_contain_zeros(void **state)
{
    (void)state;
    static const char text[] = "[\"a\\u0000b\", \"ab\", 3]";
    struct yk_json *root = NULL;
    size_t length = 0;
    assert_ok(yk_json_parse_foreign(text, strlen(text), &root));
    assert_null(yk_json_string_value(yk_json_array_at(root, 0)));
    assert_memory_equal(yk_json_string_bytes(yk_json_array_at(root, 0), &length), "a\0b", 4);
    assert_int_equal(length, 3);
    assert_string_equal(yk_json_string_value(yk_json_array_at(root, 1)), "ab");
    assert_string_equal(yk_json_string_bytes(yk_json_array_at(root, 1), &length), "ab");
    assert_int_equal(length, 2);
    assert_null(yk_json_string_bytes(yk_json_array_at(root, 2), &length));
    assert_int_equal(length, 0);
    yk_json_destroy(root);
}

static void members_and_elements_are_found(void **state)
{
    (void)state;
    struct yk_json *root = parse("{\"a\": [1, \"two\", null, 2.5], \"b\": {\"c\": true}}");
    const struct yk_json *list = yk_json_get_member(root, "a");
    double number = 0;
    assert_true(yk_json_is_object(root));
    assert_true(yk_json_is_array(list));
    assert_int_equal(yk_json_array_count(list), 4);
    assert_true(yk_json_number_value(yk_json_array_at(list, 0), &number) && number == 1);
    assert_string_equal(yk_json_string_value(yk_json_array_at(list, 1)), "two");
    assert_true(yk_json_is_null(yk_json_array_at(list, 2)));
    assert_true(yk_json_number_value(yk_json_array_at(list, 3), &number) && number == 2.5);
    bool flag = false;
    assert_true(
        yk_json_boolean_value(yk_json_get_member(yk_json_get_member(root, "b"), "c"), &flag) &&
        flag);
    assert_false(yk_json_boolean_value(yk_json_array_at(list, 0), &flag));
    yk_json_destroy(root);
}

static void what_is_not_there_is_null(void **state)
{
    (void)state;
    struct yk_json *root = parse("{\"a\": [1]}");
    double number = 7;
    assert_null(yk_json_get_member(root, "b"));
    assert_null(yk_json_get_member(NULL, "b"));
    assert_null(yk_json_get_member(yk_json_get_member(root, "a"), "b"));
    assert_null(yk_json_array_at(yk_json_get_member(root, "a"), 1));
    assert_null(yk_json_array_at(root, 0));
    assert_int_equal(yk_json_array_count(root), 0);
    assert_int_equal(yk_json_array_count(NULL), 0);
    assert_null(yk_json_string_value(NULL));
    assert_null(yk_json_string_value(root));
    assert_false(yk_json_number_value(NULL, &number));
    assert_false(yk_json_number_value(root, &number));
    assert_false(yk_json_is_null(NULL));
    assert_true(number == 7);
    yk_json_destroy(root);
    yk_json_destroy(NULL);
}

static void members_are_met_in_the_order_of_the_file(void **state)
{
    (void)state;
    struct yk_json *root = parse("{\"zebra\": 3, \"a\": {\"b\": 9}, \"\": 1, \"\\u00e9\": 2}");
    static const char *const names[] = {"zebra", "a", "", "\xc3\xa9"};
    struct yk_json_member_iterator member = {0};
    int count = 0;
    while (yk_json_next_member(root, &member)) {
        assert_in_range(count, 0, 3);
        assert_string_equal(member.name, names[count]);
        assert_ptr_equal(member.value, yk_json_get_member(root, names[count]));
        count++;
    }
    assert_int_equal(count, 4);
    assert_int_equal(yk_json_member_count(root), 4);
    yk_json_destroy(root);
}

static void nothing_but_an_object_has_members(void **state)
{
    (void)state;
    struct yk_json *root = parse("[{}, 1, \"a\"]");
    for (size_t i = 0; i < 4; i++) {
        struct yk_json_member_iterator member = {0};
        assert_false(yk_json_next_member(yk_json_array_at(root, i), &member));
    }
    struct yk_json_member_iterator member = {0};
    assert_false(yk_json_next_member(root, &member));
    assert_false(yk_json_next_member(NULL, &member));
    assert_int_equal(yk_json_member_count(root), 0);
    assert_int_equal(yk_json_member_count(NULL), 0);
    yk_json_destroy(root);
}

static void kinds_have_names(void **state)
{
    (void)state;
    struct yk_json *root = parse("[{}, [], \"\", 1, 1.5, true, false, null]");
    static const char *const kinds[] = {"an object", "a list",        "a string",      "a number",
                                        "a number",  "true or false", "true or false", "null"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        assert_string_equal(yk_json_type_name(yk_json_array_at(root, i)), kinds[i]);
    }
    assert_string_equal(yk_json_type_name(NULL), "nothing");
    yk_json_destroy(root);
}

static void a_fault_is_reported_with_line_and_column(void **state)
{
    (void)state;
    assert_broken("{\"a\": 1,\n \"b\" 2}", 16, "line 2, column 6: broken JSON: ");
    assert_broken("", 0, "line 1, column 0: broken JSON: ");
    assert_broken("{} x", 4, "line 1, column 4: broken JSON: end of file expected");
    assert_broken("{\"a\": 1, \"a\": 2}", 16,
                  "line 1, column 12: broken JSON: duplicate object key");
    assert_broken("[1e999]", 7, "line 1, column 6: broken JSON: real number overflow");
    assert_broken("[99999999999999999999]", 22, "line 1, column 21: broken JSON: too big integer");
    assert_broken("[NaN]", 5, "line 1, column 4: broken JSON: invalid token");
    assert_broken("17", 2, "line 1, column 2: broken JSON: '[' or '{' expected");
}

static void zeros_and_broken_utf8_are_refused(void **state)
{
    (void)state;
    assert_broken("[\"a\0b\"]", 7, "line 1, column 3: broken JSON: ");
    assert_broken("[\"a\\u0000b\"]", 12,
                  "line 1, column 11: broken JSON: \\u0000 is not allowed in a string");
    assert_broken("{\"a\\u0000b\": 1}", 15,
                  "line 1, column 11: broken JSON: \\u0000 is not allowed in a name");
    assert_broken("[\"\xff\"]", 5, "line 1, column 2: broken JSON: unable to decode byte 0xff");
    assert_broken("[\"\xc3\"]", 5, "line 1, column 2: broken JSON: ");
    assert_broken("[\"\xed\xa0\x80\"]", 7, "line 1, column 2: broken JSON: ");
}

static void endless_nesting_is_refused(void **state)
{
    (void)state;
    enum {
        DEPTH = 1000000
    };
    char *text = malloc(DEPTH);
    assert_non_null(text);
    memset(text, '[', DEPTH);
    assert_broken(text, DEPTH, "line 1, column ");
    assert_non_null(strstr(yk_status_message(), "depth"));
    free(text);
}

/* A list of as many numbers as would take all of the free memory, which other processes change. */
static void more_values_than_memory_holds_are_refused(void **state)
{
    (void)state;
    const size_t count = (size_t)(yk_system_free_memory_bytes() / 64) + 2;
    char *text = count < (size_t)1 << 31 ? malloc(count) : NULL;
    if (!text) {
        skip();
        return;
    }
    memset(text, ',', count);
    text[0] = '[';
    struct yk_json *root = NULL;
    assert_int_equal(yk_json_parse(text, count, &root), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "may need more than half of the free memory"));
    free(text);
}

static void an_unknown_key_comes_with_a_suggestion(void **state)
{
    (void)state;
    static const char *const known[] = {"name", "cost"};
    struct yk_json *good = parse("{\"cost\": 1}");
    struct yk_json *near_miss = parse("{\"name\": 1, \"csot\": 2}");
    struct yk_json *far_off = parse("{\"priority\": 2}");
    assert_ok(yk_json_check_keys(good, known, 2));
    assert_fails(yk_json_check_keys(near_miss, known, 2), YK_ERROR_INPUT,
                 "unknown key \"csot\"; did you mean \"cost\"?");
    assert_fails(yk_json_check_keys(far_off, known, 2), YK_ERROR_INPUT, "unknown key \"priority\"");
    yk_json_destroy(good);
    yk_json_destroy(near_miss);
    yk_json_destroy(far_off);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_other_tools_may_have_large_integers_and_repeated_names),
        cmocka_unit_test(strings_of_files_of_other_tools_may_contain_zeros),
        cmocka_unit_test(members_and_elements_are_found),
        cmocka_unit_test(what_is_not_there_is_null),
        cmocka_unit_test(members_are_met_in_the_order_of_the_file),
        cmocka_unit_test(nothing_but_an_object_has_members),
        cmocka_unit_test(kinds_have_names),
        cmocka_unit_test(a_fault_is_reported_with_line_and_column),
        cmocka_unit_test(zeros_and_broken_utf8_are_refused),
        cmocka_unit_test(endless_nesting_is_refused),
        cmocka_unit_test(more_values_than_memory_holds_are_refused),
        cmocka_unit_test(an_unknown_key_comes_with_a_suggestion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
