/*
 * Terminal job: job callbacks for the command line. Progress and status lines are printed to
 * standard error, signals set the stop flag, and a failed rank ends the process. All functions
 * return the same struct. They differ in which signals are handled and from when on. The first
 * signal that is handled sets the stop flag; the second one ends the process, except a SIGTERM that
 * mpirun sends after SIGUSR1. A signal that is not handled ends the process. Only the main thread
 * may call these functions.
 */
#ifndef YK_CLI_TERMINAL_JOB_H
#define YK_CLI_TERMINAL_JOB_H

#include "job/job.h"

/* SIGINT (Ctrl-C) is handled from now on. */
const struct yk_job_callbacks *yk_terminal_job_handle_interrupt(void);

/* SIGINT is handled as soon as the job calls `begin`. Before that, while the job reads its inputs,
 * Ctrl-C ends the process. Used by searches. */
const struct yk_job_callbacks *yk_terminal_job_handle_interrupt_after_begin(void);

/* SIGINT, SIGTERM and SIGUSR1 are handled from now on. Used by jobs that save their state. */
const struct yk_job_callbacks *yk_terminal_job_handle_termination(void);

/* SIGINT, SIGTERM and SIGUSR1 are handled as soon as the job calls `begin`. Before that, while
 * ranks connect or a model is loaded, a signal ends the process. */
const struct yk_job_callbacks *yk_terminal_job_handle_termination_after_begin(void);

/* Changes nothing: no signal is handled until another function of this header is called. Used by
 * jobs that have nothing to save yet. */
const struct yk_job_callbacks *yk_terminal_job_default_signals(void);

#endif
