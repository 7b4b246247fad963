/*
 * Train measurements: collects the measurements of all ranks on rank 0. The op times are written to
 * op-times.json in the run folder, which `yoke calibrate` reads.
 */
#ifndef YK_JOB_TRAINING_MEASUREMENTS_H
#define YK_JOB_TRAINING_MEASUREMENTS_H

#include "job/outputs.h"
#include "job/training/training.h"

/* Called by all ranks after the last step. On rank 0, the trace of the run then contains all ranks,
 * and training->ranks (ranks) holds the compute time, waiting time and peak memory of each rank. */
yk_status yk_train_measurements_collect(struct yk_training *training) YK_MUST_USE;

/* Called by all ranks after the last step. Sets training->op_times on rank 0, unless the run had too
 * few steps. */
yk_status yk_train_measurements_collect_op_times(struct yk_training *training) YK_MUST_USE;

/* Adds op-times.json to `outputs` if training->op_times is set. */
yk_status yk_train_measurements_write_op_times(const struct yk_training *training,
                                               struct yk_outputs *outputs) YK_MUST_USE;

#endif
