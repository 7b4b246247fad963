/*
 * Train weights: initializes the weights of a training run from its own checkpoint, from --weights
 * and --adapter, or from random numbers. Every rank calls these functions in the order given here.
 */
#ifndef YK_JOB_TRAINING_WEIGHTS_H
#define YK_JOB_TRAINING_WEIGHTS_H

#include "base/status.h"
#include "job/training/training.h"

/* Resolves request.weights to a path. A run folder becomes its newest checkpoint. */
yk_status yk_train_weights_resolve(struct yk_training *training) YK_MUST_USE;

/* Sets rank and alpha of LoRA adapters in the request. An existing adapter determines its own. */
yk_status yk_train_weights_read_adapter(struct yk_training *training) YK_MUST_USE;

/* Writes the initial weights into the store. */
yk_status yk_train_weights_fill(struct yk_training *training) YK_MUST_USE;

/* Path of the frozen base weights, which is saved with the adapters; NULL: no adapters. It does not
 * change when a run is resumed. */
yk_status yk_train_weights_base(struct yk_training *training, const char **out) YK_MUST_USE;

#endif
