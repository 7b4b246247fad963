#include "support/files/scratch.h"
#include "support/support.h"

#include "data/lines.h"

#include <string.h>

static struct yk_lines *lines_of(const char *text)
{
    struct yk_lines *lines = NULL;
    assert_ok(yk_lines_split(text, strlen(text), "test", &lines));
    for (int64_t i = 0; i < lines->count; i++) {
        assert_int_equal(lines->lengths[i], strlen(lines->items[i]));
    }
    return lines;
}

static void lines_end_with_either_end_or_none(void **state)
{
    (void)state;
    struct yk_lines *lines = lines_of("one\r\n\n\r\ntwo \r three\nlast");
    assert_int_equal(lines->count, 5);
    assert_string_equal(lines->items[0], "one");
    assert_string_equal(lines->items[1], "");
    assert_string_equal(lines->items[2], "");
    assert_string_equal(lines->items[3], "two \r three");
    assert_string_equal(lines->items[4], "last");
    yk_lines_destroy(lines);
}

static void an_end_at_the_end_begins_no_line(void **state)
{
    (void)state;
    struct yk_lines *lines = lines_of("a\nb\n");
    assert_int_equal(lines->count, 2);
    yk_lines_destroy(lines);
    lines = lines_of("a\r\n");
    assert_int_equal(lines->count, 1);
    assert_string_equal(lines->items[0], "a");
    yk_lines_destroy(lines);
    lines = lines_of("\n");
    assert_int_equal(lines->count, 1);
    assert_int_equal(lines->lengths[0], 0);
    yk_lines_destroy(lines);
    lines = lines_of("");
    assert_int_equal(lines->count, 0);
    yk_lines_destroy(lines);
}

static void what_is_no_text_is_refused_by_its_line(void **state)
{
    (void)state;
    struct yk_lines *lines = NULL;
    assert_fails(yk_lines_split("ok\n\xc3\xa9\xff\n", 6, "a.txt", &lines), YK_ERROR_INPUT,
                 "a.txt:2:2: byte 0xff is not UTF-8; convert the text first");
    assert_fails(yk_lines_split("ok\n\nab\0c", 8, "a.txt", &lines), YK_ERROR_INPUT,
                 "a.txt:3:3: a zero byte: this is no text");
    assert_null(lines);
}

static void files_are_read_and_missing_ones_named(void **state)
{
    (void)state;
    struct yk_lines *lines = NULL;
    assert_ok(yk_lines_read_file(support_scratch_write_text("x.de", "eins\nzwei\n"), &lines));
    assert_int_equal(lines->count, 2);
    assert_string_equal(lines->items[1], "zwei");
    yk_lines_destroy(lines);
    lines = NULL;
    assert_int_equal(yk_lines_read_file(support_scratch_path("gone"), &lines), YK_ERROR_INPUT);
    assert_null(lines);
    yk_lines_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_with_either_end_or_none),
        cmocka_unit_test(an_end_at_the_end_begins_no_line),
        cmocka_unit_test(what_is_no_text_is_refused_by_its_line),
        cmocka_unit_test_setup_teardown(files_are_read_and_missing_ones_named, support_scratch_make,
                                        support_scratch_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
