/*
 * Attention by yoke's own kernels: what they share. A head of a sample is numbered in the order (B,
 * heads). Scores are in units of log2 e: powers of two are what the hardware has.
 */
#ifndef YK_BACKEND_CUDA_ATTENTION_ATTENTION_CUH
#define YK_BACKEND_CUDA_ATTENTION_ATTENTION_CUH

#include "backend/cuda/kernels.h"
#include "backend/cuda/kernels/numbers.cuh"
#include "backend/cuda/kernels/philox.cuh"

#define YK_LOG2_E 1.44269504088896341F
#define YK_LN_2 0.693147180559945309F

/* An op as kernels get it, with what the host found out about it. */
struct yk_attention_task {
    struct yk_attention_op op;
    float power_scale; /* scale · log2 e */
    uint32_t below;    /* words below are dropped */
    float kept;        /* what is not dropped is multiplied by */
};

struct yk_attention_backward_task {
    struct yk_attention_task forward;
    const void *d_out;
    void *dq;
    void *dk;
    void *dv;
    int64_t dq_stride;
    int64_t dk_stride;
    int64_t dv_stride;
    float *products; /* (B, heads, T): the sum of out ∘ d_out */
};

/* Any type and size. */
void yk_cuda_attention_simt(struct yk_backend_lane *lane, const struct yk_attention_task *task);
void yk_cuda_attention_simt_backward(struct yk_backend_lane *lane,
                                     const struct yk_attention_backward_task *task);

/* By tensor cores: numbers of 16 bits, heads of 64 or 128 that begin at multiples of 16 bytes, GPUs
 * of 8.0 and later, and a scale above 0. */
void yk_cuda_attention_tensor(struct yk_backend_lane *lane, const struct yk_attention_task *task);
void yk_cuda_attention_tensor_backward(struct yk_backend_lane *lane,
                                       const struct yk_attention_backward_task *task);

/* One head of one sample, on the device. */
struct yk_attention_head {
    int sample;
    int head;
    int kv_head;
    int length; /* keys that count */
    int shift;  /* query t sees keys up to t + shift */
};

YK_DEVICE struct yk_attention_head yk_attention_head_of(const struct yk_attention_op &op,
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
    out.shift = op.causal ? static_cast<int>(op.keys - op.queries) : INT32_MAX / 2;
    return out;
}

/* How many keys query t sees: the first so many; none where it is not above 0. */
YK_DEVICE int yk_attention_visible_keys(const struct yk_attention_head &head, int t)
{
    return min(head.length, t + head.shift + 1);
}

/* Where a head's row begins in a matrix with `length` rows a sample. */
YK_DEVICE int64_t yk_attention_row_offset(int64_t sample, int64_t length, int64_t row,
                                          int64_t stride, int64_t head, int64_t size)
{
    return (sample * length + row) * stride + head * size;
}

/* Where key 0 of query t lies among the numbers of its sample, as dropout counts them. */
YK_DEVICE uint64_t yk_attention_dropout_index(const struct yk_attention_op &op,
                                              const struct yk_attention_head &head, int t)
{
    return static_cast<uint64_t>((head.head * op.queries + t) * op.keys);
}

YK_DEVICE uint4 yk_attention_dropout_random(const struct yk_attention_op &op, int64_t sample,
                                            uint64_t quad)
{
    return yk_philox_dropout(op.dropout.seed, op.dropout.site, op.dropout.first_sample + sample,
                             quad);
}

YK_DEVICE float yk_attention_dropout_factor(const struct yk_attention_task &task, uint32_t word)
{
    return word < task.below ? 0.0F : task.kept;
}

/* What the COUNT ≤ 4 numbers from `place` on are multiplied by. */
template <int COUNT>
YK_DEVICE void yk_attention_dropout_factors(const struct yk_attention_task &task, int64_t sample,
                                            uint64_t place, float (&out)[COUNT])
{
    const unsigned start = static_cast<unsigned>(place % 4);
    const uint4 here = yk_attention_dropout_random(task.op, sample, place / 4);
    const uint4 next = start + COUNT > 4
                           ? yk_attention_dropout_random(task.op, sample, place / 4 + 1)
                           : make_uint4(0, 0, 0, 0);
    const uint32_t words[8] = {here.x, here.y, here.z, here.w, next.x, next.y, next.z, next.w};
#pragma unroll
    for (unsigned i = 0; i < COUNT; i++) {
        /* Chosen without an index that is only known at run time: words stay in registers. */
        const uint32_t low = start & 1 ? words[i + 1] : words[i];
        const uint32_t high = start & 1 ? words[i + 3] : words[i + 2];
        out[i] = yk_attention_dropout_factor(task, start & 2 ? high : low);
    }
}

#endif
