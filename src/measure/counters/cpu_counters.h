/*
 * CPU counters: reads the hardware counters of this process and its threads with
 * perf_event_open(2), if that is allowed, and the CPU time and memory of the process. Opening fails
 * only if memory runs out. Not thread-safe.
 */
#ifndef YK_MEASURE_COUNTERS_CPU_COUNTERS_H
#define YK_MEASURE_COUNTERS_CPU_COUNTERS_H

#include "base/status.h"
#include "base/text.h"

#include <stdint.h>

struct yk_cpu_counters;

yk_status yk_cpu_counters_open(struct yk_cpu_counters **out) YK_MUST_USE;
void yk_cpu_counters_close(struct yk_cpu_counters *cpu);

/* Sets the elements of `values` whose counters are available. `values` has YK_COUNTER_COUNT
 * elements, which the caller initialises to NAN. `passed_s` is the time since the previous call; 0
 * means: there was no previous call, and counting starts. */
void yk_cpu_counters_read(struct yk_cpu_counters *cpu, double passed_s, double *values);

void yk_cpu_counters_describe(const struct yk_cpu_counters *cpu, double period_s,
                              struct yk_text *text);

/* A counter as the kernel reports it. If more counters are enabled than the hardware has, they take
 * turns: a counter counts only during `running_ns` of its `enabled_ns`. */
struct yk_cpu_counters_perf_count {
    uint64_t value;
    uint64_t enabled_ns;
    uint64_t running_ns;
};

/* Estimates how much the counter would have counted from `before` to `after` if it had always run.
 * The result is the difference of the values × enabled time / running time. Returns NAN if the
 * counter did not run. */
double yk_cpu_counters_scaled_difference(const struct yk_cpu_counters_perf_count *before,
                                         const struct yk_cpu_counters_perf_count *after);

#endif
