/*
 * Plans of attention that a device keeps, by shape.
 *
 * yk_cudnn_cache_lock() takes the device's lock, and makes its handle the lane's; everything
 * else is called between it and yk_cudnn_cache_unlock().
 */
#ifndef YK_BACKEND_CUDA_ATTENTION_CUDNN_CACHE_H
#define YK_BACKEND_CUDA_ATTENTION_CUDNN_CACHE_H

#include "backend/cuda/attention/cudnn.h"
#include "backend/cuda/attention/cudnn_graph.h"

struct yk_cudnn_cached_plan;

/* NULL where cuDNN does not start; the functions below take that. */
struct yk_cudnn_cache *yk_cudnn_cache_lock(struct yk_backend_lane *lane);
void yk_cudnn_cache_unlock(struct yk_cudnn_cache *attention);

/* The plan of a shape; NULL where there is none, or not yet. `tokens` is the whole op's B · T. */
struct yk_cudnn_cached_plan *yk_cudnn_cache_find(struct yk_cudnn_cache *attention,
                                                 const struct yk_cudnn_shape *shape,
                                                 int64_t tokens);
int64_t yk_cudnn_cache_workspace(const struct yk_cudnn_cached_plan *plan);

/* Puts it on the lane. False where that fails, and then it is not found again. Pointers are by
 * slot; YK_CUDNN_QUERY_COUNTS is the plan's own. */
bool yk_cudnn_cache_run(struct yk_cudnn_cache *attention, struct yk_cudnn_cached_plan *plan,
                        void *const pointers[YK_CUDNN_SLOTS], void *workspace);

#endif
