/*
 * GPU counters: reads the counters of one GPU or MIG instance. Some counters come from NVML GPM
 * or, without GPM, from DCGM; the others are NVML values that every GPU has. For a MIG instance,
 * clock, power and link traffic are the values of the whole GPU. Opening fails only if memory runs
 * out. yk_gpu_counters_describe() says which counters are not available. Not thread-safe.
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

/* `number` is the CUDA device number, which depends on CUDA_VISIBLE_DEVICES. If `nvml` is NULL,
 * uses the NVML library of the driver. */
yk_status yk_gpu_counters_open(const struct yk_nvml_functions *nvml, int32_t number,
                               struct yk_gpu_counters **out) YK_MUST_USE;
void yk_gpu_counters_close(struct yk_gpu_counters *gpu);

/* Returns the default length of a reading of this GPU. */
double yk_gpu_counters_default_period_s(const struct yk_gpu_counters *gpu);

/* The caller must call start before the first poll, and stop after the last poll. */
void yk_gpu_counters_start(struct yk_gpu_counters *gpu, double now_s);
void yk_gpu_counters_stop(struct yk_gpu_counters *gpu);

/* Polls the counters at time `now_s`. Returns true if this completes a reading, and sets `out`.
 * With GPM, a reading ends when the driver refreshes its counters and the length is about
 * `length_s`. If there is no refresh for one second, the reading ends without the GPM counters.
 * Without GPM, a reading ends at every poll.
 */
bool yk_gpu_counters_poll(struct yk_gpu_counters *gpu, double now_s, double length_s,
                          struct yk_counter_reading *out);

/* Returns the time at which the caller should poll next for a reading of about `length_s`. */
double yk_gpu_counters_next_poll_s(struct yk_gpu_counters *gpu, double length_s);

/* Returns false if readings end only when GPM refreshes its counters. */
bool yk_gpu_counters_can_end_reading_any_time(const struct yk_gpu_counters *gpu);

/* Appends a description of the sources. `period_s` is the length of the readings. */
void yk_gpu_counters_describe(const struct yk_gpu_counters *gpu, double period_s,
                              struct yk_text *text);

#endif
