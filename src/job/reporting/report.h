/* Report: writes an HTML page, SVG figures or a trace about a plan or a training run. */
#ifndef YK_JOB_REPORTING_REPORT_H
#define YK_JOB_REPORTING_REPORT_H

#include "job/job.h"
#include "job/planning/planning_inputs.h"

/* Strings that are not given are NULL. At least one of output, svg and trace is required. */
struct yk_report_request {
    const struct yk_job_callbacks *job;
    const char *plan;                           /* plan file or run folder */
    struct yk_planning_inputs_request planning; /* inputs that replace those of the plan file */
    double budget_s;                            /* time limit for baselines and the trade-off */
    const char *output;                         /* output file of the page */
    const char *svg;                            /* output folder of the figures */
    const char *trace;                          /* output file of the trace */
};

yk_status yk_report_run(const struct yk_report_request *request) YK_MUST_USE;

#endif
