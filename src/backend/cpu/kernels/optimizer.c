#include "backend/cpu/kernels/optimizer.h"

#include "backend/cpu/math/fp32.h"
#include "backend/cpu/parallel.h"

static void update_chunk(const void *work, int64_t chunk)
{
    const struct yk_cpu_optimizer *update = work;
    const float factor = update->gradient_norm ? update->gradient_norm->factor : 1.0F;
    const int64_t end = yk_cpu_min(update->count, (chunk + 1) * YK_CPU_CHUNK_SIZE);
    float gradient_scratch[YK_CPU_FP32_BUFFER];
    float weight_scratch[YK_CPU_FP32_BUFFER];
    for (int64_t first = chunk * YK_CPU_CHUNK_SIZE; first < end; first += YK_CPU_FP32_BUFFER) {
        const int64_t count = yk_cpu_min(YK_CPU_FP32_BUFFER, end - first);
        const float *gradients =
            yk_cpu_fp32_view(update->type, update->gradients, first, count, gradient_scratch);
        float *weights = update->master ? update->master + first
                                        : yk_cpu_fp32_update(update->type, update->weights, first,
                                                             count, weight_scratch);
        update->rule(update->optimizer, factor, gradients, first, count, weights);
        if (weights != (float *)update->weights + first) {
            yk_cpu_numbers_store(update->type, weights, count, update->weights, first);
        }
    }
}

void yk_cpu_optimizer_run(int threads, const struct yk_cpu_optimizer *update)
{
    if (!update->gradient_norm || !update->gradient_norm->skip) {
        yk_cpu_parallel_for(threads, yk_cpu_chunk_count(update->count, YK_CPU_CHUNK_SIZE),
                            update_chunk, update);
    }
}
