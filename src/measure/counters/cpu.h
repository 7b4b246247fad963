/*
 * Counter CPU: what the kernel counts of this process and all its threads, through
 * perf_event_open(2) where it is allowed, and CPU time and memory. Opening fails for want of memory
 * alone. One thread at a time, though not always the same one.
 */
#ifndef YK_MEASURE_COUNTERS_CPU_H
#define YK_MEASURE_COUNTERS_CPU_H

#include "base/status.h"
#include "base/text.h"

#include <stdint.h>

struct yk_counter_cpu;

yk_status yk_counter_cpu_open(struct yk_counter_cpu **out) YK_MUST_USE;
void yk_counter_cpu_close(struct yk_counter_cpu *cpu);

/* Fills in what is known of the last `passed_s`; 0 begins only. values (YK_COUNTER_COUNT) hold NAN
 * before. */
void yk_counter_cpu_read(struct yk_counter_cpu *cpu, double passed_s, double *values);

void yk_counter_cpu_describe(const struct yk_counter_cpu *cpu, double period_s,
                             struct yk_text *text);

/* What a counter showed, as the kernel hands it out: it counted for `running_ns` of `enabled_ns`,
 * while others had its place. */
struct yk_counter_cpu_count {
    uint64_t value;
    uint64_t enabled_ns;
    uint64_t running_ns;
};

/* What it would have shown from `before` to `after`, had it counted all the time; NAN where it
 * never did. */
double yk_counter_cpu_between(const struct yk_counter_cpu_count *before,
                              const struct yk_counter_cpu_count *after);

#endif
