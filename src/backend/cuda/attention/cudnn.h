/*
 * Attention by cuDNN: plans for the shapes that come often, kept by the device.
 *
 * A plan is compiled when it is made, which takes about half a second. So it is made when a shape
 * has been asked for a few times or is large; and once there are many, only for shapes that keep
 * coming: where batches differ in length all the time, most would not be used again. Under
 * options.attention = "cudnn" every shape gets one at once.
 *
 * Lanes may be used by different threads; a lock of the device lets one at a time in.
 */
#ifndef YK_BACKEND_CUDA_ATTENTION_CUDNN_H
#define YK_BACKEND_CUDA_ATTENTION_CUDNN_H

#include "backend/cuda/lane.h"

struct yk_cudnn_cache;

/* After all lanes have come to an end; NULL is fine. */
void yk_cudnn_cache_destroy(struct yk_cudnn_cache *attention);

/* Why the last shape was refused, in the library's own words: for whoever looks into it, when
 * nothing else runs. */
const char *yk_cudnn_cache_reason(void);

#endif
