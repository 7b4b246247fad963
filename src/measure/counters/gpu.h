/*
 * Counter GPU: one GPU, or one instance of it (MIG), whose clock, power and links are the whole
 * GPU's: NVML GPM, else DCGM, and what NVML has of every GPU. Opening fails for want of memory
 * alone; describe() says what is missing. One thread at a time, though not always the same one.
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

/* `number` is CUDA's, which CUDA_VISIBLE_DEVICES decides on; the table NULL stands for the driver's
 * library. */
yk_status yk_counter_gpu_open(const struct yk_nvml *nvml, int32_t number,
                              struct yk_counter_gpu **out) YK_MUST_USE;
void yk_counter_gpu_close(struct yk_counter_gpu *gpu);

/* Of a reading, what suits the source. */
double yk_counter_gpu_period_s(const struct yk_counter_gpu *gpu);

/* Before the first reading, at `now_s`, and after the last one. */
void yk_counter_gpu_start(struct yk_counter_gpu *gpu, double now_s);
void yk_counter_gpu_stop(struct yk_counter_gpu *gpu);

/* Looks, at `now_s`. True when a reading ends with it, which is filled in: at the next refresh of
 * GPM's counters after about `length_s`, for with GPM readings begin and end at those; else now. A
 * second without a refresh becomes a reading of what needs none. */
bool yk_counter_gpu_poll(struct yk_counter_gpu *gpu, double now_s, double length_s,
                         struct yk_counter_reading *out);

/* When to look next, where the reading under way shall be `length_s` long. */
double yk_counter_gpu_next_s(struct yk_counter_gpu *gpu, double length_s);

/* False where readings end at refreshes. */
bool yk_counter_gpu_can_end_any_time(const struct yk_counter_gpu *gpu);

/* Where `period_s` is that of the readings. */
void yk_counter_gpu_describe(const struct yk_counter_gpu *gpu, double period_s,
                             struct yk_text *text);

#endif
