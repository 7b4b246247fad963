#include "backend/cuda/kernels.h"

#include <math.h>

#include "backend/cuda/numbers.cuh"
#include "backend/cuda/stretch.cuh"

/*
 * For gradient g, moments m and v, weight w, in the order that torch.optim.AdamW takes them:
 *   w ← w · (1 − rate · decay)
 *   m ← m + (1 − beta1) · (g − m)
 *   v ← beta2 · v + (1 − beta2) · g²
 *   w ← w − rate / correction1 · m / (√v / √correction2 + epsilon)
 * What does not change from number to number is worked out in double precision by the host. Nearly
 * all of the time goes into moving numbers: 28 bytes each, of 16-bit weights with a master.
 */
enum {
    THREADS = 256,
    UNITS = 2, /* fours of each run that a thread has under way */
};

struct adamw {
    float keep;  /* 1 − rate · decay */
    float lean1; /* 1 − beta1 */
    float lean2; /* 1 − beta2 */
    float step;  /* rate / correction1 */
    float root;  /* √correction2 */
    float beta2;
    float epsilon;
};

static __device__ __forceinline__ void update_one(const struct adamw &a, float g, float &w,
                                                  float &m, float &v)
{
    m = m + a.lean1 * (g - m);
    v = a.beta2 * v + a.lean2 * (g * g);
    const float below = sqrtf(v) / a.root + a.epsilon;
    w = w * a.keep - a.step * (m / below);
}

static __device__ __forceinline__ void update_four(const struct adamw &a, float factor,
                                                   const float4 &g, float4 &w, float4 &m, float4 &v)
{
    update_one(a, g.x * factor, w.x, m.x, v.x);
    update_one(a, g.y * factor, w.y, m.y, v.y);
    update_one(a, g.z * factor, w.z, m.z, v.z);
    update_one(a, g.w * factor, w.w, m.w, v.w);
}

template <typename T>
static __device__ void update_edge(const struct yk_adamw &op, const struct adamw &a, float factor,
                                   int64_t at)
{
    T *weights = static_cast<T *>(op.weights);
    const float g = yk_load(static_cast<const T *>(op.gradients)[at]) * factor;
    float w = op.master ? op.master[at] : yk_load(weights[at]);
    float m = op.moment1[at];
    float v = op.moment2[at];
    update_one(a, g, w, m, v);
    op.moment1[at] = m;
    op.moment2[at] = v;
    if (op.master) {
        op.master[at] = w;
    }
    weights[at] = yk_store<T>(w);
}

/* Fours have a master, which may be the weights themselves. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    update(struct yk_adamw op, struct adamw a, yk_stretch stretch)
{
    if (op.verdict && op.verdict->skip) {
        return;
    }
    const float factor = op.verdict ? op.verdict->factor : 1.0F;
    const int64_t first = static_cast<int64_t>(blockIdx.x) * THREADS * UNITS + threadIdx.x;
    T *weights = static_cast<T *>(op.weights);
    const T *gradients = static_cast<const T *>(op.gradients);
    const bool copied = op.weights != op.master;
    yk_four<T> g[UNITS];
    float4 w[UNITS];
    float4 m[UNITS];
    float4 v[UNITS];
#pragma unroll
    for (int unit = 0; unit < UNITS; unit++) {
        const int64_t at = stretch.head + 4 * (first + unit * THREADS);
        if (first + unit * THREADS < stretch.fours) {
            g[unit] = yk_load_four(gradients + at);
            w[unit] = yk_load_four_once(op.master + at);
            m[unit] = yk_load_four_once(op.moment1 + at);
            v[unit] = yk_load_four_once(op.moment2 + at);
        }
    }
#pragma unroll
    for (int unit = 0; unit < UNITS; unit++) {
        const int64_t at = stretch.head + 4 * (first + unit * THREADS);
        if (first + unit * THREADS < stretch.fours) {
            update_four(a, factor, yk_open_four(g[unit]), w[unit], m[unit], v[unit]);
            yk_store_four_once(op.moment1 + at, m[unit]);
            yk_store_four_once(op.moment2 + at, v[unit]);
            yk_store_four_once(op.master + at, w[unit]);
            if (copied) {
                yk_store_four(weights + at, w[unit]);
            }
        }
    }
    const int64_t threads = static_cast<int64_t>(gridDim.x) * THREADS;
    for (int64_t edge = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
         edge < stretch.edges; edge += threads) {
        update_edge<T>(op, a, factor, yk_edge_at(stretch, edge));
    }
}

void yk_cuda_adamw(struct yk_backend_lane *lane, const struct yk_adamw *op)
{
    if (!yk_cuda_sound(lane) || op->count <= 0) {
        return;
    }
    cudaStream_t stream = yk_cuda_stream(lane);
    const struct adamw a = {
        static_cast<float>(1.0 - static_cast<double>(op->rate) * static_cast<double>(op->decay)),
        static_cast<float>(1.0 - static_cast<double>(op->beta1)),
        static_cast<float>(1.0 - static_cast<double>(op->beta2)),
        static_cast<float>(static_cast<double>(op->rate) / static_cast<double>(op->correction1)),
        static_cast<float>(sqrt(static_cast<double>(op->correction2))),
        op->beta2,
        op->epsilon,
    };
    const int64_t bytes = yk_precision_bytes(op->type);
    struct yk_adamw given = *op;
    if (!given.master && bytes == 4) {
        given.master = static_cast<float *>(op->weights);
    }
    yk_stretch stretch = yk_cut(op->count, {{op->weights, bytes},
                                            {op->gradients, bytes},
                                            {given.master, 4},
                                            {op->moment1, 4},
                                            {op->moment2, 4}});
    if (!given.master) { /* 16 bits without a master are taken one by one */
        stretch = {0, 0, op->count};
    }
    const unsigned blocks = yk_stretch_blocks(stretch, THREADS, UNITS);
    yk_with_type(op->type, [&](auto number) {
        using T = decltype(number);
        update<T><<<blocks, THREADS, 0, stream>>>(given, a, stretch);
    });
    yk_cuda_note(lane, cudaGetLastError(), "adamw");
}
