#include "cli/terminal_job.h"

#include "cli/terminal.h"

#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

static atomic_bool interrupted;
static atomic_bool by_mpirun;

/* The second signal has its usual meaning: it waits until this handler is left. But mpirun, which
 * passes USR1 on, ends the other ranks by TERM as soon as one has left, and by KILL a second later:
 * that second is theirs. */
static void note(int number)
{
    const bool again = atomic_exchange(&interrupted, true);
    if (!again && number == SIGUSR1) {
        atomic_store(&by_mpirun, true);
    } else if (again && !(number == SIGTERM && atomic_load(&by_mpirun))) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
}

static void watch(int number)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

/* TERM is how batch systems ask a program to end; mpirun hands USR1 to its ranks. */
static void watch_termination(void)
{
    watch(SIGTERM);
    watch(SIGUSR1);
    watch(SIGINT);
}

static void begin(void *user)
{
    (void)user;
    yk_terminal_progress_begin();
}

static void begin_search(void *user)
{
    watch(SIGINT);
    begin(user);
}

static void begin_watched(void *user)
{
    watch_termination();
    begin(user);
}

static void end(void *user)
{
    (void)user;
    yk_terminal_progress_end();
}

static void line(void *user, const char *text, bool keep)
{
    (void)user;
    yk_terminal_line(text, keep);
}

static void failed(void *user, const char *sentence)
{
    (void)user;
    yk_terminal_progress_end();
    yk_terminal_print_error(sentence);
}

static void lost(void *user, const char *sentence)
{
    (void)user;
    yk_terminal_print_fatal(sentence);
}

/* Runs nothing that could wait for a lock of the thread that hangs. */
static void leave(void *user, yk_status status)
{
    (void)user;
    _exit((int)status);
}

static struct yk_job terminal = {
    .begin = begin,
    .progress = yk_terminal_progress,
    .end = end,
    .line = line,
    .failed = failed,
    .lost = lost,
    .leave = leave,
    .stop = &interrupted,
};

const struct yk_job *yk_terminal_job(void)
{
    watch(SIGINT);
    return &terminal;
}

const struct yk_job *yk_terminal_job_termination(void)
{
    watch_termination();
    return &terminal;
}

const struct yk_job *yk_terminal_job_search(void)
{
    terminal.begin = begin_search;
    return &terminal;
}

const struct yk_job *yk_terminal_job_ranks(void)
{
    terminal.begin = begin_watched;
    return &terminal;
}

const struct yk_job *yk_terminal_job_unwatched(void)
{
    return &terminal;
}
