/*
 * Run report: the HTML page of a training run. The page is made from these files of the run folder:
 *
 *   metrics.jsonl         steps, evaluations and rebalancings  (report/run/metrics.h)
 *   run.json              an object whose members are the options of the run
 *   plan.json             the plan, for the predicted step and memory; read with config.json
 *   trace.json            the measured step                    (trace/trace.h)
 *   trace-predicted.json  the predicted step; if this file is missing, the plan is simulated
 *   summary.json          the ranks and the peak memory        (report/run/summary.h)
 *   counters.json         hardware counters of the devices     (trace/counters_file.h)
 *   sample.txt            text that the model has generated
 *   checkpoints/          folder of checkpoints; the page names the newest one
 *
 * The folder must contain metrics.jsonl or run.json. If another file is missing, its figure is
 * missing on the page. A file that exists but cannot be read is an error. The plan is an
 * exception: if it cannot be read, a warning is logged, because the files that the plan names may
 * have been deleted.
 */
#ifndef YK_JOB_REPORTING_RUN_REPORT_H
#define YK_JOB_REPORTING_RUN_REPORT_H

#include "base/arena.h"
#include "base/status.h"
#include "job/job.h"
#include "job/planning/planning_inputs.h"
#include "planner/planner.h"
#include "report/run/report.h"
#include "report/run/summary.h"

struct yk_run_report_paths {
    const char *run_folder;
    const char *page; /* path of the page to write; NULL means: none */
    bool nofollow;    /* do not write the page through a symbolic link */
    /* Existing folder for the SVG figures, such as loss.svg; NULL means: none. */
    const char *svg_folder;
};

yk_status yk_run_report_write(const struct yk_run_report_paths *paths) YK_MUST_USE;

/* Reads the options of a run from run.json. Each member is an option, except "yoke", "kind" and
 * members that are null. `text` is the text of run.json, and `source` is its path for messages. The
 * options are allocated in the arena. */
yk_status yk_run_options_parse_json(const char *text, size_t length, const char *source,
                                    struct yk_arena *arena, const struct yk_run_report_option **out,
                                    int32_t *out_count) YK_MUST_USE;

/* ---- the plan of a run: shares, predictions and memory limits of its ranks ---- */

/* Copies what the plan says about rank `number` to `out`: device, share, memory limit, predicted
 * times and predicted memory. Changes only members that are not known yet, which are NULL or NAN.
 * The device name points into the plan's cluster. */
void yk_run_plan_fill_unknown_rank_members(const struct yk_planner_outcome *planned, int32_t number,
                                           struct yk_run_rank_summary *out);

/*
 * Copies the plan into the arena and replaces the ranks' shares of the batch. `shares` has `count`
 * elements, which --rebalance has chosen. `*out` becomes the copy, or `plan` itself if the shares
 * are unchanged or not valid for this plan.
 */
yk_status yk_run_plan_copy_with_shares(const struct yk_plan *plan,
                                       const struct yk_model_config *config, const double *shares,
                                       int32_t count, struct yk_arena *arena,
                                       const struct yk_plan **out) YK_MUST_USE;

/* ---- report: writes an HTML page, SVG figures or a trace about a plan or a training run ---- */

/* A string that is not given is NULL. At least one of output, svg and trace is required. */
struct yk_report_request {
    const struct yk_job_callbacks *job;
    const char *plan; /* path of a plan file or of a run folder */
    /* Inputs that replace the inputs that the plan file names. */
    struct yk_planning_inputs_request planning;
    double budget_s;    /* time limit for the other plans and the curves on the page */
    const char *output; /* path of the HTML page to write */
    const char *svg;    /* path of the folder for the SVG figures */
    const char *trace;  /* path of the trace to write */
};

yk_status yk_report_run(const struct yk_report_request *request) YK_MUST_USE;

#endif
