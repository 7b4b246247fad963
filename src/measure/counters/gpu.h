/*
 * GPU counters: the counters of one GPU or MIG instance from NVML GPM, otherwise DCGM, and the NVML
 * values that every GPU has. Clock, power and link traffic of a MIG instance are those of the whole
 * GPU. Opening fails only if memory runs out; describe() says what is not available. Not
 * thread-safe.
 */
#ifndef YK_MEASURE_COUNTERS_GPU_H
#define YK_MEASURE_COUNTERS_GPU_H

#include "base/status.h"
#include "base/text.h"
#include "cluster/nvml.h"
#include "trace/counters.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_counter_gpu;

/* `number` is the CUDA device number, which depends on CUDA_VISIBLE_DEVICES. `nvml` NULL means: the
 * NVML library of the driver. */
yk_status yk_counter_gpu_open(const struct yk_nvml *nvml, int32_t number,
                              struct yk_counter_gpu **out) YK_MUST_USE;
void yk_counter_gpu_close(struct yk_counter_gpu *gpu);

/* Default length of a reading for this source. */
double yk_counter_gpu_period_s(const struct yk_counter_gpu *gpu);

/* Call them before the first reading and after the last one. */
void yk_counter_gpu_start(struct yk_counter_gpu *gpu, double now_s);
void yk_counter_gpu_stop(struct yk_counter_gpu *gpu);

/* Polls the counters at time `now_s`. Returns true if this completes a reading, and sets `out`.
 * With GPM a reading ends at the first refresh after about `length_s`; after one second without a
 * refresh it ends with only the other counters. Without GPM it ends now. */
bool yk_counter_gpu_poll(struct yk_counter_gpu *gpu, double now_s, double length_s,
                         struct yk_counter_reading *out);

/* Returns when to poll next for a reading of about `length_s`. */
double yk_counter_gpu_next_s(struct yk_counter_gpu *gpu, double length_s);

/* False if readings end only at refreshes of GPM. */
bool yk_counter_gpu_can_end_any_time(const struct yk_counter_gpu *gpu);

/* Describes the sources. `period_s` is the length of the readings. */
void yk_counter_gpu_describe(const struct yk_counter_gpu *gpu, double period_s,
                             struct yk_text *text);

#endif
