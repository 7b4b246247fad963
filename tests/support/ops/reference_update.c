#include "support/ops/reference.h"

#include <math.h>
#include <stddef.h>

double reference_sum_squares(const struct yk_sum_squares_op *op, const double *from)
{
    double sum = 0;
    for (int64_t i = 0; i < op->count; i++) {
        sum += from[i] * from[i];
    }
    return sum;
}

void reference_clip_norm(const struct yk_clip_norm_op *op, const double *sums,
                         struct yk_gradient_norm_and_factor *out)
{
    double sum = 0;
    for (int64_t i = 0; i < op->count; i++) {
        sum += sums[i];
    }
    const double unscale = (double)op->unscale;
    const double norm = unscale * sqrt(sum);
    const double shrink = (double)op->clip / (norm + 1e-6);
    *out = (struct yk_gradient_norm_and_factor){
        .norm = norm,
        .factor = (float)(op->clip > 0 && shrink < 1 ? unscale * shrink : unscale),
        .skip = isfinite(norm) ? 0 : 1,
    };
}

/* The loop of torch.optim.AdamW, in its order: decay, moments, correction, step. */
void reference_adamw(const struct yk_adamw_op *op,
                     const struct yk_gradient_norm_and_factor *verdict, const double *gradients,
                     double *weights, double *moment1, double *moment2)
{
    if (verdict && verdict->skip) {
        return;
    }
    const double factor = verdict ? (double)verdict->factor : 1;
    const double rate = (double)op->update.lr;
    const double beta1 = (double)op->beta1;
    const double beta2 = (double)op->beta2;
    for (int64_t i = 0; i < op->update.count; i++) {
        const double gradient = gradients[i] * factor;
        weights[i] *= 1 - rate * (double)op->update.weight_decay;
        moment1[i] = beta1 * moment1[i] + (1 - beta1) * gradient;
        moment2[i] = beta2 * moment2[i] + (1 - beta2) * gradient * gradient;
        const double spread =
            sqrt(moment2[i]) / sqrt((double)op->correction2) + (double)op->epsilon;
        weights[i] -= rate / (double)op->correction1 * moment1[i] / spread;
    }
}

/* The loop of torch.optim.SGD without dampening and without Nesterov's step. */
void reference_sgd(const struct yk_sgd_op *op, const struct yk_gradient_norm_and_factor *verdict,
                   const double *gradients, double *weights, double *velocity)
{
    if (verdict && verdict->skip) {
        return;
    }
    const double factor = verdict ? (double)verdict->factor : 1;
    for (int64_t i = 0; i < op->update.count; i++) {
        const double gradient =
            gradients[i] * factor + (double)op->update.weight_decay * weights[i];
        velocity[i] = op->first ? gradient : (double)op->momentum * velocity[i] + gradient;
        weights[i] -= (double)op->update.lr * velocity[i];
    }
}
