#include "backend/cpu/kernels.h"

#include "backend/cpu/chunk.h"
#include "backend/cpu/share.h"
#include "backend/ops.h"

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
    const struct yk_adamw *op;
    float factor;
    float keep;  /* 1 − rate · decay */
    float lean1; /* 1 − beta1 */
    float lean2; /* 1 − beta2 */
    float step;  /* rate / correction1 */
    float root;  /* √correction2 */
};

static void update_chunk(const struct adamw *adamw, const float *gradients, int64_t count,
                         float *restrict weights, float *restrict moment1, float *restrict moment2)
{
    const struct adamw a = *adamw;
    const float beta2 = a.op->beta2;
    const float epsilon = a.op->epsilon;
    for (int64_t i = 0; i < count; i++) {
        const float g = gradients[i] * a.factor;
        const float m = moment1[i] + a.lean1 * (g - moment1[i]);
        const float v = beta2 * moment2[i] + a.lean2 * (g * g);
        const float below = sqrtf(v) / a.root + epsilon;
        moment1[i] = m;
        moment2[i] = v;
        weights[i] = weights[i] * a.keep - a.step * (m / below);
    }
}

static void update_piece(const void *work, int64_t piece)
{
    const struct adamw *adamw = work;
    const struct yk_adamw *op = adamw->op;
    const int64_t end = yk_cpu_least(op->count, (piece + 1) * YK_CPU_PIECE);
    float gradient_scratch[YK_CPU_CHUNK];
    float weight_scratch[YK_CPU_CHUNK];
    for (int64_t first = piece * YK_CPU_PIECE; first < end; first += YK_CPU_CHUNK) {
        const int64_t count = yk_cpu_least(YK_CPU_CHUNK, end - first);
        const float *gradients =
            yk_cpu_view(op->type, op->gradients, first, count, gradient_scratch);
        float *weights = op->master
                             ? op->master + first
                             : yk_cpu_edit(op->type, op->weights, first, count, weight_scratch);
        update_chunk(adamw, gradients, count, weights, op->moment1 + first, op->moment2 + first);
        if (weights != (float *)op->weights + first) {
            yk_cpu_store(op->type, weights, count, op->weights, first);
        }
    }
}

void yk_cpu_adamw(int threads, const void *op)
{
    const struct yk_adamw *adamw = op;
    if (adamw->verdict && adamw->verdict->skip) {
        return;
    }
    const struct adamw work = {
        .op = adamw,
        .factor = adamw->verdict ? adamw->verdict->factor : 1.0F,
        .keep = (float)(1.0 - (double)adamw->rate * (double)adamw->decay),
        .lean1 = (float)(1.0 - (double)adamw->beta1),
        .lean2 = (float)(1.0 - (double)adamw->beta2),
        .step = (float)((double)adamw->rate / (double)adamw->correction1),
        .root = (float)sqrt((double)adamw->correction2),
    };
    yk_cpu_share(threads, yk_cpu_pieces(adamw->count, YK_CPU_PIECE), update_piece, &work);
}
