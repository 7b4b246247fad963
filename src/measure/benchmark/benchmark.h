/*
 * Benchmark: runs training steps of a model on this rank's device, with random tokens and the same
 * executor as in training, and records the time of every op.
 *
 * Whole steps are timed, because a layer that is timed alone finds its weights and input in the
 * caches, unlike in training. A step has two micro-batches. The first micro-batch includes the work
 * that is done once per step (clearing gradients). The second micro-batch shows the time of each
 * pass without this work.
 *
 * Not thread-safe. All arguments of create functions must outlive the created object.
 */
#ifndef YK_MEASURE_BENCHMARK_BENCHMARK_H
#define YK_MEASURE_BENCHMARK_BENCHMARK_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "model/model.h"
#include "nn/optimizer.h"
#include "nn/store/parameter_store.h"
#include "program/program.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_benchmark_model_request {
    const struct yk_model_config *config;
    struct yk_workload workload; /* workload.batch is ignored */
    double slowness; /* the time of every op is multiplied by this on purpose; at least 1 */
};

/* A model on the device, with its weights and optimizer state. */
struct yk_benchmark_model {
    struct yk_arena *arena;
    struct yk_benchmark_model_request request;
    const struct yk_cluster *cluster; /* has one device */
    struct yk_device_context context;
    const struct yk_model *description;
    struct yk_net *net;
    struct yk_parameter_store *store;
    struct yk_optimizer_options optimizer;
    int64_t steps; /* number of steps so far */
};

/* Creates a model. `cluster` must have exactly one device, the device of `context`. */
yk_status yk_benchmark_model_create(const struct yk_benchmark_model_request *request,
                                    const struct yk_cluster *cluster,
                                    const struct yk_device_context *context,
                                    struct yk_benchmark_model **out) YK_MUST_USE;
void yk_benchmark_model_destroy(struct yk_benchmark_model *model);

enum {
    YK_BENCHMARK_MICRO_BATCHES = 2
};

/* The program of a benchmark, with one rank and all layers. Initialise it to {0}. */
struct yk_benchmark_step_program {
    struct yk_workload workload; /* workload.batch is the size of all micro-batches together */
    struct yk_model_cache *cache;
    struct yk_program *program;
};

/* `samples` is the size of each micro-batch; workload->batch is ignored. */
yk_status yk_benchmark_step_program_make(const struct yk_model_config *config,
                                         const struct yk_workload *workload,
                                         const struct yk_cluster *cluster, int64_t samples,
                                         struct yk_arena *arena,
                                         struct yk_benchmark_step_program *out) YK_MUST_USE;
void yk_benchmark_step_program_free(struct yk_benchmark_step_program *plan);

/* Computes the peak memory of the program in bytes. */
yk_status yk_benchmark_step_program_peak_bytes(const struct yk_benchmark_step_program *plan,
                                               struct yk_arena *arena, double *out) YK_MUST_USE;

struct yk_benchmark; /* opaque */

/* `samples` is the size of each micro-batch. The device memory is allocated separately with
 * yk_benchmark_allocate_memory(). */
yk_status yk_benchmark_create(struct yk_benchmark_model *model, int64_t samples,
                              struct yk_benchmark **out) YK_MUST_USE;
void yk_benchmark_destroy(struct yk_benchmark *benchmark);

/* Allocates the device memory for steps. */
yk_status yk_benchmark_allocate_memory(struct yk_benchmark *benchmark) YK_MUST_USE;
/* Waits for all steps and frees the device memory. */
void yk_benchmark_free_memory(struct yk_benchmark *benchmark);

const struct yk_program *yk_benchmark_get_program(const struct yk_benchmark *benchmark);

/* Returns the allocated device memory in bytes, including the memory of the model. */
double yk_benchmark_allocated_bytes(const struct yk_benchmark *benchmark);

/* The op times of one step. Each array has one element per op. The arrays belong to the benchmark.
 */
struct yk_benchmark_step_times {
    double *op_s;    /* time from when the op could start to its end (yk_op_spans_compute()) */
    double *begin_s; /* begin of each op on the clock of base/clock.h */
    double *end_s;
    bool whole; /* the times of all ops are known; false in the first step */
};

/* Enqueues a step. At most yk_benchmark_max_steps_in_flight() steps may be in flight at the same
 * time. Several steps in flight keep the device busy. */
yk_status yk_benchmark_enqueue_step(struct yk_benchmark *benchmark) YK_MUST_USE;
int32_t yk_benchmark_max_steps_in_flight(const struct yk_benchmark *benchmark);
/* Waits for the oldest step in flight and returns its times. */
yk_status yk_benchmark_wait_for_oldest_step(struct yk_benchmark *benchmark,
                                            const struct yk_benchmark_step_times **out) YK_MUST_USE;

#endif
