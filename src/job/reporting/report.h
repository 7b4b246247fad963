/* Report: draws a plan, or the run of a training, into files. */
#ifndef YK_JOB_REPORTING_REPORT_H
#define YK_JOB_REPORTING_REPORT_H

#include "job/job.h"
#include "job/planning/planning.h"

/* Texts are NULL where they are not given; one of the last three is needed. */
struct yk_report_request {
    const struct yk_job *job;
    const char *plan;                    /* a plan's file, or the folder of a run */
    struct yk_planning_request planning; /* instead of what the plan names */
    double budget_s;                     /* for what the usual ways would take */
    const char *output;                  /* the page */
    const char *svg;                     /* a folder for its pictures */
    const char *trace;
};

/* All that it finds is in the files. */
yk_status yk_report_run(const struct yk_report_request *request) YK_MUST_USE;

#endif
