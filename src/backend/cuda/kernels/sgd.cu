#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/optimizer.cuh"

/*
 * For gradient g, velocity b, weight w, in the order that torch.optim.SGD takes them:
 *   g ← g + decay · w
 *   b ← momentum · b + g, the first time b ← g
 *   w ← w − rate · b
 * Without momentum there is no velocity, and w ← w − rate · g.
 */
struct sgd {
    using op = struct yk_sgd_op;
    template <typename F> using state = F; /* the velocity */

    float rate;
    float momentum;
    float decay;
    bool reads; /* the velocity before */
    bool moves; /* there is a velocity */

    __device__ __forceinline__ void one(float g, float &w, float &b) const
    {
        const float pull = g + decay * w;
        b = reads ? momentum * b + pull : pull;
        w -= rate * b;
    }

    __device__ __forceinline__ void four(float factor, const float4 &g, float4 &w, float4 &b) const
    {
        one(g.x * factor, w.x, b.x);
        one(g.y * factor, w.y, b.y);
        one(g.z * factor, w.z, b.z);
        one(g.w * factor, w.w, b.w);
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
        return reads ? yk_load_four_once(op.velocity + at) : make_float4(0, 0, 0, 0);
    }

    __device__ __forceinline__ void store_four(const op &op, int64_t at, const float4 &b) const
    {
        if (moves) {
            yk_store_four_once(op.velocity + at, b);
        }
    }
};

void yk_cuda_optimizer_sgd(struct yk_backend_lane *lane, const struct yk_sgd_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->count <= 0) {
        return;
    }
    const bool moves = op->momentum != 0.0F;
    const struct sgd rule = {op->lr, op->momentum, op->weight_decay, moves && !op->first, moves};
    yk_optimizer_launch(lane, op, rule, {moves ? op->velocity : nullptr, nullptr}, "sgd");
}
