/*
 * Metrics file: a file with one JSON object per line, for every step, every evaluation and every
 * change of the ranks' shares in a run. After the file is opened, lines are only appended. Only one
 * thread at a time may use a struct yk_metrics_file.
 *
 *   {"step": 3, "loss": 4.21, "norm": 1.8, "lr": 0.0003, "seconds": 0.021, "tokens_per_s": 73142}
 *   {"step": 100, "evaluation_loss": 2.61, "tokens": 111540}
 *   {"step": 120, "rebalanced": true, "shares": [5, 3]}
 *
 * A run on images counts images where others count tokens:
 *
 *   {"step": 3, "loss": 2.21, "norm": 1.8, "lr": 0.0003, "seconds": 0.5, "images_per_s": 256}
 *   {"step": 100, "evaluation_loss": 0.31, "images": 360, "accuracy": 0.94, "top5_accuracy": 0.99}
 */
#ifndef YK_TRAIN_METRICS_FILE_H
#define YK_TRAIN_METRICS_FILE_H

#include "base/status.h"
#include "base/throughput_unit.h"
#include "plan/plan.h"
#include "train/training_run.h"

struct yk_metrics_file;

/* Opens `path` for a run that continues after `step`. Removes the lines of later steps, which are
 * from an earlier run that was stopped, and incomplete lines. `unit` is what the run counts. */
yk_status yk_metrics_file_open(const char *path, int64_t step,
                               const struct yk_throughput_unit *unit,
                               struct yk_metrics_file **out) YK_MUST_USE;
void yk_metrics_file_close(struct yk_metrics_file *metrics);

yk_status yk_metrics_file_add_step(struct yk_metrics_file *metrics,
                                   const struct yk_step_metrics *step) YK_MUST_USE;
yk_status yk_metrics_file_add_evaluation(struct yk_metrics_file *metrics, int64_t step,
                                         const struct yk_evaluation_result *result) YK_MUST_USE;

/* Writes the number of samples that each rank processes in the steps after `step`. The plan must
 * have only one group. */
yk_status yk_metrics_file_add_rank_shares(struct yk_metrics_file *metrics, int64_t step,
                                          const struct yk_plan *plan) YK_MUST_USE;

#endif
