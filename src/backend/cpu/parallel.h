/*
 * Parallel: work cut into chunks for threads. How it is cut depends on its size alone, and no chunk
 * depends on another, so the result is the same with any number of threads.
 */
#ifndef YK_BACKEND_CPU_PARALLEL_H
#define YK_BACKEND_CPU_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /* Multiplications that one thread does in the time it takes to wake another. */
    YK_CPU_PARALLEL_MIN = 1 << 18,
    /* Numbers in a chunk: some ten microseconds of work, more than it costs to wake a thread. */
    YK_CPU_CHUNK_SIZE = 16384,
};

typedef void (*yk_cpu_chunk_function)(const void *work, int64_t chunk);

/* Starts the threads that share the calling thread's work, which OpenMP keeps from then on. False
 * where the system refuses so many: refused within a kernel, OpenMP would end the process. */
bool yk_cpu_parallel_start(int threads);

/* Runs chunks 0 to `chunks` − 1; a single one stays on the calling thread. */
void yk_cpu_parallel_for(int threads, int64_t chunks, yk_cpu_chunk_function run, const void *work);

/* How many threads are worth while for as many multiplications. */
static inline int yk_cpu_parallel_threads(int threads, int64_t multiplications)
{
    return multiplications < YK_CPU_PARALLEL_MIN ? 1 : threads;
}

static inline int64_t yk_cpu_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How many chunks of `size` hold `count`. */
static inline int64_t yk_cpu_chunk_count(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

/* Rows of `width` numbers that make up a chunk, at least one. */
static inline int64_t yk_cpu_chunk_rows(int64_t width)
{
    return width < YK_CPU_CHUNK_SIZE ? YK_CPU_CHUNK_SIZE / (width > 0 ? width : 1) : 1;
}

#endif
