/*
 * Terminal job: the callbacks of a job that a person runs from a terminal: its progress and lines
 * go to standard error, Ctrl-C asks it to stop, and the loss of a rank ends the process.
 */
#ifndef YK_CLI_TERMINAL_JOB_H
#define YK_CLI_TERMINAL_JOB_H

#include "job/job.h"

/* Ctrl-C is watched from now on. Main thread. */
const struct yk_job *yk_terminal_job(void);

/* Ctrl-C is watched as soon as the job says that its work begins: while it reads its inputs, Ctrl-C
 * ends the process as usual. For searches. */
const struct yk_job *yk_terminal_job_search(void);

/* As yk_terminal_job(), for the signal TERM, too: for jobs that save what they have. */
const struct yk_job *yk_terminal_job_termination(void);

/* The same, watched as soon as the job says that its work begins: until its ranks have met, or its
 * model is loaded, a signal ends this process as usual. */
const struct yk_job *yk_terminal_job_ranks(void);

/* The same, but signals end the process as ever, until one of the two above is called: for jobs
 * that have nothing to save for a while. */
const struct yk_job *yk_terminal_job_unwatched(void);

#endif
