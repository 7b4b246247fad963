/*
 * Train: trains a model according to a plan. Writes checkpoints, metrics and a trace to the run
 * folder. With several ranks, each rank is a process that runs this job with the same request and
 * gets the same status (cluster/launcher.h). A process may run only one training run at a time.
 */
#ifndef YK_JOB_TRAINING_TRAIN_H
#define YK_JOB_TRAINING_TRAIN_H

#include "job/training/request.h"
#include "job/training/result.h"

/* Fails if options of the request contradict each other. */
yk_status yk_train_check_request(const struct yk_train_request *request) YK_MUST_USE;

/*
 * Trains until the last step. If the job is asked to stop, saves a checkpoint and fails with
 * YK_ERROR_STOPPED. A dry run only makes the plan. `out` must be {0} before the call, and the
 * caller must free it even if the function fails. `out` also contains a result if the function
 * fails with YK_ERROR_STOPPED, if a dry run fails with YK_ERROR_NO_FIT, or if a file of the run
 * could not be written.
 *
 * This function does not start ranks. The caller first asks yk_rank_needs_launch() (job/rank.h)
 * whether the ranks must be started, and if so, calls yk_rank_launch_run() (job/rank_launch.h)
 * instead.
 */
yk_status yk_train_run(const struct yk_train_request *request,
                       struct yk_train_result *out) YK_MUST_USE;

#endif
