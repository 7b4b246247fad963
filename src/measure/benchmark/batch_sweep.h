/*
 * Batch sweep: measures benchmarks of several batch sizes in repeated rounds. A round is one timed
 * step.
 *
 * The caller measures the batch sizes in turn, several times each, so that a temporary disturbance
 * of the machine affects all of them a little instead of one of them a lot. On a CPU, rounds that
 * other processes disturbed are dropped (measure/timings.h). Layer times are available after every
 * call of yk_batch_sweep_measure_batch().
 * All ranks must make the same calls. Not thread-safe.
 */
#ifndef YK_MEASURE_BENCHMARK_BATCH_SWEEP_H
#define YK_MEASURE_BENCHMARK_BATCH_SWEEP_H

#include "base/status.h"
#include "measure/benchmark/benchmark.h"
#include "measure/benchmark/layer_times.h"
#include "measure/measuring_ranks.h"
#include "measure/profiler/profiler.h"

#include <stdint.h>

struct yk_batch_sweep; /* opaque */

/* `batches` (batch_count) are the batch sizes in ascending order. All arguments must outlive the
 * sweep. */
yk_status yk_batch_sweep_create(const struct yk_measuring_ranks *team,
                                struct yk_benchmark_model *model, const int64_t *batches,
                                int32_t batch_count, const struct yk_profiler_callbacks *callbacks,
                                struct yk_batch_sweep **out) YK_MUST_USE;
void yk_batch_sweep_destroy(struct yk_batch_sweep *sweep);

struct yk_batch_sweep_run {
    int32_t batch;  /* index of the batch size to measure */
    double seconds; /* approximate duration of the run */
    /* Returns the memory that this process uses; may be NULL. */
    double (*held_bytes)(const struct yk_device_context *context);
    double bytes; /* output: device memory that the benchmark has allocated */
    double held;  /* output: result of held_bytes() before the memory is freed */
};

/* Runs rounds of one batch size for about run->seconds, and at least three rounds after a warm-up.
 */
yk_status yk_batch_sweep_measure_batch(struct yk_batch_sweep *sweep,
                                       struct yk_batch_sweep_run *run) YK_MUST_USE;

/* Returns the layer times from the newest rounds of each batch size (at most 60), without disturbed
 * rounds. The caller destroys them. */
yk_status yk_batch_sweep_make_layer_times(const struct yk_batch_sweep *sweep,
                                          struct yk_layer_times **out) YK_MUST_USE;

/* Returns the benchmark of batch size index `batch`. Its device memory is not allocated. */
struct yk_benchmark *yk_batch_sweep_get_benchmark(const struct yk_batch_sweep *sweep,
                                                  int32_t batch);

#endif
