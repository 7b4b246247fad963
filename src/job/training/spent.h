/* Train spent: what ops took in the steps of a training, brought together on rank 0 and written to
 * op-times.json in its folder, which `yoke calibrate` reads. */
#ifndef YK_JOB_TRAINING_SPENT_H
#define YK_JOB_TRAINING_SPENT_H

#include "job/outputs.h"
#include "job/training/training.h"

/* All ranks call it, after the last step. On rank 0 training->spent is set, unless too few steps
 * were run. */
yk_status yk_train_measurements_collect_op_times(struct yk_training *training) YK_MUST_USE;

/* Adds the file; none where there is nothing to write. */
yk_status yk_train_measurements_write_op_times(const struct yk_training *training,
                                               struct yk_outputs *outputs) YK_MUST_USE;

#endif
