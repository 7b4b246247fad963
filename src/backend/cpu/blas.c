#include "backend/cpu/cpu.h"

#include "base/units.h"

#include <cblas.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* BUFFER_SIZE of OpenBLAS 0.3 plus a page. OpenBLAS uses one buffer per running matmul and one per
 * thread of its own, and keeps unused buffers for later matmuls. */
#ifdef __x86_64__
#define BUFFER_BYTES (((size_t)32 << 22) + 4096)
#else
#define BUFFER_BYTES (((size_t)32 << 20) + 4096)
#endif

enum {
    MAX_BUFFERS = 512,
    SURE_BUFFERS = 50, /* least number of buffers in every build of OpenBLAS */
};

/* Internal functions of OpenBLAS. Some builds do not export them. */
extern void *blas_memory_alloc(int position) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

static bool can_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED && munmap(memory, bytes) == 0;
}

static yk_status fail_to_map(int buffers)
{
    char needed[YK_UNITS_BUFFER_SIZE];
    char limit[YK_UNITS_BUFFER_SIZE];
    struct rlimit allowed;
    yk_units_format((double)BUFFER_BYTES * buffers, YK_UNIT_BYTES, needed);
    if (getrlimit(RLIMIT_AS, &allowed) != 0 || allowed.rlim_cur == RLIM_INFINITY) {
        return yk_fail(YK_ERROR_SYSTEM,
                       "out of memory: products of matrices need %s; use fewer --threads", needed);
    }
    yk_units_format((double)allowed.rlim_cur, YK_UNIT_BYTES, limit);
    return yk_fail(YK_ERROR_SYSTEM,
                   "out of memory: products of matrices need %s of address space, and ulimit -v "
                   "allows %s for all; raise it or use fewer --threads",
                   needed, limit);
}

/* Allocates a buffer for each of `count` threads and for each of the `own` threads of OpenBLAS, and
 * frees them; OpenBLAS keeps the memory. Its own threads may allocate at the same time and would
 * retry forever on failure, so memory for `own` more buffers must be available. */
static bool allocate(int count, int own)
{
    void *buffers[MAX_BUFFERS];
    int made = 0;
    const bool mapped = can_map(BUFFER_BYTES * (size_t)(count + 2 * own));
    while (mapped && made < count + own) {
        buffers[made++] = blas_memory_alloc(1);
    }
    while (made-- > 0) {
        if (buffers[made]) {
            blas_memory_free(buffers[made]);
        }
    }
    return mapped;
}

/* The number of buffers that OpenBLAS can manage: two per thread of the build. With more buffers,
 * OpenBLAS 0.3 writes beyond the end of a list when it frees them. */
static int count_buffers(void)
{
    static const char key[] = "MAX_THREADS=";
    const char *built = strstr(openblas_get_config(), key);
    const long threads = built ? strtol(built + sizeof key - 1, NULL, 10) : 0;
    const long buffers = 2 * (threads < MAX_BUFFERS ? threads : MAX_BUFFERS);
    return buffers < SURE_BUFFERS ? SURE_BUFFERS
                                  : (int)(buffers < MAX_BUFFERS ? buffers : MAX_BUFFERS);
}

yk_status yk_cpu_blas_reserve_buffers(int threads)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int own = -1; /* threads that OpenBLAS started with; -1: not known yet */
    static int reserved;
    yk_status status = YK_OK;
    (void)pthread_mutex_lock(&lock);
    if (own < 0) {
        own = openblas_get_parallel() == OPENBLAS_THREAD ? openblas_get_num_threads() - 1 : 0;
        own = own < count_buffers() / 4 ? own : count_buffers() / 4;
        /* kernels divide their work among threads themselves */
        openblas_set_num_threads(1);
    }
    const int max_buffers =
        count_buffers() - 2 * own; /* its own threads may hold buffers already */
    const int wanted = threads < max_buffers ? threads : max_buffers;
    if (wanted > reserved && blas_memory_alloc && blas_memory_free) {
        status = allocate(wanted, own) ? YK_OK : fail_to_map(wanted + 2 * own);
        reserved = status == YK_OK ? wanted : reserved;
    }
    (void)pthread_mutex_unlock(&lock);
    return status;
}
