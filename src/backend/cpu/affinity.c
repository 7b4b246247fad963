#include "backend/cpu/cpu.h"

#include "backend/cpu/parallel.h"
#include "base/log.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

yk_status yk_cpu_affinity_init(struct yk_cpu_affinity *affinity,
                               const struct yk_backend_device_options *options)
{
    if (options->core_count <= 0) {
        return YK_OK;
    }
    const size_t bytes = (size_t)options->core_count * sizeof *affinity->cores;
    affinity->cores = malloc(bytes);
    YK_TRY_ALLOCATED(affinity->cores);
    memcpy(affinity->cores, options->cores, bytes);
    affinity->count = options->core_count;
    affinity->comm = options->comm_core;
    return YK_OK;
}

void yk_cpu_affinity_free(struct yk_cpu_affinity *affinity)
{
    free(affinity->cores);
}

/* Lets the calling thread run on these cores only. */
static void pin(struct yk_cpu_affinity *affinity, const int32_t *cores, int32_t count)
{
    int32_t highest = 0;
    bool valid = true;
    for (int32_t i = 0; i < count; i++) {
        highest = cores[i] > highest ? cores[i] : highest;
        valid = valid && cores[i] >= 0;
    }
    cpu_set_t *set = valid ? CPU_ALLOC((size_t)highest + 1) : NULL;
    const size_t size = CPU_ALLOC_SIZE((size_t)highest + 1);
    if (set) {
        CPU_ZERO_S(size, set);
        for (int32_t i = 0; i < count; i++) {
            CPU_SET_S((size_t)cores[i], size, set);
        }
    }
    if ((!set || sched_setaffinity(0, size, set) != 0) &&
        !atomic_exchange(&affinity->refused, true)) {
        yk_log(YK_LOG_NOTE,
               "the system does not let threads stay on core %d; they run where it "
               "puts them",
               (int)cores[0]);
    }
    CPU_FREE(set);
}

static int number_in_team(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

/* OpenMP reuses the threads of a team for the next team of the same size. All kernels of a lane use
 * this size. */
static void pin_team(struct yk_cpu_affinity *affinity, int threads)
{
    if (threads > 1) {
#pragma omp parallel num_threads(threads)
        if (number_in_team() > 0) {
            pin(affinity, &affinity->cores[number_in_team() % affinity->count], 1);
        }
    }
    /* Pin this thread last, because new threads inherit its affinity. */
    pin(affinity, &affinity->cores[0], 1);
}

bool yk_cpu_affinity_start_lane_threads(struct yk_cpu_affinity *affinity, const char *lane,
                                        int *threads)
{
    if (affinity->count == 0) {
        return yk_cpu_parallel_start_threads(*threads);
    }
    if (strcmp(lane, "comm") == 0) {
        pin(affinity, &affinity->comm, 1);
        *threads = 1;
        return true;
    }
    pin(affinity, affinity->cores, affinity->count);
    const bool started = yk_cpu_parallel_start_threads(*threads);
    if (started && strcmp(lane, "compute") == 0) {
        pin_team(affinity, *threads);
    }
    return started;
}
