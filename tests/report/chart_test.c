#include "report/chart.h"

#include "support/reports/markup.h"
#include "support/reports/page.h"
#include "support/support.h"

#include <string.h>

static bool is_large(const void *subject)
{
    return *(const int *)subject > 10;
}

static yk_status draw(const void *subject, struct yk_figure frame)
{
    (void)subject;
    frame.height = 10;
    yk_figure_begin(&frame, "one");
    yk_figure_end(&frame);
    return YK_OK;
}

static yk_status add(const void *subject, struct yk_text *out)
{
    yk_text_addf(out, "<p>%d</p>\n", *(const int *)subject);
    return YK_OK;
}

static yk_status write_csv(const void *subject, struct yk_text *out)
{
    yk_text_addf(out, "number\n%d\n", *(const int *)subject);
    return YK_OK;
}

static const char *heading(const void *subject)
{
    return is_large(subject) ? "Large" : "Small";
}

static const struct yk_chart picture = {.name = "one",
                                        .title = "One",
                                        .row_class = "pair",
                                        .draw = draw,
                                        .width = 500,
                                        .file_width = 700,
                                        .csv_name = "ones",
                                        .write_csv = write_csv};
static const struct yk_chart table = {
    .heading = heading, .row_class = "pair", .add_html = add, .note = "Noted."};
static const struct yk_chart large = {
    .name = "large", .title = "Large alone", .applies = is_large, .draw = draw, .file_width = 300};
static const struct yk_chart *const charts[] = {&picture, &table, &large, NULL};

static void neighbours_of_one_row_share_a_box(void **state)
{
    (void)state;
    const int subject = 7;
    struct yk_text text = {0};
    size_t count = 0;
    assert_ok(yk_chart_add_sections(charts, &subject, &text));
    assert_true(markup_is_balanced(text.bytes, "section", &count));
    assert_int_equal(count, 2);
    assert_int_equal(markup_occurrences(text.bytes, "<div class=\"pair\">"), 1);
    page_expect(&text, "<div class=\"at-wide\">\n<svg");
    page_expect(&text, "width=\"500\"");
    page_expect(&text, "<div class=\"at-narrow\">\n<svg");
    page_expect(&text, "<pre id=\"csv-ones\"");
    page_expect(&text, "<h2>Small</h2>\n<p>7</p>\n<p class=\"note\">Noted.</p>\n");
    yk_text_free(&text);
}

static void a_chart_that_does_not_apply_is_left_out(void **state)
{
    (void)state;
    const int small = 7;
    const int big = 11;
    struct yk_text text = {0};
    assert_ok(yk_chart_add_sections(charts, &small, &text));
    assert_null(strstr(text.bytes, "Large alone"));
    yk_text_free(&text);
    text = (struct yk_text){0};
    assert_ok(yk_chart_add_sections(charts, &big, &text));
    page_expect(&text, "</div>\n<section>\n<h2>Large alone</h2>");
    yk_text_free(&text);
}

struct files {
    char names[64];
    struct yk_text text;
};

static yk_status open_file(void *argument, const char *name, struct yk_text **out)
{
    struct files *files = argument;
    strncat(files->names, name, sizeof files->names - strlen(files->names) - 1);
    *out = &files->text;
    return YK_OK;
}

static void every_picture_that_applies_becomes_a_file(void **state)
{
    (void)state;
    const int small = 7;
    const int big = 11;
    struct files files = {0};
    assert_ok(yk_chart_write_pictures(charts, NULL, &small, open_file, &files));
    assert_string_equal(files.names, "one.svg");
    assert_ok(yk_chart_write_pictures(charts, NULL, &big, open_file, &files));
    assert_string_equal(files.names, "one.svgone.svglarge.svg");
    yk_text_free(&files.text);
    files.text = (struct yk_text){0};
    assert_ok(yk_chart_write_pictures(charts, "one", &big, yk_chart_use_argument_as_picture_text,
                                      &files.text));
    page_expect(&files.text, "width=\"700\"");
    page_expect(&files.text, "prefers-color-scheme:dark");
    yk_text_free(&files.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_of_one_row_share_a_box),
        cmocka_unit_test(a_chart_that_does_not_apply_is_left_out),
        cmocka_unit_test(every_picture_that_applies_becomes_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
