#include "cli/interrupt.h"

#include <signal.h>
#include <stdbool.h>

static atomic_bool interrupted;

static void note(int number)
{
    (void)number;
    atomic_store(&interrupted, true);
}

const atomic_bool *yk_interrupt_watch(void)
{
    /* SA_RESETHAND gives the second interrupt its usual meaning back. */
    struct sigaction action = {.sa_handler = note, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    return &interrupted;
}
