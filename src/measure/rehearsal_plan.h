/*
 * Rehearsal plan: the program that a rehearsal runs: one rank, all layers, two micro-batches.
 */
#ifndef YK_MEASURE_REHEARSAL_PLAN_H
#define YK_MEASURE_REHEARSAL_PLAN_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "model/model.h"
#include "model/sizes.h"
#include "program/program.h"

enum {
    YK_REHEARSAL_MICRO_BATCHES = 2
};

/* Starts as {0}. The plan is in the arena that it was made in. */
struct yk_rehearsal_plan {
    struct yk_workload workload; /* of all micro-batches */
    struct yk_sizes *sizes;
    struct yk_program *program;
};

/* `samples` in each micro-batch; the workload's batch says nothing. */
yk_status yk_rehearsal_plan_make(const struct yk_model_config *config,
                                 const struct yk_workload *workload,
                                 const struct yk_cluster *cluster, int64_t samples,
                                 struct yk_arena *arena, struct yk_rehearsal_plan *out) YK_MUST_USE;
void yk_rehearsal_plan_free(struct yk_rehearsal_plan *plan);

/* The bytes that it needs at its fullest moment. */
yk_status yk_rehearsal_plan_bytes(const struct yk_rehearsal_plan *plan, double *out) YK_MUST_USE;

#endif
