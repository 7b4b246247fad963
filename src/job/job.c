#include "job/job.h"

void yk_job_begin(const struct yk_job *job)
{
    if (job && job->begin) {
        job->begin(job->user);
    }
}

void yk_job_progress(const struct yk_job *job, const char *what, double done)
{
    if (job && job->progress) {
        job->progress(job->user, what, done);
    }
}

void yk_job_end(const struct yk_job *job)
{
    if (job && job->end) {
        job->end(job->user);
    }
}

void yk_job_line(const struct yk_job *job, const char *line, bool keep)
{
    if (job && job->line) {
        job->line(job->user, line, keep);
    }
}

void yk_job_failed(const struct yk_job *job, const char *sentence)
{
    if (job && job->failed) {
        job->failed(job->user, sentence);
    }
}

const atomic_bool *yk_job_stop(const struct yk_job *job)
{
    static const atomic_bool never;
    return job && job->stop ? job->stop : &never;
}

bool yk_job_is_stopped(const struct yk_job *job)
{
    return atomic_load(yk_job_stop(job));
}
