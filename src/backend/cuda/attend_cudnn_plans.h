/*
 * Plans of attention that a device keeps, by shape.
 *
 * yk_cuda_attention_enter() takes the device's lock, and makes its handle the lane's; everything
 * else is called between it and yk_cuda_attention_leave().
 */
#ifndef YK_BACKEND_CUDA_ATTEND_CUDNN_PLANS_H
#define YK_BACKEND_CUDA_ATTEND_CUDNN_PLANS_H

#include "backend/cuda/attend_cudnn.h"
#include "backend/cuda/attend_cudnn_graph.h"

struct yk_cuda_attention_plan;

/* NULL where cuDNN does not start; the functions below take that. */
struct yk_cuda_attention *yk_cuda_attention_enter(struct yk_backend_lane *lane);
void yk_cuda_attention_leave(struct yk_cuda_attention *attention);

/* The plan of a shape; NULL where there is none, or not yet. `tokens` is the whole op's B · T. */
struct yk_cuda_attention_plan *yk_cuda_attention_find(struct yk_cuda_attention *attention,
                                                      const struct yk_cudnn_shape *shape,
                                                      int64_t tokens);
int64_t yk_cuda_attention_workspace(const struct yk_cuda_attention_plan *plan);

/* Puts it on the lane. False where that fails, and then it is not found again. Pointers are by
 * slot; YK_CUDNN_QUERY_COUNTS is the plan's own. */
bool yk_cuda_attention_run(struct yk_cuda_attention *attention, struct yk_cuda_attention_plan *plan,
                           void *const pointers[YK_CUDNN_SLOTS], void *workspace);

#endif
