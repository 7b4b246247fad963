/*
 * Run report: the page of a training, out of what is in its folder:
 *
 *   metrics.jsonl         steps, evaluations, rebalancings (report/run/metrics.h)
 *   run.json              options: an object, each member of which becomes a row
 *   plan.json             with config.json, if that is there: predicted step and memory
 *   trace.json            the measured step                (trace/chrome.h)
 *   trace-predicted.json  the predicted one; without it, the plan is simulated
 *   summary.json          the ranks, and "peak_bytes": the most memory that the process took
 *                                                          (report/run/summary.h)
 *   counters.json         what the counters of the devices showed (trace/counters_file.h)
 *   sample.txt            words the model wrote
 *   checkpoints/          the newest is named
 *
 * All but metrics.jsonl or run.json may be missing, and leave their figure out. What is there but
 * cannot be read is an error, but for the plan, which may be for files that are gone: a warning.
 */
#ifndef YK_JOB_REPORTING_RUN_REPORT_H
#define YK_JOB_REPORTING_RUN_REPORT_H

#include "base/status.h"

/* Writes the page of the run to the file `output` in its folder. */
yk_status yk_run_report_write(const char *run_folder, const char *output) YK_MUST_USE;

/* The same, and its pictures, loss.svg, ranks.svg, lanes.svg, counters.svg and memory.svg, into a
 * folder that is there; either may be NULL. Nothing is written unless all can be made. */
yk_status yk_run_report_draw(const char *run_folder, const char *output,
                             const char *svg_folder) YK_MUST_USE;

#endif
