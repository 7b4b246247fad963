/* Report: writes an HTML page, SVG figures or a trace about a plan or a training run. */
#ifndef YK_JOB_REPORTING_REPORT_H
#define YK_JOB_REPORTING_REPORT_H

#include "job/job.h"
#include "job/planning/planning_inputs.h"

/* A string that is not given is NULL. At least one of output, svg and trace is required. */
struct yk_report_request {
    const struct yk_job_callbacks *job;
    const char *plan; /* path of a plan file or of a run folder */
    /* Inputs that are used instead of those of the plan file. */
    struct yk_planning_inputs_request planning;
    double budget_s;    /* time limit for the baselines and the trade-off */
    const char *output; /* path of the HTML page to write */
    const char *svg;    /* path of the folder for the SVG figures */
    const char *trace;  /* path of the trace to write */
};

yk_status yk_report_run(const struct yk_report_request *request) YK_MUST_USE;

#endif
