/*
 * GLU: the arithmetic of gated linear units, in fp32. T is the type in which the result is stored.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_GLU_CUH
#define YK_BACKEND_CUDA_KERNELS_GLU_CUH

#include "backend/cuda/kernels/activations.cuh"

/* Replaces `up` by activation(gate) · up. */
template <enum yk_activation ACTIVATION, typename T, int N>
YK_DEVICE_INLINE void yk_glu_forward(const float (&gate)[N], float (&up)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        up[i] *= yk_activate<ACTIVATION, T>(gate[i]);
    }
}

/* Replaces `gate` by its gradient, and `d`, the gradient of the result, by the gradient of `up`. */
template <enum yk_activation ACTIVATION, typename T, int N>
YK_DEVICE_INLINE void yk_glu_backward(float (&gate)[N], const float (&up)[N], float (&d)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        if constexpr (ACTIVATION == YK_ACTIVATION_SILU) {
            const float s = yk_sigmoid<T>(gate[i]);
            const float d_silu = d[i] * s;
            d[i] = d_silu * gate[i];
            gate[i] = d_silu * up[i] * (1.0F + gate[i] * (1.0F - s));
        } else {
            const float d_out = d[i];
            float derivative;
            d[i] = d_out * yk_activate_with_derivative<ACTIVATION, T>(gate[i], derivative);
            gate[i] = d_out * up[i] * derivative;
        }
    }
}

#endif
