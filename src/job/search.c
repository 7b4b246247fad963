#include "job/search.h"

#include "base/log.h"

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
