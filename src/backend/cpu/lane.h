/*
 * Lane: a thread that runs what was put on it, in order. One thread at a time puts work on it.
 */
#ifndef YK_BACKEND_CPU_LANE_H
#define YK_BACKEND_CPU_LANE_H

#include "backend/backend.h"

enum {
    YK_CPU_OP_BYTES = 512, /* the most that one op's arguments take */
};

/* What runs: the arguments are those of the op, copied; `threads` is how many may share the work.
 */
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
