/*
 * Run agreement: what the ranks of a run come to together; where there is only one, what that
 * one comes to.
 *
 * All ranks make the same calls, each on the thread that trains.
 */
#ifndef YK_TRAIN_RUN_AGREE_H
#define YK_TRAIN_RUN_AGREE_H

#include "base/status.h"
#include "train/run.h"

#include <stdint.h>

int32_t yk_run_own_rank(const struct yk_run *run);

/* What all ranks come to. */
yk_status yk_run_steps_agree(struct yk_run *run, yk_status mine) YK_MUST_USE;

/* A failure that ranks have come to together, unless it is that they cannot hear each other. */
void yk_run_steps_note_agreed(struct yk_run *run, yk_status status);

#endif
