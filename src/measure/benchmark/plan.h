/*
 * Rehearsal plan: the program that a rehearsal runs: one rank, all layers, two micro-batches.
 */
#ifndef YK_MEASURE_BENCHMARK_PLAN_H
#define YK_MEASURE_BENCHMARK_PLAN_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "model/model.h"
#include "program/program.h"

enum {
    YK_BENCHMARK_MICRO_BATCHES = 2
};

/* Starts as {0}. The plan is in the arena that it was made in. */
struct yk_benchmark_plan {
    struct yk_workload workload; /* of all micro-batches */
    struct yk_model_sizes *sizes;
    struct yk_program *program;
};

/* `samples` in each micro-batch; the workload's batch says nothing. */
yk_status yk_benchmark_plan_make(const struct yk_model_config *config,
                                 const struct yk_workload *workload,
                                 const struct yk_cluster *cluster, int64_t samples,
                                 struct yk_arena *arena, struct yk_benchmark_plan *out) YK_MUST_USE;
void yk_benchmark_plan_free(struct yk_benchmark_plan *plan);

/* The bytes that it needs at its fullest moment. */
yk_status yk_benchmark_plan_bytes(const struct yk_benchmark_plan *plan, double *out) YK_MUST_USE;

#endif
