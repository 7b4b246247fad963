/* Prefetch: weights that are dequantised on a stream of their own while products run. */
#ifndef YK_BACKEND_CUDA_PREFETCH_H
#define YK_BACKEND_CUDA_PREFETCH_H

#include "backend/backend.h"

#include <cuda_runtime_api.h>

struct yk_cuda_prefetch; /* of one lane */

void yk_cuda_prefetch_destroy(struct yk_cuda_prefetch *prefetch);

/* The op of the backend's table. */
void yk_cuda_prefetch_dequantise(struct yk_backend_lane *lane, const struct yk_dequantise_op *op);

/* The next op is not prefetched, as if it were the first: marks of before are no longer those of
 * the lane. NULL is fine. */
void yk_cuda_prefetch_forget(struct yk_cuda_prefetch *prefetch);

/* The lane of prefetched work, or NULL. */
struct yk_backend_lane *yk_cuda_prefetch_side(const struct yk_cuda_prefetch *prefetch);

#endif
