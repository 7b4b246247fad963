/*
 * Async copy: copies of 16 bytes from global to shared memory (cp.async). A thread waits for its
 * own copies. Other threads see the data after a barrier. On GPUs with a compute capability below
 * 8.0, the copies are synchronous.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_ASYNC_COPY_CUH
#define YK_BACKEND_CUDA_KERNELS_ASYNC_COPY_CUH

#include "backend/cuda/kernels/elements.cuh"

YK_DEVICE_INLINE void yk_async_copy_16_bytes(uint4 *to, const uint4 *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from))
                 : "memory");
#else
    *to = *from;
#endif
}

/* The same, where other warps need the other bytes of the 128 about the same time. */
YK_DEVICE_INLINE void yk_async_copy_16_of_128_bytes(uint4 *to, const uint4 *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(
                     static_cast<uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from))
                 : "memory");
#else
    *to = *from;
#endif
}

/* The same through the L1 cache, for what other warps of the SM need, too. */
YK_DEVICE_INLINE void yk_async_copy_16_shared_bytes(uint4 *to, const uint4 *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from))
                 : "memory");
#else
    *to = *from;
#endif
}

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
