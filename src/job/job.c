#include "job/job.h"

#include "base/log.h"

void yk_job_report_begin(const struct yk_job_callbacks *job)
{
    if (job && job->begin) {
        job->begin(job->user);
    }
}

void yk_job_report_progress(const struct yk_job_callbacks *job, const char *what, double done)
{
    if (job && job->progress) {
        job->progress(job->user, what, done);
    }
}

void yk_job_report_end(const struct yk_job_callbacks *job)
{
    if (job && job->end) {
        job->end(job->user);
    }
}

void yk_job_report_status_line(const struct yk_job_callbacks *job, const char *line, bool keep)
{
    if (job && job->status_line) {
        job->status_line(job->user, line, keep);
    }
}

void yk_job_report_failure(const struct yk_job_callbacks *job, const char *sentence)
{
    if (job && job->failed) {
        job->failed(job->user, sentence);
    }
}

const atomic_bool *yk_job_stop_flag(const struct yk_job_callbacks *job)
{
    static const atomic_bool never;
    return job && job->stop ? job->stop : &never;
}

bool yk_job_stop_requested(const struct yk_job_callbacks *job)
{
    return atomic_load(yk_job_stop_flag(job));
}

struct yk_scheduler_options
yk_job_make_scheduler_options(const struct yk_job_search_options *request,
                              const struct yk_job_callbacks *job)
{
    return (struct yk_scheduler_options){
        .budget_s = request->budget_s,
        .moves = request->moves,
        .seed = (uint64_t)request->seed,
        .progress = job ? job->progress : NULL,
        .progress_user = job ? job->user : NULL,
        .stop = yk_job_stop_flag(job),
    };
}

void yk_job_log_if_stopped(const struct yk_job_callbacks *job)
{
    if (yk_job_stop_requested(job)) {
        yk_log(YK_LOG_NOTE, "the search was interrupted; this is the best it had");
    }
}
