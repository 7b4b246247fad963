#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/kernels/optimizer.h"

/*
 * For gradient g, velocity b, weight w, in the order that torch.optim.SGD takes them:
 *   g ← g + decay · w
 *   b ← momentum · b + g, the first time b ← g
 *   w ← w − rate · b
 * Without momentum there is no velocity, and w ← w − rate · g.
 */
static void update_plain(const struct yk_sgd_op *sgd, float factor, const float *gradients,
                         int64_t count, float *restrict weights)
{
    const float decay = sgd->decay;
    const float rate = sgd->rate;
    for (int64_t i = 0; i < count; i++) {
        weights[i] -= rate * (gradients[i] * factor + decay * weights[i]);
    }
}

static void update_moving(const struct yk_sgd_op *sgd, float factor, const float *gradients,
                          int64_t count, float *restrict weights, float *restrict velocity)
{
    const float decay = sgd->decay;
    const float rate = sgd->rate;
    const float momentum = sgd->momentum;
    if (sgd->first) {
        for (int64_t i = 0; i < count; i++) {
            velocity[i] = gradients[i] * factor + decay * weights[i];
            weights[i] -= rate * velocity[i];
        }
    } else {
        for (int64_t i = 0; i < count; i++) {
            velocity[i] = momentum * velocity[i] + (gradients[i] * factor + decay * weights[i]);
            weights[i] -= rate * velocity[i];
        }
    }
}

static void update(const void *optimizer, float factor, const float *gradients, int64_t first,
                   int64_t count, float *weights)
{
    const struct yk_sgd_op *sgd = optimizer;
    if (sgd->momentum != 0.0F) {
        update_moving(sgd, factor, gradients, count, weights, sgd->velocity + first);
    } else {
        update_plain(sgd, factor, gradients, count, weights);
    }
}

void yk_cpu_optimizer_sgd(int threads, const void *op)
{
    const struct yk_sgd_op *sgd = op;
    const struct yk_cpu_optimizer work = {
        sgd->count, sgd->weights,       sgd->master, sgd->gradients,
        sgd->type,  sgd->gradient_norm, update,      sgd,
    };
    yk_cpu_optimizer_run(threads, &work);
}
