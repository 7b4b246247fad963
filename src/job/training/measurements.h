/* Train results: what the ranks of a training have measured, brought together on rank 0. */
#ifndef YK_JOB_TRAINING_MEASUREMENTS_H
#define YK_JOB_TRAINING_MEASUREMENTS_H

#include "job/training/training.h"

/* All ranks call it, after the last step. On rank 0 the run's trace is then that of all ranks, and
 * training->ranks (ranks of the plan) says what each computed, waited and held at most. */
yk_status yk_train_measurements_collect(struct yk_training *training) YK_MUST_USE;

#endif
