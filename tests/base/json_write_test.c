#include "support/support.h"

#include "base/json_write.h"

#include <math.h>

static void check(struct yk_text *text, const char *expected)
{
    assert_ok(yk_text_status(text));
    assert_string_equal(yk_text_chars(text), expected);
    yk_text_free(text);
}

static void commas_stand_between_members_and_between_elements(void **state)
{
    (void)state;
    struct yk_text text = {0};
    struct yk_json_writer json = {.text = &text};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_begin_array(&json, "rows");
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_end_object(&json);
    yk_json_write_begin_array(&json, NULL);
    yk_json_write_integer(&json, NULL, -2);
    yk_json_write_integer(&json, NULL, INT64_MAX);
    yk_json_write_end_array(&json);
    yk_json_write_end_array(&json);
    yk_json_write_string(&json, "name", "a");
    yk_json_write_end_object(&json);
    check(&text, "{\"yoke\":1,\"rows\":[{},[-2,9223372036854775807]],\"name\":\"a\"}");
}

static void spaced_form_has_a_space_after_colons_and_commas(void **state)
{
    (void)state;
    struct yk_text text = {0};
    struct yk_json_writer json = {.text = &text, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_bool(&json, "on", true);
    yk_json_write_begin_array(&json, "list");
    yk_json_write_bool(&json, NULL, false);
    yk_json_write_null(&json, NULL);
    yk_json_write_end_array(&json);
    yk_json_write_end_object(&json);
    check(&text, "{\"on\": true, \"list\": [false, null]}");
}

static void a_line_breaks_before_a_member_an_element_or_a_bracket(void **state)
{
    (void)state;
    struct yk_text text = {0};
    struct yk_json_writer json = {.text = &text, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_newline(&json, 2);
    yk_json_write_begin_array(&json, "list");
    yk_json_write_newline(&json, 4);
    yk_json_write_integer(&json, NULL, 1);
    yk_json_write_integer(&json, NULL, 2);
    yk_json_write_newline(&json, 4);
    yk_json_write_integer(&json, NULL, 3);
    yk_json_write_newline(&json, 2);
    yk_json_write_end_array(&json);
    yk_json_write_newline(&json, 2);
    yk_json_write_null(&json, "none");
    yk_json_write_newline(&json, 0);
    yk_json_write_end_object(&json);
    check(&text, "{\n  \"list\": [\n    1, 2,\n    3\n  ],\n  \"none\": null\n}");
}

static void every_row_of_an_array_begins_on_a_new_line(void **state)
{
    (void)state;
    struct yk_text text = {0};
    struct yk_json_writer json = {.text = &text, .spaced = true};
    yk_json_write_begin_array(&json, NULL);
    for (int i = 1; i <= 2; i++) {
        yk_json_write_begin_object_on_new_line(&json, 2);
        yk_json_write_integer(&json, "a", i);
        yk_json_write_end_object(&json);
    }
    yk_json_write_end_array(&json);
    check(&text, "[\n  {\"a\": 1},\n  {\"a\": 2}]");
}

static void with_lines_every_member_has_its_own(void **state)
{
    (void)state;
    struct yk_text text = {0};
    struct yk_json_writer json = {.text = &text, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    json.line_indent = 2;
    yk_json_write_integer(&json, "a", 1);
    yk_json_write_begin_object(&json, "b");
    json.line_indent = 0;
    yk_json_write_integer(&json, "c", 2);
    yk_json_write_integer(&json, "d", 3);
    yk_json_write_end_object(&json);
    json.line_indent = 2;
    yk_json_write_begin_object(&json, "e");
    json.line_indent = 4;
    yk_json_write_integer(&json, "f", 4);
    yk_json_write_newline(&json, 2);
    yk_json_write_end_object(&json);
    yk_json_write_newline(&json, 0);
    yk_json_write_end_object(&json);
    check(&text,
          "{\n  \"a\": 1,\n  \"b\": {\"c\": 2, \"d\": 3},\n  \"e\": {\n    \"f\": 4\n  }\n}");
}

static void strings_and_keys_are_escaped(void **state)
{
    (void)state;
    struct yk_text text = {0};
    struct yk_json_writer json = {.text = &text};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_string(&json, "a \"quoted\" key", "back\\slash\n");
    yk_json_write_end_object(&json);
    check(&text, "{\"a \\\"quoted\\\" key\":\"back\\\\slash\\n\"}");
}

static void what_has_no_value_is_null(void **state)
{
    (void)state;
    struct yk_text text = {0};
    struct yk_json_writer json = {.text = &text};
    yk_json_write_begin_array(&json, NULL);
    yk_json_write_number(&json, NULL, NAN);
    yk_json_write_number(&json, NULL, INFINITY);
    yk_json_write_number(&json, NULL, 0.25);
    yk_json_write_string(&json, NULL, NULL);
    yk_json_write_end_array(&json);
    check(&text, "[null,null,0.25,null]");
}

static void a_value_may_be_added_by_the_caller(void **state)
{
    (void)state;
    struct yk_text text = {0};
    struct yk_json_writer json = {.text = &text};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_raw(&json, "raw", "[1]");
    yk_json_write_key(&json, "rounded");
    yk_text_addf(json.text, "%.2f", 0.5);
    yk_json_write_integer(&json, "last", 3);
    yk_json_write_end_object(&json);
    check(&text, "{\"raw\":[1],\"rounded\":0.50,\"last\":3}");
}

static void a_writer_continues_an_object_that_was_begun(void **state)
{
    (void)state;
    struct yk_text text = {0};
    yk_text_add(&text, "{\"a\":1");
    struct yk_json_writer json = {.text = &text, .needs_comma = true};
    yk_json_write_integer(&json, "b", 2);
    yk_json_write_end_object(&json);
    check(&text, "{\"a\":1,\"b\":2}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_stand_between_members_and_between_elements),
        cmocka_unit_test(spaced_form_has_a_space_after_colons_and_commas),
        cmocka_unit_test(a_line_breaks_before_a_member_an_element_or_a_bracket),
        cmocka_unit_test(every_row_of_an_array_begins_on_a_new_line),
        cmocka_unit_test(with_lines_every_member_has_its_own),
        cmocka_unit_test(strings_and_keys_are_escaped),
        cmocka_unit_test(what_has_no_value_is_null),
        cmocka_unit_test(a_value_may_be_added_by_the_caller),
        cmocka_unit_test(a_writer_continues_an_object_that_was_begun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
