#include "support/support.h"

#include "base/log.h"

#include <stdio.h>
#include <string.h>

struct heard {
    int count;
    enum yk_log_level level;
    char line[2048];
};

static void listen(void *user, enum yk_log_level level, const char *line)
{
    struct heard *heard = user;
    heard->count++;
    heard->level = level;
    snprintf(heard->line, sizeof heard->line, "%s", line);
}

static void a_line_reaches_the_sink(void **state)
{
    (void)state;
    struct heard heard = {0};
    yk_log_set_sink(listen, &heard);
    yk_log(YK_LOG_NOTE, "%d devices", 3);
    yk_log_set_sink(NULL, NULL);
    assert_int_equal(heard.count, 1);
    assert_int_equal(heard.level, YK_LOG_NOTE);
    assert_string_equal(heard.line, "3 devices");
}

static void without_a_sink_nothing_happens(void **state)
{
    (void)state;
    struct heard heard = {0};
    yk_log_set_sink(listen, &heard);
    yk_log_set_sink(NULL, NULL);
    yk_log(YK_LOG_WARNING, "unheard");
    assert_int_equal(heard.count, 0);
}

static void a_long_line_is_cut_off(void **state)
{
    (void)state;
    struct heard heard = {0};
    yk_log_set_sink(listen, &heard);
    yk_log(YK_LOG_DETAIL, "%02000d", 1);
    yk_log_set_sink(NULL, NULL);
    assert_in_range(strlen(heard.line), 500, 1999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_reaches_the_sink),
        cmocka_unit_test(without_a_sink_nothing_happens),
        cmocka_unit_test(a_long_line_is_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
