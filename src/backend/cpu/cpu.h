/*
 * The CPU as a device: its memory, its lanes and what they need, shared by the sources of this
 * folder. attention/ and kernels/ hold the ops, math/ what their inner loops share.
 */
#ifndef YK_BACKEND_CPU_CPU_H
#define YK_BACKEND_CPU_CPU_H

#include "backend/backend.h"

#include <stdatomic.h>

/* ---- pin.c: threads that stay on the cores they were given ---- */

struct yk_cpu_pins {
    int32_t *cores; /* thread i of a kernel is on cores[i mod count] */
    int32_t count;  /* 0: threads are where the system likes */
    int32_t comm;   /* of the lane "comm" */
    atomic_bool refused;
};

yk_status yk_cpu_pins_init(struct yk_cpu_pins *pins,
                           const struct yk_backend_options *options) YK_MUST_USE;
void yk_cpu_pins_destroy(struct yk_cpu_pins *pins);

/* Called by the thread of a lane first: starts the `*threads` that it computes with and pins them
 * all. `*threads` becomes how many there are: on the lane "comm", one. False where the system
 * refuses so many. */
bool yk_cpu_pin_lane(struct yk_cpu_pins *pins, const char *lane, int *threads);

/* ---- the device ---- */

struct yk_backend_device {
    int threads;
    struct yk_cpu_pins pins;
};

/* ---- blas.c: the memory that the library for matrix products works in ---- */

/* Makes the library use no threads of its own and allocate now what `threads` threads need. Fails
 * where the process may not have so much: within a product, the library would retry for ever. Any
 * thread. */
yk_status yk_cpu_blas_reserve(int threads) YK_MUST_USE;

/* ---- memory.c: any thread may call these ---- */

yk_status yk_cpu_memory_allocate(struct yk_backend_device *device, size_t bytes,
                                 void **out) YK_MUST_USE;
void yk_cpu_memory_free(struct yk_backend_device *device, void *memory);

void yk_cpu_memory_copy(struct yk_backend_lane *lane, void *to, const void *from, size_t bytes);
void yk_cpu_memory_clear(struct yk_backend_lane *lane, void *memory, size_t bytes);

/* ---- lane.c: a thread that runs what was enqueued, in order ---- */

enum {
    YK_CPU_OP_BYTES = 512, /* the most that one op's arguments take */
};

/* The arguments are a copy of the op's; `threads` is how many may share the work. */
typedef void (*yk_cpu_kernel)(int threads, const void *op);

/* Puts a kernel on the lane with a copy of its arguments; waits while the lane is full. */
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
