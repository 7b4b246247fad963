/*
 * Attention by cuDNN: plans for the shapes that come often, kept by the device. A plan takes half a
 * second to compile, so it is made when a shape has come a few times or is large; once there are
 * many, only for shapes that keep coming. With options.attention = "cudnn" every shape gets one at
 * once. Lanes may be used by different threads: the device has a lock.
 */
#ifndef YK_BACKEND_CUDA_ATTENTION_CUDNN_H
#define YK_BACKEND_CUDA_ATTENTION_CUDNN_H

#include "backend/cuda/lane.h"

struct yk_cudnn_cache;

/* After all lanes have come to an end; NULL is fine. */
void yk_cudnn_cache_destroy(struct yk_cudnn_cache *cache);

/* Why the last shape was refused, in the library's words; for debugging, when nothing else runs. */
const char *yk_cudnn_cache_reason(void);

#endif
