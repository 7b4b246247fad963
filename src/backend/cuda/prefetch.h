/* Ahead: weights that are dequantised on a stream of their own while products run. */
#ifndef YK_BACKEND_CUDA_PREFETCH_H
#define YK_BACKEND_CUDA_PREFETCH_H

#include "backend/backend.h"

#include <cuda_runtime_api.h>

struct yk_cuda_prefetch; /* of one lane */

void yk_cuda_prefetch_destroy(struct yk_cuda_prefetch *prefetch);

/* The op of the backend's table. */
void yk_cuda_prefetch_dequantise(struct yk_backend_lane *lane, const struct yk_dequantise_op *op);

/* What comes next does not go ahead, as if nothing had come before it: the marks of what came
 * before are not those of the lane any more. NULL is fine. */
void yk_cuda_prefetch_forget(struct yk_cuda_prefetch *prefetch);

/* Where work goes ahead, or NULL. */
struct yk_backend_lane *yk_cuda_prefetch_side(const struct yk_cuda_prefetch *prefetch);

#endif
