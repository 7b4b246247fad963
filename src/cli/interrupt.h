/* Interrupt: Ctrl-C asks a search or a training to end with what it has; a second one ends the
 * program. */
#ifndef YK_CLI_INTERRUPT_H
#define YK_CLI_INTERRUPT_H

#include <stdatomic.h>

/* The flag, whether it is watched or not. */
const atomic_bool *yk_terminal_job_stop_flag(void);

/* From now on the first interrupt sets the flag that is returned. Call from the main thread. */
const atomic_bool *yk_terminal_job_watch_interrupt(void);

/* The same for the signal TERM as well, by which batch systems ask a program to end, and USR1,
 * which mpirun hands to its ranks. */
const atomic_bool *yk_terminal_job_watch_termination(void);

#endif
