/*
 * The meters of one GPU: NVML GPM, else DCGM, and what NVML tells of every GPU. Opening always
 * succeeds, memory permitting; what is missing is said in words. One thread at a time, though not
 * always the same one.
 */
#ifndef YK_MEASURE_METERS_GPU_H
#define YK_MEASURE_METERS_GPU_H

#include "base/status.h"
#include "base/text.h"
#include "cluster/nvml.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_meters_gpu;

/* `number` is CUDA's; the table NULL stands for the driver's library. */
yk_status yk_meters_gpu_open(const struct yk_nvml *nvml, int32_t number,
                             struct yk_meters_gpu **out) YK_MUST_USE;
void yk_meters_gpu_close(struct yk_meters_gpu *gpu);

/* What suits the source. */
double yk_meters_gpu_period_s(const struct yk_meters_gpu *gpu);

/* Before the first reading and after the last one. */
void yk_meters_gpu_start(struct yk_meters_gpu *gpu);
void yk_meters_gpu_stop(struct yk_meters_gpu *gpu);

/* Fills in what is known of the last `passed_s`; 0 begins only. False when readings came too close
 * for the driver. values (YK_COUNTER_COUNT) hold NAN before. */
bool yk_meters_gpu_read(struct yk_meters_gpu *gpu, double passed_s, double *values);

/* Where `period_s` is that of the readings. */
void yk_meters_gpu_describe(const struct yk_meters_gpu *gpu, double period_s, struct yk_text *text);

#endif
