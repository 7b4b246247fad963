/*
 * Checkpoint tensors: what a training needs besides the weights of the model: the optimizer's state
 * as fp32 (optimizer.safetensors), and frozen weights in NF4 byte for byte (frozen.safetensors),
 * which cannot be had again from the numbers that they stand for.
 */
#ifndef YK_TRAIN_CHECKPOINT_TENSORS_H
#define YK_TRAIN_CHECKPOINT_TENSORS_H

#include "base/status.h"
#include "nn/store/store.h"

yk_status yk_checkpoint_save_optimizer_tensors(const struct yk_store *store,
                                               const char *path) YK_MUST_USE;
/* Master copies also go to weights that are rounded from them. */
yk_status yk_checkpoint_load_optimizer_tensors(struct yk_store *store,
                                               const char *path) YK_MUST_USE;

yk_status yk_checkpoint_save_frozen_tensors(const struct yk_store *store,
                                            const char *path) YK_MUST_USE;
yk_status yk_checkpoint_load_frozen_tensors(struct yk_store *store, const char *path) YK_MUST_USE;

#endif
