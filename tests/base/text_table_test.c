#include "support/support.h"

#include "base/text_table.h"

static const struct yk_text_table_column columns[] = {
    {"scheduler", YK_TEXT_TABLE_LEFT},
    {"length", YK_TEXT_TABLE_RIGHT},
    {"note", YK_TEXT_TABLE_LEFT},
};

static struct yk_text_table *make_table(void)
{
    struct yk_text_table *table = NULL;
    assert_ok(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    return table;
}

static void assert_written(const struct yk_text_table *table, const char *expected)
{
    struct yk_text text = {0};
    assert_ok(yk_text_table_write(table, &text));
    assert_string_equal(yk_text_chars(&text), expected);
    yk_text_free(&text);
}

static void columns_line_up_and_lines_have_no_trailing_spaces(void **state)
{
    (void)state;
    struct yk_text_table *table = make_table();
    yk_text_table_add_cell(table, "heft");
    yk_text_table_add_cell(table, "%d", 80);
    yk_text_table_add_cell(table, "first");
    yk_text_table_add_cell(table, "exact");
    yk_text_table_add_cell(table, "%.1f", 73.5);
    yk_text_table_add_cell(table, "b");
    assert_written(table, "  scheduler  length  note\n"
                          "  ---------  ------  -----\n"
                          "  heft           80  first\n"
                          "  exact        73.5  b\n");
    yk_text_table_destroy(table);
}

static void a_rule_ends_with_the_last_column_that_says_anything(void **state)
{
    static const struct yk_text_table_column remarked[] = {{"layer", YK_TEXT_TABLE_LEFT},
                                                           {"", YK_TEXT_TABLE_LEFT}};
    (void)state;
    struct yk_text_table *table = NULL;
    assert_ok(yk_text_table_create(remarked, 2, &table));
    yk_text_table_add_cell(table, "embed");
    yk_text_table_add_cell(table, "%s", "");
    assert_written(table, "  layer\n"
                          "  -----\n"
                          "  embed\n");
    yk_text_table_destroy(table);
}

static void wide_characters_count_as_two_columns(void **state)
{
    (void)state;
    struct yk_text_table *table = make_table();
    yk_text_table_add_cell(table, "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad");
    yk_text_table_add_cell(table, "1");
    yk_text_table_add_cell(table, "x");
    assert_written(table,
                   "  scheduler   length  note\n"
                   "  ----------  ------  ----\n"
                   "  \xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad       1  x\n");
    yk_text_table_destroy(table);
}

static void a_row_that_is_not_complete_is_not_written(void **state)
{
    (void)state;
    struct yk_text_table *table = make_table();
    yk_text_table_add_cell(table, "heft");
    assert_written(table, "  scheduler  length  note\n"
                          "  ---------  ------  ----\n");
    yk_text_table_destroy(table);
}

static void a_cell_may_be_longer_than_any_screen(void **state)
{
    (void)state;
    struct yk_text_table *table = make_table();
    for (int i = 0; i < 3; i++) {
        yk_text_table_add_cell(table, "%0600d", 7);
    }
    struct yk_text text = {0};
    assert_ok(yk_text_table_write(table, &text));
    yk_text_free(&text);
    yk_text_table_destroy(table);
    yk_text_table_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_line_up_and_lines_have_no_trailing_spaces),
        cmocka_unit_test(a_rule_ends_with_the_last_column_that_says_anything),
        cmocka_unit_test(wide_characters_count_as_two_columns),
        cmocka_unit_test(a_row_that_is_not_complete_is_not_written),
        cmocka_unit_test(a_cell_may_be_longer_than_any_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
