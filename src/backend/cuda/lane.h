/*
 * Lane: a stream of a GPU, as the sources of this backend see it. Called by whoever enqueues on the
 * lane, one thread at a time. The first failure stays with the lane, and ops after it do nothing.
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

struct yk_backend_device;
struct yk_backend_lane;

/* What kernels are shaped by. */
struct yk_cuda_properties {
    int32_t processors;  /* SMs that kernels are made to fill, */
    int32_t spare;       /* and those besides, for whoever else is on the GPU: messages */
    int32_t capability;  /* 90 for 9.0 */
    size_t shared_bytes; /* that one block may have, asked for */
    size_t cache_bytes;  /* of the second level */
};

cudaStream_t yk_cuda_lane_stream(const struct yk_backend_lane *lane);
const struct yk_cuda_properties *yk_cuda_lane_properties(const struct yk_backend_lane *lane);
struct yk_backend_device *yk_cuda_lane_device(const struct yk_backend_lane *lane);

/* Scratch memory for one op, 256-byte aligned: the next op on the lane may get the same. NULL, and
 * the lane fails, where there is not enough. What reserve_scratch() asked for, and at least
 * YK_CUDA_SCRATCH_BYTES, is there at once. */
enum {
    YK_CUDA_SCRATCH_BYTES = 64 << 20,
};
void *yk_cuda_lane_scratch(struct yk_backend_lane *lane, size_t bytes);

/* Fails the lane where a CUDA call failed; `action` is the op's name. False, once anything failed.
 */
bool yk_cuda_lane_check(struct yk_backend_lane *lane, cudaError_t error, const char *action);
/* The same with a sentence of its own. */
void yk_cuda_lane_fail(struct yk_backend_lane *lane, const char *message);
bool yk_cuda_lane_is_ok(const struct yk_backend_lane *lane);

#ifdef __cplusplus
}
#endif

#endif
