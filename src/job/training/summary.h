/*
 * Train summary: fills the result of a training run and writes the last files of the run folder.
 * Called by rank 0 only.
 */
#ifndef YK_JOB_TRAINING_SUMMARY_H
#define YK_JOB_TRAINING_SUMMARY_H

#include "job/training/result.h"
#include "job/training/training.h"

/* Predicted time of the remaining steps, in seconds. */
double yk_train_summary_left_s(const struct yk_training *training);

/* Sets the predictions. The result points into the training's arena but does not own it yet. */
yk_status yk_train_summary_predict(const struct yk_training *training,
                                   struct yk_train_result *out) YK_MUST_USE;

/* Sets predictions and measurements. `checkpoint` is the path of the newest checkpoint. */
yk_status yk_train_summary_measure(const struct yk_training *training, const char *checkpoint,
                                   struct yk_train_result *out) YK_MUST_USE;

/* Writes summary.json, op-times.json, counters.json, the measured and the predicted trace of a step,
 * and the HTML page. */
yk_status yk_train_summary_write(const struct yk_training *training,
                                 const struct yk_train_result *result) YK_MUST_USE;

#endif
