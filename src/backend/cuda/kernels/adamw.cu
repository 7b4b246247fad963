#include "backend/cuda/kernels.h"

#include <math.h>

#include "backend/cuda/kernels/optimizer.cuh"

/*
 * For gradient g, moments m and v, weight w, in the order that torch.optim.AdamW takes them:
 *   w ← w · (1 − rate · decay)
 *   m ← m + (1 − beta1) · (g − m)
 *   v ← beta2 · v + (1 − beta2) · g²
 *   w ← w − rate / correction1 · m / (√v / √correction2 + epsilon)
 * What does not change from number to number is worked out in double precision by the host. 28
 * bytes are moved for each of 16-bit weights with a master.
 */
struct adamw {
    using op = struct yk_adamw_op;
    template <typename F> struct state {
        F m;
        F v;
    };

    float keep;  /* 1 − rate · decay */
    float lean1; /* 1 − beta1 */
    float lean2; /* 1 − beta2 */
    float step;  /* rate / correction1 */
    float root;  /* √correction2 */
    float beta2;
    float epsilon;

    __device__ __forceinline__ void one(float g, float &w, float &m, float &v) const
    {
        m = m + lean1 * (g - m);
        v = beta2 * v + lean2 * (g * g);
        const float below = sqrtf(v) / root + epsilon;
        w = w * keep - step * (m / below);
    }

    __device__ __forceinline__ void one(float g, float &w, state<float> &s) const
    {
        one(g, w, s.m, s.v);
    }

    __device__ __forceinline__ void four(float factor, const float4 &g, float4 &w,
                                         state<float4> &s) const
    {
        one(g.x * factor, w.x, s.m.x, s.v.x);
        one(g.y * factor, w.y, s.m.y, s.v.y);
        one(g.z * factor, w.z, s.m.z, s.v.z);
        one(g.w * factor, w.w, s.m.w, s.v.w);
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
        return {yk_load_four_once(op.moment1 + at), yk_load_four_once(op.moment2 + at)};
    }

    __device__ __forceinline__ void store_four(const op &op, int64_t at,
                                               const state<float4> &s) const
    {
        yk_store_four_once(op.moment1 + at, s.m);
        yk_store_four_once(op.moment2 + at, s.v);
    }
};

void yk_cuda_optimizer_adamw(struct yk_backend_lane *lane, const struct yk_adamw_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->count <= 0) {
        return;
    }
    const struct adamw rule = {
        static_cast<float>(1.0 -
                           static_cast<double>(op->lr) * static_cast<double>(op->weight_decay)),
        static_cast<float>(1.0 - static_cast<double>(op->beta1)),
        static_cast<float>(1.0 - static_cast<double>(op->beta2)),
        static_cast<float>(static_cast<double>(op->lr) / static_cast<double>(op->correction1)),
        static_cast<float>(sqrt(static_cast<double>(op->correction2))),
        op->beta2,
        op->epsilon,
    };
    yk_optimizer_launch(lane, op, rule, {op->moment1, op->moment2}, "adamw");
}
