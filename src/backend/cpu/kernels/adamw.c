#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/kernels/optimizer.h"

#include <math.h>

/*
 * For gradient g, moments m and v, weight w, in the order that torch.optim.AdamW takes them:
 *   w ← w · (1 − rate · decay)
 *   m ← m + (1 − beta1) · (g − m)
 *   v ← beta2 · v + (1 − beta2) · g²
 *   w ← w − rate / correction1 · m / (√v / √correction2 + epsilon)
 * What does not change from number to number is worked out in double precision.
 */
struct adamw {
    const struct yk_adamw_op *op;
    float keep;  /* 1 − rate · decay */
    float lean1; /* 1 − beta1 */
    float lean2; /* 1 − beta2 */
    float step;  /* rate / correction1 */
    float root;  /* √correction2 */
};

static void update_chunk(const struct adamw *adamw, float factor, const float *gradients,
                         int64_t count, float *restrict weights, float *restrict moment1,
                         float *restrict moment2)
{
    const struct adamw a = *adamw;
    const float beta2 = a.op->beta2;
    const float epsilon = a.op->epsilon;
    for (int64_t i = 0; i < count; i++) {
        const float g = gradients[i] * factor;
        const float m = moment1[i] + a.lean1 * (g - moment1[i]);
        const float v = beta2 * moment2[i] + a.lean2 * (g * g);
        const float below = sqrtf(v) / a.root + epsilon;
        moment1[i] = m;
        moment2[i] = v;
        weights[i] = weights[i] * a.keep - a.step * (m / below);
    }
}

static void update(const void *optimizer, float factor, const float *gradients, int64_t first,
                   int64_t count, float *weights)
{
    const struct adamw *adamw = optimizer;
    update_chunk(adamw, factor, gradients, count, weights, adamw->op->moment1 + first,
                 adamw->op->moment2 + first);
}

void yk_cpu_optimizer_adamw(int threads, const void *op)
{
    const struct yk_adamw_op *adamw = op;
    const struct adamw optimizer = {
        .op = adamw,
        .keep = (float)(1.0 - (double)adamw->rate * (double)adamw->decay),
        .lean1 = (float)(1.0 - (double)adamw->beta1),
        .lean2 = (float)(1.0 - (double)adamw->beta2),
        .step = (float)((double)adamw->rate / (double)adamw->correction1),
        .root = (float)sqrt((double)adamw->correction2),
    };
    yk_cpu_optimizer_run(threads, &(struct yk_cpu_optimizer){
                                      .count = adamw->count,
                                      .weights = adamw->weights,
                                      .master = adamw->master,
                                      .gradients = adamw->gradients,
                                      .type = adamw->type,
                                      .gradient_norm = adamw->gradient_norm,
                                      .rule = update,
                                      .optimizer = &optimizer,
                                  });
}
