/*
 * Batch sweep: benchmarks of several batch sizes, measured in repeated rounds.
 *
 * The batch sizes alternate, so that a temporary disturbance of the machine affects all of them a
 * little instead of one of them a lot. Disturbed rounds are dropped (timings.h). Results are
 * available after every run. All ranks make the same calls. Not thread-safe.
 */
#ifndef YK_MEASURE_BENCHMARK_ROUNDS_H
#define YK_MEASURE_BENCHMARK_ROUNDS_H

#include "base/status.h"
#include "measure/benchmark/benchmark.h"
#include "measure/benchmark/layer_times.h"
#include "measure/ranks.h"
#include "measure/survey/survey.h"

#include <stdint.h>

struct yk_benchmark_rounds; /* opaque */

/* `batches` (batch_count) are the batch sizes in ascending order. All arguments must outlive the
 * sweep. */
yk_status yk_benchmark_rounds_create(const struct yk_measure_ranks *team,
                                     struct yk_benchmark_model *model, const int64_t *batches,
                                     int32_t batch_count,
                                     const struct yk_survey_callbacks *callbacks,
                                     struct yk_benchmark_rounds **out) YK_MUST_USE;
void yk_benchmark_rounds_destroy(struct yk_benchmark_rounds *rounds);

struct yk_benchmark_run {
    int32_t batch;                                        /* index of the batch size */
    double seconds;                                       /* approximate duration */
    double (*held_bytes)(const struct yk_engine *engine); /* memory that this process uses */
    double bytes; /* output: device memory allocated by the benchmark */
    double held;  /* output: result of held_bytes() during the run */
};

/* Runs rounds of one batch size for about run->seconds, and at least three undisturbed rounds. */
yk_status yk_benchmark_rounds_run(struct yk_benchmark_rounds *rounds,
                                  struct yk_benchmark_run *run) YK_MUST_USE;

/* Returns the layer times from all undisturbed rounds so far. The caller destroys them. */
yk_status yk_benchmark_rounds_times(const struct yk_benchmark_rounds *rounds,
                                    struct yk_layer_times **out) YK_MUST_USE;

/* Returns the benchmark of batch size number `batch`. Its device memory is not allocated. */
struct yk_benchmark *yk_benchmark_rounds_get(const struct yk_benchmark_rounds *rounds,
                                             int32_t batch);

#endif
