/* Partitions: which part of every layer a rank's store keeps, as the plan says. The parts of a
 * group's members follow each other in the order of the members, so that every number of a layer is
 * kept by exactly one of them. Pure functions of a program; any thread. */
#ifndef YK_TRAIN_PARTITIONS_H
#define YK_TRAIN_PARTITIONS_H

#include "base/arena.h"
#include "base/status.h"
#include "nn/store/partition.h"
#include "program/program.h"

#include <stdint.h>

/* (L) partitions, in the arena. */
yk_status yk_partitions_of_rank(const struct yk_program *program, int32_t rank,
                                struct yk_arena *arena, struct yk_partition **out) YK_MUST_USE;

/* Where a member's part of each block begins, from 0 to 1; that of the number of members is the
 * end. */
double yk_partitions_begin(const struct yk_plan_group *group, int32_t member);

/* (L) what the rank saves of what it keeps, in the arena: of all ranks together everything once. A
 * layer that all members of a group have whole is cut into equal slices. */
yk_status yk_partitions_to_save(const struct yk_program *program, int32_t rank,
                                struct yk_arena *arena, struct yk_partition **out) YK_MUST_USE;

#endif
