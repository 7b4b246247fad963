/*
 * Layer times: what the passes of layers of each shape take, by the number of samples, from rounds
 * of a benchmark. Gradients are cleared once a step, by the first micro-batch that goes backward:
 * what that takes longer (or, by chance, less) counts as part of the update.
 *
 * One thread at a time. The model must outlive it.
 */
#ifndef YK_MEASURE_BENCHMARK_LAYER_TIMES_H
#define YK_MEASURE_BENCHMARK_LAYER_TIMES_H

#include "base/status.h"
#include "measure/timings.h"
#include "program/program.h"

#include <stdint.h>

/* Of one shape, pass and number of samples. */
struct yk_layer_time {
    const char *shape;
    const char *kind;
    const char *pass;
    int64_t batch; /* of an update 1, whatever it is */
    struct yk_timings timings;
};

struct yk_layer_times {
    struct yk_arena *arena;
    const struct yk_model *model;
    int32_t count;
    struct yk_layer_time *times;
    int32_t batch_count;
    int32_t *first_time; /* (L) of each layer: forward and backward for each batch, then update */
};

yk_status yk_layer_times_create(const struct yk_model *model, const int64_t *batches,
                                int32_t batch_count, struct yk_layer_times **out) YK_MUST_USE;
void yk_layer_times_destroy(struct yk_layer_times *times);

/* Adds what the ops of a round took, (ops of the benchmark's program), of batch number `batch`. */
yk_status yk_layer_times_add(struct yk_layer_times *times, const struct yk_program *program,
                             int32_t batch, const double *op_s) YK_MUST_USE;

#endif
