/* Rotary: cosines and sines of rotary position embedding, as kernels load them. */
#ifndef YK_BACKEND_CUDA_KERNELS_ROTARY_CUH
#define YK_BACKEND_CUDA_KERNELS_ROTARY_CUH

#include "backend/cuda/kernels/elements.cuh"

/* Loads the cosines and sines of N pairs; 16 bytes at a time unless N is 1. */
template <int N>
YK_DEVICE_INLINE void yk_rotary_load_cos_sin(const float *cos_sin, float (&cosine)[N],
                                             float (&sine)[N])
{
    if constexpr (N == 1) {
        cosine[0] = cos_sin[0];
        sine[0] = cos_sin[1];
    } else {
#pragma unroll
        for (int i = 0; i < N / 2; i++) {
            const float4 two = reinterpret_cast<const float4 *>(cos_sin)[i];
            cosine[2 * i] = two.x;
            sine[2 * i] = two.y;
            cosine[2 * i + 1] = two.z;
            sine[2 * i + 1] = two.w;
        }
    }
}

#endif
