/*
 * Mma: products of small matrices on tensor cores, of GPUs with compute capability 8.0 and later.
 * In this file a lane is a thread of a warp. All lanes of a warp must load, transpose and multiply
 * matrices together.
 *
 * The instructions for tensor cores compute c += a · b. The shapes are (16, 8) for c, (16, 16) for
 * a, and (16, 8) for b. Lane l of a warp holds these elements, with g = l / 4 and i = l % 4:
 *   a: rows g and g + 8 of columns 2i and 2i + 1, then the same rows of columns 2i + 8 and 2i + 9
 *   b: rows 2i, 2i + 1, 2i + 8 and 2i + 9 of column g
 *   c: columns 2i and 2i + 1 of row g, then the same columns of row g + 8
 *
 * In this file a "matrix" is 8 rows of 16 bytes, in shared memory or in the registers of a warp.
 * Addresses of type uint32_t are addresses in shared memory.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_MMA_CUH
#define YK_BACKEND_CUDA_KERNELS_MMA_CUH

#include "backend/cuda/kernels/elements.cuh"

/* Kernels for older GPUs must not use tensor cores: they are empty, and the host does not launch
 * them, or they compute products another way. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define YK_HAS_TENSOR_CORES 1
#else
#define YK_HAS_TENSOR_CORES 0
#endif

YK_DEVICE_INLINE uint32_t yk_shared_memory_address(const void *pointer)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

/* Loads four matrices. Lanes 8n to 8n + 7 pass the addresses of the eight rows of matrix n. Lane l
 * gets elements 2i and 2i + 1 of row g of each matrix. */
YK_DEVICE_INLINE void yk_load_four_matrices(uint32_t row, uint32_t (&out)[4])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(row)
                 : "memory");
}

/* Like yk_load_four_matrices(), but lane l gets element g of rows 2i and 2i + 1 of each matrix. */
YK_DEVICE_INLINE void yk_load_four_matrices_transposed(uint32_t row, uint32_t (&out)[4])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(row)
                 : "memory");
}

/* Transposes a matrix that lanes hold: lane l has elements 2i and 2i + 1 of row g, and gets element
 * g of rows 2i and 2i + 1. */
YK_DEVICE_INLINE uint32_t yk_transpose_matrix(uint32_t pair)
{
    uint32_t out;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(pair));
    return out;
}

/* c += a · b on tensor cores. */
template <typename T>
YK_DEVICE_INLINE void yk_mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);

/* Converts two numbers to type T and stores them in one 32-bit word, the first number in the lower
 * half. */
template <typename T> YK_DEVICE_INLINE uint32_t yk_pack_two_floats(float first, float second);

/* Defines yk_mma() and yk_pack_two_floats() for a type T. `name` is the name of the type in
 * instructions. */
#define YK_DEFINE_MMA_AND_PACK(T, name)                                                            \
    template <>                                                                                    \
    __device__ __forceinline__ void yk_mma<T>(float(&c)[4], const uint32_t(&a)[4], uint32_t b0,    \
                                              uint32_t b1)                                         \
    {                                                                                              \
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." name "." name                        \
                     ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"        \
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                              \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));              \
    }                                                                                              \
    template <>                                                                                    \
    __device__ __forceinline__ uint32_t yk_pack_two_floats<T>(float first, float second)           \
    {                                                                                              \
        uint32_t out;                                                                              \
        asm("cvt.rn." name "x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));            \
        return out;                                                                                \
    }
YK_DEFINE_MMA_AND_PACK(__half, "f16")
YK_DEFINE_MMA_AND_PACK(__nv_bfloat16, "bf16")
#undef YK_DEFINE_MMA_AND_PACK

#endif
