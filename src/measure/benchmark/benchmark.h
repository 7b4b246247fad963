/*
 * Benchmark: steps of a model on this rank's device, on random tokens, run by the same executor as
 * in training.
 *
 * A layer that is timed alone finds its weights and its input in the caches; in a step they are
 * not. So what is timed is a step. It has two micro-batches: the first bears what is done once a
 * step, clearing gradients, and the second is what a pass takes by itself.
 *
 * One thread at a time. What it is made from must outlive it.
 */
#ifndef YK_MEASURE_BENCHMARK_BENCHMARK_H
#define YK_MEASURE_BENCHMARK_BENCHMARK_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "model/model.h"
#include "nn/optimizer.h"
#include "nn/store/store.h"
#include "program/program.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_benchmark_model_request {
    const struct yk_model_config *config;
    struct yk_workload workload; /* its batch is not used */
    double slowness;             /* factor on the time of every op; at least 1 */
};

/* A whole model on the device, its weights and optimizer state. */
struct yk_benchmark_model {
    struct yk_arena *arena;
    struct yk_benchmark_model_request request;
    const struct yk_cluster *cluster; /* of one device */
    struct yk_engine engine;
    const struct yk_model *description;
    struct yk_net *net;
    struct yk_parameter_store *store;
    struct yk_optimizer optimizer;
    int64_t steps; /* made so far */
};

/* `cluster` has one device, which `engine` drives. */
yk_status yk_benchmark_model_create(const struct yk_benchmark_model_request *request,
                                    const struct yk_cluster *cluster,
                                    const struct yk_engine *engine,
                                    struct yk_benchmark_model **out) YK_MUST_USE;
void yk_benchmark_model_destroy(struct yk_benchmark_model *model);

enum {
    YK_BENCHMARK_MICRO_BATCHES = 2
};

/* The program of a benchmark: one rank, all layers. Starts as {0}. */
struct yk_benchmark_plan {
    struct yk_workload workload; /* of all micro-batches */
    struct yk_model_sizes *sizes;
    struct yk_program *program;
};

/* `samples` in each micro-batch; the workload's batch is not used. */
yk_status yk_benchmark_plan_make(const struct yk_model_config *config,
                                 const struct yk_workload *workload,
                                 const struct yk_cluster *cluster, int64_t samples,
                                 struct yk_arena *arena, struct yk_benchmark_plan *out) YK_MUST_USE;
void yk_benchmark_plan_free(struct yk_benchmark_plan *plan);

/* The bytes that it needs at its fullest moment. */
yk_status yk_benchmark_plan_bytes(const struct yk_benchmark_plan *plan, double *out) YK_MUST_USE;

struct yk_benchmark; /* opaque */

/* `samples` in each micro-batch. It has no memory of the device until that is allocated. */
yk_status yk_benchmark_create(struct yk_benchmark_model *model, int64_t samples,
                              struct yk_benchmark **out) YK_MUST_USE;
void yk_benchmark_destroy(struct yk_benchmark *benchmark);

/* The device's memory for steps, freed when all that have begun are done. */
yk_status yk_benchmark_allocate(struct yk_benchmark *benchmark) YK_MUST_USE;
void yk_benchmark_free(struct yk_benchmark *benchmark);

const struct yk_program *yk_benchmark_program(const struct yk_benchmark *benchmark);

/* The device's memory that is allocated, with the model's. */
double yk_benchmark_bytes(const struct yk_benchmark *benchmark);

/* What happened in one step; the arrays (ops of the program's rank) are the benchmark's. */
struct yk_benchmark_step {
    double *op_s;    /* what each op took, with the pause before it on its lane */
    double *begin_s; /* on the clock of base/clock.h */
    double *end_s;
    bool whole; /* all ops were done: not so in the first step of all */
};

/* Enqueues a step; at most yk_benchmark_depth() may have begun and not ended, so
 * that the device need not wait for the host. */
yk_status yk_benchmark_begin(struct yk_benchmark *benchmark) YK_MUST_USE;
int32_t yk_benchmark_depth(const struct yk_benchmark *benchmark);
/* Waits for the oldest. */
yk_status yk_benchmark_end(struct yk_benchmark *benchmark,
                           const struct yk_benchmark_step **out) YK_MUST_USE;

#endif
