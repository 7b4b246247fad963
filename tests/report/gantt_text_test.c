#include "report/schedule/gantt.h"
#include "support/reports/example_schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct yk_text draw(struct fixture_schedule *fixture, int width, bool colour)
{
    struct yk_text text = {0};
    assert_int_equal(yk_gantt_text_write(fixture->schedule, width, colour, &text), YK_OK);
    return text;
}

/* Takes the terminal escapes out of `line`, in place. */
static void strip(char *line)
{
    char *to = line;
    for (const char *from = line; *from; from++) {
        if (*from == '\x1b') {
            from = strchr(from, 'm');
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

/* Returns the widest line's columns. */
static size_t widest_line(const struct yk_text *text)
{
    size_t widest = 0;
    char *copy = strdup(yk_text_chars(text));
    char *rest = NULL;
    for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        strip(line);
        const size_t columns = yk_text_display_width(line);
        widest = columns > widest ? columns : widest;
    }
    free(copy);
    return widest;
}

/* Over all widths, with and without colour: as wide as asked for, never wider. */
static void expect_exact_width(struct fixture_schedule *fixture)
{
    for (int width = 20; width <= 200; width++) {
        for (int colour = 0; colour < 2; colour++) {
            struct yk_text text = draw(fixture, width, colour);
            assert_int_equal(widest_line(&text), width);
            yk_text_free(&text);
        }
    }
}

static void expect_line(const struct yk_text *text, const char *line)
{
    const char *found = strstr(yk_text_chars(text), line);
    assert_non_null(found);
    assert_true(found == text->bytes || found[-1] == '\n');
    assert_true(found[strlen(line)] == '\n');
}

static void every_width_is_filled_and_kept(void **state)
{
    (void)state;
    struct fixture_schedule fixture = fixture_heft_paper();
    expect_exact_width(&fixture);
    fixture_free(&fixture);
}

/* Eighty columns for eighty units of time: every task of the paper is where the paper has it. */
static void tasks_stand_at_their_times(void **state)
{
    (void)state;
    struct fixture_schedule fixture = fixture_heft_paper();
    struct yk_text text = draw(&fixture, 83, false);
    expect_line(&text, "P1                            [2==========]                 [8==]");
    expect_line(&text, "P2                   [4=====][6=============]              [9========="
                       "]     [10===]");
    expect_line(&text, "P3 [1======][3================][5=======][7========]");
    expect_line(&text, "   0         10        20        30        40        50        60        70"
                       "      80");
    yk_text_free(&text);
    fixture_free(&fixture);
}

static void wide_names_keep_the_columns(void **state)
{
    (void)state;
    const double lengths[] = {3, 5, 4};
    const char *const names[] = {"\xed\x95\x9c\xea\xb5\xad\xec\x96\xb4", /* three wide letters */
                                 "\xed\x95\x99\xec\x8a\xb5", "b"};
    struct fixture_schedule fixture =
        fixture_row(lengths, 3, names, "\xea\xb0\x80\xeb\x82\x98\xeb\x8b\xa4\xeb\x9d\xbc 1");
    expect_exact_width(&fixture);
    fixture_free(&fixture);
}

static void a_very_long_device_name_is_cut(void **state)
{
    (void)state;
    const double lengths[] = {1};
    struct fixture_schedule fixture =
        fixture_row(lengths, 1, NULL, "a device with a name longer than any terminal is wide");
    expect_exact_width(&fixture);
    struct yk_text text = draw(&fixture, 40, false);
    assert_non_null(strstr(yk_text_chars(&text), "a device \xe2\x80\xa6 [0"));
    yk_text_free(&text);
    fixture_free(&fixture);
}

static void neighbours_are_distinguished(void **state)
{
    (void)state;
    const double lengths[] = {2, 2, 2};
    struct fixture_schedule fixture = fixture_row(lengths, 3, NULL, "P");
    struct yk_text text = draw(&fixture, 24, false);
    expect_line(&text, "P     [0===][1===][2===]");
    yk_text_free(&text);
    text = draw(&fixture, 24, true);
    const char *first = strstr(yk_text_chars(&text), "48;5;");
    const char *second = strstr(first + 1, "48;5;");
    assert_true(strtol(first + 5, NULL, 10) != strtol(second + 5, NULL, 10));
    yk_text_free(&text);
    fixture_free(&fixture);
}

static void tasks_of_no_length_are_marked(void **state)
{
    (void)state;
    const double lengths[] = {0, 10, 0, 10, 0};
    struct fixture_schedule fixture = fixture_row(lengths, 5, NULL, "P");
    expect_exact_width(&fixture);
    struct yk_text text = draw(&fixture, 46, false);
    int marks = 0;
    for (const char *c = yk_text_chars(&text); *c != '\n'; c++) {
        marks += *c == '|';
    }
    assert_int_equal(marks, 3);
    yk_text_free(&text);
    fixture_free(&fixture);
}

static void a_schedule_of_no_length_is_drawn(void **state)
{
    (void)state;
    const double lengths[] = {0, 0};
    struct fixture_schedule fixture = fixture_row(lengths, 2, NULL, "P");
    expect_exact_width(&fixture);
    struct yk_text text = draw(&fixture, 30, false);
    assert_non_null(strstr(yk_text_chars(&text), "||"));
    yk_text_free(&text);
    fixture_free(&fixture);
}

enum {
    MANY = 1000
};

static void a_crowded_row_shows_how_busy_it_is(void **state)
{
    (void)state;
    double lengths[MANY];
    for (int i = 0; i < MANY; i++) {
        lengths[i] = 1;
    }
    struct fixture_schedule fixture = fixture_row(lengths, MANY, NULL, "P");
    expect_exact_width(&fixture);
    struct yk_text text = draw(&fixture, 106, false);
    char full[101];
    memset(full, '#', 100);
    full[100] = '\0';
    assert_non_null(strstr(yk_text_chars(&text), full));
    assert_non_null(strstr(yk_text_chars(&text), "how busy the device is"));
    yk_text_free(&text);

    /* The last half of the first cell of a hundred is all that runs. */
    for (int i = 0; i < MANY; i++) {
        fixture.schedule->starts[i] = fixture.schedule->makespan / 200;
        fixture.schedule->finishes[i] = fixture.schedule->makespan / 200;
    }
    fixture.schedule->finishes[0] = fixture.schedule->makespan / 100;
    text = draw(&fixture, 106, false);
    expect_line(&text, "P     :");
    yk_text_free(&text);
    fixture_free(&fixture);
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
    (void)state;
    const double lengths[] = {1};
    const char *const names[] = {"a\x1b[2Jb\nc"};
    struct fixture_schedule fixture = fixture_row(lengths, 1, names, "P\x07");
    struct yk_text text = draw(&fixture, 60, false);
    assert_null(strchr(yk_text_chars(&text), '\x1b'));
    assert_non_null(strstr(yk_text_chars(&text), "P?"));
    assert_non_null(strstr(yk_text_chars(&text), "[a?[2Jb?c="));
    yk_text_free(&text);
    fixture_free(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_is_filled_and_kept),
        cmocka_unit_test(tasks_stand_at_their_times),
        cmocka_unit_test(wide_names_keep_the_columns),
        cmocka_unit_test(a_very_long_device_name_is_cut),
        cmocka_unit_test(neighbours_are_distinguished),
        cmocka_unit_test(tasks_of_no_length_are_marked),
        cmocka_unit_test(a_schedule_of_no_length_is_drawn),
        cmocka_unit_test(a_crowded_row_shows_how_busy_it_is),
        cmocka_unit_test(control_characters_do_not_reach_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
