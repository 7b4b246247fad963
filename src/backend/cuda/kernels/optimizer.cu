/*
 * Optimizers: weights are updated by a rule, four at a time where there is a master.
 * Nearly all of the time goes into moving numbers.
 *
 * A rule is a struct that kernels get, with
 *   op                                  the op it belongs to,
 *   state<float>, state<float4>         what it keeps of one weight, or of four,
 *   one(g, w, state), four(factor, …)   what it does to a weight with gradient g, and to four,
 *   load(op, at), store(op, at, state)  for one weight, and load_four, store_four for four.
 */
#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/aligned_groups.cuh"
#include "backend/cuda/kernels/elements.cuh"
#include "backend/cuda/lane.h"

#include <math.h>

enum {
    UPDATE_THREADS = 256,
    UPDATE_UNITS = 2, /* fours of each run that a thread has under way */
};

template <typename T, typename RULE>
static __device__ void update_edge(const typename RULE::op &op, const RULE &rule, float factor,
                                   int64_t at)
{
    T *weights = static_cast<T *>(op.update.weights);
    const float g = __fmul_rn(yk_to_float(static_cast<const T *>(op.update.gradients)[at]), factor);
    float w = op.update.master ? op.update.master[at] : yk_to_float(weights[at]);
    typename RULE::template state<float> state = rule.load(op, at);
    rule.one(g, w, state);
    rule.store(op, at, state);
    if (op.update.master) {
        op.update.master[at] = w;
    }
    weights[at] = yk_from_float<T>(w);
}

/* Fours have a master, which may be the weights themselves. */
template <typename T, typename RULE>
static __global__ void __launch_bounds__(UPDATE_THREADS)
    update_span(typename RULE::op op, RULE rule, yk_aligned_groups span)
{
    if (op.update.gradient_norm && op.update.gradient_norm->skip) {
        return;
    }
    constexpr int units = UPDATE_UNITS;
    const float factor = op.update.gradient_norm ? op.update.gradient_norm->factor : 1.0F;
    const int64_t first = static_cast<int64_t>(blockIdx.x) * UPDATE_THREADS * units + threadIdx.x;
    T *weights = static_cast<T *>(op.update.weights);
    const T *gradients = static_cast<const T *>(op.update.gradients);
    const bool copied = op.update.weights != op.update.master;
    yk_packed_four<T> g[units];
    float4 w[units];
    typename RULE::template state<float4> states[units];
#pragma unroll
    for (int unit = 0; unit < units; unit++) {
        const int64_t at = span.head + 4 * (first + unit * UPDATE_THREADS);
        if (first + unit * UPDATE_THREADS < span.fours) {
            g[unit] = yk_load_packed_vector<4>(gradients + at);
            w[unit] = yk_load_float4_streaming(op.update.master + at);
            states[unit] = rule.load_four(op, at);
        }
    }
#pragma unroll
    for (int unit = 0; unit < units; unit++) {
        const int64_t at = span.head + 4 * (first + unit * UPDATE_THREADS);
        if (first + unit * UPDATE_THREADS < span.fours) {
            rule.four(factor, yk_unpack_to_float4(g[unit]), w[unit], states[unit]);
            rule.store_four(op, at, states[unit]);
            yk_store_float4_streaming(op.update.master + at, w[unit]);
            if (copied) {
                yk_store_float4(weights + at, w[unit]);
            }
        }
    }
    const int64_t threads = static_cast<int64_t>(gridDim.x) * UPDATE_THREADS;
    for (int64_t edge = static_cast<int64_t>(blockIdx.x) * UPDATE_THREADS + threadIdx.x;
         edge < span.edges; edge += threads) {
        update_edge<T>(op, rule, factor, yk_aligned_groups_edge_index(span, edge));
    }
}

/* `kept`: the runs of fp32 that hold what the rule keeps of every weight; NULL where there are
 * fewer. */
