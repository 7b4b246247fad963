/*
 * Attention: declarations that yoke's built-in attention kernels share. Scores are multiplied by
 * log2 e, because the hardware computes powers of two. The heads of all samples are numbered sample
 * by sample.
 */
#ifndef YK_BACKEND_CUDA_ATTENTION_ATTENTION_CUH
#define YK_BACKEND_CUDA_ATTENTION_ATTENTION_CUH

#include "backend/cuda/kernels.h"
#include "backend/cuda/kernels/elements.cuh"
#include "backend/cuda/kernels/philox.cuh"

#define YK_LOG2_E 1.44269504088896341F
#define YK_LN_2 0.693147180559945309F

/* Arguments of the forward kernels. */
struct yk_attention_forward_kernel_arguments {
    struct yk_attention_op op; /* head_stride is not 0; window is 0 if it hides no key */
    float power_scale;         /* scale · log2 e; with softcap: softcap · log2 e */
    float cap_scale;           /* with softcap: scale / softcap */
    uint32_t below;            /* an element is dropped if its random word is less than this */
    float kept;                /* factor of elements that are not dropped: 1 / (1 − rate) */
};

/* Arguments of the backward kernels. */
struct yk_attention_backward_kernel_arguments {
    struct yk_attention_forward_kernel_arguments forward;
    struct yk_attention_backward_op op;
    float *products; /* (B, heads, T): Σ out · d_out over the elements of a head */
};

/* Kernels for CUDA cores. They support every type and head size. */
void yk_cuda_attention_simt_forward(struct yk_backend_lane *lane,
                                    const struct yk_attention_forward_kernel_arguments *arguments);
void yk_cuda_attention_simt_backward(
    struct yk_backend_lane *lane, const struct yk_attention_backward_kernel_arguments *arguments);

/* Kernels for tensor cores. They require a 16-bit type, a head size from 64 to 256 that is a
 * multiple of 8, rows and heads aligned to 16 bytes, a positive scale, a softcap that is not huge,
 * and compute capability 8.0 or later. */
void yk_cuda_attention_tensor_core_forward(
    struct yk_backend_lane *lane, const struct yk_attention_forward_kernel_arguments *arguments);
void yk_cuda_attention_tensor_core_backward(
    struct yk_backend_lane *lane, const struct yk_attention_backward_kernel_arguments *arguments);

/* One head of one sample, on the device. */
struct yk_attention_head {
    int sample;
    int head;
    int kv_head;
    int length; /* number of valid keys */
    int shift;  /* query t attends to keys up to t + shift */
    int back;   /* query t attends to keys from t − back on */
};

/* Without WINDOW, op.window must be 0. */
template <bool WINDOW = true>
YK_DEVICE_INLINE struct yk_attention_head yk_attention_head_make(const struct yk_attention_op &op,
                                                                 int64_t sample, int64_t head)
{
    struct yk_attention_head out;
    out.sample = static_cast<int>(sample);
    out.head = static_cast<int>(head);
    out.kv_head = static_cast<int>(head / (op.heads / op.kv_heads));
    out.length = static_cast<int>(op.keys);
    if (op.lengths) {
        out.length = min(out.length, op.lengths[sample]);
    }
    const int position = static_cast<int>(op.keys - op.queries); /* of query 0 among the keys */
    const int reach = static_cast<int>(op.window) - 1;
    const bool has_window = WINDOW && op.window > 0;
    out.shift = op.causal ? position : has_window ? position + reach : INT32_MAX / 2;
    out.back = has_window ? reach - position : INT32_MAX / 2;
    return out;
}

/* Returns a limit: query t attends to all keys below the limit. If the limit is 0 or less, query t
 * attends to no key. */
YK_DEVICE_INLINE int yk_attention_count_visible_keys(const struct yk_attention_head &head, int t)
{
    return min(head.length, t + head.shift + 1);
}

/* Returns the first key in the window of query t. It may be beyond the last visible key: query t
 * then attends to no key. */
YK_DEVICE_INLINE int yk_attention_first_visible_key(const struct yk_attention_head &head, int t)
{
    return max(0, t - head.back);
}

/* Returns the address of the part of a row that belongs to a head. The matrix has `length` rows per
 * sample, and heads are `size` elements apart. */
template <typename T>
YK_DEVICE_INLINE T *yk_attention_head_row_address(const void *base, int64_t sample, int64_t length,
                                                  int64_t row, int64_t stride, int64_t head,
                                                  int64_t size)
{
    return const_cast<T *>(static_cast<const T *>(base)) + (sample * length + row) * stride +
           head * size;
}

/* Returns the dropout index of query t and key 0. struct yk_dropout_options calls this index e. */
YK_DEVICE_INLINE uint64_t yk_attention_dropout_index(const struct yk_attention_op &op,
                                                     const struct yk_attention_head &head, int t)
{
    return static_cast<uint64_t>((head.head * op.queries + t) * op.keys);
}

YK_DEVICE_INLINE uint4 yk_attention_dropout_random_words(const struct yk_attention_op &op,
                                                         int64_t sample, uint64_t quad)
{
    return yk_philox_dropout_random_words(op.dropout.seed, op.dropout.site,
                                          op.dropout.first_sample + sample, quad);
}

YK_DEVICE_INLINE float
yk_attention_dropout_factor(const struct yk_attention_forward_kernel_arguments &task, uint32_t word)
{
    return word < task.below ? 0.0F : task.kept;
}

/* Computes the dropout factors of COUNT ≤ 4 elements, starting at dropout index `place`. */
template <int COUNT>
YK_DEVICE_INLINE void
yk_attention_dropout_factors(const struct yk_attention_forward_kernel_arguments &task,
                             int64_t sample, uint64_t place, float (&out)[COUNT])
{
    const unsigned start = static_cast<unsigned>(place % 4);
    const uint4 here = yk_attention_dropout_random_words(task.op, sample, place / 4);
    const uint4 next = start + COUNT > 4
                           ? yk_attention_dropout_random_words(task.op, sample, place / 4 + 1)
                           : make_uint4(0, 0, 0, 0);
    const uint32_t words[8] = {here.x, here.y, here.z, here.w, next.x, next.y, next.z, next.w};
#pragma unroll
    for (unsigned i = 0; i < COUNT; i++) {
        /* Indices are compile-time constants, so that the words stay in registers. */
        const uint32_t low = start & 1 ? words[i + 1] : words[i];
        const uint32_t high = start & 1 ? words[i + 3] : words[i + 2];
        out[i] = yk_attention_dropout_factor(task, start & 2 ? high : low);
    }
}

#endif
