/*
 * Checkpoint state: state.json, where a training stood and what it was.
 *
 * The seed is a string, since JSON's numbers do not hold 64 bits; options are kept word for word.
 */
#ifndef YK_TRAIN_CHECKPOINT_STATE_H
#define YK_TRAIN_CHECKPOINT_STATE_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "train/checkpoint/checkpoint.h"

#include <stddef.h>

/* Adds the file to `out`. Options that are no object are refused. */
yk_status yk_checkpoint_state_write(const struct yk_checkpoint_content *content,
                                    struct yk_text *out) YK_MUST_USE;

/* Fills state, workload, alpha, base model and options of `out`, and what the model was called.
 * Strings live in the arena. */
yk_status yk_checkpoint_state_read(const char *bytes, size_t length, struct yk_arena *arena,
                                   struct yk_checkpoint *out, const char **model) YK_MUST_USE;

#endif
