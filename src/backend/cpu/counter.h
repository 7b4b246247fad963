/*
 * Count: a number that only grows and that threads wait for. It is how a lane's thread, the host
 * and other lanes know of each other's progress.
 *
 * Any thread may wait for it; one at a time raises it. What was written before it was raised can be
 * read by whoever saw it raised.
 */
#ifndef YK_BACKEND_CPU_COUNTER_H
#define YK_BACKEND_CPU_COUNTER_H

#include "base/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct yk_cpu_counter {
    atomic_uint_fast64_t value;
    pthread_mutex_t mutex;
    int sleepers; /* under the mutex */
    pthread_cond_t raised;
};

/* Starts at 0. */
yk_status yk_cpu_counter_init(struct yk_cpu_counter *count) YK_MUST_USE;
void yk_cpu_counter_destroy(struct yk_cpu_counter *count);

uint64_t yk_cpu_counter_value(const struct yk_cpu_counter *count);
void yk_cpu_counter_raise(struct yk_cpu_counter *count, uint64_t value);
/* Returns when the count is at least `value`: looks for a few microseconds, then sleeps. */
void yk_cpu_counter_wait(struct yk_cpu_counter *count, uint64_t value);

#endif
