#include "backend/cpu/update.h"

#include "backend/cpu/chunk.h"
#include "backend/cpu/share.h"

static void update_piece(const void *work, int64_t piece)
{
    const struct yk_cpu_update *update = work;
    const float factor = update->verdict ? update->verdict->factor : 1.0F;
    const int64_t end = yk_cpu_least(update->count, (piece + 1) * YK_CPU_PIECE);
    float gradient_scratch[YK_CPU_CHUNK];
    float weight_scratch[YK_CPU_CHUNK];
    for (int64_t first = piece * YK_CPU_PIECE; first < end; first += YK_CPU_CHUNK) {
        const int64_t count = yk_cpu_least(YK_CPU_CHUNK, end - first);
        const float *gradients =
            yk_cpu_view(update->type, update->gradients, first, count, gradient_scratch);
        float *weights = update->master ? update->master + first
                                        : yk_cpu_edit(update->type, update->weights, first, count,
                                                      weight_scratch);
        update->rule(update->optimizer, factor, gradients, first, count, weights);
        if (weights != (float *)update->weights + first) {
            yk_cpu_store(update->type, weights, count, update->weights, first);
        }
    }
}

void yk_cpu_update_run(int threads, const struct yk_cpu_update *update)
{
    if (!update->verdict || !update->verdict->skip) {
        yk_cpu_share(threads, yk_cpu_pieces(update->count, YK_CPU_PIECE), update_piece, update);
    }
}
