/* Shard write: a rank's file of a checkpoint of several ranks. */
#ifndef YK_TRAIN_CHECKPOINT_SHARD_WRITE_H
#define YK_TRAIN_CHECKPOINT_SHARD_WRITE_H

#include "base/status.h"
#include "nn/store/store.h"
#include "tensors/safetensors_writer.h"

#include <stdbool.h>

/*
 * Writes what `saves` (L) says of every layer, which the store must keep: weights and the
 * optimizer's state of trained parameters, and frozen ones as they are stored, unless they can be
 * had elsewhere (`frozen` is false). The file is on the disk afterwards.
 */
yk_status yk_shard_write(const struct yk_store *store, const struct yk_partition *saves,
                         bool frozen, const char *path,
                         struct yk_safetensors_written *out) YK_MUST_USE;

#endif
