/*
 * Replay: what is enqueued on a lane between begin_range() and end_range(), as one CUDA graph.
 *
 * The ops of a range are collected and run when it ends. Those that repeat with the same arguments
 * are captured once and then launched whole, which saves the host a launch for each kernel and the
 * device the pauses between them. All others run as if there were no ranges: arguments that change
 * every step (a learning rate, the samples of dropout) or shapes that vary. A range that is always
 * new is soon not collected any more. Work that no graph holds (of the host, or copies to and from
 * it) and events end the collecting.
 *
 * The functions for the backend's table replace those of the same name in device.h and kernels.h,
 * which never collect: ops call each other by these. A lane owns its replay.
 */
#ifndef YK_BACKEND_CUDA_GRAPHS_REPLAY_H
#define YK_BACKEND_CUDA_GRAPHS_REPLAY_H

#include "backend/backend.h"
#include "backend/cuda/graphs/list.h"

struct yk_replay; /* opaque; NULL until a lane's first range */

/* ---- entries of the backend's table ---- */

/* With its graphs and its prefetch, after all that is on it has run. */
void yk_replay_lane_destroy(struct yk_backend_lane *lane);

/* In traces too, by NVTX; collected only where the device was opened with graphs. */
void yk_replay_begin_range(struct yk_backend_lane *lane, const char *name);
void yk_replay_end_range(struct yk_backend_lane *lane);

yk_status yk_replay_reserve_scratch(struct yk_backend_lane *lane, size_t bytes) YK_MUST_USE;
yk_status yk_replay_lane_synchronize(struct yk_backend_lane *lane) YK_MUST_USE;
void yk_replay_event_record(struct yk_backend_lane *lane, struct yk_backend_event *event);
void yk_replay_event_wait(struct yk_backend_lane *lane, struct yk_backend_event *event);
void yk_replay_copy(struct yk_backend_lane *lane, void *to, const void *from, size_t bytes);
void yk_replay_clear(struct yk_backend_lane *lane, void *memory, size_t bytes);
void yk_replay_call_host(struct yk_backend_lane *lane, void (*function)(void *user), void *user);

#define YK_REPLAY_DECLARE(CAPITALS, name, function)                                                \
    void yk_replay_##name(struct yk_backend_lane *lane, const struct yk_##name##_op *op);
YK_REPLAY_OPS(YK_REPLAY_DECLARE)
#undef YK_REPLAY_DECLARE

#endif
