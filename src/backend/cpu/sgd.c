#include "backend/cpu/kernels.h"

#include "backend/cpu/chunk.h"
#include "backend/cpu/share.h"
#include "backend/ops.h"

/*
 * For gradient g, velocity b, weight w, in the order that torch.optim.SGD takes them:
 *   g ← g + decay · w
 *   b ← momentum · b + g, the first time b ← g
 *   w ← w − rate · b
 * Without momentum there is no velocity, and w ← w − rate · g.
 */
struct sgd {
    const struct yk_sgd *op;
    float factor;
};

static void update_plain(const struct sgd *sgd, const float *gradients, int64_t count,
                         float *restrict weights)
{
    const float factor = sgd->factor;
    const float decay = sgd->op->decay;
    const float rate = sgd->op->rate;
    for (int64_t i = 0; i < count; i++) {
        weights[i] -= rate * (gradients[i] * factor + decay * weights[i]);
    }
}

static void update_moving(const struct sgd *sgd, const float *gradients, int64_t count,
                          float *restrict weights, float *restrict velocity)
{
    const float factor = sgd->factor;
    const float decay = sgd->op->decay;
    const float rate = sgd->op->rate;
    const float momentum = sgd->op->momentum;
    if (sgd->op->first) {
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

static void update_piece(const void *work, int64_t piece)
{
    const struct sgd *sgd = work;
    const struct yk_sgd *op = sgd->op;
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
        if (op->momentum != 0.0F) {
            update_moving(sgd, gradients, count, weights, op->velocity + first);
        } else {
            update_plain(sgd, gradients, count, weights);
        }
        if (weights != (float *)op->weights + first) {
            yk_cpu_store(op->type, weights, count, op->weights, first);
        }
    }
}

void yk_cpu_sgd(int threads, const void *op)
{
    const struct yk_sgd *sgd = op;
    if (sgd->verdict && sgd->verdict->skip) {
        return;
    }
    const struct sgd work = {.op = sgd, .factor = sgd->verdict ? sgd->verdict->factor : 1.0F};
    yk_cpu_share(threads, yk_cpu_pieces(sgd->count, YK_CPU_PIECE), update_piece, &work);
}
