/*
 * Run metrics: the steps and evaluations of a run out of its metrics, one JSON object a line:
 *
 *   {"step": 3, "loss": 4.21, "norm": 1.8, "lr": 0.0003, "seconds": 0.021, "tokens_per_s": 73142}
 *   {"step": 100, "evaluation_loss": 2.61, "tokens": 111540}
 *   {"step": 101, "loss": 2.4, "seconds": 0.021, "ranks_s": [0.019, 0.017]}
 *   {"step": 150, "rebalanced": true, "shares": [7, 5], "predicted_s": [0.018, 0.018]}
 *
 * "ranks_s" is what each rank computed in the step; a step from which on ranks have other shares
 * says so in a line of its own, where "rebalanced" may be the step's number instead.
 * Members that are missing or null are NAN; others than these are for others to read. A last line
 * without an end, which a run is still writing, is left out.
 */
#ifndef YK_REPORT_RUN_METRICS_H
#define YK_REPORT_RUN_METRICS_H

#include "base/arena.h"
#include "base/status.h"
#include "report/run/report.h"

#include <stddef.h>
#include <stdint.h>

struct yk_run_metrics {
    struct yk_run_report_step *steps;
    int32_t step_count;
    struct yk_run_report_evaluation *evaluations;
    int32_t evaluation_count;
    struct yk_run_report_rebalancing *rebalancings;
    int32_t rebalancing_count;
    double median_step_s; /* NAN without steps; so are the two that a tenth is below and above */
    double low_step_s;
    double high_step_s;
};

/* `source`, the name the user knows the file by, begins every message. In the arena. */
yk_status yk_run_metrics_read(const char *text, size_t length, const char *source,
                              struct yk_arena *arena, struct yk_run_metrics *out) YK_MUST_USE;

#endif
