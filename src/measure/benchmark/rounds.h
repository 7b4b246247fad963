/*
 * Rounds: steps of benchmarks with several numbers of samples, each returned to several times.
 *
 * Sizes alternate, so that whatever else the machine does for a while disturbs all of them a little
 * and none of them much; and the times are whole after every run. Disturbed rounds are left out
 * (timings.h). All ranks make the same calls. One thread at a time.
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

/* Of these numbers of samples, rising; they, the model and the callbacks outlive it. */
yk_status yk_benchmark_rounds_create(const struct yk_measure_ranks *team,
                                     struct yk_benchmark_model *model, const int64_t *batches,
                                     int32_t batch_count,
                                     const struct yk_survey_callbacks *callbacks,
                                     struct yk_benchmark_rounds **out) YK_MUST_USE;
void yk_benchmark_rounds_destroy(struct yk_benchmark_rounds *rounds);

/* Rounds of batch number `batch` for about `seconds`, three that count at least. `bytes` is what
 * the benchmark has allocated of the device, `held` what `held_bytes` says meanwhile. */
struct yk_benchmark_run {
    int32_t batch;
    double seconds;
    double (*held_bytes)(const struct yk_engine *engine);
    double bytes; /* out */
    double held;  /* out */
};
yk_status yk_benchmark_rounds_run(struct yk_benchmark_rounds *rounds,
                                  struct yk_benchmark_run *run) YK_MUST_USE;

/* What counts of all rounds so far; the caller destroys it. */
yk_status yk_benchmark_rounds_times(const struct yk_benchmark_rounds *rounds,
                                    struct yk_layer_times **out) YK_MUST_USE;

/* The benchmark of batch number `batch`, not allocated. */
struct yk_benchmark *yk_benchmark_rounds_get(const struct yk_benchmark_rounds *rounds,
                                             int32_t batch);

#endif