template <typename RULE>
static void launch_update(struct yk_backend_lane *lane, const typename RULE::op *op,
                          const RULE &rule, const float *const (&kept)[2], const char *action)
{
    cudaStream_t stream = yk_cuda_lane_stream(lane);
    const int64_t bytes = yk_precision_bytes(op->update.type);
    typename RULE::op given = *op;
    if (!given.update.master && bytes == 4) {
        given.update.master = static_cast<float *>(op->update.weights);
    }
    yk_aligned_groups span =
        yk_aligned_groups_make(op->update.count, {{op->update.weights, bytes},
                                                  {op->update.gradients, bytes},
                                                  {given.update.master, 4},
                                                  {kept[0], 4},
                                                  {kept[1], 4}});
    if (!given.update.master) { /* 16 bits without a master are taken one by one */
        span = {0, 0, op->update.count};
    }
    const unsigned blocks = yk_aligned_groups_block_count(span, UPDATE_THREADS, UPDATE_UNITS);
    yk_dispatch_type(op->update.type, [&](auto number) {
        using T = decltype(number);
        update_span<T><<<blocks, UPDATE_THREADS, 0, stream>>>(given, rule, span);
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), action);
}

/* ---- AdamW ---- */

/*
 * For gradient g, moments m and v, weight w, in the order that torch.optim.AdamW takes them:
 *   w ← w · (1 − lr · weight_decay)
 *   m ← m + (1 − beta1) · (g − m)
 *   v ← beta2 · v + (1 − beta2) · g²
 *   w ← w − lr / correction1 · m / (√v / √correction2 + epsilon)
 * What does not change from number to number is worked out in double precision by the host. 28
 * bytes are moved for each of 16-bit weights with a master.
 */
struct adamw {
    using op = struct yk_adamw_op;
    template <typename F> struct state {
        F m;
        F v;
    };

    float keep;  /* 1 − lr · weight_decay */
    float lean1; /* 1 − beta1 */
    float lean2; /* 1 − beta2 */
    float step;  /* lr / correction1 */
    float root;  /* √correction2 */
    float beta2;
    float epsilon;

    __device__ __forceinline__ void one(float g, float &w, float &m, float &v) const
    {
        /* fmaf, because a compiler may round either product of a · b + c · d, and not the same one
         * in every copy of this code: a weight's bits would depend on where its part begins. */
        m = fmaf(lean1, g - m, m);
        v = fmaf(lean2, g * g, beta2 * v);
        const float below = sqrtf(v) / root + epsilon;
        w = fmaf(-step, m / below, w * keep);
    }

    __device__ __forceinline__ void one(float g, float &w, state<float> &s) const
    {
        one(g, w, s.m, s.v);
    }

    __device__ __forceinline__ void four(float factor, const float4 &g, float4 &w,
                                         state<float4> &s) const
    {
        one(__fmul_rn(g.x, factor), w.x, s.m.x, s.v.x);
        one(__fmul_rn(g.y, factor), w.y, s.m.y, s.v.y);
        one(__fmul_rn(g.z, factor), w.z, s.m.z, s.v.z);
        one(__fmul_rn(g.w, factor), w.w, s.m.w, s.v.w);
    }

    __device__ __forceinline__ state<float> load(const op &op, int64_t at) const
    {
        return {op.moment1[at], op.moment2[at]};
    }

    __device__ __forceinline__ void store(const op &op, int64_t at, const state<float> &s) const
    {
        op.moment1[at] = s.m;
        op.moment2[at] = s.v;
    }

    __device__ __forceinline__ state<float4> load_four(const op &op, int64_t at) const
    {
        return {yk_load_float4_streaming(op.moment1 + at),
                yk_load_float4_streaming(op.moment2 + at)};
    }

    __device__ __forceinline__ void store_four(const op &op, int64_t at,
                                               const state<float4> &s) const
    {
        yk_store_float4_streaming(op.moment1 + at, s.m);
        yk_store_float4_streaming(op.moment2 + at, s.v);
    }
};

