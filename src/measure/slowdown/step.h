/*
 * Beside step: by which of the rehearsals it is measured what computation does beside messages, and
 * beside other devices at work.
 *
 * By the most samples, as in training: with few of them a step is updates and launches, which share
 * a device otherwise than products do. Where messages take none of the host's cores, and such a
 * step is long, by fewer: half of the sizes are large enough.
 */
#ifndef YK_MEASURE_SLOWDOWN_STEP_H
#define YK_MEASURE_SLOWDOWN_STEP_H

#include "base/status.h"
#include "measure/benchmark/rounds.h"
#include "measure/ranks.h"

#include <stdint.h>

/* The number of one among `batch_count` sizes, the largest of them last. All ranks ask, and are
 * told the same. */
yk_status yk_slowdown_choose_batch(const struct yk_measure_ranks *team,
                                   struct yk_benchmark_rounds *visits, int32_t batch_count,
                                   int32_t *out) YK_MUST_USE;

#endif
