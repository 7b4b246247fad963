/*
 * Run metrics: reads the metrics file of a run, which has one JSON object per line:
 *
 *   {"step": 3, "loss": 4.21, "norm": 1.8, "lr": 0.0003, "seconds": 0.021, "tokens_per_s": 73142}
 *   {"step": 100, "evaluation_loss": 2.61, "tokens": 111540}
 *   {"step": 101, "loss": 2.4, "seconds": 0.021, "ranks_s": [0.019, 0.017]}
 *   {"step": 102, "loss": 2.4, "seconds": 0.5, "images_per_s": 256}
 *   {"step": 102, "evaluation_loss": 0.31, "images": 360, "accuracy": 0.94}
 *   {"step": 150, "rebalanced": true, "shares": [7, 5], "predicted_s": [0.018, 0.018]}
 *
 * A run on images has "images_per_s" instead of "tokens_per_s". "ranks_s" is the computation time
 * of each rank in a recent step before this one. A line with "rebalanced" says that the ranks have
 * new shares (numbers of samples) after the step. The value of "rebalanced" may also be the number
 * of the step; then "step" is missing. A missing or null number is NAN. Unknown members are
 * ignored. If the last line does not end with a newline, it is ignored, because the run is still
 * writing it.
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
    const struct yk_throughput_unit *unit; /* what the speed of the steps counts */
    double median_step_s; /* median of the step times; all three times are NAN if no step time is
                             known */
    double low_step_s;    /* 10th percentile of the step times */
    double high_step_s;   /* 90th percentile of the step times */
};

/* Reads a metrics file. `source` is the name of the file, for error messages. The result lives in
 * the arena. */
yk_status yk_run_metrics_parse(const char *text, size_t length, const char *source,
                               struct yk_arena *arena, struct yk_run_metrics *out) YK_MUST_USE;

#endif
