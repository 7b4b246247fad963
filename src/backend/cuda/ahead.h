/* Ahead: weights that are dequantised on a stream of their own while products run. */
#ifndef YK_BACKEND_CUDA_AHEAD_H
#define YK_BACKEND_CUDA_AHEAD_H

#include "backend/backend.h"

#include <cuda_runtime_api.h>

struct yk_cuda_ahead; /* of one lane */

void yk_cuda_ahead_destroy(struct yk_cuda_ahead *ahead);

/* The op of the backend's table. */
void yk_cuda_dequantise_ahead(struct yk_backend_lane *lane, const struct yk_dequantise *op);

#endif
