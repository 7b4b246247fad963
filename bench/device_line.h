/*
 * Device line: what a benchmark computes on, for the head of its output. All sides of a benchmark
 * in C run in one process, or in ranks of one machine, on this CPU: they cannot be unlike.
 */
#ifndef YK_BENCH_DEVICE_LINE_H
#define YK_BENCH_DEVICE_LINE_H

#include "base/system.h"

#include <stdio.h>

/* "scale: both sides on cpu (Arm Neoverse V1, 1 thread)"; `threads` says how many each has. */
static inline void print_device_line(const char *bench, const char *sides, const char *threads)
{
    char name[YK_SYSTEM_CPU_NAME_SIZE];
    yk_system_cpu_name(name);
    printf("%s: %s on cpu (%s, %s)\n", bench, sides, name, threads);
}

#endif
