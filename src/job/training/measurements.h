/*
 * Train measurements: what the ranks of a training have measured, collected on rank 0; what ops
 * took goes to op-times.json in the run's folder, which `yoke calibrate` reads.
 */
#ifndef YK_JOB_TRAINING_MEASUREMENTS_H
#define YK_JOB_TRAINING_MEASUREMENTS_H

#include "job/outputs.h"
#include "job/training/training.h"

/* All ranks call it, after the last step. On rank 0 the run's trace is then that of all ranks, and
 * training->ranks (ranks of the plan) says what each computed, waited and held at most. */
yk_status yk_train_measurements_collect(struct yk_training *training) YK_MUST_USE;

/* All ranks call it, after the last step. On rank 0 training->op_times is set, unless too few steps
 * were run. */
yk_status yk_train_measurements_collect_op_times(struct yk_training *training) YK_MUST_USE;

/* Adds the file; none where there is nothing to write. */
yk_status yk_train_measurements_write_op_times(const struct yk_training *training,
                                               struct yk_outputs *outputs) YK_MUST_USE;

#endif
