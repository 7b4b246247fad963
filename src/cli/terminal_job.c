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

static void handle_signal(int number)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

/* TERM is how batch systems ask a program to end; mpirun hands USR1 to its ranks. */
static void handle_termination(void)
{
    handle_signal(SIGTERM);
    handle_signal(SIGUSR1);
    handle_signal(SIGINT);
}

static void begin(void *user)
{
    (void)user;
    yk_terminal_progress_begin();
}

static void begin_interruptible(void *user)
{
    handle_signal(SIGINT);
    begin(user);
}

static void begin_terminable(void *user)
{
    handle_termination();
    begin(user);
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
    yk_terminal_print_fatal_error(sentence);
}

/* Runs nothing that could wait for a lock of the thread that hangs. */
static void exit_process(void *user, yk_status status)
{
    (void)user;
    _exit((int)status);
}

static struct yk_job_callbacks terminal = {
    .begin = begin,
    .progress = yk_terminal_show_progress,
    .end = end,
    .status_line = print_line,
    .failed = report_failure,
    .lost = report_lost_rank,
    .exit_process = exit_process,
    .stop = &interrupted,
};

const struct yk_job_callbacks *yk_terminal_job_handle_interrupt(void)
{
    handle_signal(SIGINT);
    return &terminal;
}

const struct yk_job_callbacks *yk_terminal_job_handle_termination(void)
{
    handle_termination();
    return &terminal;
}

const struct yk_job_callbacks *yk_terminal_job_handle_interrupt_after_begin(void)
{
    terminal.begin = begin_interruptible;
    return &terminal;
}

const struct yk_job_callbacks *yk_terminal_job_handle_termination_after_begin(void)
{
    terminal.begin = begin_terminable;
    return &terminal;
}

const struct yk_job_callbacks *yk_terminal_job_default_signals(void)
{
    return &terminal;
}
