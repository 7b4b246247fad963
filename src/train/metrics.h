/*
 * Metrics: one JSON object a line for every step and every evaluation of a run, in a file that only
 * grows. One thread at a time.
 *
 *   {"step": 3, "loss": 4.21, "norm": 1.8, "lr": 0.0003, "seconds": 0.021, "tokens_per_s": 73142}
 *   {"step": 100, "evaluation_loss": 2.61, "tokens": 111540}
 */
#ifndef YK_TRAIN_METRICS_H
#define YK_TRAIN_METRICS_H

#include "base/status.h"
#include "plan/plan.h"
#include "train/run.h"

struct yk_metrics;

/* Opens `path` to go on after `step`: lines of later steps, which a run that was killed had
 * written, are dropped. */
yk_status yk_metrics_open(const char *path, int64_t step, struct yk_metrics **out) YK_MUST_USE;
void yk_metrics_close(struct yk_metrics *metrics);

yk_status yk_metrics_write_step(struct yk_metrics *metrics,
                                const struct yk_run_step *step) YK_MUST_USE;
yk_status yk_metrics_write_evaluation(struct yk_metrics *metrics, int64_t step, double loss,
                                      int64_t tokens) YK_MUST_USE;

/* From the step after this one on, the ranks of a plan of one group take these shares. */
yk_status yk_metrics_write_shares(struct yk_metrics *metrics, int64_t step,
                                  const struct yk_plan *plan) YK_MUST_USE;

#endif
