/*
 * Lora inner: rows of the inner matrix of a LoRA adapter, (rows, rank), in shared memory as
 * operands of tensor cores. A row there has YK_LORA_CHUNK · CHUNKS elements. Those beyond the rank
 * are 0.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_LORA_INNER_CUH
#define YK_BACKEND_CUDA_KERNELS_LORA_INNER_CUH

#include "backend/cuda/kernels/async_copy.cuh"

enum {
    YK_LORA_CHUNK = 8, /* elements in 16 bytes; of a 16-bit type */
};

template <typename T> struct yk_lora_inner {
    const T *rows;
    uint32_t stride;
    uint32_t rank;
    bool chunks; /* rows may be copied in chunks of 16 bytes */
};

template <typename T>
static inline struct yk_lora_inner<T> yk_lora_make_inner(const void *rows, int64_t stride,
                                                         int64_t rank) {
    return {static_cast<const T *>(rows), static_cast<uint32_t>(stride),
            static_cast<uint32_t>(rank),
            rank % YK_LORA_CHUNK == 0 && yk_are_rows_16_byte_aligned<T>(rows, stride)};
}

/* base + row · stride, with one instruction. */
template <typename T>
YK_DEVICE_INLINE T *yk_lora_row_at(T *base, uint32_t row, uint32_t stride)
{
    const uint32_t bytes = stride * static_cast<uint32_t>(sizeof(T));
    return reinterpret_cast<T *>(reinterpret_cast<uintptr_t>(base) +
                                 static_cast<uint64_t>(row) * bytes);
}

/* Where a chunk of a row is in shared memory. Chunks of neighbouring rows are in different banks.
 */
template <uint32_t CHUNKS> YK_DEVICE_INLINE uint32_t yk_lora_place_of(uint32_t row, uint32_t chunk)
{
    return row * CHUNKS + (chunk ^ (row * CHUNKS / 8 % CHUNKS));
}

/* Elements of a row from k on, one by one; 0 beyond its end. */
template <typename T>
YK_DEVICE_INLINE uint4 yk_lora_gather_chunk(const struct yk_lora_inner<T> &inner, const T *row,
                                            uint32_t k)
{
    T numbers[YK_LORA_CHUNK];
    uint4 chunk;
    for (uint32_t i = 0; i < YK_LORA_CHUNK; i++) {
        numbers[i] = k + i < inner.rank ? row[k + i] : yk_from_float<T>(0.0F);
    }
    memcpy(&chunk, numbers, sizeof chunk);
    return chunk;
}

/* Starts the copy of a chunk of a row. */
template <typename T>
YK_DEVICE_INLINE void yk_lora_fetch_chunk(const struct yk_lora_inner<T> &inner, uint32_t row,
                                          uint32_t chunk, uint4 *to)
{
    const T *from = yk_lora_row_at(inner.rows, row, inner.stride);
    const uint32_t k = chunk * YK_LORA_CHUNK;
    if (inner.chunks && k < inner.rank) {
        yk_async_copy_16_bytes_through_l1(to, reinterpret_cast<const uint4 *>(from + k));
    } else {
        *to = yk_lora_gather_chunk(inner, from, k);
    }
}

#endif
