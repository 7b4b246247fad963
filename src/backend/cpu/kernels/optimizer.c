/* Optimizers: weights are updated chunk by chunk in fp32: the master where there is one, else the
 * weights. */
#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/math/fp32_buffer.h"
#include "backend/cpu/parallel.h"

#include <math.h>

/* Updates `count` weights from number `first` on; gradients are multiplied by `factor`. */
typedef void optimizer_rule(const void *optimizer, float factor, const float *gradients,
                            int64_t first, int64_t count, float *weights);

struct work {
    const struct yk_weight_update *update;
    optimizer_rule *rule;
    const void *optimizer;
};

static void update_chunk(const void *argument, int64_t chunk)
{
    const struct work *work = argument;
    const struct yk_weight_update *update = work->update;
    const float factor = update->gradient_norm ? update->gradient_norm->factor : 1.0F;
    const int64_t end = yk_number_min(update->count, (chunk + 1) * YK_CPU_CHUNK_SIZE);
    float gradient_scratch[YK_CPU_FP32_BUFFER_SIZE];
    float weight_scratch[YK_CPU_FP32_BUFFER_SIZE];
    for (int64_t first = chunk * YK_CPU_CHUNK_SIZE; first < end; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, end - first);
        const float *gradients = yk_cpu_fp32_buffer_for_reading(update->type, update->gradients,
                                                                first, count, gradient_scratch);
        float *weights = update->master
                             ? update->master + first
                             : yk_cpu_fp32_buffer_for_update(update->type, update->weights, first,
                                                             count, weight_scratch);
        work->rule(work->optimizer, factor, gradients, first, count, weights);
        if (weights != (float *)update->weights + first) {
            yk_cpu_convert_array_from_fp32(update->type, weights, count, update->weights, first);
        }
    }
}

static void run_optimizer(int threads, const struct yk_weight_update *update, optimizer_rule *rule,
                          const void *optimizer)
{
    const struct work work = {update, rule, optimizer};
    if (!update->gradient_norm || !update->gradient_norm->skip) {
        yk_cpu_parallel_for(threads, yk_number_ceil_div(update->count, YK_CPU_CHUNK_SIZE),
                            update_chunk, &work);
    }
}

/* ---- AdamW ---- */

/*
 * For gradient g, moments m and v, weight w, in the order that torch.optim.AdamW takes them:
 *   w ← w · (1 − lr · weight_decay)
 *   m ← m + (1 − beta1) · (g − m)
 *   v ← beta2 · v + (1 − beta2) · g²
 *   w ← w − lr / correction1 · m / (√v / √correction2 + epsilon)
 * What does not change from number to number is worked out in double precision.
 */
struct adamw {
    const struct yk_adamw_op *op;
    float keep;  /* 1 − lr · weight_decay */
    float lean1; /* 1 − beta1 */
    float lean2; /* 1 − beta2 */
    float step;  /* lr / correction1 */
    float root;  /* √correction2 */
};

static void adamw_chunk(const struct adamw *adamw, float factor, const float *gradients,
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

static void adamw_rule(const void *optimizer, float factor, const float *gradients, int64_t first,
                       int64_t count, float *weights)
{
    const struct adamw *adamw = optimizer;
    adamw_chunk(adamw, factor, gradients, count, weights, adamw->op->moment1 + first,
                adamw->op->moment2 + first);
}

void yk_cpu_optimizer_adamw(int threads, const void *op)
{
    const struct yk_adamw_op *adamw = op;
    const struct adamw optimizer = {
        .op = adamw,
        .keep = (float)(1.0 - (double)adamw->update.lr * (double)adamw->update.weight_decay),
        .lean1 = (float)(1.0 - (double)adamw->beta1),
        .lean2 = (float)(1.0 - (double)adamw->beta2),
        .step = (float)((double)adamw->update.lr / (double)adamw->correction1),
        .root = (float)sqrt((double)adamw->correction2),
    };
    run_optimizer(threads, &adamw->update, adamw_rule, &optimizer);
}

/* ---- SGD ---- */

/*
 * For gradient g, velocity b, weight w, in the order that torch.optim.SGD takes them:
 *   g ← g + weight_decay · w
 *   b ← momentum · b + g, the first time b ← g
 *   w ← w − lr · b
 * Without momentum there is no velocity, and w ← w − lr · g.
 */
static void sgd_plain(const struct yk_sgd_op *sgd, float factor, const float *gradients,
                      int64_t count, float *restrict weights)
{
    const float weight_decay = sgd->update.weight_decay;
    const float lr = sgd->update.lr;
    for (int64_t i = 0; i < count; i++) {
        weights[i] -= lr * (gradients[i] * factor + weight_decay * weights[i]);
    }
}

static void sgd_momentum(const struct yk_sgd_op *sgd, float factor, const float *gradients,
                         int64_t count, float *restrict weights, float *restrict velocity)
{
    const float weight_decay = sgd->update.weight_decay;
    const float lr = sgd->update.lr;
    const float momentum = sgd->momentum;
    if (sgd->first) {
        for (int64_t i = 0; i < count; i++) {
            velocity[i] = gradients[i] * factor + weight_decay * weights[i];
            weights[i] -= lr * velocity[i];
        }
    } else {
        for (int64_t i = 0; i < count; i++) {
            velocity[i] =
                momentum * velocity[i] + (gradients[i] * factor + weight_decay * weights[i]);
            weights[i] -= lr * velocity[i];
        }
    }
}

static void sgd_rule(const void *optimizer, float factor, const float *gradients, int64_t first,
                     int64_t count, float *weights)
{
    const struct yk_sgd_op *sgd = optimizer;
    if (sgd->momentum != 0.0F) {
        sgd_momentum(sgd, factor, gradients, count, weights, sgd->velocity + first);
    } else {
        sgd_plain(sgd, factor, gradients, count, weights);
    }
}

void yk_cpu_optimizer_sgd(int threads, const void *op)
{
    const struct yk_sgd_op *sgd = op;
    run_optimizer(threads, &sgd->update, sgd_rule, sgd);
}

/* ---- gradient norm ---- */

void yk_cpu_optimizer_clip_norm(int threads, const void *op)
{
    (void)threads;
    const struct yk_clip_norm_op *clip = op;
    double total = 0;
    for (int64_t i = 0; i < clip->count; i++) {
        total += clip->sums[i];
    }
    const double norm = (double)clip->unscale * sqrt(total);
    const double fit = (double)clip->clip / (norm + 1e-6);
    const double clipped = clip->clip > 0.0F && fit < 1.0 ? fit : 1.0;
    *clip->gradient_norm = (struct yk_gradient_norm_and_factor){
        .norm = norm,
        .factor = (float)((double)clip->unscale * clipped),
        .skip = isfinite(norm) ? 0 : 1,
    };
}
