/*
 * Counter CPU: what the kernel counts for this process and all its threads: perf_event_open(2)
 * where it is allowed, CPU time and memory. Opening fails only when memory runs out. One thread at
 * a time, not necessarily the same one.
 */
#ifndef YK_MEASURE_COUNTERS_CPU_H
#define YK_MEASURE_COUNTERS_CPU_H

#include "base/status.h"
#include "base/text.h"

#include <stdint.h>

struct yk_counter_cpu;

yk_status yk_counter_cpu_open(struct yk_counter_cpu **out) YK_MUST_USE;
void yk_counter_cpu_close(struct yk_counter_cpu *cpu);

/* Fills in what is known about the last `passed_s` seconds; 0: only starts counting. The caller
 * sets all values (YK_COUNTER_COUNT) to NAN before. */
void yk_counter_cpu_read(struct yk_counter_cpu *cpu, double passed_s, double *values);

void yk_counter_cpu_describe(const struct yk_counter_cpu *cpu, double period_s,
                             struct yk_text *text);

/* A counter as the kernel reports it. The hardware may have fewer counters than are enabled, so
 * that this one counted for only `running_ns` of `enabled_ns`. */
struct yk_counter_cpu_count {
    uint64_t value;
    uint64_t enabled_ns;
    uint64_t running_ns;
};

/* The estimate of the count from `before` to `after`, scaled up as if it had counted all the time;
 * NAN where it never did. */
double yk_counter_cpu_between(const struct yk_counter_cpu_count *before,
                              const struct yk_counter_cpu_count *after);

#endif
