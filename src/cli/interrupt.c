#include "cli/interrupt.h"

#include <signal.h>
#include <stdbool.h>

static atomic_bool interrupted;

/* The second signal has its usual meaning: it waits until this handler is left. */
static void note(int number)
{
    if (atomic_exchange(&interrupted, true)) {
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

const atomic_bool *yk_interrupt_watch(void)
{
    watch(SIGINT);
    return &interrupted;
}

const atomic_bool *yk_interrupt_watch_termination(void)
{
    watch(SIGTERM);
    watch(SIGUSR1);
    return yk_interrupt_watch();
}
