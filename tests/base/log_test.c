#include "support/support.h"

#include "base/log.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
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

static void nothing_happens_while_there_is_no_sink(void **state)
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

/* Two sinks, each with a user of its own. */
static char first_user;
static char second_user;
static atomic_int mismatches;
static atomic_int lines;
static atomic_bool over;

static void expect_first(void *user, enum yk_log_level level, const char *line)
{
    (void)level;
    (void)line;
    atomic_fetch_add(&lines, 1);
    atomic_fetch_add(&mismatches, user != &first_user);
}

static void expect_second(void *user, enum yk_log_level level, const char *line)
{
    (void)level;
    (void)line;
    atomic_fetch_add(&lines, 1);
    atomic_fetch_add(&mismatches, user != &second_user);
}

static void *log_until_over(void *unused)
{
    (void)unused;
    while (!atomic_load(&over)) {
        yk_log(YK_LOG_DETAIL, "busy");
    }
    return NULL;
}

static void a_sink_gets_its_own_user_while_another_thread_changes_both(void **state)
{
    (void)state;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, log_until_over, NULL), 0);
    }
    while (atomic_load(&lines) < 20000) {
        yk_log_set_sink(expect_first, &first_user);
        yk_log_set_sink(expect_second, &second_user);
    }
    yk_log_set_sink(NULL, NULL);
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&mismatches), 0);
}

static atomic_bool is_inside;
static atomic_bool is_setting;
static atomic_bool has_set;

/* Stays long enough for who sets another sink to have done so, were it not made to wait. */
static void stay(void *user, enum yk_log_level level, const char *line)
{
    (void)level;
    (void)line;
    atomic_store(&is_inside, true);
    for (int i = 0; i < 2000 || !atomic_load(&is_setting); i++) {
        (void)sched_yield();
    }
    *(bool *)user = atomic_load(&has_set);
}

static void *log_one_line(void *unused)
{
    (void)unused;
    yk_log(YK_LOG_NOTE, "a line");
    return NULL;
}

static void *set_none(void *unused)
{
    (void)unused;
    while (!atomic_load(&is_inside)) {
        (void)sched_yield();
    }
    atomic_store(&is_setting, true);
    yk_log_set_sink(NULL, NULL);
    atomic_store(&has_set, true);
    return NULL;
}

static void a_sink_is_not_replaced_while_it_is_called(void **state)
{
    (void)state;
    pthread_t logs;
    pthread_t sets;
    bool was_replaced = false;
    yk_log_set_sink(stay, &was_replaced);
    assert_int_equal(pthread_create(&logs, NULL, log_one_line, NULL), 0);
    assert_int_equal(pthread_create(&sets, NULL, set_none, NULL), 0);
    assert_int_equal(pthread_join(logs, NULL), 0);
    assert_int_equal(pthread_join(sets, NULL), 0);
    assert_false(was_replaced);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_reaches_the_sink),
        cmocka_unit_test(nothing_happens_while_there_is_no_sink),
        cmocka_unit_test(a_long_line_is_cut_off),
        cmocka_unit_test(a_sink_is_not_replaced_while_it_is_called),
        cmocka_unit_test(a_sink_gets_its_own_user_while_another_thread_changes_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
