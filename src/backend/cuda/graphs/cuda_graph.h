/*
 * CUDA graph: launches the ops between begin_range() and end_range() of a lane as one CUDA graph.
 *
 * A lane collects the ops of a range and runs them when the range ends. A list of ops that repeats
 * with the same arguments is captured once and then launched as a graph. This saves the time of one
 * kernel launch per op on the host, and the gaps between kernels on the device. A list whose
 * arguments change in every step (a learning rate, the sample numbers of dropout, a varying shape)
 * runs op by op. If the list of a range is new many times in a row, the ops of this range are not
 * collected for a while. Host functions, copies from or to the host, and events end the collection,
 * because the list of ops cannot contain them.
 *
 * The functions at the end of this header implement members of struct yk_backend. Each of
 * them wraps a function of device.h or kernels.h that has a similar name. A wrapped function never
 * collects an op: it enqueues the op immediately. An op that consists of other ops calls the
 * wrapped functions directly. A lane owns its graphs. Only one thread at a time may use a lane.
 */
#ifndef YK_BACKEND_CUDA_GRAPHS_CUDA_GRAPH_H
#define YK_BACKEND_CUDA_GRAPHS_CUDA_GRAPH_H

#include "backend/backend.h"
#include "backend/cuda/kernels.h"

/* ---- op_list.c: stores the ops of a range as bytes, which are compared to recognise equal ranges
 * ---- */

#define YK_CUDA_OP_KIND_CONSTANT(CAPITALS, name, function) YK_CUDA_OP_##CAPITALS,
enum yk_cuda_op_kind {
    YK_CUDA_OP_COPY_OR_CLEAR, /* stores a struct yk_cuda_copy_or_clear_op */
    YK_OPS_FOR_EACH(YK_CUDA_OP_KIND_CONSTANT)
};
#undef YK_CUDA_OP_KIND_CONSTANT

/* A copy within device memory, or a clear. */
struct yk_cuda_copy_or_clear_op {
    void *to;
    const void *from; /* NULL means: fill with zeros */
    size_t count;     /* number of bytes */
};

enum {
    YK_CUDA_OP_LIST_BYTES = 64 << 10, /* room for about 300 ops, which is more than a layer has */
};

struct yk_cuda_op_list {
    char bytes[YK_CUDA_OP_LIST_BYTES]; /* first member, so that ops are aligned like the struct */
    size_t length;
    int32_t count; /* number of ops */
};

/* Adds an op. Returns false, and adds nothing, if the list is full. */
bool yk_cuda_op_list_add(struct yk_cuda_op_list *list, enum yk_cuda_op_kind kind, const void *op,
                         size_t bytes);

/* Enqueues every op of the list on the lane. */
void yk_cuda_op_list_enqueue(const struct yk_cuda_op_list *list, struct yk_backend_lane *lane);

/* ---- functions of struct yk_backend ---- */

/* Waits for the lane, then destroys the lane, its graphs and its prefetch. */
void yk_cuda_graph_destroy_lane(struct yk_backend_lane *lane);

/* Begin and end a range of the lane, and also an NVTX range. Ops are collected only if the device
 * was opened with the option `graphs`. */
void yk_cuda_graph_begin_range(struct yk_backend_lane *lane, const char *name);
void yk_cuda_graph_end_range(struct yk_backend_lane *lane);

yk_status yk_cuda_graph_flush_and_reserve_scratch(struct yk_backend_lane *lane,
                                                  size_t bytes) YK_MUST_USE;
yk_status yk_cuda_graph_flush_and_synchronize(struct yk_backend_lane *lane) YK_MUST_USE;
void yk_cuda_graph_flush_and_record_event(struct yk_backend_lane *lane,
                                          struct yk_backend_event *event);
void yk_cuda_graph_flush_and_wait_for_event(struct yk_backend_lane *lane,
                                            struct yk_backend_event *event);
void yk_cuda_graph_collect_copy(struct yk_backend_lane *lane, void *to, const void *from,
                                size_t bytes);
void yk_cuda_graph_collect_clear(struct yk_backend_lane *lane, void *memory, size_t bytes);
void yk_cuda_graph_flush_and_call_host(struct yk_backend_lane *lane, void (*function)(void *user),
                                       void *user);

#define YK_CUDA_GRAPH_DECLARE_OP_FUNCTION(CAPITALS, name, function)                                \
    void yk_cuda_graph_collect_##name(struct yk_backend_lane *lane,                                \
                                      const struct yk_##name##_op *op);
YK_OPS_FOR_EACH(YK_CUDA_GRAPH_DECLARE_OP_FUNCTION)
#undef YK_CUDA_GRAPH_DECLARE_OP_FUNCTION

#endif
