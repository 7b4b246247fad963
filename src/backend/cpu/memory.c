#include "backend/cpu/cpu.h"

#include "base/system.h"
#include "base/units.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    HUGE_PAGE = 2 << 20, /* bytes; the usual size on aarch64 and x86-64 */
    CHUNK = 1 << 20,     /* bytes that one thread copies or clears at a time */
};

struct copy {
    char *to;
    const char *from; /* NULL means: clear */
    size_t bytes;
};

static yk_status refuse(size_t bytes, double free)
{
    char asked[YK_UNITS_BUFFER_SIZE];
    char left[YK_UNITS_BUFFER_SIZE];
    yk_units_format((double)bytes, YK_UNIT_BYTES, asked);
    yk_units_format(free, YK_UNIT_BYTES, left);
    if ((double)bytes <= free) {
        return yk_fail(YK_ERROR_NO_FIT,
                       "cpu: the system refuses %s of memory, though %s are free: raise the limit "
                       "(ulimit -v), or make the batch or the model smaller",
                       asked, left);
    }
    return yk_fail(YK_ERROR_NO_FIT,
                   "cpu: %s of memory were asked for and %s are free: make the batch or the model "
                   "smaller, or give other devices more of it",
                   asked, left);
}

/* Huge pages cause fewer TLB misses. A failure of madvise() is harmless. */
static void ask_for_huge_pages(char *memory, size_t bytes)
{
    const size_t before = (size_t)(-(uintptr_t)memory % HUGE_PAGE);
    if (bytes >= before + HUGE_PAGE) {
        (void)madvise(memory + before, (bytes - before) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
    }
}

/* calloc() uses zeroed pages of the system, which cost nothing until they are written. The pointer
 * from calloc() is stored just before the aligned memory, for free(). */
yk_status yk_cpu_memory_allocate(struct yk_backend_device *device, size_t bytes, void **out)
{
    (void)device;
    const size_t extra = YK_BACKEND_ALIGNMENT + sizeof(void *);
    const double free = yk_system_free_memory_bytes();
    if (bytes > SIZE_MAX - extra || (free > 0 && (double)bytes > free)) {
        return refuse(bytes, free);
    }
    char *given = calloc(1, bytes + extra);
    if (!given) {
        return refuse(bytes, free);
    }
    char *memory = given + extra;
    memory -= (uintptr_t)memory % YK_BACKEND_ALIGNMENT;
    memcpy(memory - sizeof(void *), &given, sizeof given);
    ask_for_huge_pages(memory, bytes);
    *out = memory;
    return YK_OK;
}

void yk_cpu_memory_free(struct yk_backend_device *device, void *memory)
{
    (void)device;
    if (memory) {
        char *given;
        memcpy(&given, (char *)memory - sizeof(void *), sizeof given);
        free(given);
    }
}

static void run_copy(int threads, const void *op)
{
    (void)threads;
    const struct copy *copy = op;
    const int64_t chunks = (int64_t)(copy->bytes / CHUNK + (copy->bytes % CHUNK != 0));
#pragma omp parallel for num_threads(threads) schedule(static) if (chunks > 1)
    for (int64_t i = 0; i < chunks; i++) {
        const size_t start = (size_t)i * CHUNK;
        const size_t rest = copy->bytes - start;
        const size_t bytes = rest < CHUNK ? rest : CHUNK;
        if (copy->from) {
            memcpy(copy->to + start, copy->from + start, bytes);
        } else {
            memset(copy->to + start, 0, bytes);
        }
    }
}

void yk_cpu_memory_enqueue_copy(struct yk_backend_lane *lane, void *to, const void *from,
                                size_t bytes)
{
    const struct copy copy = {to, from, bytes};
    yk_cpu_lane_enqueue(lane, run_copy, &copy, sizeof copy);
}

void yk_cpu_memory_enqueue_clear(struct yk_backend_lane *lane, void *memory, size_t bytes)
{
    const struct copy copy = {memory, NULL, bytes};
    yk_cpu_lane_enqueue(lane, run_copy, &copy, sizeof copy);
}
