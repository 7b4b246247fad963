/*
 * Async copy: copies of 16 bytes from global to shared memory (cp.async). A thread waits for its
 * own copies. Other threads see the data after a barrier. On GPUs with a compute capability below
 * 8.0, the copies are synchronous.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_ASYNC_COPY_CUH
#define YK_BACKEND_CUDA_KERNELS_ASYNC_COPY_CUH

#include "backend/cuda/kernels/elements.cuh"

/* Defines a function that starts a copy of 16 bytes with a variant of the instruction. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define YK_DEFINE_ASYNC_COPY(name, instruction)                                                    \
    YK_DEVICE_INLINE void name(uint4 *to, const uint4 *from)                                       \
    {                                                                                              \
        asm volatile(instruction " [%0], [%1], 16;" ::"r"(                                         \
                         static_cast<uint32_t>(__cvta_generic_to_shared(to))),                     \
                     "l"(__cvta_generic_to_global(from))                                           \
                     : "memory");                                                                  \
    }
#else
#define YK_DEFINE_ASYNC_COPY(name, instruction)                                                    \
    YK_DEVICE_INLINE void name(uint4 *to, const uint4 *from)                                       \
    {                                                                                              \
        *to = *from;                                                                               \
    }
#endif
YK_DEFINE_ASYNC_COPY(yk_async_copy_16_bytes, "cp.async.cg.shared.global")
/* L2 reads all 128 bytes of the line from DRAM. For lines of which several warps copy parts. */
YK_DEFINE_ASYNC_COPY(yk_async_copy_16_bytes_of_line, "cp.async.cg.shared.global.L2::128B")
/* The line is also cached in L1. For what several warps of a block copy. */
YK_DEFINE_ASYNC_COPY(yk_async_copy_16_bytes_through_l1, "cp.async.ca.shared.global")
#undef YK_DEFINE_ASYNC_COPY

/* Makes a group of all copies that this thread has started since it made its previous group. */
YK_DEVICE_INLINE void yk_async_copy_commit_group(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits for all groups except the newest ones. LATER is the number of groups that may still be
 * running afterwards. */
template <int LATER> YK_DEVICE_INLINE void yk_async_copy_wait_group(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
#endif
}

/* Like yk_async_copy_wait_group(), but with a count that is known only at run time. If `later` is
 * greater than 4, waits for all groups except the 4 newest groups. */
YK_DEVICE_INLINE void yk_async_copy_wait_all_but(int later)
{
    switch (later) {
    case 3:
        yk_async_copy_wait_group<3>();
        break;
    case 2:
        yk_async_copy_wait_group<2>();
        break;
    case 1:
        yk_async_copy_wait_group<1>();
        break;
    default:
        if (later > 3) {
            yk_async_copy_wait_group<4>();
        } else {
            yk_async_copy_wait_group<0>();
        }
        break;
    }
}

#endif
