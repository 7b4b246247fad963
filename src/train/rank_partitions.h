/*
 * Rank partitions: which part of every layer a rank stores and saves, according to the plan. The
 * parts of a group's members follow each other in the order of the members, so that exactly one
 * member stores each element of a sharded layer. Pure functions of a program; any thread.
 */
#ifndef YK_TRAIN_RANK_PARTITIONS_H
#define YK_TRAIN_RANK_PARTITIONS_H

#include "base/arena.h"
#include "base/status.h"
#include "nn/store/partition.h"
#include "program/program.h"

#include <stdint.h>

/* (L) the part of each layer that the rank stores, in the arena. */
yk_status yk_rank_partitions_stored(const struct yk_program *program, int32_t rank,
                                    struct yk_arena *arena, struct yk_partition **out) YK_MUST_USE;

/* The fraction of a block, from 0 to 1, at which a member's part begins. `member` may be the number
 * of members: the result is then 1. */
double yk_rank_partitions_member_begin(const struct yk_plan_group *group, int32_t member);

/* (L) the part of each layer that the rank writes to a checkpoint, in the arena. All ranks together
 * save each element once: a replicated layer is divided evenly among its group. */
yk_status yk_rank_partitions_saved(const struct yk_program *program, int32_t rank,
                                   struct yk_arena *arena, struct yk_partition **out) YK_MUST_USE;

#endif
