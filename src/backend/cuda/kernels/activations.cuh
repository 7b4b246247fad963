/*
 * Activations: activation functions, their derivatives, gated linear units and the epilogues of
 * matmuls, computed in fp32. backend/cpu/kernels/matmul.c uses the same formulas. T is the type in
 * which the result is stored. If T has 16 bits, fast intrinsics are used. Their error is at most
 * 1e-6 times the largest absolute value in the result.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_ACTIVATIONS_CUH
#define YK_BACKEND_CUDA_KERNELS_ACTIVATIONS_CUH

#include "backend/cuda/kernels/elements.cuh"

/* 1 / (1 + e^−x). If e^−x overflows, the result is 0. */
template <typename T> __device__ __forceinline__ float yk_sigmoid(float x)
{
    if (sizeof(T) == 2) {
        return __fdividef(1.0F, 1.0F + __expf(-x));
    }
    return 1.0F / (1.0F + expf(-x));
}

/* silu(x) = x · s(x) with the sigmoid s. The derivative is s (1 + x (1 − s)). */
template <typename T> __device__ __forceinline__ float yk_silu(float x)
{
    return x * yk_sigmoid<T>(x);
}

template <typename T> __device__ __forceinline__ float yk_silu_derivative(float x)
{
    const float s = yk_sigmoid<T>(x);
    return s * (1.0F + x * (1.0F - s));
}

/* gelu(x) = x · Φ(x) (Hendrycks and Gimpel 2016). In the tanh form, with the sigmoid s:
 *   Φ(x) ≈ (1 + tanh u) / 2 = s(2u)   with u = √(2/π) · (x + 0.044715 x³) */
#define YK_TWICE_ROOT_TWO_OVER_PI 1.59576912160573071F
#define YK_GELU_CUBIC_COEFFICIENT 0.044715F
#define YK_ROOT_HALF 0.70710678118654752F
#define YK_ROOT_TWO_PI_INVERSE 0.39894228040143268F

template <typename T> __device__ __forceinline__ float yk_gelu_cdf(float x)
{
    const float third = YK_TWICE_ROOT_TWO_OVER_PI * YK_GELU_CUBIC_COEFFICIENT;
    return yk_sigmoid<T>(x * (x * x * third + YK_TWICE_ROOT_TWO_OVER_PI));
}

template <typename T> __device__ __forceinline__ float yk_gelu(float x)
{
    return x * yk_gelu_cdf<T>(x);
}

/* The derivative of the tanh form is Φ + x Φ', with Φ' = 2 u' Φ (1 − Φ). */
template <typename T> __device__ __forceinline__ float yk_gelu_derivative(float x)
{
    const float gate = yk_gelu_cdf<T>(x);
    const float third = 3.0F * YK_GELU_CUBIC_COEFFICIENT * YK_TWICE_ROOT_TWO_OVER_PI;
    const float twice_slope_of_u = x * x * third + YK_TWICE_ROOT_TWO_OVER_PI;
    return gate + x * gate * (1.0F - gate) * twice_slope_of_u;
}

/* The exact form: Φ(x) = (1 + erf(x / √2)) / 2. */
YK_DEVICE_INLINE float yk_normal_cdf(float x)
{
    return 0.5F + 0.5F * erff(x * YK_ROOT_HALF);
}

YK_DEVICE_INLINE float yk_gelu_erf(float x)
{
    return x * yk_normal_cdf(x);
}

/* The derivative of the exact form at x, where Φ(x) is `cdf`. */
template <typename T> __device__ __forceinline__ float yk_gelu_erf_derivative(float x, float cdf)
{
    const float power = -0.5F * x * x;
    const float bell = sizeof(T) == 2 ? __expf(power) : expf(power);
    return cdf + x * YK_ROOT_TWO_PI_INVERSE * bell;
}

template <typename T> __device__ __forceinline__ float yk_gelu_erf_derivative(float x)
{
    return yk_gelu_erf_derivative<T>(x, yk_normal_cdf(x));
}

/* max(x, 0), but NaN stays NaN. */
YK_DEVICE_INLINE float yk_relu(float x)
{
    return x < 0.0F ? 0.0F : x;
}

YK_DEVICE_INLINE float yk_relu_squared(float x)
{
    return x < 0.0F ? 0.0F : x * x;
}

YK_DEVICE_INLINE float yk_relu_squared_derivative(float x)
{
    return x > 0.0F ? 2.0F * x : 0.0F;
}

template <enum yk_activation ACTIVATION, typename T>
__device__ __forceinline__ float yk_activate(float x)
{
    switch (ACTIVATION) {
    case YK_ACTIVATION_GELU_TANH:
        return yk_gelu<T>(x);
    case YK_ACTIVATION_GELU:
        return yk_gelu_erf(x);
    case YK_ACTIVATION_RELU:
        return yk_relu(x);
    case YK_ACTIVATION_RELU_SQUARED:
        return yk_relu_squared(x);
    case YK_ACTIVATION_SILU:
        return yk_silu<T>(x);
    case YK_ACTIVATION_TANH:
        return tanhf(x);
    }
    return x;
}

