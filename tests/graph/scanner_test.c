#include "support/support.h"

#include "graph/scanner.h"

#include <string.h>

static struct yk_graph_scanner start(const char *text)
{
    return yk_graph_scanner_from_text(text, strlen(text));
}

static void numbers_are_read_across_lines_and_comments(void **state)
{
    (void)state;
    struct yk_graph_scanner scanner = start("# first\n\n 12\t-2.5#x\r\n\n  7");
    int64_t integer = 0;
    double number = 0;
    assert_true(yk_graph_scanner_skip_to_token(&scanner));
    assert_ok(yk_graph_scanner_read_integer(&scanner, "n", 0, 99, &integer));
    assert_int_equal(integer, 12);
    assert_ok(yk_graph_scanner_read_number(&scanner, "x", &number));
    assert_true(number == -2.5);
    assert_ok(yk_graph_scanner_expect_line_end(&scanner));
    assert_true(yk_graph_scanner_skip_to_token(&scanner));
    assert_ok(yk_graph_scanner_read_integer(&scanner, "n", 7, 7, &integer));
    assert_false(yk_graph_scanner_skip_to_token(&scanner));
    assert_fails(yk_graph_scanner_prefix_error_line(&scanner, yk_fail(YK_ERROR_INPUT, "x")),
                 YK_ERROR_INPUT, "line 5: x");
}

static void a_line_that_ends_too_early_is_reported_where_it_ends(void **state)
{
    (void)state;
    struct yk_graph_scanner scanner = start("1\n2 3");
    int64_t integer = 0;
    assert_ok(yk_graph_scanner_read_integer(&scanner, "n", 0, 9, &integer));
    assert_fails(yk_graph_scanner_read_integer(&scanner, "the cost", 0, 9, &integer),
                 YK_ERROR_INPUT, "line 1, column 2: the line ends where the cost should be");
}

static void a_wrong_word_is_reported_where_it_begins(void **state)
{
    (void)state;
    int64_t integer = 0;
    double number = 0;
    struct yk_graph_scanner scanner = start("  x1");
    assert_fails(yk_graph_scanner_read_number(&scanner, "the cost", &number), YK_ERROR_INPUT,
                 "line 1, column 3: the cost should be a number, not \"x1\"");
    scanner = start("10");
    assert_fails(yk_graph_scanner_read_integer(&scanner, "the task", 0, 9, &integer),
                 YK_ERROR_INPUT,
                 "line 1, column 1: the task should be a whole number from 0 to 9, not \"10\"");
    scanner = start("4");
    assert_fails(yk_graph_scanner_read_integer(&scanner, "the task", 3, 3, &integer),
                 YK_ERROR_INPUT, "line 1, column 1: the task should be 3, not \"4\"");
    scanner = start("abcdefghijklmnopqrstuvwxyz");
    assert_fails(yk_graph_scanner_expect_line_end(&scanner), YK_ERROR_INPUT,
                 "line 1, column 1: the line should end here, but goes on with "
                 "\"abcdefghijklmnopqrstuvwx...\"");
}

static void the_first_line_with_numbers_is_counted(void **state)
{
    (void)state;
    assert_int_equal(yk_graph_scanner_count_first_line_tokens("# x\n\n 5 6 7 # 8\n9", 16), 3);
    assert_int_equal(yk_graph_scanner_count_first_line_tokens("a 6 7", 5), 0);
    assert_int_equal(yk_graph_scanner_count_first_line_tokens("", 0), 0);
    assert_int_equal(yk_graph_scanner_count_first_line_tokens("# x", 3), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_across_lines_and_comments),
        cmocka_unit_test(a_line_that_ends_too_early_is_reported_where_it_ends),
        cmocka_unit_test(a_wrong_word_is_reported_where_it_begins),
        cmocka_unit_test(the_first_line_with_numbers_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
