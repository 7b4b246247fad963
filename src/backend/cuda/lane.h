/*
 * Lane: the functions of a lane that kernels need. A lane is a CUDA stream with scratch memory and
 * a status; the struct is defined in device.h. Only one thread at a time may use a lane. After a
 * failure, the lane stores this failure, and later ops do nothing.
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

/* If `result` is 0 (success in CUDA, cuBLASLt and cuDNN), evaluates the expression and stores its
 * value in `result`. After a failure, nothing is evaluated. */
#define YK_CUDA_CALL_UNLESS_FAILED(result, expression)                                             \
    do {                                                                                           \
        if ((result) == 0) {                                                                       \
            (result) = (expression);                                                               \
        }                                                                                          \
    } while (0)

/* Properties of the GPU. Kernels use them to choose their grid. */
struct yk_cuda_device_properties {
    int32_t processors;      /* number of SMs for kernels; does not include `spare` */
    int32_t spare;           /* number of SMs left free for communication kernels */
    int32_t capability;      /* compute capability; 90 means: 9.0 */
    int32_t code_capability; /* that the kernels were compiled for; it may be lower */
    bool is_part;            /* MPS limits this process to some of the GPU's SMs */
    size_t shared_bytes;     /* maximum shared memory that a block can request */
    size_t cache_bytes;      /* size of the L2 cache */
};

cudaStream_t yk_cuda_lane_stream(const struct yk_backend_lane *lane);
const struct yk_cuda_device_properties *
yk_cuda_lane_device_properties(const struct yk_backend_lane *lane);

enum {
    YK_CUDA_MIN_SCRATCH_BYTES = 64 << 20, /* minimum size of scratch memory */
};

/* Returns scratch memory for one op, aligned to 256 bytes. The next op on the lane may get the same
 * memory. If the lane has too little scratch memory, waits for the lane and allocates more;
 * reserve_scratch() avoids this wait. If the GPU does not have enough memory, stores a failure in
 * the lane and returns NULL. */
void *yk_cuda_lane_get_scratch(struct yk_backend_lane *lane, size_t bytes);

/* If `error` is a failure, stores it in the lane. `action` says what the CUDA call was for. Returns
 * false if the lane has stored a failure, now or earlier. */
bool yk_cuda_lane_check_cuda_error(struct yk_backend_lane *lane, cudaError_t error,
                                   const char *action);
/* Stores a failure with this message, unless the lane already has a failure. */
void yk_cuda_lane_store_failure(struct yk_backend_lane *lane, const char *message);
bool yk_cuda_lane_is_ok(const struct yk_backend_lane *lane);

#ifdef __cplusplus
}
#endif

#endif
