#include "job/job.h"

#include "base/log.h"

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

struct yk_scheduler_options yk_job_search_options(const struct yk_job_search *request,
                                                  const struct yk_job *job)
{
    return (struct yk_scheduler_options){
        .budget_s = request->budget_s,
        .moves = request->moves,
        .seed = (uint64_t)request->seed,
        .progress = job ? job->progress : NULL,
        .progress_user = job ? job->user : NULL,
        .stop = yk_job_stop(job),
    };
}

void yk_job_note_interruption(const struct yk_job *job)
{
    if (yk_job_is_stopped(job)) {
        yk_log(YK_LOG_NOTE, "the search was interrupted; this is the best it had");
    }
}