void yk_cuda_optimizer_adamw(struct yk_backend_lane *lane, const struct yk_adamw_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->update.count <= 0) {
        return;
    }
    const struct adamw rule = {
        static_cast<float>(1.0 - static_cast<double>(op->update.lr) *
                                     static_cast<double>(op->update.weight_decay)),
        static_cast<float>(1.0 - static_cast<double>(op->beta1)),
        static_cast<float>(1.0 - static_cast<double>(op->beta2)),
        static_cast<float>(static_cast<double>(op->update.lr) /
                           static_cast<double>(op->correction1)),
        static_cast<float>(sqrt(static_cast<double>(op->correction2))),
        op->beta2,
        op->epsilon,
    };
    launch_update(lane, op, rule, {op->moment1, op->moment2}, "adamw");
}

/* ---- SGD ---- */

/*
 * For gradient g, velocity b, weight w, in the order that torch.optim.SGD takes them:
 *   g ← g + weight_decay · w
 *   b ← momentum · b + g, the first time b ← g
 *   w ← w − lr · b
 * Without momentum there is no velocity, and w ← w − lr · g.
 */
struct sgd {
    using op = struct yk_sgd_op;
    template <typename F> using state = F; /* the velocity */

    float lr;
    float momentum;
    float decay;
    bool reads; /* the velocity before */
    bool moves; /* there is a velocity */

    __device__ __forceinline__ void one(float g, float &w, float &b) const
    {
        const float pull = fmaf(decay, w, g);
        b = reads ? fmaf(momentum, b, pull) : pull;
        w = fmaf(-lr, b, w);
    }

    __device__ __forceinline__ void four(float factor, const float4 &g, float4 &w, float4 &b) const
    {
        one(__fmul_rn(g.x, factor), w.x, b.x);
        one(__fmul_rn(g.y, factor), w.y, b.y);
        one(__fmul_rn(g.z, factor), w.z, b.z);
        one(__fmul_rn(g.w, factor), w.w, b.w);
    }

    __device__ __forceinline__ float load(const op &op, int64_t at) const
    {
        return reads ? op.velocity[at] : 0.0F;
    }

    __device__ __forceinline__ void store(const op &op, int64_t at, float b) const
    {
        if (moves) {
            op.velocity[at] = b;
        }
    }

    __device__ __forceinline__ float4 load_four(const op &op, int64_t at) const
    {
        return reads ? yk_load_float4_streaming(op.velocity + at) : make_float4(0, 0, 0, 0);
    }

    __device__ __forceinline__ void store_four(const op &op, int64_t at, const float4 &b) const
    {
        if (moves) {
            yk_store_float4_streaming(op.velocity + at, b);
        }
    }
};

void yk_cuda_optimizer_sgd(struct yk_backend_lane *lane, const struct yk_sgd_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->update.count <= 0) {
        return;
    }
    const bool moves = op->momentum != 0.0F;
    const struct sgd rule = {op->update.lr, op->momentum, op->update.weight_decay,
                             moves && !op->first, moves};
    launch_update(lane, op, rule, {moves ? op->velocity : nullptr, nullptr}, "sgd");
}

/* ---- gradient norm ---- */

enum {
    CLIP_THREADS = 256,
};

static __global__ void __launch_bounds__(CLIP_THREADS) compute_clip(struct yk_clip_norm_op op)
{
    double total = 0;
    for (int64_t i = threadIdx.x; i < op.count; i += CLIP_THREADS) {
        total += op.sums[i];
    }
    total = yk_block_sum(total);
    if (threadIdx.x != 0) {
        return;
    }
    const double unscale = static_cast<double>(op.unscale);
    const double norm = unscale * sqrt(total);
    const double fit = static_cast<double>(op.clip) / (norm + 1e-6);
    const double clipped = op.clip > 0.0F && fit < 1.0 ? fit : 1.0;
    op.gradient_norm->norm = norm;
    op.gradient_norm->factor = static_cast<float>(unscale * clipped);
    op.gradient_norm->skip = isfinite(norm) ? 0 : 1;
}

void yk_cuda_optimizer_clip_norm(struct yk_backend_lane *lane, const struct yk_clip_norm_op *op)
{
    if (!yk_cuda_lane_is_ok(lane)) {
        return;
    }
    compute_clip<<<1, CLIP_THREADS, 0, yk_cuda_lane_stream(lane)>>>(*op);
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "clip_norm");
}
