/*
 * CPU: declarations that the sources of this folder share: the device, its memory, its lanes and
 * its BLAS library. The ops are in attention/ and kernels/. math/ has functions for the inner loops
 * of ops.
 */
#ifndef YK_BACKEND_CPU_CPU_H
#define YK_BACKEND_CPU_CPU_H

#include "backend/backend.h"

#include <stdatomic.h>

/* ---- affinity.c: the CPU affinity of threads ---- */

struct yk_cpu_affinity {
    int32_t *cores;      /* thread i of the lane "compute" runs on cores[i mod count]; owned */
    int32_t count;       /* number of cores; 0 means: threads are not pinned */
    int32_t comm;        /* core on which the lane "comm" runs */
    atomic_bool refused; /* whether the system refused to pin a thread; this is logged once */
};

yk_status yk_cpu_affinity_init(struct yk_cpu_affinity *affinity,
                               const struct yk_backend_device_options *options) YK_MUST_USE;
void yk_cpu_affinity_free(struct yk_cpu_affinity *affinity);

/* Starts and pins the threads of a lane. The thread of the lane must call this function before it
 * runs kernels. `*threads` is the number of threads of the lane; if threads are pinned, the
 * function sets `*threads` to 1 for the lane "comm". Returns false if the system cannot start the
 * threads. */
bool yk_cpu_affinity_start_lane_threads(struct yk_cpu_affinity *affinity, const char *lane,
                                        int *threads);

/* ---- the device ---- */

struct yk_backend_device {
    int threads; /* number of threads per lane */
    struct yk_cpu_affinity affinity;
};

/* ---- blas.c: the buffers of OpenBLAS ---- */

/* Makes OpenBLAS compute only in the thread that calls it, and allocates buffers for `threads`
 * concurrent callers. Fails if there is not enough memory. (If this happened during a matmul,
 * OpenBLAS would retry forever.) Any thread may call this function. */
yk_status yk_cpu_blas_reserve_buffers(int threads) YK_MUST_USE;

/* ---- memory.c: host memory; any thread may call these functions ---- */

yk_status yk_cpu_memory_allocate(struct yk_backend_device *device, size_t bytes,
                                 void **out) YK_MUST_USE;
void yk_cpu_memory_free(struct yk_backend_device *device, void *memory);

void yk_cpu_memory_enqueue_copy(struct yk_backend_lane *lane, void *to, const void *from,
                                size_t bytes);
void yk_cpu_memory_enqueue_clear(struct yk_backend_lane *lane, void *memory, size_t bytes);

/* ---- lane.c: a thread that runs the enqueued kernels in order ---- */

enum {
    YK_CPU_OP_MAX_BYTES = 512, /* maximum size of the arguments of an op */
};

/* `op` is a copy of the arguments. The kernel may use up to `threads` threads. */
typedef void (*yk_cpu_kernel)(int threads, const void *op);

/* Enqueues a kernel with a copy of its arguments. Waits while the lane is full. */
void yk_cpu_lane_enqueue(struct yk_backend_lane *lane, yk_cpu_kernel kernel, const void *op,
                         size_t size);

yk_status yk_cpu_lane_create(struct yk_backend_device *device, const char *name,
                             struct yk_backend_lane **out) YK_MUST_USE;
void yk_cpu_lane_destroy(struct yk_backend_lane *lane);
yk_status yk_cpu_lane_synchronize(struct yk_backend_lane *lane) YK_MUST_USE;

yk_status yk_cpu_lane_event_create(struct yk_backend_device *device,
                                   struct yk_backend_event **out) YK_MUST_USE;
void yk_cpu_lane_event_destroy(struct yk_backend_event *event);
void yk_cpu_lane_event_record(struct yk_backend_lane *lane, struct yk_backend_event *event);
void yk_cpu_lane_event_wait(struct yk_backend_lane *lane, struct yk_backend_event *event);
yk_status yk_cpu_lane_event_synchronize(struct yk_backend_event *event) YK_MUST_USE;
bool yk_cpu_lane_event_query(const struct yk_backend_event *event);
double yk_cpu_lane_event_time_s(const struct yk_backend_event *event);

#endif