/* Returns activation(x). `derivative` is the derivative at x. */
template <enum yk_activation ACTIVATION, typename T>
__device__ __forceinline__ float yk_activate_with_derivative(float x, float &derivative)
{
    if constexpr (ACTIVATION == YK_ACTIVATION_GELU) { /* the compiler does not share erf itself */
        const float cdf = yk_normal_cdf(x);
        derivative = yk_gelu_erf_derivative<T>(x, cdf);
        return x * cdf;
    }
    const float value = yk_activate<ACTIVATION, T>(x);
    switch (ACTIVATION) {
    case YK_ACTIVATION_GELU_TANH:
        derivative = yk_gelu_derivative<T>(x);
        break;
    case YK_ACTIVATION_GELU:
        break;
    case YK_ACTIVATION_RELU:
        derivative = x > 0.0F ? 1.0F : 0.0F;
        break;
    case YK_ACTIVATION_RELU_SQUARED:
        derivative = yk_relu_squared_derivative(x);
        break;
    case YK_ACTIVATION_SILU:
        derivative = yk_silu_derivative<T>(x);
        break;
    case YK_ACTIVATION_TANH:
        derivative = 1.0F - value * value;
        break;
    }
    return value;
}

/* ---- gated linear units ---- */

/* Replaces `up` by activation(gate) · up. */
template <enum yk_activation ACTIVATION, typename T, int N>
YK_DEVICE_INLINE void yk_glu_forward(const float (&gate)[N], float (&up)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        up[i] *= yk_activate<ACTIVATION, T>(gate[i]);
    }
}

/* Replaces `gate` by its gradient, and `d`, the gradient of the result, by the gradient of `up`.
 * `up` is replaced by the result. */
template <enum yk_activation ACTIVATION, typename T, int N>
YK_DEVICE_INLINE void yk_glu_backward(float (&gate)[N], float (&up)[N], float (&d)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        if constexpr (ACTIVATION == YK_ACTIVATION_SILU) {
            const float s = yk_sigmoid<T>(gate[i]);
            const float d_silu = d[i] * s;
            const float x = gate[i];
            d[i] = d_silu * x;
            gate[i] = d_silu * up[i] * (1.0F + x * (1.0F - s));
            up[i] *= x * s;
        } else {
            const float d_out = d[i];
            float derivative;
            const float value = yk_activate_with_derivative<ACTIVATION, T>(gate[i], derivative);
            d[i] = d_out * value;
            gate[i] = d_out * up[i] * derivative;
            up[i] *= value;
        }
    }
}

/* ---- dispatch and epilogues ---- */

/* Calls f with an argument whose type has the constant `value`: the activation. */
template <typename F> static inline void yk_dispatch_activation(enum yk_activation activation, F f)
{
    switch (activation) {
    case YK_ACTIVATION_GELU_TANH:
        f(std::integral_constant<enum yk_activation, YK_ACTIVATION_GELU_TANH>());
        break;
    case YK_ACTIVATION_GELU:
        f(std::integral_constant<enum yk_activation, YK_ACTIVATION_GELU>());
        break;
    case YK_ACTIVATION_RELU:
        f(std::integral_constant<enum yk_activation, YK_ACTIVATION_RELU>());
        break;
    case YK_ACTIVATION_RELU_SQUARED:
        f(std::integral_constant<enum yk_activation, YK_ACTIVATION_RELU_SQUARED>());
        break;
    case YK_ACTIVATION_SILU:
        f(std::integral_constant<enum yk_activation, YK_ACTIVATION_SILU>());
        break;
    case YK_ACTIVATION_TANH:
        f(std::integral_constant<enum yk_activation, YK_ACTIVATION_TANH>());
        break;
    }
}

/* x[i] = f(x[i], aux[i]). */
template <int N, typename F>
YK_DEVICE_INLINE void yk_apply_each(float (&x)[N], const float (&aux)[N], F f)
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        x[i] = f(x[i], aux[i]);
    }
}

/* Applies the epilogue of a matmul to x. Backward epilogues read aux. All threads of a block have
 * the same epilogue. */
template <typename T, int N>
YK_DEVICE_INLINE void yk_apply_epilogue(enum yk_matmul_epilogue epilogue, const float (&aux)[N],
                                        float (&x)[N])
{
    switch (epilogue) {
    case YK_EPILOGUE_GELU:
        yk_apply_each(x, aux, [](float number, float) { return yk_gelu<T>(number); });
        break;
    case YK_EPILOGUE_GELU_ERF:
        yk_apply_each(x, aux, [](float number, float) { return yk_gelu_erf(number); });
        break;
    case YK_EPILOGUE_RELU:
        yk_apply_each(x, aux, [](float number, float) { return yk_relu(number); });
        break;
    case YK_EPILOGUE_RELU_SQUARED:
        yk_apply_each(x, aux, [](float number, float) { return yk_relu_squared(number); });
        break;
    case YK_EPILOGUE_SILU:
        yk_apply_each(x, aux, [](float number, float) { return yk_silu<T>(number); });
        break;
    case YK_EPILOGUE_GELU_BACKWARD:
        yk_apply_each(x, aux,
                      [](float number, float at) { return number * yk_gelu_derivative<T>(at); });
        break;
    case YK_EPILOGUE_GELU_ERF_BACKWARD:
        yk_apply_each(
            x, aux, [](float number, float at) { return number * yk_gelu_erf_derivative<T>(at); });
        break;
    case YK_EPILOGUE_RELU_BACKWARD:
        yk_apply_each(x, aux, [](float number, float at) { return at > 0.0F ? number : 0.0F; });
        break;
    case YK_EPILOGUE_RELU_SQUARED_BACKWARD:
        yk_apply_each(
            x, aux, [](float number, float at) { return number * yk_relu_squared_derivative(at); });
        break;
    case YK_EPILOGUE_SILU_BACKWARD:
        yk_apply_each(x, aux,
                      [](float number, float at) { return number * yk_silu_derivative<T>(at); });
        break;
    default:
        break;
    }
}

#endif
