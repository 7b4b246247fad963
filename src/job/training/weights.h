/*
 * Train weights: what a training's weights start from: a checkpoint of the run itself, weights or
 * an adapter that were named, or random numbers. Each rank finds them by itself, in the order given
 * here.
 */
#ifndef YK_JOB_TRAINING_WEIGHTS_H
#define YK_JOB_TRAINING_WEIGHTS_H

#include "base/status.h"
#include "job/training/training.h"

/* Which weights are meant, in request.weights. They may be those of a run: its newest checkpoint.
 */
yk_status yk_train_weights_resolve(struct yk_training *training) YK_MUST_USE;

/* Rank and scale of adapters, in the request. An adapter says its own. */
yk_status yk_train_weights_read_adapter(struct yk_training *training) YK_MUST_USE;

/* Fills the store. */
yk_status yk_train_weights_fill(struct yk_training *training) YK_MUST_USE;

/* The path of the frozen weights that adapters belong to, to be saved with the adapters; or NULL.
 * It stays the same when a run with adapters is resumed. */
yk_status yk_train_weights_base(struct yk_training *training, const char **out) YK_MUST_USE;

#endif
