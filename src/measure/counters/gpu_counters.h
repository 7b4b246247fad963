/*
 * GPU counters: the counters of one GPU or MIG instance from NVML GPM, otherwise DCGM, and the NVML
 * values that every GPU has. Clock, power and link traffic of a MIG instance are those of the whole
 * GPU. Opening fails only if memory runs out; describe() says what is not available. Not
 * thread-safe.
 */
#ifndef YK_MEASURE_COUNTERS_GPU_COUNTERS_H
#define YK_MEASURE_COUNTERS_GPU_COUNTERS_H

#include "base/status.h"
#include "base/text.h"
#include "cluster/nvml.h"
#include "trace/counters.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_gpu_counters;

/* `number` is the CUDA device number, which depends on CUDA_VISIBLE_DEVICES. `nvml` NULL means: the
 * NVML library of the driver. */
yk_status yk_gpu_counters_open(const struct yk_nvml_functions *nvml, int32_t number,
                               struct yk_gpu_counters **out) YK_MUST_USE;
void yk_gpu_counters_close(struct yk_gpu_counters *gpu);

/* Default length of a reading for this source. */
double yk_gpu_counters_period_s(const struct yk_gpu_counters *gpu);

/* Call them before the first reading and after the last one. */
void yk_gpu_counters_start(struct yk_gpu_counters *gpu, double now_s);
void yk_gpu_counters_stop(struct yk_gpu_counters *gpu);

/* Polls the counters at time `now_s`. Returns true if this completes a reading, and sets `out`.
 * With GPM a reading ends at the first refresh after about `length_s`; after one second without a
 * refresh it ends with only the other counters. Without GPM it ends now. */
bool yk_gpu_counters_poll(struct yk_gpu_counters *gpu, double now_s, double length_s,
                          struct yk_counter_reading *out);

/* Returns when to poll next for a reading of about `length_s`. */
double yk_gpu_counters_next_poll_s(struct yk_gpu_counters *gpu, double length_s);

/* False if readings end only at refreshes of GPM. */
bool yk_gpu_counters_can_end_reading_any_time(const struct yk_gpu_counters *gpu);

/* Describes the sources. `period_s` is the length of the readings. */
void yk_gpu_counters_describe(const struct yk_gpu_counters *gpu, double period_s,
                              struct yk_text *text);

#endif
