/*
 * Train summary: the result of a training, filled in from what was planned and measured, and the
 * files that the run's folder ends with. By rank 0.
 */
#ifndef YK_JOB_TRAINING_SUMMARY_H
#define YK_JOB_TRAINING_SUMMARY_H

#include "job/training/result.h"
#include "job/training/training.h"

/* The seconds that the steps to come are predicted to take. */
double yk_train_summary_left_s(const struct yk_training *training);

/* Fills in what is predicted. The result points into the training's arena, and does not own it
 * yet. */
yk_status yk_train_summary_predict(const struct yk_training *training,
                                   struct yk_train_result *out) YK_MUST_USE;

/* The same and what was measured; `checkpoint` is the newest. */
yk_status yk_train_summary_measure(const struct yk_training *training, const char *checkpoint,
                                   struct yk_train_result *out) YK_MUST_USE;

/* Writes the last step as it was and as it was predicted, the summary, and the page of what is then
 * in the folder. */
yk_status yk_train_summary_write(const struct yk_training *training,
                                 const struct yk_train_result *result) YK_MUST_USE;

#endif
