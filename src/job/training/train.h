/*
 * Train: trains a model according to a plan. Writes checkpoints, metrics and a trace to the run
 * folder. With several ranks, each process runs this job with the same request and gets the same
 * status (cluster/launcher.h). A process runs one training at a time.
 */
#ifndef YK_JOB_TRAINING_TRAIN_H
#define YK_JOB_TRAINING_TRAIN_H

#include "job/training/request.h"
#include "job/training/result.h"

/* Fails if the request has options that exclude each other. */
yk_status yk_train_check_request(const struct yk_train_request *request) YK_MUST_USE;

/*
 * Trains until the last step. When asked to stop, saves a checkpoint and returns YK_ERROR_STOPPED.
 * A dry run only plans. `out` starts as {0}; free it whatever the status is. It has a result also
 * with YK_ERROR_STOPPED, with YK_ERROR_NO_FIT of a dry run, and if a file of the run could not be
 * written.
 *
 * This does not start ranks. Call yk_rank_needs_launch() of job/rank.h first, and
 * yk_rank_launch_run() of job/rank_launch.h if it says so.
 */
yk_status yk_train_run(const struct yk_train_request *request,
                       struct yk_train_result *out) YK_MUST_USE;

#endif
