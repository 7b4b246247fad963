#include "train/batches.h"

#include <stdlib.h>

struct yk_batches {
    const struct yk_sampler *sampler;
    struct yk_engine engine;
    void *memory;
    struct yk_batch batches[2];
    int next;
};

yk_status yk_batches_create(const struct yk_sampler *sampler, const struct yk_engine *engine,
                            int64_t samples, struct yk_batches **out)
{
    const int64_t sequence = yk_sampler_sequence(sampler);
    const int64_t rows = samples * sequence;
    struct yk_batches *batches = calloc(1, sizeof *batches);
    if (!batches) {
        return yk_fail_out_of_memory();
    }
    *batches = (struct yk_batches){.sampler = sampler, .engine = *engine};
    const yk_status status = engine->backend->take_host(
        engine->device, 4 * (size_t)rows * sizeof(int32_t), &batches->memory);
    if (status != YK_OK) {
        yk_batches_destroy(batches);
        return status;
    }
    for (int i = 0; i < 2; i++) {
        int32_t *numbers = (int32_t *)batches->memory + (int64_t)i * 2 * rows;
        batches->batches[i] = (struct yk_batch){
            .samples = samples, .sequence = sequence, .tokens = numbers, .targets = numbers + rows};
    }
    *out = batches;
    return YK_OK;
}

void yk_batches_destroy(struct yk_batches *batches)
{
    if (batches) {
        batches->engine.backend->give_back_host(batches->engine.device, batches->memory);
        free(batches);
    }
}

yk_status yk_batches_take(struct yk_batches *batches, int64_t first, const struct yk_batch **out)
{
    struct yk_batch *batch = &batches->batches[batches->next];
    const int64_t sequence = batch->sequence;
    batch->first_sample = first;
    batch->counted = 0;
    for (int64_t i = 0; i < batch->samples; i++) {
        YK_TRY(yk_sampler_take(batches->sampler, first + i, batch->tokens + i * sequence,
                               batch->targets + i * sequence));
    }
    for (int64_t i = 0; i < batch->samples * sequence; i++) {
        batch->counted += batch->targets[i] >= 0;
    }
    batches->next = 1 - batches->next;
    *out = batch;
    return YK_OK;
}
