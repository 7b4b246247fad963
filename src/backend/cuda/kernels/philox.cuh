/*
 * Philox4x32-10 on the device: computes the same random numbers as backend/cpu/math/philox.h.
 * struct yk_dropout_options in backend/ops.h defines how dropout uses these numbers.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_PHILOX_CUH
#define YK_BACKEND_CUDA_KERNELS_PHILOX_CUH

#include "backend/cuda/kernels/elements.cuh"

YK_DEVICE_INLINE uint4 yk_philox_random_words(uint64_t seed, uint4 x)
{
    uint32_t key0 = static_cast<uint32_t>(seed);
    uint32_t key1 = static_cast<uint32_t>(seed >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        const uint32_t high0 = __umulhi(0xd2511f53U, x.x);
        const uint32_t low0 = 0xd2511f53U * x.x;
        const uint32_t high2 = __umulhi(0xcd9e8d57U, x.z);
        const uint32_t low2 = 0xcd9e8d57U * x.z;
        x = make_uint4(high2 ^ x.y ^ key0, low2, high0 ^ x.w ^ key1, low0);
        key0 += 0x9e3779b9U;
        key1 += 0xbb67ae85U;
    }
    return x;
}

/* Returns the four random words for elements 4 · quad to 4 · quad + 3 of a sample. */
YK_DEVICE_INLINE uint4 yk_philox_dropout_random_words(uint64_t seed, uint64_t site, int64_t sample,
                                                      uint64_t quad)
{
    return yk_philox_random_words(
        seed, make_uint4(static_cast<uint32_t>(quad), static_cast<uint32_t>(sample),
                         static_cast<uint32_t>(site), static_cast<uint32_t>(site >> 32)));
}

#endif
