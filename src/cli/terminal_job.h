/*
 * Terminal job: job callbacks for the command line. Progress and status lines are printed to
 * standard error, caught signals set the stop flag, and a failed rank ends the process. The first
 * signal that is caught sets the stop flag; the second one ends the process, except a SIGTERM that
 * mpirun sends after SIGUSR1. A signal that is not caught ends the process. Only the main thread
 * may call these functions.
 */
#ifndef YK_CLI_TERMINAL_JOB_H
#define YK_CLI_TERMINAL_JOB_H

#include "job/job.h"

enum yk_terminal_job_signals {
    YK_TERMINAL_JOB_NO_SIGNALS,
    YK_TERMINAL_JOB_INTERRUPT,   /* SIGINT (Ctrl-C) */
    YK_TERMINAL_JOB_TERMINATION, /* SIGINT, SIGTERM and SIGUSR1; for jobs that save their state */
};

/* Catches these signals from now on. */
void yk_terminal_job_catch_signals(enum yk_terminal_job_signals signals);

/* Returns the callbacks of a job, which catch these signals as soon as the job calls `begin`.
 * Before that, while the job reads its inputs or ranks connect, a signal ends the process. */
const struct yk_job_callbacks *yk_terminal_job_get_callbacks(enum yk_terminal_job_signals at_begin);

#endif
