/*
 * Counter sampler: readings of what a device does, by a thread of its own while something runs.
 *
 * Of a GPU: NVML GPM (Hopper and newer), else DCGM where it runs, and what NVML has of every GPU.
 * Of a CPU: this process as the kernel counts it (perf_event_open). What is missing is NAN in every
 * reading, and yk_counter_sampler_describe() says why; opening does not fail for it.
 *
 * Open, start and stop (again and again, readings add up), then read, then close: by one thread.
 * Counted are the threads that exist when the sampler opens, and all that those start.
 */
#ifndef YK_MEASURE_COUNTERS_SAMPLER_H
#define YK_MEASURE_COUNTERS_SAMPLER_H

#include "base/status.h"
#include "base/text.h"
#include "trace/counters.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_counter_sampler;
struct yk_nvml;

enum {
    YK_COUNTER_SAMPLER_MAX_READINGS = 200000
};

struct yk_counter_sampler_options {
    bool gpu;                   /* a GPU; else this process and its cores */
    int32_t number;             /* of the GPU, as CUDA counts */
    double period_s;            /* 0: what suits the source */
    const struct yk_nvml *nvml; /* NULL: the driver's, where there is one */
};

yk_status yk_counter_sampler_open(const struct yk_counter_sampler_options *options,
                                  struct yk_counter_sampler **out) YK_MUST_USE;
/* Ends the thread if it runs. Accepts NULL. */
void yk_counter_sampler_close(struct yk_counter_sampler *sampler);

/* Readings from now on, one beginning where the last one ended: each about a period long, not two
 * in a row the same, so that they do not keep step with what they watch. With NVML GPM they begin
 * and end when the driver refreshes its counters (every 100 ms, say): the first one then. */
yk_status yk_counter_sampler_start(struct yk_counter_sampler *sampler) YK_MUST_USE;
/* The last reading ends now, if it is half its length at least; with GPM it is dropped. Does
 * nothing where nothing was started. */
void yk_counter_sampler_stop(struct yk_counter_sampler *sampler);

/* All so far, in order, while stopped; they belong to the sampler and stay until start or close.
 * There are at most YK_COUNTER_SAMPLER_MAX_READINGS: beyond, every two become one and the period
 * doubles.
 */
void yk_counter_sampler_readings(const struct yk_counter_sampler *sampler,
                                 const struct yk_counter_reading **out, int32_t *count);

/* "NVML GPM, refreshed every 100 ms", "perf: refused by the system (perf_event_paranoid is 3)",
 * separated by "; ". While stopped. */
void yk_counter_sampler_describe(const struct yk_counter_sampler *sampler, struct yk_text *text);

/* How far readings may begin and end from where they say, either way: GPM's by half of what lies
 * between two polls, DCGM's by half of what lies between two of its lines. */
double yk_counter_sampler_edge_error_s(const struct yk_counter_sampler *sampler);

/* Of one reading as it is wanted now: it grows with many readings. */
double yk_counter_sampler_period_s(const struct yk_counter_sampler *sampler);

/* One look, at `now_s`, which may end a reading; the first call only begins. What the thread does
 * again and again, next at yk_counter_sampler_next_s(). For who has a clock of their own; never
 * while started. */
void yk_counter_sampler_poll(struct yk_counter_sampler *sampler, double now_s);
double yk_counter_sampler_next_s(struct yk_counter_sampler *sampler);

#endif
