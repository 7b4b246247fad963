/*
 * Layer times: the measured times of each layer shape, for each pass and batch size of a batch
 * sweep. The times of passes come from the second micro-batch. The backward pass of the first
 * micro-batch also clears the gradients, so it takes longer. The difference between the two
 * backward passes counts as part of the update.
 *
 * Not thread-safe. The model must outlive the times.
 */
#ifndef YK_MEASURE_BENCHMARK_LAYER_TIMES_H
#define YK_MEASURE_BENCHMARK_LAYER_TIMES_H

#include "base/status.h"
#include "measure/timings.h"
#include "program/program.h"

#include <stdint.h>

/* The times of one layer shape, pass and batch size. */
struct yk_layer_times_entry {
    const char *shape;
    const char *kind;
    const char *pass;
    int64_t batch; /* always 1 for an update, which does not depend on the batch size */
    struct yk_timings timings;
};

struct yk_layer_times {
    struct yk_arena *arena;
    const struct yk_model *model;
    int32_t count;
    struct yk_layer_times_entry *times;
    int32_t batch_count;
    /* (layers) index of the first entry of each layer in `times`. The entries of a layer are
     * forward for each batch size, then backward for each batch size, then update. Layers of the
     * same shape share their entries. */
    int32_t *first_time;
};

yk_status yk_layer_times_create(const struct yk_model *model, const int64_t *batches,
                                int32_t batch_count, struct yk_layer_times **out) YK_MUST_USE;
void yk_layer_times_destroy(struct yk_layer_times *times);

/* Adds the op times of one step. `batch` is the index of the batch size. `op_s` has the time of
 * each op of `program`, the program of the benchmark. */
yk_status yk_layer_times_add_step(struct yk_layer_times *times, const struct yk_program *program,
                                  int32_t batch, const double *op_s) YK_MUST_USE;

#endif
