#include "cli/interrupt.h"

#include <signal.h>
#include <stdbool.h>

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

const atomic_bool *yk_terminal_job_stop_flag(void)
{
    return &interrupted;
}

const atomic_bool *yk_terminal_job_watch_interrupt(void)
{
    watch(SIGINT);
    return &interrupted;
}

const atomic_bool *yk_terminal_job_watch_termination(void)
{
    watch(SIGTERM);
    watch(SIGUSR1);
    return yk_terminal_job_watch_interrupt();
}
