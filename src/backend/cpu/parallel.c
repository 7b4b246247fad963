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

/* Whether this process may have `count` more threads at once. They end, and leave their room to the
 * next ones. */
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

bool yk_cpu_parallel_start(int threads)
{
    /* Who comes next must not take the room between the trial and the start. */
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
bool yk_cpu_parallel_start(int threads)
{
    (void)threads;
    return true;
}
#endif

void yk_cpu_parallel_for(int threads, int64_t chunks, yk_cpu_chunk_function run, const void *work)
{
    if (threads <= 1 || chunks <= 1) { /* OpenMP would set up its threads even for one */
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
