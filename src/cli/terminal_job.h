/*
 * Terminal job: job callbacks for the command line. Progress and status lines go to standard error,
 * signals set the stop flag, and a failed rank ends the process. The functions return the same
 * struct; they differ in the signals that they handle, and when. A signal that is not handled, and
 * the second one that is, ends the process. For the main thread.
 */
#ifndef YK_CLI_TERMINAL_JOB_H
#define YK_CLI_TERMINAL_JOB_H

#include "job/job.h"

/* Handles SIGINT (Ctrl-C) from now on. */
const struct yk_job_callbacks *yk_terminal_job_handle_interrupt(void);

/* Handles SIGINT as soon as the job calls `begin`. Before that, while the job reads its inputs,
 * Ctrl-C ends the process. For searches. */
const struct yk_job_callbacks *yk_terminal_job_handle_interrupt_after_begin(void);

/* Handles SIGINT, SIGTERM and SIGUSR1 from now on. For jobs that save their state. */
const struct yk_job_callbacks *yk_terminal_job_handle_termination(void);

/* Handles these three signals as soon as the job calls `begin`. Before that, while ranks connect or
 * a model is loaded, a signal ends the process. */
const struct yk_job_callbacks *yk_terminal_job_handle_termination_after_begin(void);

/* Handles no signals until another function here is called. For jobs that have nothing to save
 * yet. */
const struct yk_job_callbacks *yk_terminal_job_default_signals(void);

#endif
