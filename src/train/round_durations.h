/*
 * Round spent: what the ops of a program took, out of the rounds that all its ranks kept.
 *
 * A message takes from when the last of its ranks came to it until it is over on all of them: what
 * a rank waits for another is no time of the link.
 */
#ifndef YK_TRAIN_ROUND_DURATIONS_H
#define YK_TRAIN_ROUND_DURATIONS_H

#include "base/arena.h"
#include "base/status.h"
#include "program/program.h"
#include "trace/op_times.h"
#include "train/round_log.h"

/* `rank_rounds` (ranks of the program), by one clock. Rounds that all ranks kept count; without
 * any, `steps` is 0. Versions are left to the caller. In the arena. */
yk_status yk_round_durations(const struct yk_program *program,
                             const struct yk_rank_rounds *rank_rounds, struct yk_arena *arena,
                             struct yk_op_times *out) YK_MUST_USE;

#endif
