/*
 * CPU counters: hardware counters of this process and its threads by perf_event_open(2), if that is
 * allowed, and its CPU time and memory. Opening fails only if memory runs out. Not thread-safe.
 */
#ifndef YK_MEASURE_COUNTERS_CPU_H
#define YK_MEASURE_COUNTERS_CPU_H

#include "base/status.h"
#include "base/text.h"

#include <stdint.h>

struct yk_counter_cpu;

yk_status yk_counter_cpu_open(struct yk_counter_cpu **out) YK_MUST_USE;
void yk_counter_cpu_close(struct yk_counter_cpu *cpu);

/* Sets the available entries of values (YK_COUNTER_COUNT) for the last `passed_s` seconds; 0 means:
 * only start counting. The caller initialises all values to NAN. */
void yk_counter_cpu_read(struct yk_counter_cpu *cpu, double passed_s, double *values);

void yk_counter_cpu_describe(const struct yk_counter_cpu *cpu, double period_s,
                             struct yk_text *text);

/* A counter as the kernel reports it. If more counters are enabled than the hardware has, each one
 * counts only for `running_ns` of `enabled_ns`. */
struct yk_counter_cpu_count {
    uint64_t value;
    uint64_t enabled_ns;
    uint64_t running_ns;
};

/* Estimates the count from `before` to `after`, scaled by enabled over running time. Returns NAN if
 * the counter did not run. */
double yk_counter_cpu_between(const struct yk_counter_cpu_count *before,
                              const struct yk_counter_cpu_count *after);

#endif
