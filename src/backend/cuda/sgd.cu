#include "backend/cuda/kernels.h"

#include "backend/cuda/numbers.cuh"
#include "backend/cuda/stretch.cuh"

/*
 * For gradient g, velocity b, weight w, in the order that torch.optim.SGD takes them:
 *   g ← g + decay · w
 *   b ← momentum · b + g, the first time b ← g
 *   w ← w − rate · b
 * Without momentum there is no velocity, and w ← w − rate · g.
 */
enum {
    THREADS = 256,
    UNITS = 2, /* fours of each run that a thread has under way */
};

struct sgd {
    float rate;
    float momentum;
    float decay;
    bool reads; /* the velocity before */
    bool moves; /* there is a velocity */
};

static __device__ __forceinline__ void update_one(const struct sgd &s, float g, float &w, float &b)
{
    const float pull = g + s.decay * w;
    b = s.reads ? s.momentum * b + pull : pull;
    w -= s.rate * b;
}

static __device__ __forceinline__ void update_four(const struct sgd &s, float factor,
                                                   const float4 &g, float4 &w, float4 &b)
{
    update_one(s, g.x * factor, w.x, b.x);
    update_one(s, g.y * factor, w.y, b.y);
    update_one(s, g.z * factor, w.z, b.z);
    update_one(s, g.w * factor, w.w, b.w);
}

template <typename T>
static __device__ void update_edge(const struct yk_sgd &op, const struct sgd &s, float factor,
                                   int64_t at)
{
    T *weights = static_cast<T *>(op.weights);
    const float g = yk_load(static_cast<const T *>(op.gradients)[at]) * factor;
    float w = op.master ? op.master[at] : yk_load(weights[at]);
    float b = s.reads ? op.velocity[at] : 0.0F;
    update_one(s, g, w, b);
    if (s.moves) {
        op.velocity[at] = b;
    }
    if (op.master) {
        op.master[at] = w;
    }
    weights[at] = yk_store<T>(w);
}

/* Fours have a master, which may be the weights themselves. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    update(struct yk_sgd op, struct sgd s, yk_stretch stretch)
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
    float4 b[UNITS];
#pragma unroll
    for (int unit = 0; unit < UNITS; unit++) {
        const int64_t at = stretch.head + 4 * (first + unit * THREADS);
        if (first + unit * THREADS < stretch.fours) {
            g[unit] = yk_load_four(gradients + at);
            w[unit] = yk_load_four_once(op.master + at);
            b[unit] = s.reads ? yk_load_four_once(op.velocity + at) : make_float4(0, 0, 0, 0);
        }
    }
#pragma unroll
    for (int unit = 0; unit < UNITS; unit++) {
        const int64_t at = stretch.head + 4 * (first + unit * THREADS);
        if (first + unit * THREADS < stretch.fours) {
            update_four(s, factor, yk_open_four(g[unit]), w[unit], b[unit]);
            if (s.moves) {
                yk_store_four_once(op.velocity + at, b[unit]);
            }
            yk_store_four_once(op.master + at, w[unit]);
            if (copied) {
                yk_store_four(weights + at, w[unit]);
            }
        }
    }
    const int64_t threads = static_cast<int64_t>(gridDim.x) * THREADS;
    for (int64_t edge = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
         edge < stretch.edges; edge += threads) {
        update_edge<T>(op, s, factor, yk_edge_at(stretch, edge));
    }
}

void yk_cuda_sgd(struct yk_backend_lane *lane, const struct yk_sgd *op)
{
    if (!yk_cuda_sound(lane) || op->count <= 0) {
        return;
    }
    cudaStream_t stream = yk_cuda_stream(lane);
    const bool moves = op->momentum != 0.0F;
    const struct sgd s = {op->rate, op->momentum, op->decay, moves && !op->first, moves};
    const int64_t bytes = yk_precision_bytes(op->type);
    struct yk_sgd given = *op;
    if (!given.master && bytes == 4) {
        given.master = static_cast<float *>(op->weights);
    }
    yk_stretch stretch = yk_cut(op->count, {{op->weights, bytes},
                                            {op->gradients, bytes},
                                            {given.master, 4},
                                            {moves ? op->velocity : nullptr, 4}});
    if (!given.master) { /* 16 bits without a master are taken one by one */
        stretch = {0, 0, op->count};
    }
    const unsigned blocks = yk_stretch_blocks(stretch, THREADS, UNITS);
    yk_with_type(op->type, [&](auto number) {
        using T = decltype(number);
        update<T><<<blocks, THREADS, 0, stream>>>(given, s, stretch);
    });
    yk_cuda_note(lane, cudaGetLastError(), "sgd");
}
