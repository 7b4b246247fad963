/*
 * What tensor cores and copies into shared memory are asked with, of GPUs from 8.0 on. Addresses
 * are those of shared memory. The lanes of a warp call all but the copies together.
 *
 * A matrix here is 8 rows of 16 bytes. Of a product c (16, 8) += a (16, 16) · b (16, 8), lane l
 * with g = l / 4 and i = l % 4 has
 *   a: rows g, g + 8, g, g + 8; columns 2i, 2i + 1 for the first two, those + 8 for the last two;
 *   b: column g; rows 2i, 2i + 1, and those + 8;
 *   c: row g, columns 2i and 2i + 1; the same of row g + 8.
 */
#ifndef YK_BACKEND_CUDA_ATTENTION_MMA_CUH
#define YK_BACKEND_CUDA_ATTENTION_MMA_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

/* Kernels for tensor cores are empty elsewhere, and are not called. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define YK_HAS_TENSOR_CORES 1
#else
#define YK_HAS_TENSOR_CORES 0
#endif

static __device__ __forceinline__ uint32_t yk_shared_address(const void *pointer)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

/* 16 bytes, or zeros where they are not there; nothing is read then. */
static __device__ __forceinline__ void yk_copy_async(uint32_t to, const void *from, bool there)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
                 "l"(__cvta_generic_to_global(from)), "r"(there ? 16 : 0)
                 : "memory");
}

/* The same with 4 bytes. */
static __device__ __forceinline__ void yk_copy_word_async(uint32_t to, const void *from, bool there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to),
                 "l"(__cvta_generic_to_global(from)), "r"(there ? 4 : 0)
                 : "memory");
}

static __device__ __forceinline__ void yk_copy_async_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits for this thread's copies; others' are known to be there after a barrier. */
static __device__ __forceinline__ void yk_copy_async_wait(void)
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/* Four matrices: lanes 8n … 8n + 7 say where the rows of matrix n are, and lane l gets numbers 2i
 * and 2i + 1 of row g of each. */
static __device__ __forceinline__ void yk_load_matrices(uint32_t row, uint32_t (&out)[4])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(row)
                 : "memory");
}

/* The same, with numbers g of rows 2i and 2i + 1. */
static __device__ __forceinline__ void yk_load_matrices_transposed(uint32_t row, uint32_t (&out)[4])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(row)
                 : "memory");
}

template <typename T>
static __device__ __forceinline__ void yk_mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                              uint32_t b1);

/* Two numbers in 32 bits, the first in the lower half. */
template <typename T> static __device__ __forceinline__ uint32_t yk_pack(float first, float second);

/* Both for numbers that instructions call `name`. */
#define YK_DEFINE_MMA(T, name)                                                                     \
    template <>                                                                                    \
    __device__ __forceinline__ void yk_mma<T>(float(&c)[4], const uint32_t(&a)[4], uint32_t b0,    \
                                              uint32_t b1)                                         \
    {                                                                                              \
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." name "." name                        \
                     ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"        \
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                              \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));              \
    }                                                                                              \
    template <> __device__ __forceinline__ uint32_t yk_pack<T>(float first, float second)          \
    {                                                                                              \
        uint32_t out;                                                                              \
        asm("cvt.rn." name "x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));            \
        return out;                                                                                \
    }
YK_DEFINE_MMA(__half, "f16")
YK_DEFINE_MMA(__nv_bfloat16, "bf16")
#undef YK_DEFINE_MMA

/* 2^x: 0 for −∞. */
static __device__ __forceinline__ float yk_exp2(float x)
{
    float out;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
}

#endif
