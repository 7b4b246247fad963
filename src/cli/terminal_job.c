#include "cli/terminal_job.h"

#include "cli/terminal.h"

#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

static atomic_bool interrupted;
static atomic_bool by_mpirun;
static enum yk_terminal_job_signals caught_at_begin;

/* The second signal has its usual meaning: it waits until this handler is left. But mpirun, which
 * passes USR1 on, ends the other ranks by TERM as soon as one has left, and by KILL a second later:
 * that second is theirs. */
static void on_signal(int number)
{
    const bool again = atomic_exchange(&interrupted, true);
    if (!again && number == SIGUSR1) {
        atomic_store(&by_mpirun, true);
    } else if (again && !(number == SIGTERM && atomic_load(&by_mpirun))) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
}

static void catch_signal(int number)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

/* TERM is how batch systems ask a program to end; mpirun hands USR1 to its ranks. */
void yk_terminal_job_catch_signals(enum yk_terminal_job_signals signals)
{
    if (signals == YK_TERMINAL_JOB_TERMINATION) {
        catch_signal(SIGTERM);
        catch_signal(SIGUSR1);
    }
    if (signals != YK_TERMINAL_JOB_NO_SIGNALS) {
        catch_signal(SIGINT);
    }
}

static void begin(void *user)
{
    (void)user;
    yk_terminal_job_catch_signals(caught_at_begin);
    yk_terminal_progress_begin();
}

static void end(void *user)
{
    (void)user;
    yk_terminal_progress_end();
}

static void print_line(void *user, const char *text, bool keep)
{
    (void)user;
    yk_terminal_print_status_line(text, keep);
}

static void report_failure(void *user, const char *sentence)
{
    (void)user;
    yk_terminal_progress_end();
    yk_terminal_print_error(sentence);
}

static void report_lost_rank(void *user, const char *sentence)
{
    (void)user;
    yk_terminal_print_error_lock_free(sentence);
}

/* Runs nothing that could wait for a lock of the thread that hangs. */
static void exit_process(void *user, yk_status status)
{
    (void)user;
    _exit((int)status);
}

static const struct yk_job_callbacks terminal = {
    .begin = begin,
    .progress = yk_terminal_progress_update,
    .end = end,
    .status_line = print_line,
    .failed = report_failure,
    .lost = report_lost_rank,
    .exit_process = exit_process,
    .stop = &interrupted,
};

const struct yk_job_callbacks *yk_terminal_job_get_callbacks(enum yk_terminal_job_signals at_begin)
{
    caught_at_begin = at_begin;
    return &terminal;
}
