#include "support/support.h"

#include "cli/terminal.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *say_last_words(void *unused)
{
    (void)unused;
    yk_terminal_print_error_lock_free("rank 1 has ended");
    return NULL;
}

/* As one does that is stopped in the middle of writing to a terminal. */
static void last_words_wait_for_nobody_who_holds_the_stream(void **state)
{
    (void)state;
    static const char expected[] = "yoke: rank 1 has ended\n";
    char said[sizeof expected] = "";
    int ends[2];
    pthread_t thread;
    const int before = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    flockfile(stderr);
    assert_int_equal(pthread_create(&thread, NULL, say_last_words, NULL), 0);
    assert_int_equal(read(ends[0], said, sizeof said), (ssize_t)sizeof expected - 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    funlockfile(stderr);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    assert_string_equal(said, expected);
    (void)close(before);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_words_wait_for_nobody_who_holds_the_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
