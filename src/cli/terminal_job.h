/*
 * Terminal job: job callbacks for the command line. They print progress and status lines to
 * standard error, and end the process if another rank has failed. The first signal that is caught
 * sets the stop flag of the job. The second one ends the process, with one exception: a SIGTERM
 * after SIGUSR1 does nothing, because mpirun sends it to ranks that are still saving. Only the main
 * thread may call these functions.
 */
#ifndef YK_CLI_TERMINAL_JOB_H
#define YK_CLI_TERMINAL_JOB_H

#include "job/job.h"

enum yk_terminal_job_signals {
    YK_TERMINAL_JOB_NO_SIGNALS,
    YK_TERMINAL_JOB_INTERRUPT,   /* SIGINT (Ctrl-C) */
    YK_TERMINAL_JOB_TERMINATION, /* SIGINT, SIGTERM and SIGUSR1; for jobs that save their state */
};

/* Catches the signals `signals` from now on. */
void yk_terminal_job_catch_signals(enum yk_terminal_job_signals signals);

/* Returns callbacks for a job. When the job calls `begin`, the signals `at_begin` are caught from
 * then on. Before that, while the job reads its inputs or ranks connect, a signal ends the process.
 */
const struct yk_job_callbacks *yk_terminal_job_get_callbacks(enum yk_terminal_job_signals at_begin);

#endif
