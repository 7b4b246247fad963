/*
 * Small checkpoint: checkpoints of small stores, told apart by their step, for tests of how they
 * are kept.
 */
#ifndef YK_TESTS_SMALL_CHECKPOINT_H
#define YK_TESTS_SMALL_CHECKPOINT_H

#include "support/training/small_store.h"
#include "train/checkpoint/checkpoint.h"

/* Saves a checkpoint whose weights and state follow from `step`; `small` is filled with them. */
yk_status small_checkpoint_save(const char *folder, const struct small_store *small, int64_t step,
                                int32_t keep);

/* Opens `path` and loads it; returns its step after making sure that all of it is of that step. */
int64_t small_checkpoint_step(const char *path, const struct small_store_request *request);

#endif
