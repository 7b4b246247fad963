#include "milp/subprocess.h"

#include "base/clock.h"
#include "support/support.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What both processes see. */
struct shared {
    atomic_bool stop_requested;
    int value;
};

static struct shared *share(void)
{
    struct shared *shared = yk_subprocess_allocate_shared(sizeof *shared);
    assert_non_null(shared);
    return shared;
}

static bool run(void (*function)(void *data), struct shared *shared, double budget_s,
                const atomic_bool *stop)
{
    const struct yk_subprocess_limits limits = {.end_s = yk_clock_now_s() + budget_s,
                                                .grace_s = 0,
                                                .stop = stop,
                                                .stop_requested = &shared->stop_requested};
    bool returned = false;
    assert_ok(yk_subprocess_run_function(function, shared, &limits, &returned));
    return returned;
}

static void answer(void *data)
{
    struct shared *shared = data;
    shared->value = 42;
}

static void give_up(void *data)
{
    struct shared *shared = data;
    shared->value = 42;
    abort();
}

static void wait_for_stop_request(void *data)
{
    struct shared *shared = data;
    while (!atomic_load(&shared->stop_requested)) {
        (void)usleep(1000);
    }
    shared->value = 42;
    for (;;) {
        (void)pause();
    }
}

static int host_file; /* a descriptor that the host has open */

static void look_for_host_file(void *data)
{
    struct shared *shared = data;
    shared->value = fcntl(host_file, F_GETFD) < 0 ? 42 : 1;
}

static void the_hosts_files_are_closed_in_the_copy(void **state)
{
    struct shared *shared = share();
    (void)state;
    host_file = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
    assert_true(host_file >= 100);
    assert_true(run(look_for_host_file, shared, 60, NULL));
    assert_int_equal(shared->value, 42);
    assert_true(fcntl(host_file, F_GETFD) >= 0);
    (void)close(host_file);
    yk_subprocess_free_shared(shared, sizeof *shared);
}

static struct shared *heard_by_handler;

static void hear(int number)
{
    (void)number;
    heard_by_handler->value = 7;
}

static void abort_after_interrupt(void *data)
{
    (void)data;
    (void)raise(SIGTERM);
    abort();
}

static void the_hosts_handlers_are_not_called_in_the_copy(void **state)
{
    struct shared *shared = share();
    const struct sigaction handler = {.sa_handler = hear};
    struct sigaction before[2];
    (void)state;
    heard_by_handler = shared;
    assert_int_equal(sigaction(SIGTERM, &handler, &before[0]), 0);
    assert_int_equal(sigaction(SIGABRT, &handler, &before[1]), 0);
    assert_false(run(abort_after_interrupt, shared, 60, NULL));
    assert_int_equal(shared->value, 0);
    assert_int_equal(raise(SIGTERM), 0); /* here it is */
    assert_int_equal(shared->value, 7);
    assert_int_equal(sigaction(SIGTERM, &before[0], NULL), 0);
    assert_int_equal(sigaction(SIGABRT, &before[1], NULL), 0);
    yk_subprocess_free_shared(shared, sizeof *shared);
}

static atomic_bool over;

/* A thread of the host that takes the C library's locks all the time. */
static void *keep_busy(void *data)
{
    FILE *stream = data;
    while (!atomic_load(&over)) {
        char *memory = malloc(100000);
        (void)fprintf(stream, "%p\n", (void *)memory);
        free(memory);
    }
    return NULL;
}

static void use_memory_and_streams(void *data)
{
    struct shared *shared = data;
    char *memory = malloc(100000);
    FILE *stream = fopen("/dev/null", "w");
    shared->value = memory && stream && fprintf(stream, "%p\n", (void *)memory) > 0 ? 42 : 1;
    free(memory);
}

static void a_host_with_busy_threads_gets_its_answers(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* the sanitizers' own allocators keep their locks in a copy, glibc's does not */
#endif
    struct shared *shared = share();
    FILE *stream = fopen("/dev/null", "w");
    pthread_t threads[2];
    (void)state;
    assert_non_null(stream);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, keep_busy, stream), 0);
    }
    for (int i = 0; i < 30; i++) {
        shared->value = 0;
        assert_true(run(use_memory_and_streams, shared, 60, NULL));
        assert_int_equal(shared->value, 42);
    }
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    (void)fclose(stream);
    yk_subprocess_free_shared(shared, sizeof *shared);
}

static void an_answer_comes_through_shared_memory(void **state)
{
    struct shared *shared = share();
    (void)state;
    assert_true(run(answer, shared, 60, NULL));
    assert_int_equal(shared->value, 42);
    yk_subprocess_free_shared(shared, sizeof *shared);
}

static void a_function_that_aborts_does_not_return(void **state)
{
    struct shared *shared = share();
    (void)state;
    assert_false(run(give_up, shared, 60, NULL));
    assert_int_equal(shared->value, 42);
    yk_subprocess_free_shared(shared, sizeof *shared);
}

static void a_function_that_does_not_end_is_ended(void **state)
{
    const atomic_bool stop = true;
    struct shared *shared = share();
    (void)state;
    assert_false(run(wait_for_stop_request, shared, 0, NULL));
    assert_true(atomic_load(&shared->stop_requested));
    atomic_store(&shared->stop_requested, false);
    assert_false(run(wait_for_stop_request, shared, 60, &stop));
    assert_true(atomic_load(&shared->stop_requested));
    yk_subprocess_free_shared(shared, sizeof *shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_comes_through_shared_memory),
        cmocka_unit_test(the_hosts_files_are_closed_in_the_copy),
        cmocka_unit_test(the_hosts_handlers_are_not_called_in_the_copy),
        cmocka_unit_test(a_host_with_busy_threads_gets_its_answers),
        cmocka_unit_test(a_function_that_aborts_does_not_return),
        cmocka_unit_test(a_function_that_does_not_end_is_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
