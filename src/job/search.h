/* Search: how long a job may search, and what it reports meanwhile. */
#ifndef YK_JOB_SEARCH_H
#define YK_JOB_SEARCH_H

#include "job/job.h"
#include "sched/scheduler.h"

#include <stdint.h>

struct yk_job_search {
    double budget_s;
    int64_t moves; /* positive: this many moves instead, whatever the time */
    int64_t seed;
};

/* What is asked of a search, with the progress and the stop of the job. */
struct yk_scheduler_options yk_job_search_options(const struct yk_job_search *request,
                                                  const struct yk_job *job);

/* Notes that the search was interrupted, if it was. */
void yk_job_note_interruption(const struct yk_job *job);

#endif
