/*
 * Lane: a CUDA stream with scratch memory and a status, as kernels use it. The struct is in
 * device.h. One thread at a time may use a lane. The lane stores its first failure; later ops do
 * nothing.
 */
#ifndef YK_BACKEND_CUDA_LANE_H
#define YK_BACKEND_CUDA_LANE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct yk_backend_lane;

/* `result` is a variable for results of CUDA, cuBLASLt or cuDNN, in all of which 0 is success.
 * Evaluates the expression if nothing has failed before. */
#define YK_CUDA_THEN(result, expression)                                                           \
    do {                                                                                           \
        if ((result) == 0) {                                                                       \
            (result) = (expression);                                                               \
        }                                                                                          \
    } while (0)

/* Properties of the GPU from which kernels choose their grid. */
struct yk_cuda_device_properties {
    int32_t processors;  /* SMs that kernels fill; excludes `spare` */
    int32_t spare;       /* SMs left free for communication kernels */
    int32_t capability;  /* compute capability; 90 for 9.0 */
    size_t shared_bytes; /* max opt-in shared memory per block */
    size_t cache_bytes;  /* size of the L2 cache */
};

cudaStream_t yk_cuda_lane_stream(const struct yk_backend_lane *lane);
const struct yk_cuda_device_properties *yk_cuda_lane_properties(const struct yk_backend_lane *lane);

enum {
    YK_CUDA_MIN_SCRATCH_BYTES = 64 << 20, /* least scratch memory of a lane, once it has any */
};

/* Scratch memory for one op, aligned to 256 bytes. The next op on the lane may get the same memory.
 * Grows the scratch memory if necessary, which waits for the lane; reserve_scratch() avoids that.
 * Returns NULL, and the lane fails, if the GPU has not enough memory. */
void *yk_cuda_lane_scratch(struct yk_backend_lane *lane, size_t bytes);

/* Stores a failure of a CUDA call in the lane; `action` is the name of the op. Returns false if
 * this or an earlier call failed. */
bool yk_cuda_lane_check(struct yk_backend_lane *lane, cudaError_t error, const char *action);
/* Stores a failure with this message, unless the lane has failed before. */
void yk_cuda_lane_fail(struct yk_backend_lane *lane, const char *message);
bool yk_cuda_lane_is_ok(const struct yk_backend_lane *lane);

#ifdef __cplusplus
}
#endif

#endif
