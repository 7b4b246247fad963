/*
 * Parallel: divides work into chunks that threads run in parallel. The division depends only on the
 * size of the work, and chunks are independent. The result is therefore the same for every number
 * of threads.
 */
#ifndef YK_BACKEND_CPU_PARALLEL_H
#define YK_BACKEND_CPU_PARALLEL_H

#include "base/number.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    /* Work with fewer multiplications than this runs on one thread, because waking another thread
     * would take longer than the work itself. */
    YK_CPU_PARALLEL_MIN_MULTIPLICATIONS = 1 << 18,
    /* Elements per chunk. The work of a chunk takes about ten microseconds, which is longer than
     * waking a thread. */
    YK_CPU_CHUNK_SIZE = 16384,
};

typedef void (*yk_cpu_chunk_function)(const void *work, int64_t chunk);
typedef void (*yk_cpu_row_function)(const void *work, int64_t row);

/* Starts the OpenMP threads of the calling thread. OpenMP keeps them for later parallel regions.
 * Returns false if the system cannot start that many threads. (If this happened inside a kernel,
 * OpenMP would abort the process.) */
bool yk_cpu_parallel_start_threads(int threads);

/* Calls run(work, chunk) for chunks 0 to `chunks` − 1. If there is only one chunk, it runs on the
 * calling thread. */
void yk_cpu_parallel_for(int threads, int64_t chunks, yk_cpu_chunk_function run, const void *work);

/* Calls run(work, row) for rows 0 to `rows` − 1, in chunks of yk_cpu_rows_per_chunk(width) rows. */
void yk_cpu_parallel_for_rows(int threads, int64_t rows, int64_t width, yk_cpu_row_function run,
                              const void *work);

/* Returns how many of `threads` threads should run work with this many multiplications. */
static inline int yk_cpu_parallel_choose_thread_count(int threads, int64_t multiplications)
{
    return multiplications < YK_CPU_PARALLEL_MIN_MULTIPLICATIONS ? 1 : threads;
}

/* Returns the number of rows of `width` elements in a chunk, at least 1. */
static inline int64_t yk_cpu_rows_per_chunk(int64_t width)
{
    return width < YK_CPU_CHUNK_SIZE ? YK_CPU_CHUNK_SIZE / (width > 0 ? width : 1) : 1;
}

#endif
