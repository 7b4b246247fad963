/*
 * Train: trains a model by a plan, and keeps checkpoints, metrics and a trace in the run's folder.
 * A run of several ranks is one such job in each of their processes (cluster/launcher.h): all get
 * the same request, and return alike. One training at a time, on one thread.
 */
#ifndef YK_JOB_TRAINING_TRAIN_H
#define YK_JOB_TRAINING_TRAIN_H

#include "job/training/request.h"
#include "job/training/result.h"

/* Refuses what cannot be asked for together. */
yk_status yk_train_check(const struct yk_train_request *request) YK_MUST_USE;

/*
 * Trains until the last step, or until asked to stop: YK_ERROR_STOPPED, with a checkpoint to resume
 * from. `out` starts as {0}; it is to be freed whatever the status, and may be filled in though a
 * file of the run could not be written. A dry run plans alone; YK_ERROR_NO_FIT then has a result,
 * too.
 *
 * Ranks that are asked for and have not been started are refused: yk_rank_decide_launch() of
 * job/rank.h tells, and yk_launch_ranks() of job/launch.h starts them.
 */
yk_status yk_train_run(const struct yk_train_request *request,
                       struct yk_train_result *out) YK_MUST_USE;

#endif
