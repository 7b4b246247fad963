/*
 * Rank partitions: the part of every layer that a rank stores, and the part that it saves,
 * according to the plan. Of a replicated layer, every member of the group stores the whole layer.
 * Of a sharded layer, the parts follow each other in the order of the members: they do not overlap,
 * and together they are the whole layer. The functions are pure functions of a program. Any thread
 * may call them.
 */
#ifndef YK_TRAIN_RANK_PARTITIONS_H
#define YK_TRAIN_RANK_PARTITIONS_H

#include "base/arena.h"
#include "base/status.h"
#include "nn/store/layer_partition.h"
#include "program/program.h"

#include <stdint.h>

/* Computes the part of each layer that the rank stores. The result has one element for each layer
 * and is in the arena. */
yk_status yk_rank_partitions_compute_stored(const struct yk_program *program, int32_t rank,
                                            struct yk_arena *arena,
                                            struct yk_layer_partition **out) YK_MUST_USE;

/* Returns where in a block (nn/store/layer_partition.h) the part of a member begins, as a fraction
 * from 0 to 1. If `member` is the number of members, returns 1. */
double yk_rank_partitions_member_begin_fraction(const struct yk_plan_group *group, int32_t member);

/* Computes the part of each layer that the rank writes to a checkpoint. The result has one element
 * for each layer and is in the arena. All ranks together save each element once: a replicated layer
 * is divided evenly among the ranks of its group. */
yk_status yk_rank_partitions_compute_saved(const struct yk_program *program, int32_t rank,
                                           struct yk_arena *arena,
                                           struct yk_layer_partition **out) YK_MUST_USE;

#endif
