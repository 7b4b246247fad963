#include "backend/cpu/parallel.h"

#include <pthread.h>
#include <stdlib.h>

#ifdef _OPENMP
static void *wait_for_gate(void *gate)
{
    (void)pthread_mutex_lock(gate);
    (void)pthread_mutex_unlock(gate);
    return NULL;
}

/* Whether this process can start `count` more threads. The threads end before the function returns.
 */
static bool can_start(int count)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *started = calloc((size_t)count, sizeof *started);
    int made = 0;
    (void)pthread_mutex_lock(&gate);
    while (started && made < count &&
           pthread_create(&started[made], NULL, wait_for_gate, &gate) == 0) {
        made++;
    }
    (void)pthread_mutex_unlock(&gate);
    for (int i = 0; i < made; i++) {
        (void)pthread_join(started[i], NULL);
    }
    free(started);
    return made == count;
}

bool yk_cpu_parallel_start_threads(int threads)
{
    /* No other lane may start threads between the test and the start. */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    (void)pthread_mutex_lock(&lock);
    const bool possible = threads <= 1 || can_start(threads - 1);
    if (possible && threads > 1) {
#pragma omp parallel num_threads(threads)
        {
#pragma omp barrier
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return possible;
}
#else
bool yk_cpu_parallel_start_threads(int threads)
{
    (void)threads;
    return true;
}
#endif

void yk_cpu_parallel_for(int threads, int64_t chunks, yk_cpu_chunk_function run, const void *work)
{
    if (threads <= 1 ||
        chunks <= 1) { /* OpenMP would start a parallel region even for one thread */
        for (int64_t chunk = 0; chunk < chunks; chunk++) {
            run(work, chunk);
        }
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        run(work, chunk);
    }
}

struct rows {
    yk_cpu_row_function run;
    const void *work;
    int64_t count;
    int64_t chunk_rows;
};

static void run_rows(const void *work, int64_t chunk)
{
    const struct rows *rows = work;
    const int64_t end = yk_number_min(rows->count, (chunk + 1) * rows->chunk_rows);
    for (int64_t row = chunk * rows->chunk_rows; row < end; row++) {
        rows->run(rows->work, row);
    }
}

void yk_cpu_parallel_for_rows(int threads, int64_t rows, int64_t width, yk_cpu_row_function run,
                              const void *work)
{
    const struct rows all = {run, work, rows, yk_cpu_rows_per_chunk(width)};
    yk_cpu_parallel_for(threads, yk_number_ceil_div(rows, all.chunk_rows), run_rows, &all);
}
