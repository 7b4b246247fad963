/*
 * Train summary: collects the measurements of all ranks on rank 0, fills the result of a training
 * run, and writes the last files of the run folder. Only rank 0 calls these functions, unless a
 * comment says otherwise.
 */
#ifndef YK_JOB_TRAINING_SUMMARY_H
#define YK_JOB_TRAINING_SUMMARY_H

#include "job/output_files.h"
#include "job/training/result.h"
#include "job/training/training.h"

/* Called by all ranks after the last step. Afterwards, the trace of the run on rank 0 contains all
 * ranks, and training->ranks (ranks) on rank 0 has the compute time, the waiting time and the peak
 * memory of each rank. */
yk_status yk_train_measurements_collect(struct yk_training *training) YK_MUST_USE;

/* Called by all ranks after the last step. Sets training->op_times on rank 0, unless the run had
 * too few steps to measure op times. */
yk_status yk_train_measurements_collect_op_times(struct yk_training *training) YK_MUST_USE;

/* Adds op-times.json to `outputs` if training->op_times is set. */
yk_status yk_train_measurements_write_op_times(const struct yk_training *training,
                                               struct yk_output_files *outputs) YK_MUST_USE;

/* Sets the predictions of the result. The result then points into the arena of `training`, but does
 * not own this arena yet. */
yk_status yk_train_summary_fill_predictions(const struct yk_training *training,
                                            struct yk_train_result *out) YK_MUST_USE;

/* Sets the predictions and the measurements of the result. `checkpoint` is the path of the newest
 * checkpoint. */
yk_status yk_train_summary_fill_measurements(const struct yk_training *training,
                                             const char *checkpoint,
                                             struct yk_train_result *out) YK_MUST_USE;

/* Writes summary.json, op-times.json, counters.json, the measured and the predicted trace of a
 * step, and the HTML page. */
yk_status yk_train_summary_write_files(const struct yk_training *training,
                                       const struct yk_train_result *result) YK_MUST_USE;

#endif
