/*
 * Update: weights that an optimizer's rule brings on, four at a time where there is a master.
 * Nearly all of the time goes into moving numbers.
 *
 * A rule is a struct that kernels get, with
 *   op                                  the op it belongs to,
 *   state<float>, state<float4>         what it keeps of one weight, or of four,
 *   one(g, w, state), four(factor, …)   what it does to a weight with gradient g, and to four,
 *   load(op, at), store(op, at, state)  for one weight, and load_four, store_four for four.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_OPTIMIZER_CUH
#define YK_BACKEND_CUDA_KERNELS_OPTIMIZER_CUH

#include "backend/cuda/kernels/numbers.cuh"
#include "backend/cuda/kernels/span.cuh"
#include "backend/cuda/lane.h"

enum {
    YK_OPTIMIZER_THREADS = 256,
    YK_OPTIMIZER_UNITS = 2, /* fours of each run that a thread has under way */
};

template <typename T, typename RULE>
static __device__ void yk_optimizer_edge(const typename RULE::op &op, const RULE &rule,
                                         float factor, int64_t at)
{
    T *weights = static_cast<T *>(op.weights);
    const float g = yk_load(static_cast<const T *>(op.gradients)[at]) * factor;
    float w = op.master ? op.master[at] : yk_load(weights[at]);
    typename RULE::template state<float> state = rule.load(op, at);
    rule.one(g, w, state);
    rule.store(op, at, state);
    if (op.master) {
        op.master[at] = w;
    }
    weights[at] = yk_store<T>(w);
}

/* Fours have a master, which may be the weights themselves. */
template <typename T, typename RULE>
static __global__ void __launch_bounds__(YK_OPTIMIZER_THREADS)
    yk_optimizer_span(typename RULE::op op, RULE rule, yk_vector_span span)
{
    if (op.gradient_norm && op.gradient_norm->skip) {
        return;
    }
    constexpr int units = YK_OPTIMIZER_UNITS;
    const float factor = op.gradient_norm ? op.gradient_norm->factor : 1.0F;
    const int64_t first =
        static_cast<int64_t>(blockIdx.x) * YK_OPTIMIZER_THREADS * units + threadIdx.x;
    T *weights = static_cast<T *>(op.weights);
    const T *gradients = static_cast<const T *>(op.gradients);
    const bool copied = op.weights != op.master;
    yk_four<T> g[units];
    float4 w[units];
    typename RULE::template state<float4> states[units];
#pragma unroll
    for (int unit = 0; unit < units; unit++) {
        const int64_t at = span.head + 4 * (first + unit * YK_OPTIMIZER_THREADS);
        if (first + unit * YK_OPTIMIZER_THREADS < span.fours) {
            g[unit] = yk_load_four(gradients + at);
            w[unit] = yk_load_four_once(op.master + at);
            states[unit] = rule.load_four(op, at);
        }
    }
#pragma unroll
    for (int unit = 0; unit < units; unit++) {
        const int64_t at = span.head + 4 * (first + unit * YK_OPTIMIZER_THREADS);
        if (first + unit * YK_OPTIMIZER_THREADS < span.fours) {
            rule.four(factor, yk_unpack_four(g[unit]), w[unit], states[unit]);
            rule.store_four(op, at, states[unit]);
            yk_store_four_once(op.master + at, w[unit]);
            if (copied) {
                yk_store_four(weights + at, w[unit]);
            }
        }
    }
    const int64_t threads = static_cast<int64_t>(gridDim.x) * YK_OPTIMIZER_THREADS;
    for (int64_t edge = static_cast<int64_t>(blockIdx.x) * YK_OPTIMIZER_THREADS + threadIdx.x;
         edge < span.edges; edge += threads) {
        yk_optimizer_edge<T>(op, rule, factor, yk_vector_span_edge(span, edge));
    }
}

/* `kept`: the runs of fp32 that hold what the rule keeps of every weight; NULL where there are
 * fewer. */
template <typename RULE>
static void yk_optimizer_launch(struct yk_backend_lane *lane, const typename RULE::op *op,
                                const RULE &rule, const float *const (&kept)[2], const char *action)
{
    cudaStream_t stream = yk_cuda_lane_stream(lane);
    const int64_t bytes = yk_precision_bytes(op->type);
    typename RULE::op given = *op;
    if (!given.master && bytes == 4) {
        given.master = static_cast<float *>(op->weights);
    }
    yk_vector_span span = yk_vector_span_make(op->count, {{op->weights, bytes},
                                                          {op->gradients, bytes},
                                                          {given.master, 4},
                                                          {kept[0], 4},
                                                          {kept[1], 4}});
    if (!given.master) { /* 16 bits without a master are taken one by one */
        span = {0, 0, op->count};
    }
    const unsigned blocks = yk_vector_span_blocks(span, YK_OPTIMIZER_THREADS, YK_OPTIMIZER_UNITS);
    yk_with_type(op->type, [&](auto number) {
        using T = decltype(number);
        yk_optimizer_span<T><<<blocks, YK_OPTIMIZER_THREADS, 0, stream>>>(given, rule, span);
    });
    yk_cuda_lane_check(lane, cudaGetLastError(), action);
}

#endif
